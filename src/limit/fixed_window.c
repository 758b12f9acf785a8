#include "limit/algo.h"

/*
 * A count that begins anew with each window. Windows lie on multiples of the
 * period (UTC), or start with the first request counted in them.
 */
struct window {
	int64_t start;
	int64_t count;		/* 0: no window is open */
};

static size_t
size(const struct limits *limits)
{
	return limits->n * sizeof(struct window);
}

/* The window in force at `now`; it may lie ahead when the clock stepped back.
 * A start that no step explains is put right in the state, the count kept. */
static struct window
load(const struct rate *rate, struct window *w, const struct algo_ask *ask)
{
	int64_t now = ask->now;
	int64_t start = ask->align_first ? now : now - now % rate->period_us;

	if (w->start > now + rate->period_us)
		w->start = start;
	if (w->count == 0 || now >= w->start + rate->period_us)
		return (struct window){ start, 0 };
	return *w;
}

static void
judge(const struct limits *limits, unsigned i, void *state,
    const struct algo_ask *ask, struct verdict *ret)
{
	const struct rate *rate = &limits->rate[i];
	struct window w = load(rate, (struct window *)state + i, ask);
	int64_t after = w.count + algo_min(ask->cost, rate->count);

	*ret = (struct verdict){ .limit = rate->count };
	ret->passed = after <= rate->count || ask->cost == 0;
	if (!ret->passed)
		after = w.count;
	if (after < rate->count)
		ret->remaining = rate->count - after;
	ret->reset_in = w.start + rate->period_us - ask->now;
	if (!ret->passed)
		ret->pass_in = ret->reset_in;
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
	struct window *w = state;

	for (unsigned i = 0; i < limits->n; i++) {
		w[i] = load(&limits->rate[i], &w[i], ask);
		w[i].count += algo_min(ask->cost, limits->rate[i].count);
	}
}

static int64_t
fresh_at(const struct limits *limits, const void *state)
{
	const struct window *w = state;
	int64_t last = 0;

	for (unsigned i = 0; i < limits->n; i++) {
		int64_t end = w[i].start + limits->rate[i].period_us;

		if (w[i].count > 0 && end > last)
			last = end;
	}
	return last;
}

static void
convert(const struct limits *was, const void *from, const struct limits *is,
    void *to)
{
	const struct window *old = from;
	struct window *w = to;

	for (unsigned i = 0; i < is->n; i++) {
		int pair = algo_pair(was, is->rate[i].period_us);

		if (pair >= 0)
			w[i] = old[pair];
	}
}

const struct algo algo_FIXED_WINDOW = {
	.name = "fixed_window",
	.size = size,
	.peek = peek,
	.spend = spend,
	.fresh_at = fresh_at,
	.convert = convert,
};
