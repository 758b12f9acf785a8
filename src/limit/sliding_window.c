#include "limit/algo.h"

/*
 * Never more than the limit in any period, in bounded state: time is cut into
 * sub-windows of an eighth of the period, on multiples of their length. The
 * present one and the eight before it cover at least one period, and all nine
 * count; so what was used comes back at most one sub-window late.
 */
#define COUNTERS 9

struct slide {
	int64_t index;			/* of the newest sub-window */
	int64_t count[COUNTERS];	/* by age, newest first */
};

static size_t
size(const struct limits *limits)
{
	return limits->n * sizeof(struct slide);
}

/* The counters as of `now`. An index further ahead than a step of the clock
 * explains is put right in the state: the counts keep their ages. */
static struct slide
load(const struct rate *rate, struct slide *s, int64_t now)
{
	int64_t index = now / rate->sub_us;
	struct slide ret = { .index = index };
	int64_t shift;

	if (s->index > index + COUNTERS - 1)
		s->index = index;
	if (s->index >= index)
		return *s;
	shift = index - s->index;
	for (int64_t age = shift; age < COUNTERS; age++)
		ret.count[age] = s->count[age - shift];
	return ret;
}

static int64_t
total(const struct slide *s)
{
	int64_t sum = 0;

	for (int age = 0; age < COUNTERS; age++)
		sum += s->count[age];
	return sum;
}

/* When the counter of that age no longer counts. */
static int64_t
leaves_at(const struct rate *rate, const struct slide *s, int age)
{
	return (s->index - age + COUNTERS) * rate->sub_us;
}

/* When nothing counts any more; 0: nothing does now. */
static int64_t
empty_at(const struct rate *rate, const struct slide *s)
{
	for (int age = 0; age < COUNTERS; age++)
		if (s->count[age] > 0)
			return leaves_at(rate, s, age);
	return 0;
}

/* When so many have left; excess is at most the total. */
static int64_t
gone_at(const struct rate *rate, const struct slide *s, int64_t excess)
{
	int age = COUNTERS - 1;

	while (age > 0 && (excess -= s->count[age]) > 0)
		age--;
	return leaves_at(rate, s, age);
}

static void
judge(const struct limits *limits, unsigned i, void *state,
    const struct algo_ask *ask, struct verdict *ret)
{
	const struct rate *rate = &limits->rate[i];
	struct slide s = load(rate, (struct slide *)state + i, ask->now);
	int64_t cost = algo_min(ask->cost, rate->count);
	int64_t before = total(&s);
	int64_t empty;

	*ret = (struct verdict){ .limit = rate->count };
	ret->passed = before + cost <= rate->count || cost == 0;
	if (!ret->passed) {
		if (before < rate->count)
			ret->remaining = rate->count - before;
		ret->pass_in = gone_at(rate, &s, before + cost - rate->count) -
		    ask->now;
		ret->reset_in = ret->pass_in;
		return;
	}
	if (before + cost < rate->count)
		ret->remaining = rate->count - before - cost;
	s.count[0] += cost;
	empty = empty_at(rate, &s);
	if (empty > 0)
		ret->reset_in = empty - ask->now;
}

static bool
peek(const struct limits *limits, void *state, const struct algo_ask *ask,
    struct verdict *ret)
{
	return algo_judge(judge, limits, state, ask, ret);
}

static void
spend(const struct limits *limits, void *state, const struct algo_ask *ask)
{
	struct slide *s = state;

	for (unsigned i = 0; i < limits->n; i++) {
		s[i] = load(&limits->rate[i], &s[i], ask->now);
		s[i].count[0] += algo_min(ask->cost, limits->rate[i].count);
	}
}

static int64_t
fresh_at(const struct limits *limits, const void *state)
{
	const struct slide *s = state;
	int64_t last = 0;

	for (unsigned i = 0; i < limits->n; i++) {
		int64_t at = empty_at(&limits->rate[i], &s[i]);

		if (at > last)
			last = at;
	}
	return last;
}

static void
convert(const struct limits *was, const void *from, const struct limits *is,
    void *to)
{
	const struct slide *old = from;
	struct slide *s = to;

	for (unsigned i = 0; i < is->n; i++) {
		int pair = algo_pair(was, is->rate[i].period_us);

		if (pair >= 0)
			s[i] = old[pair];
	}
}

const struct algo algo_SLIDING_WINDOW = {
	.name = "sliding_window",
	.size = size,
	.peek = peek,
	.spend = spend,
	.fresh_at = fresh_at,
	.convert = convert,
};
