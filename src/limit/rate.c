#include "limit/rate.h"

#define COUNT_MAX	INT64_C(1000000000000)
#define PERIOD_MIN	INT64_C(1000)
#define PERIOD_MAX	(366 * INT64_C(86400000000))
#define EXACT		(INT64_C(1) << 52)
#define SUBS		8	/* sub-windows of sliding_window */

struct time_unit {
	const char *name;
	int64_t us;
	bool in_rate;
};

/* From coarse to fine: printing takes the first that divides. */
static const struct time_unit time_units[] = {
	{ "d", INT64_C(86400000000), true },
	{ "h", INT64_C(3600000000), true },
	{ "m", 60000000, true },
	{ "s", 1000000, true },
	{ "ms", 1000, true },
	{ "us", 1, false },
};

#define TIME_UNITS	(sizeof(time_units) / sizeof(time_units[0]))

static int64_t
gcd(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static bool
prepare_tick(struct rate *rate, int64_t tick)
{
	int64_t ticks = rate->period_us / tick;
	int64_t common, gain, unit, cap;

	if (rate->period_us % tick != 0)
		return false;
	common = gcd(rate->count, ticks);
	gain = rate->count / common;
	unit = ticks / common;
	if (rate->burst > (EXACT - 1) / unit)
		return false;
	cap = rate->burst * unit;
	/* The time to refill the whole, in microseconds, is a product too. */
	if ((cap + gain - 1) / gain >= EXACT / tick)
		return false;
	rate->tick_us = tick;
	rate->gain = gain;
	rate->unit = unit;
	rate->cap = cap;
	return true;
}

enum err
rate_prepare(struct rate *rate)
{
	if (rate->count < 1 || rate->count > COUNT_MAX || rate->burst < 1 ||
	    rate->period_us < PERIOD_MIN || rate->period_us > PERIOD_MAX)
		return ERR_RANGE;
	for (int64_t tick = 1; tick <= 1000000; tick *= 1000) {
		if (!prepare_tick(rate, tick))
			continue;
		rate->sub_us = (rate->period_us + SUBS - 1) / SUBS;
		return ERR_OK;
	}
	return ERR_RANGE;
}

static const struct time_unit *
unit_find(struct span name)
{
	for (size_t i = 0; i < TIME_UNITS; i++)
		if (span_equal(name, span_str(time_units[i].name)))
			return &time_units[i];
	return NULL;
}

static size_t
digits(struct span text)
{
	size_t n = 0;

	while (n < text.len && text.ptr[n] >= '0' && text.ptr[n] <= '9')
		n++;
	return n;
}

/* number * unit within min..max, both in microseconds. */
static enum err
scale(struct span number, const struct time_unit *unit, int64_t min,
    int64_t max, int64_t *ret_us)
{
	int64_t value;
	enum err e;

	e = span_to_i64(number, 0, max / unit->us, &value);
	if (e != ERR_OK)
		return e;
	if (value * unit->us < min)
		return ERR_RANGE;
	*ret_us = value * unit->us;
	return ERR_OK;
}

enum err
duration_parse(struct span text, int64_t *ret_us)
{
	size_t n = digits(text);
	const struct time_unit *unit = unit_find(span_skip(text, n));

	if (n == 0 || unit == NULL)
		return ERR_SYNTAX;
	return scale(span_of(text.ptr, n), unit, 0, PERIOD_MAX, ret_us);
}

static enum err
period_parse(struct span text, int64_t *ret_us)
{
	size_t n = digits(text);
	const struct time_unit *unit = unit_find(span_skip(text, n));
	struct span number = n == 0 ? SPAN("1") : span_of(text.ptr, n);

	if (unit == NULL || !unit->in_rate)
		return ERR_SYNTAX;
	return scale(number, unit, PERIOD_MIN, PERIOD_MAX, ret_us);
}

enum err
rate_parse(struct span text, struct rate *ret)
{
	ptrdiff_t slash = span_index(text, '/');
	struct rate rate = { .count = 0 };
	enum err bad_count, bad_period;

	if (slash < 0)
		return ERR_SYNTAX;
	bad_count = span_to_i64(span_of(text.ptr, (size_t)slash), 1,
	    COUNT_MAX, &rate.count);
	bad_period = period_parse(span_skip(text, (size_t)slash + 1),
	    &rate.period_us);
	/* A form that is wrong is told before a number that is. */
	if (bad_count == ERR_SYNTAX || bad_period == ERR_SYNTAX)
		return ERR_SYNTAX;
	if (bad_count != ERR_OK || bad_period != ERR_OK)
		return ERR_RANGE;
	rate.burst = rate.count;
	*ret = rate;
	return ERR_OK;
}

static const struct time_unit *
unit_for(int64_t us)
{
	size_t i = 0;

	while (us % time_units[i].us != 0)
		i++;
	return &time_units[i];
}

void
duration_print(int64_t us, struct text *out)
{
	const struct time_unit *unit;

	if (us == 0) {
		text_append(out, SPAN("0s"));
		return;
	}
	unit = unit_for(us);
	text_append_u64(out, (uint64_t)(us / unit->us));
	text_append_str(out, unit->name);
}

void
rate_print(const struct rate *rate, struct text *out)
{
	const struct time_unit *unit = unit_for(rate->period_us);

	text_append_u64(out, (uint64_t)rate->count);
	text_append_char(out, '/');
	if (rate->period_us != unit->us)
		text_append_u64(out, (uint64_t)(rate->period_us / unit->us));
	text_append_str(out, unit->name);
}
