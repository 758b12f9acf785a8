#include <check.h>
#include <stdlib.h>

#include "base/mem.h"
#include "harness/vectors.h"
#include "limit/algo.h"

/* What the algorithms promise, whatever the numbers; vectors hold the edges. */

#define START	INT64_C(1764500000123457)
#define END	(INT64_C(1) << 52)	/* times stay below 2^53 */
#define STEPS	20000
#define RATES	9

static const char *const rates[RATES] = {
	"1/5s", "5/s", "3/10s", "10/7ms", "100/m", "600/m,20/10s", "2/30d",
	"999983/d", "7/s:20",
};

/* Rates that sliding_log does not take: their limit is above 1000. */
static bool
fits(enum algo_kind kind, const struct limits *limits)
{
	return kind != ALGO_SLIDING_LOG ||
	    limits->rate[0].count <= ALGO_LOG_MAX;
}

static int64_t
below(uint64_t *seed, int64_t n)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (int64_t)((*seed >> 16) % (uint64_t)n);
}

struct run {
	const struct algo *algo;
	struct limits limits;
	uint64_t seed;
	int64_t now;
	void *state;
	struct verdict verdicts[RATES_MAX];
};

static void
run_init(struct run *run, enum algo_kind kind, const char *limits)
{
	*run = (struct run){ .algo = algo_get(kind), .now = START,
	    .seed = 4711 };
	vectors_limits(span_str(limits), &run->limits);
	run->state = mem_zalloc(run->algo->size(&run->limits));
}

/* Ask at another moment, of a copy. */
static bool
would_pass(const struct run *run, int64_t now, int64_t cost)
{
	void *copy = mem_dup(run->state, run->algo->size(&run->limits));
	struct algo_ask ask = { .now = now, .cost = cost };
	struct verdict verdicts[RATES_MAX];
	bool passed = run->algo->peek(&run->limits, copy, &ask, verdicts);

	mem_free(copy);
	return passed;
}

static bool
run_ask(struct run *run, int64_t cost)
{
	struct algo_ask ask = { .now = run->now, .cost = cost };

	if (!run->algo->peek(&run->limits, run->state, &ask, run->verdicts))
		return false;
	run->algo->spend(&run->limits, run->state, &ask);
	return true;
}

static int64_t
random_cost(struct run *run)
{
	int64_t dice = below(&run->seed, 10);

	if (dice < 7)
		return 1;
	return 1 + below(&run->seed, dice < 9 ? 4 :
	    2 * run->limits.rate[0].count);
}

/* Steps of about the time a unit takes, so that both answers are met. */
static int64_t
random_pause(struct run *run)
{
	const struct rate *rate = &run->limits.rate[run->limits.n - 1];
	int64_t dice = below(&run->seed, 20);

	if (dice == 0)
		return below(&run->seed, 2 * rate->period_us);
	return below(&run->seed, rate->period_us / rate->count + 2) *
	    (dice & 3);
}

START_TEST(waiting_is_enough)
{
	struct run run;
	unsigned allowed = 0, denied = 0;

	run_init(&run, (enum algo_kind)(_i / RATES), rates[_i % RATES]);
	for (unsigned i = 0; i < STEPS && run.now < END &&
	    fits((enum algo_kind)(_i / RATES), &run.limits); i++) {
		int64_t cost = random_cost(&run), wait = 0;

		/* Now and then the clock steps back. */
		run.now += random_pause(&run);
		if (below(&run.seed, 100) == 0)
			run.now -= below(&run.seed,
			    run.limits.rate[0].period_us * 2);
		if (run_ask(&run, cost)) {
			allowed++;
			continue;
		}
		denied++;
		for (unsigned k = 0; k < run.limits.n; k++)
			if (run.verdicts[k].pass_in > wait)
				wait = run.verdicts[k].pass_in;
		ck_assert_int_gt(wait, 0);
		ck_assert(would_pass(&run, run.now + wait, cost));
		ck_assert(!would_pass(&run, run.now + wait - 1, cost));
	}
	/* Both answers were met often. */
	ck_assert_uint_ge(denied, allowed / 20);
	ck_assert_uint_ge(allowed, denied / 20);
	mem_free(run.state);
}
END_TEST

