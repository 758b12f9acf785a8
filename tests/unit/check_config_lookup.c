/* The files of lookups. */
#include <check.h>
#include <stdlib.h>

#include "base/mem.h"
#include "config/load.h"
#include "config/lookups.h"
#include "harness/config_env.h"

#define OK	"listen: 127.0.0.1:80\nupstream: http://127.0.0.1:90\n" \
		"plans: {free: {limit: 1/s}, pro: {limit: 9/s}}\n" \
		"lookups: {keys: {file: keys.map}}\n" \
		"callers: [{name: a, key: header:k, lookup: keys, plan: "  \
		"free}]\n"

/* sha256 of "one", "two" and "three" */
#define ONE "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
#define TWO "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"
#define THREE \
	"8B5B9DB0C13DB24256C829AA364AA90C6D2EBA318B9232A4AB9313B954D3555F"

static struct findings found;
static struct config *config;

static void
setup(void)
{
	hash_init();
	config_env_clear();
	memset(&found, 0, sizeof(found));
	config = NULL;
}

static void
teardown(void)
{
	findings_fini(&found);
	config_unref(config);
}

static enum err
load(const char *map)
{
	config_env_add("/etc/weir/keys.map", map);
	return load_text(SPAN(OK), "/etc/weir/weir.yaml", &config_env, &found,
	    &config);
}

static bool
find(const char *key, int64_t now, const struct plan **plan)
{
	*plan = NULL;
	return lookup_find(config->rules.lookups[0], span_str(key), now,
	    plan);
}

START_TEST(test_lines)
{
	const struct plan *plan;

	ck_assert_int_eq(load("# keys\n\n  \t\n" ONE " pro\n"
	    "\t" TWO "   until 2026-12-31 # trial\r\n"
	    THREE " free until 2026-02-28"), ERR_OK);
	ck_assert_uint_eq(lookup_count(config->rules.lookups[0]), 3);
	ck_assert(find("one", INT64_MAX - 1, &plan));
	ck_assert_str_eq(plan->name, "pro");
	ck_assert(find("two", 0, &plan));
	ck_assert_ptr_null(plan);
	/* 2027-01-01T00:00:00Z is 1798761600. */
	ck_assert(find("two", INT64_C(1798761599999999), &plan));
	ck_assert(!find("two", INT64_C(1798761600000000), &plan));
	ck_assert(find("three", INT64_C(1772323199999999), &plan));
	ck_assert(!find("three", INT64_C(1772323200000000), &plan));
	ck_assert(!find("four", 0, &plan));
}
END_TEST

START_TEST(test_dates)
{
	static const struct {
		const char *text;
		int64_t last_us;	/* 0: refused */
	} dates[] = {
		{ "1970-01-01", INT64_C(86399999999) },
		{ "2024-02-29", INT64_C(1709251199999999) },
		{ "2000-02-29", INT64_C(951868799999999) },
		{ "2100-03-01", INT64_C(4107628799999999) },
		{ "9999-12-31", INT64_C(253402300799999999) },
		{ "2023-02-29", 0 }, { "2100-02-29", 0 }, { "2026-13-01", 0 },
		{ "2026-00-01", 0 }, { "2026-01-00", 0 }, { "2026-04-31", 0 },
		{ "1969-12-31", 0 }, { "2026-1-1", 0 }, { "26-01-01", 0 },
		{ "2026/01/01", 0 }, { "2026-01-01T", 0 }, { "", 0 },
	};

	for (size_t i = 0; i < sizeof(dates) / sizeof(dates[0]); i++) {
		int64_t us = 0;
		const enum err e = lookups_parse_date(
		    span_str(dates[i].text), &us);

		ck_assert_msg((e == ERR_OK) == (dates[i].last_us != 0), "%s",
		    dates[i].text);
		ck_assert_msg(us == dates[i].last_us, "%s: %lld",
		    dates[i].text, (long long)us);
	}
}
END_TEST

static const struct wrong {
	const char *map;
	unsigned line, column;
	const char *says;
} wrongs[] = {
	{ "\nsk_live_1 pro\n", 2, 1, "not a sha256" },
	{ ONE "0 pro\n", 1, 1, "not a sha256" },
	{ ONE " gold\n", 1, 66, "no such plan" },
	{ ONE " pro until\n", 1, 75, "needs a date" },
	{ ONE " pro until tomorrow\n", 1, 76, "needs a date" },
	{ ONE " pro, until 2026-12-31\n", 1, 66, "no such plan" },
	{ ONE " pro 2026-12-31\n", 1, 70, "more than" },
	{ ONE " pro until 2026-12-31 x\n", 1, 87, "more than" },
	{ ONE "\n" ONE " pro\n", 2, 1, "listed already" },
	{ ONE " 0123456789012345678901234567890123456789012345678901234567"
	    "89012345\n", 1, 66, "no such plan" },
};

#define WRONGS (sizeof(wrongs) / sizeof(wrongs[0]))

START_TEST(test_wrong)
{
	const struct wrong *w = &wrongs[_i];
	const struct finding *x;

	ck_assert_int_eq(load(w->map), ERR_CONFIG);
	ck_assert_uint_eq(found.errors, 1);
	x = &found.items[0];
	ck_assert_str_eq(x->code, "E029");
	ck_assert_str_eq(x->file, "/etc/weir/keys.map");
	ck_assert_uint_eq(x->line, w->line);
	ck_assert_uint_eq(x->column, w->column);
	ck_assert_msg(strstr(x->message, w->says) != NULL, "%s", x->message);
	ck_assert_ptr_null(x->excerpt);
}
END_TEST

START_TEST(test_all_lines_in_one_run)
{
	ck_assert_int_eq(load("a\nb\n" ONE "\nc\n"), ERR_CONFIG);
	ck_assert_uint_eq(found.errors, 3);
	ck_assert_uint_eq(found.items[2].line, 4);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("config lookup");
	TCase *tc = tcase_create("all");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_lines);
	tcase_add_test(tc, test_dates);
	tcase_add_loop_test(tc, test_wrong, 0, (int)WRONGS);
	tcase_add_test(tc, test_all_lines_in_one_run);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
