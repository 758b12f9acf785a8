#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "limit/rules.h"

static struct plan free_plan, pro;
static struct lookup *lookup;

static void
setup(void)
{
	hash_init();
	lookup = lookup_new("keys");
}

static void
teardown(void)
{
	lookup_free(lookup);
}

static enum err
add(const char *key, const struct plan *plan, int64_t until)
{
	unsigned char sha256[32];

	hash_sha256(span_str(key), sha256);
	return lookup_add(lookup, sha256, plan, until);
}

static bool
finds(const char *key, int64_t now, const struct plan *plan)
{
	const struct plan *found = (const struct plan *)lookup;

	if (!lookup_find(lookup, span_str(key), now, &found)) {
		ck_assert_ptr_eq(found, lookup);
		return false;
	}
	return found == plan;
}

START_TEST(listed_and_not)
{
	ck_assert_str_eq(lookup_name(lookup), "keys");
	ck_assert(!finds("a", 0, &pro));
	ck_assert_int_eq(add("a", &pro, INT64_MAX), ERR_OK);
	ck_assert_int_eq(add("b", &free_plan, INT64_MAX), ERR_OK);
	ck_assert_int_eq(add("c", NULL, INT64_MAX), ERR_OK);
	ck_assert(finds("a", INT64_MAX, &pro));
	ck_assert(finds("b", 0, &free_plan));
	ck_assert(finds("c", 0, NULL));
	ck_assert(!finds("d", 0, NULL));
	ck_assert(!finds("A", 0, &pro));
	ck_assert_uint_eq(lookup_count(lookup), 3);
}
END_TEST

START_TEST(twice_is_refused)
{
	ck_assert_int_eq(add("a", &pro, 5), ERR_OK);
	ck_assert_int_eq(add("a", &free_plan, 9), ERR_AMBIGUOUS);
	ck_assert(finds("a", 5, &pro));
	ck_assert_uint_eq(lookup_count(lookup), 1);
}
END_TEST

START_TEST(an_end_is_the_last_moment)
{
	ck_assert_int_eq(add("a", &pro, 1000), ERR_OK);
	ck_assert(finds("a", 1000, &pro));
	ck_assert(!finds("a", 1001, &pro));
}
END_TEST

START_TEST(many)
{
	char key[32];

	for (int i = 0; i < 10000; i++) {
		snprintf(key, sizeof(key), "key-%d", i);
		ck_assert_int_eq(add(key, i % 2 ? &pro : NULL, INT64_MAX),
		    ERR_OK);
	}
	ck_assert_uint_eq(lookup_count(lookup), 10000);
	for (int i = 0; i < 20000; i++) {
		snprintf(key, sizeof(key), "key-%d", i);
		ck_assert(finds(key, 0, i % 2 ? &pro : NULL) == (i < 10000));
	}
}
END_TEST

/* Sums that begin alike, as a forged file may list them. */
START_TEST(sums_that_collide_in_the_table)
{
	unsigned char sha256[32], of_key[32];
	const struct plan *found;

	hash_sha256(SPAN("k"), of_key);
	for (unsigned i = 0; i < 100; i++) {
		memcpy(sha256, of_key, sizeof(sha256));
		sha256[31] = (unsigned char)(of_key[31] + 1 + i);
		ck_assert_int_eq(lookup_add(lookup, sha256, &free_plan,
		    INT64_MAX), ERR_OK);
	}
	ck_assert(!lookup_find(lookup, SPAN("k"), 0, &found));
	ck_assert_int_eq(lookup_add(lookup, of_key, &pro, INT64_MAX), ERR_OK);
	ck_assert(finds("k", 0, &pro));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("lookup");
	TCase *t = tcase_create("lookup");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, listed_and_not);
	tcase_add_test(t, twice_is_refused);
	tcase_add_test(t, an_end_is_the_last_moment);
	tcase_add_test(t, many);
	tcase_add_test(t, sums_that_collide_in_the_table);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
