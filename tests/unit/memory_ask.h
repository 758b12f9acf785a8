#ifndef WEIR_TESTS_MEMORY_ASK_H
#define WEIR_TESTS_MEMORY_ASK_H

/* What the tests of the memory store share: policies, rows, and asking. */

#include <check.h>
#include <stdlib.h>

#include "store/memory.h"

#define T0	INT64_C(1700000000000000)
#define SECOND	INT64_C(1000000)
#define MIB	((size_t)1048576)
#define LEN(a)	(sizeof(a) / sizeof((a)[0]))

/* For what is asked a million times: ck_assert makes a system call even when
 * it holds. */
#define MUST(condition) \
	do { \
		if (!(condition)) \
			ck_abort_msg("%s", #condition); \
	} while (0)

static inline uint64_t
scramble(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static inline struct hash128
identity(uint64_t n)
{
	return (struct hash128){ scramble(2 * n), scramble(2 * n + 1) };
}

static inline struct limits
limits_of(const char *first, const char *second)
{
	struct limits limits = { .n = 0 };

	for (const char *text = first; text != NULL; second = NULL) {
		struct rate *rate = &limits.rate[limits.n++];

		ck_assert_int_eq(rate_parse(span_str(text), rate), ERR_OK);
		ck_assert_int_eq(rate_prepare(rate), ERR_OK);
		text = second;
	}
	return limits;
}

static inline struct policy
policy_of(enum algo_kind kind, uint64_t tag, const char *rate)
{
	return (struct policy){ .algorithm = kind, .tag = tag,
	    .limits = limits_of(rate, NULL) };
}

static inline struct row
row_of(const struct policy *policy, uint64_t id)
{
	return (struct row){ .policy = policy, .limits = &policy->limits,
	    .identity = identity(id), .cost = 1, .enforcing = true };
}

static inline bool
ask(struct store *store, struct row *rows, unsigned n, int64_t now, bool spend)
{
	struct question question = { .rows = rows, .nrows = n, .cap = n };
	bool passes = true;

	MUST((spend ? store->ops->take(store, &question, now) :
	    store->ops->peek(store, &question, now)) == ANSWER_NOW);
	MUST(question.result == STORE_DECIDED);
	MUST(question.source == SOURCE_MEMORY);
	MUST(question.now >= now);
	MUST(question.pending == NULL);
	for (unsigned i = 0; i < n; i++)
		if (rows[i].enforcing && !rows[i].passed)
			passes = false;
	return passes;
}

static inline bool
take(struct store *store, struct row *rows, unsigned n, int64_t now)
{
	return ask(store, rows, n, now, true);
}

static inline bool
take_one(struct store *store, const struct policy *policy, uint64_t id,
    int64_t now)
{
	struct row row = row_of(policy, id);

	return take(store, &row, 1, now);
}

/* What one request more would leave, or -1: it would not pass. */
static inline int64_t
left(struct store *store, const struct policy *policy, uint64_t id,
    int64_t now)
{
	struct row row = row_of(policy, id);

	return ask(store, &row, 1, now, false) ? row.verdicts[0].remaining :
	    -1;
}

static inline void
assert_bounded(const struct store *store)
{
	MUST(memory_store_bytes(store) <= memory_store_limit(store));
}

static inline void
close_store(struct store *store)
{
	store->ops->free(store);
}

#endif
