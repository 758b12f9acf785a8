#include "limit/algo.h"

#include <assert.h>
#include <string.h>

/*
 * Never more than the limit in any period, exactly: each request let through
 * is remembered with its time and cost, and counts while its time > now -
 * period. All rates of a row share one log. As every entry costs at least 1,
 * the greatest count of the rates is room enough.
 */
struct log {
	int64_t n;
	/* Oldest first: time * 1024 + cost. ALGO_LOG_MAX is below 1024, and
	 * times below 2^53 leave the sign alone. */
	int64_t entry[];
};

#define COST_BITS 10

static int64_t
entry_make(int64_t time, int64_t cost)
{
	return time * (1 << COST_BITS) + cost;
}

static int64_t
entry_time(int64_t entry)
{
	return entry >> COST_BITS;
}

static int64_t
entry_cost(int64_t entry)
{
	return entry & ((1 << COST_BITS) - 1);
}

static int64_t
room(const struct limits *limits)
{
	int64_t most = 0;

	for (unsigned i = 0; i < limits->n; i++)
		if (limits->rate[i].count > most)
			most = limits->rate[i].count;
	return most;
}

static int64_t
longest(const struct limits *limits)
{
	int64_t most = 0;

	for (unsigned i = 0; i < limits->n; i++)
		if (limits->rate[i].period_us > most)
			most = limits->rate[i].period_us;
	return most;
}

static size_t
size(const struct limits *limits)
{
	return sizeof(struct log) + (size_t)room(limits) * sizeof(int64_t);
}

static int64_t
newest(const struct log *log)
{
	return log->n == 0 ? 0 : entry_time(log->entry[log->n - 1]);
}

/* Entries that a step of the clock does not explain happened now. */
static void
repair(const struct limits *limits, struct log *log, int64_t now)
{
	if (newest(log) <= now + longest(limits))
		return;
	for (int64_t i = log->n - 1;
	    i >= 0 && entry_time(log->entry[i]) > now; i--)
		log->entry[i] = entry_make(now, entry_cost(log->entry[i]));
}

/* The present, which never lies before an entry. */
static int64_t
moment(const struct log *log, int64_t now)
{
	int64_t last = newest(log);

	return last > now ? last : now;
}

/* How many of the oldest no longer count: their time <= edge. */
static int64_t
expired(const struct log *log, int64_t edge)
{
	int64_t lo = 0, hi = log->n;

	while (lo < hi) {
		int64_t mid = lo + (hi - lo) / 2;

		if (entry_time(log->entry[mid]) <= edge)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int64_t
total(const struct log *log, int64_t from)
{
	int64_t sum = 0;

	for (int64_t i = from; i < log->n; i++)
		sum += entry_cost(log->entry[i]);
	return sum;
}

/* The entry that has to leave so that `excess` have, counted from `from`. */
static int64_t
leaver(const struct log *log, int64_t from, int64_t excess)
{
	while (from < log->n - 1 &&
	    (excess -= entry_cost(log->entry[from])) > 0)
		from++;
	return entry_time(log->entry[from]);
}

static void
judge(const struct limits *limits, unsigned i, void *state,
    const struct algo_ask *ask, struct verdict *ret)
{
	const struct rate *rate = &limits->rate[i];
	const struct log *log = state;
	int64_t present = moment(log, ask->now);
	int64_t from = expired(log, present - rate->period_us);
	int64_t before = total(log, from);
	int64_t cost = algo_min(ask->cost, rate->count);

	*ret = (struct verdict){ .limit = rate->count };
	ret->passed = before + cost <= rate->count || cost == 0;
	if (!ret->passed) {
		if (before < rate->count)
			ret->remaining = rate->count - before;
		ret->pass_in = leaver(log, from, before + cost - rate->count) +
		    rate->period_us - ask->now;
		ret->reset_in = ret->pass_in;
		return;
	}
	if (before + cost < rate->count)
		ret->remaining = rate->count - before - cost;
	if (cost > 0)
		ret->reset_in = present + rate->period_us - ask->now;
	else if (from < log->n)
		ret->reset_in = newest(log) + rate->period_us - ask->now;
}

static bool
peek(const struct limits *limits, void *state, const struct algo_ask *ask,
    struct verdict *ret)
{
	repair(limits, state, ask->now);
	return algo_judge(judge, limits, state, ask, ret);
}

static void
drop(struct log *log, int64_t n)
{
	log->n -= n;
	memmove(log->entry, log->entry + n,
	    (size_t)log->n * sizeof(log->entry[0]));
}

static void
spend(const struct limits *limits, void *state, const struct algo_ask *ask)
{
	struct log *log = state;
	int64_t most = room(limits);
	int64_t present;

	repair(limits, log, ask->now);
	present = moment(log, ask->now);
	drop(log, expired(log, present - longest(limits)));
	/* As it passed, and no entry costs less than 1. */
	assert(log->n < most);
	log->entry[log->n++] = entry_make(present, algo_min(ask->cost, most));
}

static int64_t
fresh_at(const struct limits *limits, const void *state)
{
	const struct log *log = state;

	return log->n == 0 ? 0 : newest(log) + longest(limits);
}

static void
convert(const struct limits *was, const void *from, const struct limits *is,
    void *to)
{
	const struct log *old = from;
	struct log *log = to;

	(void)was;
	log->n = algo_min(old->n, room(is));
	memcpy(log->entry, old->entry + (old->n - log->n),
	    (size_t)log->n * sizeof(log->entry[0]));
}

const struct algo algo_SLIDING_LOG = {
	.name = "sliding_log",
	.size = size,
	.peek = peek,
	.spend = spend,
	.fresh_at = fresh_at,
	.convert = convert,
};
