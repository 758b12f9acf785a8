#include <check.h>
#include <stdlib.h>

#include "store/breaker.h"

#define MS INT64_C(1000)

static struct breaker
closed_since(int64_t when)
{
	struct breaker b;

	breaker_init(&b, 7);
	for (int i = 1; i < BREAKER_PROBES; i++)
		ck_assert(!breaker_probe_good(&b, when));
	ck_assert(!b.closed);
	ck_assert(breaker_probe_good(&b, when));
	ck_assert(b.closed);
	return b;
}

static void
assert_about(int64_t delay, int64_t expected)
{
	ck_assert_int_ge(delay, expected - expected / 5);
	ck_assert_int_le(delay, expected + expected / 5);
}

START_TEST(five_misses_in_a_row_open)
{
	struct breaker b = closed_since(0);

	for (int i = 0; i < 4; i++)
		ck_assert(!breaker_miss(&b));
	ck_assert(breaker_miss(&b));
}
END_TEST

START_TEST(a_reply_between_breaks_the_row)
{
	struct breaker b = closed_since(0);

	for (int i = 0; i < 4; i++)
		ck_assert(!breaker_miss(&b));
	breaker_hit(&b);
	for (int i = 0; i < 4; i++)
		ck_assert(!breaker_miss(&b));
	breaker_late(&b);
	for (int i = 0; i < 4; i++)
		ck_assert(!breaker_miss(&b));
	ck_assert(breaker_miss(&b));
}
END_TEST

START_TEST(half_of_a_hundred_open)
{
	struct breaker b = closed_since(0);

	/* One in two is missed: the row never grows, the half is met at 50. */
	for (int i = 1; i < BREAKER_MISSES; i++) {
		ck_assert(!breaker_miss(&b));
		breaker_hit(&b);
	}
	ck_assert(breaker_miss(&b));
}
END_TEST

START_TEST(late_replies_do_not_count_as_hits)
{
	struct breaker b = closed_since(0);

	/* A server that always answers, always too late. */
	for (int i = 1; i < BREAKER_MISSES; i++) {
		ck_assert(!breaker_miss(&b));
		breaker_late(&b);
	}
	ck_assert(breaker_miss(&b));
}
END_TEST

START_TEST(old_misses_leave_the_window)
{
	struct breaker b = closed_since(0);

	/* 49 of any 100, for long. */
	for (int round = 0; round < 20; round++)
		for (int i = 0; i < BREAKER_WINDOW; i++) {
			if (i % 2 == 0 && i > 0)
				ck_assert(!breaker_miss(&b));
			else
				breaker_hit(&b);
		}
	ck_assert_uint_eq(b.misses, BREAKER_MISSES - 1);
}
END_TEST

START_TEST(echoes_do_not_count_while_open)
{
	struct breaker b = closed_since(0);

	breaker_open(&b, BREAKER_SILENT, 2000 * MS);
	/* The queue that is answered at once after the opening. */
	for (int i = 0; i < 200; i++)
		ck_assert(!breaker_miss(&b));
	for (int i = 0; i < BREAKER_PROBES; i++)
		breaker_probe_good(&b, 3000 * MS);
	ck_assert(b.closed);
	for (int i = 0; i < 4; i++)
		ck_assert(!breaker_miss(&b));
}
END_TEST

START_TEST(probes_must_be_in_a_row)
{
	struct breaker b = closed_since(0);

	breaker_open(&b, BREAKER_LOST, 0);
	ck_assert(!breaker_probe_good(&b, 1));
	ck_assert(!breaker_probe_good(&b, 2));
	breaker_open(&b, BREAKER_LOST, 3);
	ck_assert(!breaker_probe_good(&b, 4));
	ck_assert(!breaker_probe_good(&b, 5));
	ck_assert(breaker_probe_good(&b, 6));
	ck_assert_int_eq(b.closed_at, 6);
	ck_assert_msg(!breaker_probe_good(&b, 7), "closed twice");
}
END_TEST

START_TEST(delays_double_to_the_most)
{
	struct breaker b;

	breaker_init(&b, 1);
	assert_about(breaker_open(&b, BREAKER_LOST, 0), 100 * MS);
	assert_about(breaker_open(&b, BREAKER_LOST, 0), 200 * MS);
	assert_about(breaker_open(&b, BREAKER_LOST, 0), 400 * MS);
	for (int i = 0; i < 100; i++)
		assert_about(breaker_open(&b, BREAKER_LOST, 0), 500 * MS);
}
END_TEST

START_TEST(a_lost_steady_connection_is_tried_at_once)
{
	struct breaker b = closed_since(0);

	assert_about(breaker_open(&b, BREAKER_LOST, 1000 * MS), 5 * MS);
	assert_about(breaker_open(&b, BREAKER_LOST, 1005 * MS), 100 * MS);
	b = closed_since(0);
	assert_about(breaker_open(&b, BREAKER_SILENT, 1000 * MS), 100 * MS);
}
END_TEST

START_TEST(one_that_flaps_is_not_tried_at_once)
{
	struct breaker b = closed_since(0);

	assert_about(breaker_open(&b, BREAKER_LOST, 999 * MS), 100 * MS);
	for (int i = 0; i < BREAKER_PROBES; i++)
		breaker_probe_good(&b, 1100 * MS);
	assert_about(breaker_open(&b, BREAKER_LOST, 1200 * MS), 200 * MS);
}
END_TEST

START_TEST(who_was_refused_waits_long)
{
	struct breaker b = closed_since(0);

	assert_about(breaker_open(&b, BREAKER_REFUSED, 2000 * MS), 5000 * MS);
	assert_about(breaker_open(&b, BREAKER_REFUSED, 7000 * MS), 5000 * MS);
	/* Something else now: back to the short ones. */
	assert_about(breaker_open(&b, BREAKER_LOST, 7000 * MS), 500 * MS);
}
END_TEST

START_TEST(jitter_differs_by_seed)
{
	struct breaker a, b;
	int same = 0;

	breaker_init(&a, 1);
	breaker_init(&b, 99);
	for (int i = 0; i < 50; i++)
		same += breaker_open(&a, BREAKER_LOST, 0) ==
		    breaker_open(&b, BREAKER_LOST, 0);
	ck_assert_int_lt(same, 5);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("breaker");
	TCase *tc = tcase_create("breaker");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, five_misses_in_a_row_open);
	tcase_add_test(tc, a_reply_between_breaks_the_row);
	tcase_add_test(tc, half_of_a_hundred_open);
	tcase_add_test(tc, late_replies_do_not_count_as_hits);
	tcase_add_test(tc, old_misses_leave_the_window);
	tcase_add_test(tc, echoes_do_not_count_while_open);
	tcase_add_test(tc, probes_must_be_in_a_row);
	tcase_add_test(tc, delays_double_to_the_most);
	tcase_add_test(tc, a_lost_steady_connection_is_tried_at_once);
	tcase_add_test(tc, one_that_flaps_is_not_tried_at_once);
	tcase_add_test(tc, who_was_refused_waits_long);
	tcase_add_test(tc, jitter_differs_by_seed);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
