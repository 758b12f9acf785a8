#include "limit/algo.h"

/*
 * Up to `burst` at once, `count` in a period on average. What is used is kept
 * in units (a token is rate->unit of them), so nothing is ever rounded.
 */
struct bucket {
	int64_t time;		/* microseconds, on a tick */
	int64_t used;		/* units, as of that time; 0: full */
};

static size_t
size(const struct limits *limits)
{
	return limits->n * sizeof(struct bucket);
}

/* How long it takes to give `units` back. */
static int64_t
refill_us(const struct rate *rate, int64_t units)
{
	return algo_ceil_div(units, rate->gain) * rate->tick_us;
}

/*
 * The bucket as it stands at `now`; its time is in the future when the clock
 * has stepped back. A time that no step explains is put right in the state.
 */
static struct bucket
load(const struct rate *rate, struct bucket *b, int64_t now)
{
	int64_t tick = rate->tick_us;
	int64_t today = now - now % tick;
	/* Between two ticks after a change of limits: against the caller. */
	int64_t time = algo_ceil_div(b->time, tick) * tick;
	int64_t ticks;

	if (time > today && time > today + refill_us(rate, rate->cap)) {
		b->time = time = today;
		b->used = algo_min(b->used, rate->cap);
	}
	if (time >= today)
		return (struct bucket){ time, b->used };
	ticks = (today - time) / tick;
	if (ticks >= algo_ceil_div(b->used, rate->gain))
		return (struct bucket){ today, 0 };
	return (struct bucket){ today, b->used - ticks * rate->gain };
}

static int64_t
price(const struct rate *rate, int64_t cost)
{
	/* At most cap, below 2^52. */
	return algo_min(cost, rate->burst) * rate->unit;
}

static void
judge(const struct limits *limits, unsigned i, void *state,
    const struct algo_ask *ask, struct verdict *ret)
{
	const struct rate *rate = &limits->rate[i];
	struct bucket b = load(rate, (struct bucket *)state + i, ask->now);
	int64_t after = b.used + price(rate, ask->cost);

	*ret = (struct verdict){ .limit = rate->burst };
	ret->passed = after <= rate->cap;
	if (ret->passed) {
		ret->remaining = (rate->cap - after) / rate->unit;
		if (after > 0)
			ret->reset_in = b.time + refill_us(rate, after) -
			    ask->now;
		return;
	}
	ret->remaining = (rate->cap - b.used) / rate->unit;
	ret->pass_in = b.time + refill_us(rate, after - rate->cap) - ask->now;
	ret->reset_in = ret->pass_in;
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
	struct bucket *b = state;

	for (unsigned i = 0; i < limits->n; i++) {
		b[i] = load(&limits->rate[i], &b[i], ask->now);
		b[i].used += price(&limits->rate[i], ask->cost);
	}
}

static int64_t
fresh_at(const struct limits *limits, const void *state)
{
	const struct bucket *b = state;
	int64_t last = 0;

	for (unsigned i = 0; i < limits->n; i++) {
		const struct rate *rate = &limits->rate[i];
		int64_t tick = rate->tick_us;
		int64_t at = algo_ceil_div(b[i].time, tick) * tick +
		    refill_us(rate, b[i].used);

		if (b[i].used > 0 && at > last)
			last = at;
	}
	return last;
}

static void
convert(const struct limits *was, const void *from, const struct limits *is,
    void *to)
{
	const struct bucket *old = from;
	struct bucket *b = to;

	for (unsigned i = 0; i < is->n; i++) {
		int pair = algo_pair(was, is->rate[i].period_us);
		__int128 used;

		if (pair < 0 && was->n == 1 && is->n == 1)
			pair = 0;
		if (pair < 0)
			continue;
		used = (__int128)old[pair].used * is->rate[i].cap;
		b[i].time = old[pair].time;
		b[i].used = (int64_t)((used + was->rate[pair].cap - 1) /
		    was->rate[pair].cap);
	}
}

const struct algo algo_TOKEN_BUCKET = {
	.name = "token_bucket",
	.size = size,
	.peek = peek,
	.spend = spend,
	.fresh_at = fresh_at,
	.convert = convert,
};
