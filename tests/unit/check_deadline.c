#include <check.h>
#include <stdlib.h>

#include "net/deadline.h"

/* Things with a deadline, and the order in which theirs came. */
struct thing {
	struct deadline deadline;
	int id;
};

static int fired[16], nfired;
static struct deadline *drop;		/* cleared by the next that fires */

static void
on_fire(struct deadline *d)
{
	fired[nfired++] = LIST_ITEM(d, struct thing, deadline)->id;
	if (drop != NULL)
		deadline_clear(drop);
	drop = NULL;
}

static struct loop *loop;
static struct deadlines all;
static struct deadline_class quick, slow;
static struct thing things[4];

static void
setup(void)
{
	loop = loop_new();
	deadlines_init(&all, loop);
	deadline_class_init(&all, &quick, 100, on_fire);
	deadline_class_init(&all, &slow, 1000, on_fire);
	for (int i = 0; i < 4; i++) {
		things[i].id = i;
		deadline_init(&things[i].deadline);
	}
	nfired = 0;
	drop = NULL;
}

static void
teardown(void)
{
	deadlines_fini(&all);
	loop_free(loop);
}

static void
ck_fired(const char *want)
{
	char got[17] = "";

	for (int i = 0; i < nfired; i++)
		got[i] = (char)('0' + fired[i]);
	ck_assert_str_eq(got, want);
}

START_TEST(not_before_it_is_due)
{
	deadline_set(&things[0].deadline, &quick, 5000);
	deadlines_run(&all, 5099);
	ck_fired("");
	deadlines_run(&all, 5100);
	ck_fired("0");
	ck_assert_ptr_null(things[0].deadline.class);
	deadlines_run(&all, 9000);
	ck_fired("0");
}
END_TEST

START_TEST(activity_moves_to_the_tail)
{
	deadline_set(&things[0].deadline, &quick, 0);
	deadline_set(&things[1].deadline, &quick, 10);
	deadline_set(&things[0].deadline, &quick, 20);
	deadlines_run(&all, 115);
	ck_fired("1");
	deadlines_run(&all, 120);
	ck_fired("10");
}
END_TEST

START_TEST(classes_are_apart)
{
	deadline_set(&things[0].deadline, &slow, 0);
	deadline_set(&things[1].deadline, &quick, 500);
	deadlines_run(&all, 700);
	ck_fired("1");
	/* From one class to another: the old deadline is gone. */
	deadline_set(&things[0].deadline, &quick, 950);
	deadlines_run(&all, 1000);
	ck_fired("1");
	deadlines_run(&all, 1050);
	ck_fired("10");
}
END_TEST

START_TEST(cleared_is_never_due)
{
	deadline_set(&things[0].deadline, &quick, 0);
	deadline_clear(&things[0].deadline);
	deadline_clear(&things[0].deadline);
	deadlines_run(&all, 100000);
	ck_fired("");
}
END_TEST

START_TEST(one_may_clear_another)
{
	deadline_set(&things[0].deadline, &quick, 0);
	deadline_set(&things[1].deadline, &quick, 0);
	deadline_set(&things[2].deadline, &slow, 0);
	drop = &things[1].deadline;
	deadlines_run(&all, 5000);
	ck_fired("02");
}
END_TEST

static void
on_real(struct deadline *d)
{
	on_fire(d);
	if (nfired == 2)
		loop_stop(loop);
}

START_TEST(the_timer_runs_them)
{
	int64_t began = loop_now(loop);

	quick.timeout_us = 30000;
	slow.timeout_us = 120000;
	quick.fn = slow.fn = on_real;
	deadline_set(&things[0].deadline, &slow, began);
	deadline_set(&things[1].deadline, &quick, began);
	loop_run(loop);
	ck_fired("10");
	ck_assert_int_ge(loop_now_fresh(loop) - began, 120000);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("deadline");
	TCase *tc = tcase_create("deadline");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, not_before_it_is_due);
	tcase_add_test(tc, activity_moves_to_the_tail);
	tcase_add_test(tc, classes_are_apart);
	tcase_add_test(tc, cleared_is_never_due);
	tcase_add_test(tc, one_may_clear_another);
	tcase_add_test(tc, the_timer_runs_them);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
