#include <pthread.h>

#include "memory_ask.h"

/* ---- many threads ---- */

#define THREADS_MAX	4

struct hammer {
	struct store *store;
	struct row *rows;
	unsigned nrows, tries, passed;
	pthread_barrier_t *start;
};

static void *
hammer_run(void *arg)
{
	struct hammer *h = arg;

	pthread_barrier_wait(h->start);
	for (unsigned i = 0; i < h->tries; i++)
		h->passed += take(h->store, h->rows, h->nrows, T0 + 1);
	return NULL;
}

/* All at once; returns how many questions passed. */
static unsigned
hammer_all(struct hammer *hammers, unsigned n)
{
	pthread_t threads[THREADS_MAX];
	pthread_barrier_t start;
	unsigned passed = 0;

	pthread_barrier_init(&start, NULL, n);
	for (unsigned i = 0; i < n; i++) {
		hammers[i].start = &start;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, hammer_run,
		    &hammers[i]), 0);
	}
	for (unsigned i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		passed += hammers[i].passed;
	}
	pthread_barrier_destroy(&start);
	return passed;
}

static const char *const hammer_rates[ALGO_COUNT] = {
	[ALGO_TOKEN_BUCKET] = "20000/d", [ALGO_SLIDING_LOG] = "1000/d",
	[ALGO_SLIDING_WINDOW] = "20000/d", [ALGO_FIXED_WINDOW] = "20000/d",
};

START_TEST(threads_admit_the_limit_exactly)
{
	const enum algo_kind kind = (enum algo_kind)(_i % ALGO_COUNT);
	const unsigned n = _i < ALGO_COUNT ? 2 : 4;
	struct store *store = memory_store_new(MIB);
	struct policy policy = policy_of(kind, 1, hammer_rates[kind]);
	const unsigned limit = (unsigned)policy.limits.rate[0].count;
	struct row rows[THREADS_MAX];
	struct hammer hammers[THREADS_MAX];

	for (unsigned i = 0; i < n; i++) {
		rows[i] = row_of(&policy, 7);
		hammers[i] = (struct hammer){ .store = store,
		    .rows = &rows[i], .nrows = 1, .tries = limit };
	}
	ck_assert_uint_eq(hammer_all(hammers, n), limit);
	ck_assert_uint_eq(memory_store_keys(store), 1);
	close_store(store);
}
END_TEST

/* Rows in opposite order would block each other if locks were taken so. */
START_TEST(threads_take_all_rows_or_none)
{
	struct store *store = memory_store_new(MIB);
	struct policy wide = policy_of(ALGO_TOKEN_BUCKET, 1, "5000/d");
	struct policy narrow = policy_of(ALGO_FIXED_WINDOW, 2, "3000/d");
	struct row rows[4][8];
	struct hammer hammers[4];

	for (unsigned i = 0; i < 4; i++) {
		for (unsigned j = 0; j < 8; j++)
			rows[i][j] = row_of(&wide, i % 2 ? 7 - j : j);
		rows[i][i] = row_of(&narrow, 0);
		rows[i][(i + 4) % 8] = row_of(&wide, 100 + i);
		hammers[i] = (struct hammer){ .store = store,
		    .rows = rows[i], .nrows = 8, .tries = 1500 };
	}
	ck_assert_uint_eq(hammer_all(hammers, 4), 3000);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(left(store, &wide, 100 + i, T0 + 1),
		    5000 - 1 - (int)hammers[i].passed);
	close_store(store);
}
END_TEST

struct churn {
	struct store *store;
	uint64_t seed;
};

static void *
churn_run(void *arg)
{
	const struct churn *churn = arg;
	struct policy bucket = policy_of(ALGO_TOKEN_BUCKET, 1, "10/h");
	struct policy log = policy_of(ALGO_SLIDING_LOG, 2, "300/h");
	struct policy slide = policy_of(ALGO_SLIDING_WINDOW, 3, "10/m");

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t r = scramble(churn->seed + i);
		struct row rows[] = { row_of(&bucket, r % 30000),
		    row_of(&log, r % 977), row_of(&slide, r % 5000) };

		take(churn->store, rows, 3, T0 + i * 1000 + (int64_t)(r % 50));
		if (i % 1000 == 0)
			assert_bounded(churn->store);
	}
	return NULL;
}

