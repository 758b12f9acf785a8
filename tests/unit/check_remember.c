#include <check.h>
#include <stdlib.h>

#include "store/remember.h"

#define S INT64_C(1000000)
#define T0 (1000 * S)
#define SERVER (5000 * S)	/* the store's clock at T0 */

static struct policy policies[3];
static struct limits limits[3];
static struct row rows[3];
static struct question q;
static struct remember *memory;

static void
set_rate(struct rate *rate, int64_t count, int64_t period_us)
{
	*rate = (struct rate){ .count = count, .burst = count,
	    .period_us = period_us };
	ck_assert_int_eq(rate_prepare(rate), ERR_OK);
}

/* Rows of three policies with 10 a second each, all for one caller. */
static void
setup(void)
{
	memory = remember_new();
	q = (struct question){ .rows = rows, .nrows = 1 };
	for (unsigned i = 0; i < 3; i++) {
		policies[i] = (struct policy){ .tag = 100 + i,
		    .algorithm = ALGO_TOKEN_BUCKET };
		limits[i] = (struct limits){ .n = 1 };
		set_rate(&limits[i].rate[0], 10, S);
		rows[i] = (struct row){ .policy = &policies[i],
		    .limits = &limits[i], .identity = { 1, 2 }, .cost = 1,
		    .enforcing = true, .passed = true };
	}
}

static void
teardown(void)
{
	remember_free(memory);
}

static void
deny(struct row *row, int64_t pass_in)
{
	row->passed = false;
	for (unsigned i = 0; i < row->limits->n; i++)
		row->verdicts[i] = (struct verdict){ .passed = false,
		    .limit = 10, .pass_in = pass_in, .reset_in = pass_in };
}

/* Answered `trip` after asking at T0. */
static void
put(int64_t trip)
{
	q.now = SERVER;
	q.result = STORE_DECIDED;
	remember_put(memory, &q, remember_epoch(memory), T0, T0 + trip);
}

START_TEST(nothing_is_known_at_first)
{
	ck_assert(!remember_find(memory, &q, T0));
	put(0);
	ck_assert_msg(!remember_find(memory, &q, T0), "a pass was remembered");
}
END_TEST

START_TEST(a_denial_lasts_as_long_as_its_wait)
{
	deny(&rows[0], 300000);
	put(5000);
	ck_assert(remember_find(memory, &q, T0 + 5000));
	ck_assert(remember_find(memory, &q, T0 + 299999));
	ck_assert(!remember_find(memory, &q, T0 + 300000));
}
END_TEST

START_TEST(a_denial_lasts_no_longer_than_a_second)
{
	deny(&rows[0], 3600 * S);
	put(5000);
	ck_assert(remember_find(memory, &q, T0 + S - 1));
	ck_assert(!remember_find(memory, &q, T0 + S));
}
END_TEST

START_TEST(the_wait_told_is_enough)
{
	const struct verdict *v = &rows[0].verdicts[0];

	deny(&rows[0], 3600 * S);
	put(5000);
	q.source = SOURCE_NONE;
	q.result = STORE_UNKNOWN;
	ck_assert(remember_find(memory, &q, T0 + 105000));
	ck_assert_int_eq(q.result, STORE_DECIDED);
	ck_assert_int_eq(q.source, SOURCE_REMEMBERED);
	ck_assert(!rows[0].passed);
	ck_assert(!v->passed);
	/* Redis decided at T0 + 5 ms at the latest. */
	ck_assert_int_eq(v->pass_in, 3600 * S - 100000);
	ck_assert_int_eq(v->reset_in, 3600 * S - 100000);
	ck_assert_int_eq(v->limit, 10);
	ck_assert_int_eq(q.now, SERVER + 100000);
	/* A turn that began before the answer came. */
	ck_assert(remember_find(memory, &q, T0 + 4000));
	ck_assert_int_eq(v->pass_in, 3600 * S);
}
END_TEST

START_TEST(an_answer_that_came_too_late_is_not_kept)
{
	deny(&rows[0], 4000);
	put(5000);
	ck_assert(!remember_find(memory, &q, T0 + 1));
}
END_TEST

START_TEST(only_the_same_policy_identity_and_limits)
{
	struct limits other = limits[0];

	deny(&rows[0], S);
	put(0);
	rows[0].identity.hi++;
	ck_assert(!remember_find(memory, &q, T0 + 1));
	rows[0].identity.hi--;
	rows[0].policy = &policies[1];
	ck_assert(!remember_find(memory, &q, T0 + 1));
	rows[0].policy = &policies[0];
	rows[0].limits = &other;
	ck_assert(!remember_find(memory, &q, T0 + 1));
	rows[0].limits = &limits[0];
	ck_assert(remember_find(memory, &q, T0 + 1));
}
END_TEST