/* reset_in is the moment at which the whole capacity is there, not later. */
START_TEST(reset_is_whole)
{
	struct run run;

	run_init(&run, (enum algo_kind)(_i / RATES), rates[_i % RATES]);
	for (unsigned i = 0; i < STEPS / 10 && run.now < END &&
	    fits((enum algo_kind)(_i / RATES), &run.limits); i++) {
		int64_t last = 0;

		run.now += random_pause(&run);
		if (!run_ask(&run, random_cost(&run)))
			continue;
		for (unsigned k = 0; k < run.limits.n; k++) {
			int64_t in = run.verdicts[k].reset_in;

			last = in > last ? in : last;
			ck_assert_int_gt(in, 0);
		}
		ck_assert(would_pass(&run, run.now + last, INT64_MAX));
		ck_assert(!would_pass(&run, run.now + last - 1, INT64_MAX));
		ck_assert_int_eq(run.algo->fresh_at(&run.limits, run.state),
		    run.now + last);
	}
	mem_free(run.state);
}
END_TEST

/* What was let through, oldest first. */
struct history {
	int64_t time[STEPS], cost[STEPS];
	unsigned n;
};

static int64_t
passed_since(const struct history *h, int64_t edge)
{
	int64_t sum = 0;

	for (unsigned i = h->n; i > 0 && h->time[i - 1] > edge; i--)
		sum += h->cost[i - 1];
	return sum;
}

static void
check_bound(const struct run *run, const struct history *h, bool bucket)
{
	for (unsigned k = 0; k < run->limits.n; k++) {
		const struct rate *r = &run->limits.rate[k];
		int64_t used = passed_since(h, run->now - r->period_us);

		/* A bucket: what it held, and what came in meanwhile. */
		ck_assert_int_le(used, bucket ? r->burst + r->count :
		    r->count);
	}
}

START_TEST(never_more)
{
	static const enum algo_kind kinds[] = { ALGO_SLIDING_LOG,
	    ALGO_SLIDING_WINDOW, ALGO_TOKEN_BUCKET };
	enum algo_kind kind = kinds[_i / RATES];
	struct history *h = mem_zalloc(sizeof(*h));
	struct run run;

	run_init(&run, kind, rates[_i % RATES]);
	for (unsigned i = 0; i < STEPS && run.now < END &&
	    fits(kind, &run.limits) &&
	    run.limits.rate[0].count <= ALGO_LOG_MAX; i++) {
		int64_t cost = 1 + below(&run.seed, 2);

		run.now += random_pause(&run);
		if (!run_ask(&run, cost))
			continue;
		h->time[h->n] = run.now;
		h->cost[h->n++] = algo_min(cost, run.limits.rate[0].burst);
		check_bound(&run, h, kind == ALGO_TOKEN_BUCKET);
	}
	mem_free(run.state);
	mem_free(h);
}
END_TEST

/* burst + rate * t, over every stretch that begins when the bucket is full. */
START_TEST(bucket_is_exact)
{
	struct run run;
	int64_t begin, passed = 0;
	const struct rate *r;

	run_init(&run, ALGO_TOKEN_BUCKET, _i == 0 ? "300000/s:50" : _i == 1 ?
	    "7/s:20" : "999983/d:1000");
	r = &run.limits.rate[0];
	begin = run.now - run.now % r->tick_us;
	for (unsigned i = 0; i < 200000; i++) {
		__int128 due;

		passed += run_ask(&run, 1);
		due = (__int128)(run.now - begin) * r->count / r->period_us +
		    r->burst;
		ck_assert_int_le(passed, (int64_t)due);
		/* One who asks all the time gets all of it, tick by tick. */
		if (_i == 0)
			ck_assert_int_ge(passed, (int64_t)due < i ?
			    (int64_t)due - 1 : (int64_t)i);
		run.now += _i == 0 ? 1 : below(&run.seed, 100000);
	}
	mem_free(run.state);
}
END_TEST