START_TEST(threads_evict_within_the_bound)
{
	struct store *store = memory_store_new(MIB);
	struct churn churns[THREADS_MAX];
	pthread_t threads[THREADS_MAX];

	for (unsigned i = 0; i < THREADS_MAX; i++) {
		churns[i] = (struct churn){ store, i * UINT64_C(1000003) };
		pthread_create(&threads[i], NULL, churn_run, &churns[i]);
	}
	for (unsigned i = 0; i < THREADS_MAX; i++)
		pthread_join(threads[i], NULL);
	assert_bounded(store);
	ck_assert_int_gt(memory_store_evictions(store), 0);
	close_store(store);
}
END_TEST

/* ---- one step for all rows ---- */

START_TEST(denied_spends_and_creates_nothing)
{
	struct store *store = memory_store_new(MIB);
	struct policy wide = policy_of(ALGO_TOKEN_BUCKET, 1, "10/h");
	struct policy narrow = policy_of(ALGO_TOKEN_BUCKET, 2, "1/h");
	struct row rows[9];

	MUST(take_one(store, &narrow, 5, T0));
	MUST(take_one(store, &wide, 0, T0));
	ck_assert_uint_eq(memory_store_keys(store), 2);
	/* Nine rows in four shards: some share one. */
	for (unsigned i = 0; i < 8; i++)
		rows[i] = row_of(&wide, i);
	rows[8] = row_of(&narrow, 5);
	MUST(!take(store, rows, 9, T0));
	ck_assert(!rows[8].passed);
	for (unsigned i = 0; i < 8; i++)
		ck_assert(rows[i].passed);
	ck_assert_uint_eq(memory_store_keys(store), 2);
	ck_assert_int_eq(left(store, &wide, 0, T0), 8);
	ck_assert_int_eq(left(store, &wide, 1, T0), 9);
	ck_assert_uint_eq(memory_store_keys(store), 2);

	MUST(take(store, rows, 8, T0));
	ck_assert_uint_eq(memory_store_keys(store), 9);
	ck_assert_int_eq(left(store, &wide, 0, T0), 7);
	for (unsigned i = 1; i < 8; i++)
		ck_assert_int_eq(left(store, &wide, i, T0), 8);
	close_store(store);
}
END_TEST

START_TEST(shadow_rows_never_deny_and_spend_only_when_they_pass)
{
	struct store *store = memory_store_new(MIB);
	struct policy wide = policy_of(ALGO_TOKEN_BUCKET, 1, "5/h");
	struct policy shadow = policy_of(ALGO_TOKEN_BUCKET, 2, "2/h");
	struct row rows[2] = { row_of(&shadow, 1), row_of(&wide, 1) };

	rows[0].enforcing = false;
	for (int i = 0; i < 5; i++) {
		MUST(take(store, rows, 2, T0));
		ck_assert_int_eq(rows[0].passed, i < 2);
		ck_assert_int_eq(rows[0].verdicts[0].pass_in,
		    i < 2 ? 0 : 1800 * SECOND);
	}
	/* Now the enforcing one denies; a fresh shadow must stay fresh. */
	rows[0].identity = identity(99);
	MUST(!take(store, rows, 2, T0));
	ck_assert(rows[0].passed);
	ck_assert_int_eq(left(store, &shadow, 99, T0), 1);
	close_store(store);
}
END_TEST

START_TEST(rows_with_one_key_count_together)
{
	struct store *store = memory_store_new(MIB);
	struct policy policy = policy_of(_i, 1, "5/h");
	struct row rows[3] = { row_of(&policy, 1), row_of(&policy, 2),
	    row_of(&policy, 1) };

	for (int i = 0; i < 2; i++)
		MUST(take(store, rows, 3, T0));
	ck_assert_int_eq(rows[0].verdicts[0].remaining, 2);
	ck_assert_int_eq(rows[2].verdicts[0].remaining, 1);
	MUST(!take(store, rows, 3, T0));
	ck_assert(rows[0].passed && rows[1].passed && !rows[2].passed);
	ck_assert_int_eq(left(store, &policy, 1, T0), 0);
	ck_assert_int_eq(left(store, &policy, 2, T0), 2);
	ck_assert_uint_eq(memory_store_keys(store), 2);
	/* A shadow twin is turned away alone. */
	rows[2].enforcing = false;
	MUST(take(store, rows, 3, T0));
	ck_assert(!rows[2].passed);
	ck_assert_int_eq(left(store, &policy, 1, T0), -1);
	close_store(store);
}
END_TEST

