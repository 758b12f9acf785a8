#include <check.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/counters.h"
#include "base/err.h"

START_TEST(names_of_counters)
{
	ck_assert_str_eq(counter_name(COUNT_REQUESTS_TOTAL), "requests_total");
	ck_assert_str_eq(counter_name(COUNT_STORE_UP), "store_up");
	for (int i = 0; i < COUNT_END; i++) {
		const char *name = counter_name((enum counter)i);

		ck_assert_uint_gt(strlen(name), 0);
		for (const char *p = name; *p != '\0'; p++)
			ck_assert(islower((unsigned char)*p) || *p == '_');
		for (int j = 0; j < i; j++)
			ck_assert_str_ne(name, counter_name((enum counter)j));
		ck_assert_uint_gt(strlen(counter_help((enum counter)i)), 0);
	}
}
END_TEST

START_TEST(values)
{
	static struct counters c;

	counter_add(&c, COUNT_CONNECTIONS, 2);
	counter_add(&c, COUNT_CONNECTIONS, -1);
	ck_assert_int_eq(counter_get(&c, COUNT_CONNECTIONS), 1);
	ck_assert_int_eq(counter_get(&c, COUNT_REQUESTS_TOTAL), 0);
}
END_TEST

START_TEST(texts_of_errors)
{
	ck_assert_int_eq(ERR_OK, 0);
	ck_assert_str_eq(err_text(ERR_OK), "success");
	ck_assert_str_eq(err_text(ERR_FULL), "no room left");
	for (int i = 0; i < ERR_COUNT; i++) {
		const char *text = err_text((enum err)i);

		ck_assert_uint_gt(strlen(text), 0);
		ck_assert(text[strlen(text) - 1] != '.');
	}
	ck_assert(err_text(ERR_COUNT) != NULL);
	ck_assert(err_text((enum err)-1) != NULL);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("counters");
	TCase *tc = tcase_create("counters");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, names_of_counters);
	tcase_add_test(tc, values);
	tcase_add_test(tc, texts_of_errors);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