/* Zeroes are a caller never seen; asking with cost 0 spends nothing. */
START_TEST(zeroes)
{
	struct run run;
	struct algo_ask ask = { .now = START, .cost = 0 };

	run_init(&run, (enum algo_kind)_i, "5/10s,7/m");
	ck_assert_int_eq(run.algo->fresh_at(&run.limits, run.state), 0);
	ck_assert_uint_eq(run.algo->size(&run.limits) % 8, 0);
	ck_assert(run.algo->peek(&run.limits, run.state, &ask, run.verdicts));
	ck_assert_int_eq(run.verdicts[0].remaining, 5);
	ck_assert_int_eq(run.verdicts[1].remaining, 7);
	ck_assert(run_ask(&run, 7));
	ck_assert(run.algo->peek(&run.limits, run.state, &ask, run.verdicts));
	ck_assert(run.verdicts[0].passed && run.verdicts[1].passed);
	ck_assert_int_eq(run.verdicts[0].remaining, 0);
	ck_assert_int_eq(run.verdicts[1].remaining, 0);
	ck_assert_int_gt(run.verdicts[0].reset_in, 0);
	mem_free(run.state);
}
END_TEST

START_TEST(names)
{
	enum algo_kind kind = ALGO_COUNT;

	ck_assert_int_eq(algo_by_name(span_str(algo_get((enum algo_kind)_i)->
	    name), &kind), ERR_OK);
	ck_assert_int_eq(kind, _i);
	ck_assert_int_eq(algo_by_name(SPAN("bucket"), &kind), ERR_NOT_FOUND);
	ck_assert_int_eq(algo_by_name(SPAN_EMPTY, &kind), ERR_NOT_FOUND);
	ck_assert_int_eq(kind, _i);
}
END_TEST

START_TEST(small_state)
{
	struct limits one, two;

	vectors_limits(SPAN("10/s"), &one);
	vectors_limits(SPAN("10/s,50/m"), &two);
	ck_assert_uint_eq(algo_get(ALGO_TOKEN_BUCKET)->size(&one), 16);
	ck_assert_uint_eq(algo_get(ALGO_TOKEN_BUCKET)->size(&two), 32);
	ck_assert_uint_eq(algo_get(ALGO_FIXED_WINDOW)->size(&one), 16);
	ck_assert_uint_eq(algo_get(ALGO_SLIDING_WINDOW)->size(&one), 80);
	ck_assert_uint_eq(algo_get(ALGO_SLIDING_LOG)->size(&one), 88);
	ck_assert_uint_eq(algo_get(ALGO_SLIDING_LOG)->size(&two), 408);
}
END_TEST

START_TEST(equal_limits)
{
	struct limits a, b;

	vectors_limits(SPAN("10/s,50/m"), &a);
	vectors_limits(SPAN("10/s,50/60s"), &b);
	ck_assert(limits_equal(&a, &b));
	vectors_limits(SPAN("10/s,50/m:9"), &b);
	ck_assert(!limits_equal(&a, &b));
	vectors_limits(SPAN("50/m,10/s"), &b);
	ck_assert(!limits_equal(&a, &b));
	vectors_limits(SPAN("10/s"), &b);
	ck_assert(!limits_equal(&a, &b));
	vectors_limits(SPAN("10/s,50/h"), &b);
	ck_assert(!limits_equal(&a, &b));
	vectors_limits(SPAN("10/s,51/m:50"), &b);
	ck_assert(!limits_equal(&a, &b));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("algo");
	TCase *tc = tcase_create("algo");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, waiting_is_enough, 0, ALGO_COUNT * RATES);
	tcase_add_loop_test(tc, reset_is_whole, 0, ALGO_COUNT * RATES);
	tcase_add_loop_test(tc, never_more, 0, 3 * RATES);
	tcase_add_loop_test(tc, bucket_is_exact, 0, 3);
	tcase_add_loop_test(tc, zeroes, 0, ALGO_COUNT);
	tcase_add_loop_test(tc, names, 0, ALGO_COUNT);
	tcase_add_test(tc, small_state);
	tcase_add_test(tc, equal_limits);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