START_TEST(rows_with_one_key_and_other_numbers)
{
	struct store *store = memory_store_new(MIB);
	struct policy ten = policy_of(ALGO_TOKEN_BUCKET, 1, "10/h");
	struct policy twenty = policy_of(ALGO_TOKEN_BUCKET, 1, "20/h");
	struct row rows[2] = { row_of(&ten, 1), row_of(&twenty, 1) };

	rows[0].cost = 5;
	rows[1].cost = 10;
	MUST(take(store, rows, 2, T0));
	ck_assert_int_eq(rows[1].verdicts[0].remaining, 0);
	ck_assert_int_eq(left(store, &ten, 1, T0), -1);
	ck_assert_uint_eq(memory_store_keys(store), 1);
	close_store(store);
}
END_TEST

START_TEST(any_number_of_rows)
{
	struct store *store = memory_store_new(MIB);
	struct policy policy = policy_of(ALGO_TOKEN_BUCKET, 1, "5/h");
	struct row rows[100];

	MUST(take(store, rows, 0, T0));
	for (unsigned i = 0; i < LEN(rows); i++)
		rows[i] = row_of(&policy, i);
	for (unsigned n = 1; n <= LEN(rows); n += 33)
		MUST(take(store, rows, n, T0));
	ck_assert_uint_eq(memory_store_keys(store), 100);
	ck_assert_int_eq(left(store, &policy, 0, T0), 0);
	ck_assert_int_eq(left(store, &policy, 99, T0), 3);
	close_store(store);
}
END_TEST

START_TEST(same_identity_under_two_tags)
{
	struct store *store = memory_store_new(MIB);
	struct policy a = policy_of(ALGO_TOKEN_BUCKET, 1, "1/h");
	struct policy b = policy_of(ALGO_TOKEN_BUCKET, 2, "1/h");

	MUST(take_one(store, &a, 1, T0));
	MUST(!take_one(store, &a, 1, T0));
	MUST(take_one(store, &b, 1, T0));
	ck_assert_uint_eq(memory_store_keys(store), 2);
	close_store(store);
}
END_TEST

START_TEST(time_does_not_run_back)
{
	struct store *store = memory_store_new(MIB);
	struct policy policy = policy_of(ALGO_TOKEN_BUCKET, 1, "10/s");
	struct row row = row_of(&policy, 1);
	struct question question = { .rows = &row, .nrows = 1, .cap = 1 };

	store->ops->take(store, &question, T0 + SECOND);
	ck_assert_int_eq(question.now, T0 + SECOND);
	store->ops->take(store, &question, T0);
	ck_assert_int_eq(question.now, T0 + SECOND);
	store->ops->take(store, &question, T0 + SECOND + 1);
	ck_assert_int_eq(question.now, T0 + SECOND + 1);
	store->ops->cancel(store, &question);
	close_store(store);
}
END_TEST

/* ---- changed numbers ---- */

START_TEST(new_numbers_keep_what_was_used)
{
	struct store *store = memory_store_new(MIB);
	struct policy was = policy_of(ALGO_TOKEN_BUCKET, 1, "10/h");
	struct policy is = policy_of(ALGO_TOKEN_BUCKET, 1, "20/h");

	for (int i = 0; i < 5; i++)
		MUST(take_one(store, &was, 1, T0));
	store->ops->reloaded(store);
	ck_assert_int_eq(left(store, &is, 1, T0), 9);
	MUST(take_one(store, &is, 1, T0));
	ck_assert_int_eq(left(store, &is, 1, T0), 8);
	/* In place, in the very configuration a caller might free. */
	is.limits = was.limits;
	ck_assert_int_eq(left(store, &is, 1, T0), 3);
	ck_assert_uint_eq(memory_store_keys(store), 1);
	close_store(store);
}
END_TEST