START_TEST(shadow_rows_neither_give_nor_take)
{
	rows[0].enforcing = false;
	deny(&rows[0], S);
	put(0);
	rows[0].enforcing = true;
	ck_assert(!remember_find(memory, &q, T0 + 1));
	put(0);
	rows[0].enforcing = false;
	ck_assert(!remember_find(memory, &q, T0 + 1));
	rows[0].enforcing = true;
	ck_assert(remember_find(memory, &q, T0 + 1));
}
END_TEST

START_TEST(only_denied_rows_are_filled)
{
	q.nrows = 3;
	deny(&rows[1], S);
	put(0);
	for (unsigned i = 0; i < 3; i++)
		rows[i].passed = i == 1;
	ck_assert(remember_find(memory, &q, T0 + 1));
	ck_assert(rows[0].passed);
	ck_assert(!rows[1].passed);
	ck_assert(rows[2].passed);
}
END_TEST

START_TEST(a_smaller_cost_may_pass)
{
	rows[0].cost = 5;
	deny(&rows[0], S);
	put(0);
	rows[0].cost = 4;
	ck_assert(!remember_find(memory, &q, T0 + 1));
	rows[0].cost = 5;
	ck_assert(remember_find(memory, &q, T0 + 1));
}
END_TEST

/* 10/s: four tokens more are 400 ms more; above the capacity the capacity. */
START_TEST(a_greater_cost_waits_longer_in_a_bucket)
{
	const struct verdict *v = &rows[0].verdicts[0];

	deny(&rows[0], 500000);
	put(0);
	rows[0].cost = 5;
	ck_assert(remember_find(memory, &q, T0));
	ck_assert_int_eq(v->pass_in, 900000);
	ck_assert_int_eq(v->reset_in, 900000);
	rows[0].cost = 5000;
	ck_assert(remember_find(memory, &q, T0));
	ck_assert_int_eq(v->pass_in, 1400000);
}
END_TEST

/* The bound on the wait for a greater cost holds for what the algorithm itself
 * would say, whatever the rate. */
START_TEST(a_greater_cost_is_never_told_too_little)
{
	static const struct { int64_t count, period; } rates[] = {
		{ 10, S }, { 3, S }, { 7, 10 * S }, { 60, 3600 * S },
		{ 999983, 86400 * S }, { 25, 1000 }
	};
	const struct algo *algo = algo_get(ALGO_TOKEN_BUCKET);

	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		int64_t state[16] = { 0 };
		struct algo_ask all = { .now = T0, .cost = rates[i].count };
		struct algo_ask one = { .now = T0 + 17, .cost = 1 };
		struct algo_ask three = { .now = T0 + 17, .cost = 3 };
		struct verdict truth;

		set_rate(&limits[0].rate[0], rates[i].count, rates[i].period);
		remember_drop(memory);
		ck_assert(algo->peek(&limits[0], state, &all, &truth));
		algo->spend(&limits[0], state, &all);
		rows[0].cost = 1;
		ck_assert(!algo->peek(&limits[0], state, &one,
		    rows[0].verdicts));
		rows[0].passed = false;
		put(0);
		ck_assert(!algo->peek(&limits[0], state, &three, &truth));
		rows[0].cost = 3;
		ck_assert(remember_find(memory, &q, T0));
		ck_assert_int_ge(rows[0].verdicts[0].pass_in, truth.pass_in);
		ck_assert_int_le(rows[0].verdicts[0].pass_in,
		    truth.pass_in + limits[0].rate[0].tick_us);
	}
}
END_TEST

START_TEST(a_greater_cost_waits_as_long_in_a_window)
{
	policies[0].algorithm = ALGO_FIXED_WINDOW;
	deny(&rows[0], 500000);
	put(0);
	rows[0].cost = 5;
	ck_assert(remember_find(memory, &q, T0));
	ck_assert_int_eq(rows[0].verdicts[0].pass_in, 500000);
}
END_TEST

