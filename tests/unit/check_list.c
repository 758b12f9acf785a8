#include <check.h>
#include <stdlib.h>

#include "base/list.h"

struct item {
	int id;
	struct list link;
};

static struct list head;
static struct item items[4];

static void
setup(void)
{
	list_init(&head);
	for (int i = 0; i < 4; i++) {
		items[i].id = i;
		list_init(&items[i].link);
	}
}

/* The ids in order as decimal digits, checked backwards as well. */
static int
order(void)
{
	int forth = 0, back = 0, unit = 1;

	LIST_EACH(pos, &head)
		forth = forth * 10 + LIST_ITEM(pos, struct item, link)->id;
	for (struct list *l = head.prev; l != &head; l = l->prev) {
		back += LIST_ITEM(l, struct item, link)->id * unit;
		unit *= 10;
	}
	ck_assert_int_eq(forth, back);
	return forth;
}

START_TEST(empty)
{
	ck_assert(list_empty(&head));
	ck_assert(list_first(&head) == NULL);
	ck_assert(list_last(&head) == NULL);
	LIST_EACH(pos, &head)
		ck_abort_msg("an item in an empty list");
	LIST_EACH_SAFE(pos, &head)
		ck_abort_msg("an item in an empty list");
}
END_TEST

START_TEST(push)
{
	list_push_back(&head, &items[2].link);
	list_push_back(&head, &items[3].link);
	list_push_front(&head, &items[1].link);
	ck_assert_int_eq(order(), 123);
	ck_assert_ptr_eq(list_first(&head), &items[1].link);
	ck_assert_ptr_eq(list_last(&head), &items[3].link);
	list_remove(&items[2].link);
	ck_assert_int_eq(order(), 13);
	list_insert_after(&items[1].link, &items[2].link);
	ck_assert_int_eq(order(), 123);
}
END_TEST

START_TEST(remove_twice)
{
	list_push_back(&head, &items[1].link);
	list_push_back(&head, &items[2].link);
	list_remove(&items[1].link);
	list_remove(&items[1].link);
	ck_assert_int_eq(order(), 2);
	list_remove(&items[2].link);
	ck_assert(list_empty(&head));
	/* Never in a list at all. */
	list_remove(&items[3].link);
	ck_assert(list_empty(&items[3].link));
}
END_TEST

START_TEST(remove_while_walking)
{
	int seen = 0;

	for (int i = 1; i < 4; i++)
		list_push_back(&head, &items[i].link);
	LIST_EACH_SAFE(pos, &head) {
		seen = seen * 10 + LIST_ITEM(pos, struct item, link)->id;
		list_remove(pos);
	}
	ck_assert_int_eq(seen, 123);
	ck_assert(list_empty(&head));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("list");
	TCase *tc = tcase_create("list");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, empty);
	tcase_add_test(tc, push);
	tcase_add_test(tc, remove_twice);
	tcase_add_test(tc, remove_while_walking);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
