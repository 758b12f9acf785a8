#ifndef WEIR_LIMIT_ALGO_H
#define WEIR_LIMIT_ALGO_H

#include "limit/rate.h"
#include "limit/verdict.h"

/*
 * What "allowed" means: one table row an algorithm, pure functions of state
 * and time. The same thing stands in lua/ for Redis; vectors and long random
 * runs hold both equal, to the unit.
 *
 * The state is algo->size() octets, 8-aligned, and all zeroes when the
 * identity was never seen. Times and counts in it stay below 2^53.
 */
enum algo_kind {
#define ALGO(id, name) ALGO_##id,
#include "limit/algo.def"
#undef ALGO
	ALGO_COUNT
};

#define ALGO_LOG_MAX 1000	/* the greatest limit of sliding_log */

struct algo_ask {
	int64_t now;		/* microseconds, the store's clock */
	int64_t cost;		/* 1..; above the capacity it counts as the
				   whole capacity. 0: no request at all, which
				   passes and tells what is there */
	bool align_first;	/* fixed_window: the caller opens windows */
};

struct algo {
	const char *name;
	/* Octets of state for these limits (all rates of one row). */
	size_t (*size)(const struct limits *limits);
	/*
	 * Judge: one verdict a rate, nothing changed but repairs (a stored
	 * time beyond now + capacity). True when all rates pass: then the
	 * verdicts are those after spending. Otherwise nothing will be spent,
	 * and the rates that pass tell what is there without this request. When
	 * another row denies the question, the store asks the rows that passed
	 * again with cost 0, so that theirs tell the same.
	 */
	bool (*peek)(const struct limits *limits, void *state,
	    const struct algo_ask *ask, struct verdict *ret);
	/* Spend what peek with the same arguments has just passed. */
	void (*spend)(const struct limits *limits, void *state,
	    const struct algo_ask *ask);
	/* From that moment on the state means the same as zeroes. */
	int64_t (*fresh_at)(const struct limits *limits, const void *state);
	/*
	 * The limits changed (reload, plan): make the state of `was` into one
	 * of `is`. token_bucket keeps the used fraction, rounded against the
	 * caller; windows keep their counts when the period is equal, else
	 * start anew; the log keeps its newest entries. Rates pair by
	 * period; with one rate before and after, token_bucket pairs these
	 * two whatever their periods. `from` and `to` do not overlap; `to` is
	 * zeroed.
	 */
	void (*convert)(const struct limits *was, const void *from,
	    const struct limits *is, void *to);
};

const struct algo *algo_get(enum algo_kind kind);
/* ERR_NOT_FOUND. */
enum err algo_by_name(struct span name, enum algo_kind *ret);

/* The most a rate lets through at once: verdict.limit. */
int64_t algo_capacity(enum algo_kind kind, const struct rate *rate);

/* Do equal numbers stand in both, so that state needs no conversion? */
bool limits_equal(const struct limits *a, const struct limits *b);

/* For the algorithms alone: judge one rate of the row, as if it stood alone. */
typedef void algo_judge_fn(const struct limits *limits, unsigned i,
    void *state, const struct algo_ask *ask, struct verdict *ret);
/* peek, out of a judge of one rate. */
bool algo_judge(algo_judge_fn *judge, const struct limits *limits, void *state,
    const struct algo_ask *ask, struct verdict *ret);
/* The rate of `was` with that period, or -1. */
int algo_pair(const struct limits *was, int64_t period_us);

/* ceil(a / b), a >= 0, b > 0. */
static inline int64_t
algo_ceil_div(int64_t a, int64_t b)
{
	return a / b + (a % b != 0);
}

static inline int64_t
algo_min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

#endif