/* What a log or a list gives back for more cannot be told from less. */
START_TEST(a_greater_cost_is_asked_elsewhere)
{
	policies[0].algorithm = ALGO_SLIDING_LOG;
	deny(&rows[0], 500000);
	put(0);
	rows[0].cost = 5;
	ck_assert(!remember_find(memory, &q, T0));

	remember_drop(memory);
	policies[0].algorithm = ALGO_TOKEN_BUCKET;
	rows[0].cost = 1;
	limits[0].n = 2;
	set_rate(&limits[0].rate[1], 100, 60 * S);
	deny(&rows[0], 500000);
	put(0);
	ck_assert(remember_find(memory, &q, T0));
	rows[0].cost = 5;
	ck_assert(!remember_find(memory, &q, T0));
}
END_TEST

START_TEST(costs_do_not_drive_each_other_out)
{
	policies[0].algorithm = ALGO_SLIDING_WINDOW;
	for (int64_t cost = 5; cost >= 1; cost -= 4) {
		rows[0].cost = cost;
		deny(&rows[0], 900000);
		put(0);
	}
	for (int64_t cost = 5; cost >= 1; cost -= 4) {
		rows[0].cost = cost;
		ck_assert(remember_find(memory, &q, T0));
	}
}
END_TEST

START_TEST(the_longest_rate_of_a_list_counts)
{
	struct verdict *v = rows[0].verdicts;

	limits[0].n = 2;
	set_rate(&limits[0].rate[1], 100, 60 * S);
	deny(&rows[0], 0);
	v[0].pass_in = v[0].reset_in = 100000;
	v[1].pass_in = v[1].reset_in = 700000;
	put(0);
	ck_assert(remember_find(memory, &q, T0 + 50000));
	ck_assert(!v[0].passed && v[0].pass_in == 50000);
	ck_assert(!v[1].passed && v[1].pass_in == 650000);
	/* The short one would let it pass by now, the row does not. */
	ck_assert(remember_find(memory, &q, T0 + 200000));
	ck_assert(!rows[0].passed);
	ck_assert(v[0].passed && v[0].pass_in == 0);
	ck_assert(!v[1].passed && v[1].pass_in == 500000);
	ck_assert(!remember_find(memory, &q, T0 + 700000));
}
END_TEST

START_TEST(dropping_forgets_what_is_still_on_its_way)
{
	unsigned epoch = remember_epoch(memory);

	deny(&rows[0], S);
	put(0);
	remember_drop(memory);
	ck_assert(!remember_find(memory, &q, T0 + 1));
	deny(&rows[0], S);
	remember_put(memory, &q, epoch, T0, T0);
	ck_assert(!remember_find(memory, &q, T0 + 1));
	put(0);
	ck_assert(remember_find(memory, &q, T0 + 1));
}
END_TEST

/* Far more callers than places: none is ever told another's denial, and the
 * newest are known. */
START_TEST(a_full_table_stays_right)
{
	for (uint64_t i = 0; i < 50000; i++) {
		rows[0].identity = (struct hash128){ i * 0x9e3779b97f4a7c15u,
		    i };
		deny(&rows[0], S / 2 + (int64_t)i);
		put(0);
		ck_assert(remember_find(memory, &q, T0 + 1));
		ck_assert_int_eq(rows[0].verdicts[0].pass_in,
		    S / 2 + (int64_t)i - 1);
		rows[0].identity.hi += 1000000;
		ck_assert(!remember_find(memory, &q, T0 + 1));
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("remember");
	TCase *tc = tcase_create("remember");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, nothing_is_known_at_first);
	tcase_add_test(tc, a_denial_lasts_as_long_as_its_wait);
	tcase_add_test(tc, a_denial_lasts_no_longer_than_a_second);
	tcase_add_test(tc, the_wait_told_is_enough);
	tcase_add_test(tc, an_answer_that_came_too_late_is_not_kept);
	tcase_add_test(tc, only_the_same_policy_identity_and_limits);
	tcase_add_test(tc, shadow_rows_neither_give_nor_take);
	tcase_add_test(tc, only_denied_rows_are_filled);
	tcase_add_test(tc, a_smaller_cost_may_pass);
	tcase_add_test(tc, a_greater_cost_waits_longer_in_a_bucket);
	tcase_add_test(tc, a_greater_cost_is_never_told_too_little);
	tcase_add_test(tc, a_greater_cost_waits_as_long_in_a_window);
	tcase_add_test(tc, a_greater_cost_is_asked_elsewhere);
	tcase_add_test(tc, costs_do_not_drive_each_other_out);
	tcase_add_test(tc, the_longest_rate_of_a_list_counts);
	tcase_add_test(tc, dropping_forgets_what_is_still_on_its_way);
	tcase_add_test(tc, a_full_table_stays_right);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