START_TEST(new_numbers_may_need_more_state)
{
	struct store *store = memory_store_new(MIB);
	struct policy was = policy_of(ALGO_SLIDING_LOG, 1, "1/h");
	struct policy is = policy_of(ALGO_SLIDING_LOG, 1, "1000/h");
	struct policy pair = policy_of(ALGO_TOKEN_BUCKET, 2, "10/h");
	size_t bytes;

	MUST(take_one(store, &was, 1, T0));
	bytes = memory_store_bytes(store);
	MUST(take_one(store, &is, 1, T0));
	ck_assert_uint_eq(memory_store_bytes(store), bytes +
	    memory_store_key_bytes(8008) - memory_store_key_bytes(16));
	ck_assert_int_eq(left(store, &is, 1, T0), 997);
	MUST(!take_one(store, &was, 1, T0));
	ck_assert_int_eq(left(store, &is, 1, T0), 997);

	MUST(take_one(store, &pair, 1, T0));
	pair.limits = limits_of("10/h", "100/d");
	MUST(take_one(store, &pair, 1, T0));
	ck_assert_int_eq(left(store, &pair, 1, T0), 7);
	pair.limits = limits_of("10/h", NULL);
	MUST(take_one(store, &pair, 1, T0));
	ck_assert_int_eq(left(store, &pair, 1, T0), 6);
	close_store(store);
}
END_TEST

/* A window of another period starts anew, but not by a denied request. */
START_TEST(denied_converts_nothing)
{
	struct store *store = memory_store_new(MIB);
	struct policy was = policy_of(ALGO_FIXED_WINDOW, 1, "2/h");
	struct policy is = policy_of(ALGO_FIXED_WINDOW, 1, "2/m");
	struct policy other = policy_of(ALGO_TOKEN_BUCKET, 2, "1/h");
	struct row rows[2] = { row_of(&is, 1), row_of(&other, 1) };

	for (int i = 0; i < 2; i++)
		MUST(take_one(store, &was, 1, T0));
	MUST(take_one(store, &other, 1, T0));
	MUST(!take(store, rows, 2, T0));
	ck_assert(rows[0].passed);
	MUST(!take_one(store, &was, 1, T0));
	MUST(take_one(store, &is, 1, T0));
	MUST(take_one(store, &was, 1, T0));
	close_store(store);
}
END_TEST

/* The numbers of states that are gone go too. */
START_TEST(numbers_do_not_pile_up)
{
	struct store *store = memory_store_new(MIB);
	struct policy policy = policy_of(ALGO_TOKEN_BUCKET, 1, "1000/h");
	size_t bytes;

	MUST(take_one(store, &policy, 1, T0));
	bytes = memory_store_bytes(store);
	for (int64_t i = 0; i < 900; i++) {
		policy.limits.rate[0].count = 1001 + i;
		policy.limits.rate[0].burst = 1001 + i;
		ck_assert_int_eq(rate_prepare(&policy.limits.rate[0]),
		    ERR_OK);
		MUST(take_one(store, &policy, 1, T0 + i * SECOND));
	}
	ck_assert_uint_eq(memory_store_bytes(store), bytes);
	close_store(store);
}
END_TEST

static void
add_rows(Suite *suite)
{
	TCase *rows = tcase_create("rows");

	tcase_add_test(rows, denied_spends_and_creates_nothing);
	tcase_add_test(rows,
	    shadow_rows_never_deny_and_spend_only_when_they_pass);
	tcase_add_loop_test(rows, rows_with_one_key_count_together, 0,
	    ALGO_COUNT);
	tcase_add_test(rows, rows_with_one_key_and_other_numbers);
	tcase_add_test(rows, any_number_of_rows);
	tcase_add_test(rows, same_identity_under_two_tags);
	tcase_add_test(rows, time_does_not_run_back);
	tcase_add_test(rows, new_numbers_keep_what_was_used);
	tcase_add_test(rows, new_numbers_may_need_more_state);
	tcase_add_test(rows, denied_converts_nothing);
	tcase_add_test(rows, numbers_do_not_pile_up);
	suite_add_tcase(suite, rows);
}

static void
add_threads(Suite *suite)
{
	TCase *threads = tcase_create("threads");

	tcase_set_timeout(threads, 120);
	tcase_add_loop_test(threads, threads_admit_the_limit_exactly, 0,
	    2 * ALGO_COUNT);
	tcase_add_test(threads, threads_take_all_rows_or_none);
	tcase_add_test(threads, threads_evict_within_the_bound);
	suite_add_tcase(suite, threads);
}

int
main(void)
{
	Suite *suite = suite_create("memory");
	SRunner *runner;
	int failed;

	add_rows(suite);
	add_threads(suite);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
