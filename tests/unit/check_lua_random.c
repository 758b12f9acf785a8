#include <check.h>
#include <stdlib.h>

#include "harness/lua_runner.h"
#include "harness/model.h"
#include "limit/script.h"

/*
 * The shipped scripts and the C algorithms are one thing, to the unit: long
 * random runs of questions of one or several rows, with all that moves: time
 * in both directions, costs, limits, shadow rows, looks.
 */

#define STEPS	120000
#define START	INT64_C(1764500000123457)
#define YEAR	(365 * INT64_C(86400000000))
#define ALL	ALGO_COUNT	/* a mix of algorithms */

/* A small generator, so that a seed means the same everywhere. */
static uint64_t
next(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static int64_t
below(uint64_t *seed, int64_t n)
{
	return (int64_t)(next(seed) % (uint64_t)n);
}

struct run {
	uint64_t seed;
	unsigned kind;			/* or ALL */
	int64_t now;
	struct policy policies[MODEL_ROWS];
	struct limits limits[MODEL_ROWS];
	struct row rows[MODEL_ROWS], expect[MODEL_ROWS];
	struct model model;
	struct lua_runner *runner;
	struct text key;
	unsigned step, allowed, denied, repairs;
};

static void
random_rate(struct run *run, enum algo_kind kind, struct rate *ret)
{
	static const int64_t periods[] = { 1000, 7000, 10000, 250000, 1000000,
	    3000000, 5000000, 60000000, INT64_C(3600000000),
	    INT64_C(86400000000), 30 * INT64_C(86400000000) };
	static const int64_t counts[] = { 1, 2, 3, 5, 7, 9, 10, 16, 100, 997,
	    1000, 86400, 300000, 999983, 1000000 };
	int64_t ncounts = kind == ALGO_SLIDING_LOG ? 11 : 15;

	do {
		ret->period_us = periods[below(&run->seed, 11)];
		ret->count = counts[below(&run->seed,
		    1 + below(&run->seed, ncounts))];
		ret->burst = below(&run->seed, 3) > 0 ? ret->count :
		    1 + below(&run->seed, 2 * ret->count);
	} while (rate_prepare(ret) != ERR_OK);
}

static void
random_limits(struct run *run, unsigned i)
{
	struct limits *limits = &run->limits[i];
	unsigned want = below(&run->seed, 2) > 0 ? 1 :
	    1 + (unsigned)below(&run->seed, RATES_MAX);

	limits->n = 0;
	while (limits->n < want) {
		struct rate *rate = &limits->rate[limits->n];

		random_rate(run, run->policies[i].algorithm, rate);
		if (algo_pair(limits, rate->period_us) < 0)
			limits->n++;
	}
}

/* Other numbers, or another order, and most periods stay. */
static void
vary_limits(struct run *run, unsigned i)
{
	struct limits *limits = &run->limits[i];
	struct rate *rate = &limits->rate[below(&run->seed, limits->n)];
	struct rate old = *rate;

	if (below(&run->seed, 4) == 0) {
		random_limits(run, i);
		return;
	}
	if (below(&run->seed, 2) == 0) {
		*rate = limits->rate[0];
		limits->rate[0] = old;
		return;
	}
	random_rate(run, run->policies[i].algorithm, rate);
	rate->period_us = old.period_us;
	if (rate_prepare(rate) != ERR_OK)
		*rate = old;
}

static void
run_init(struct run *run, unsigned kind, uint64_t seed)
{
	*run = (struct run){ .seed = seed, .kind = kind, .now = START };
	model_init(&run->model);
	run->runner = lua_runner_new();
	lua_runner_expire(run->runner, false);
}

static void
run_fini(struct run *run)
{
	lua_runner_free(run->runner);
	model_fini(&run->model);
	text_fini(&run->key);
}

/* All callers are new, and all policies others. */
static void
run_anew(struct run *run)
{
	lua_runner_flush(run->runner);
	model_fini(&run->model);
	model_init(&run->model);
	for (unsigned i = 0; i < MODEL_ROWS; i++) {
		struct policy *policy = &run->policies[i];

		policy->algorithm = (enum algo_kind)(run->kind < ALL ?
		    run->kind : (unsigned)below(&run->seed, ALGO_COUNT));
		policy->align_first = below(&run->seed, 2);
		policy->tag = next(&run->seed) << 8 | i;
		random_limits(run, i);
		run->rows[i] = (struct row){ .policy = policy,
		    .limits = &run->limits[i],
		    .identity = { next(&run->seed), next(&run->seed) } };
	}
}

static void
run_clock(struct run *run)
{
	const struct limits *limits = &run->limits[below(&run->seed, 2)];
	const struct rate *rate = &limits->rate[below(&run->seed, limits->n)];
	int64_t mean = rate->period_us / rate->count + 1;
	int64_t dice = below(&run->seed, 1000);

	if (dice < 650)
		run->now += below(&run->seed, 2 * mean);
	else if (dice < 800)
		run->now += below(&run->seed, 4);
	else if (dice < 930)
		run->now += below(&run->seed, rate->period_us / 4);
	else if (dice < 960)
		run->now += below(&run->seed, rate->period_us * 2);
	else if (dice < 980)
		run->now -= below(&run->seed, 2 * mean);
	else if (dice < 995)
		run->now -= below(&run->seed, rate->period_us * 3);
	else
		run->now += below(&run->seed, 2 * YEAR) - YEAR;
	if (run->now < YEAR || run->now > INT64_C(1) << 51)
		run->now = START;
}

static int64_t
random_cost(struct run *run, const struct limits *limits)
{
	int64_t dice = below(&run->seed, 20);

	if (dice < 13)
		return 1;
	if (dice < 16)
		return 1 + below(&run->seed, 5);
	if (dice < 19)
		return 1 + below(&run->seed, limits->rate[0].count);
	return 1 + below(&run->seed, 3 * limits->rate[0].burst);
}

static struct question
random_question(struct run *run)
{
	unsigned n = 1 + (unsigned)below(&run->seed, MODEL_ROWS);

	if (below(&run->seed, 3) > 0)
		n = 1;
	for (unsigned i = 0; i < n; i++) {
		run->rows[i].cost = random_cost(run, &run->limits[i]);
		run->rows[i].enforcing = below(&run->seed, 5) > 0;
	}
	memcpy(run->expect, run->rows, sizeof(run->rows));
	return (struct question){ .rows = run->rows, .nrows = n };
}

static void
compare(const struct run *run, unsigned i)
{
	const struct row *got = &run->rows[i], *want = &run->expect[i];

	for (unsigned k = 0; k < got->limits->n; k++) {
		const struct verdict *a = &got->verdicts[k];
		const struct verdict *b = &want->verdicts[k];

		if (a->passed == b->passed && a->limit == b->limit &&
		    a->remaining == b->remaining && a->pass_in == b->pass_in &&
		    a->reset_in == b->reset_in)
			continue;
		ck_abort_msg("step %u row %u (%s) rate %u at %lld: Lua %d "
		    "%lld %lld %lld, C %d %lld %lld %lld", run->step, i,
		    algo_get(got->policy->algorithm)->name, k,
		    (long long)run->now, a->passed, (long long)a->remaining,
		    (long long)a->pass_in, (long long)a->reset_in, b->passed,
		    (long long)b->remaining, (long long)b->pass_in,
		    (long long)b->reset_in);
	}
	ck_assert_int_eq(got->passed, want->passed);
}

/* A key written now lives until its state means nothing, and a second more. */
static void
compare_life(struct run *run, unsigned i)
{
	int64_t left = model_fresh_at(&run->model, i,
	    run->policies[i].algorithm) - run->now;

	text_clear(&run->key);
	script_key(SPAN("weir:"), &run->rows[i], &run->key);
	ck_assert_int_eq(lua_runner_ttl(run->runner, text_span(&run->key)),
	    (left > 0 ? (left + 999) / 1000 : 0) + 1000);
}

static void
run_step(struct run *run)
{
	struct question q = random_question(run), expect;
	bool spend = below(&run->seed, 20) > 0, allowed = true;
	unsigned repairs, writes = 0;

	expect = (struct question){ .rows = run->expect, .nrows = q.nrows };
	model_decide(&run->model, &expect, run->now, spend);
	lua_runner_set_now(run->runner, run->now);
	lua_runner_ask(run->runner, &q, spend, &repairs);
	for (unsigned i = 0; i < q.nrows; i++) {
		compare(run, i);
		allowed = allowed && (q.rows[i].passed || !q.rows[i].enforcing);
	}
	ck_assert_uint_eq(repairs, run->model.repairs);
	for (unsigned i = 0; i < q.nrows; i++) {
		if (!spend || !allowed || !q.rows[i].passed)
			continue;
		compare_life(run, i);
		writes++;
	}
	ck_assert_uint_ge(lua_runner_writes(run->runner), writes);
	ck_assert_uint_le(lua_runner_writes(run->runner), writes + repairs);
	run->allowed += allowed;
	run->denied += !allowed;
	run->repairs += repairs;
}

START_TEST(random_steps)
{
	struct run run;

	run_init(&run, (unsigned)_i, (uint64_t)(_i + 1) * 7919);
	for (run.step = 0; run.step < STEPS; run.step++) {
		if (run.step % 300 == 0)
			run_anew(&run);
		run_clock(&run);
		if (below(&run.seed, 50) == 0)
			vary_limits(&run, (unsigned)below(&run.seed,
			    MODEL_ROWS));
		run_step(&run);
	}
	/* Both outcomes were met often, or nothing is proved. */
	ck_assert_uint_gt(run.allowed, STEPS / 8);
	ck_assert_uint_gt(run.denied, STEPS / 8);
	ck_assert_uint_gt(run.repairs, 10);
	run_fini(&run);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("lua_random");
	TCase *tc = tcase_create("lua_random");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, random_steps, 0, ALL + 1);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
