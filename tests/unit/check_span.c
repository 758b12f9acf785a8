#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/span.h"

static struct span
nothing(void)
{
	return (struct span){ NULL, 0 };
}

START_TEST(compare)
{
	ck_assert(span_equal(SPAN("abc"), SPAN("abc")));
	ck_assert(!span_equal(SPAN("abc"), SPAN("abC")));
	ck_assert(!span_equal(SPAN("abc"), SPAN("ab")));
	ck_assert(span_equal(nothing(), SPAN_EMPTY));
	ck_assert(span_equal(SPAN("a\0b"), SPAN("a\0b")));
	ck_assert(!span_equal(SPAN("a\0b"), SPAN("a\0c")));
}
END_TEST

/* Only letters fold: '@' and '`', '[' and '{' differ in the same bit. */
START_TEST(compare_nocase)
{
	ck_assert(span_equal_nocase(SPAN("ChUnKeD"), SPAN("cHuNkEd")));
	ck_assert(span_equal_nocase(SPAN("AZaz"), SPAN("azAZ")));
	ck_assert(!span_equal_nocase(SPAN("@"), SPAN("`")));
	ck_assert(!span_equal_nocase(SPAN("["), SPAN("{")));
	ck_assert(!span_equal_nocase(SPAN("\xc1"), SPAN("\xe1")));
	ck_assert(!span_equal_nocase(SPAN("abc"), SPAN("abcd")));
	ck_assert(span_equal_nocase(nothing(), SPAN_EMPTY));
}
END_TEST

START_TEST(starts_and_ends)
{
	ck_assert(span_starts(SPAN("unix:/x"), SPAN("unix:")));
	ck_assert(!span_starts(SPAN("unix"), SPAN("unix:")));
	ck_assert(!span_starts(SPAN("Unix:/x"), SPAN("unix:")));
	ck_assert(span_starts(nothing(), SPAN_EMPTY));
	ck_assert(span_starts_nocase(SPAN("Bearer x"), SPAN("bEARER ")));
	ck_assert(!span_starts_nocase(SPAN("Bear"), SPAN("bearer")));
	ck_assert(span_ends(SPAN("a.yaml"), SPAN(".yaml")));
	ck_assert(!span_ends(SPAN("yaml"), SPAN(".yaml")));
	ck_assert(!span_ends(SPAN("a.yamL"), SPAN(".yaml")));
	ck_assert(span_ends(nothing(), nothing()));
}
END_TEST

START_TEST(index_and_skip)
{
	ck_assert_int_eq(span_index(SPAN("abcb"), 'b'), 1);
	ck_assert_int_eq(span_index(SPAN("abc"), 'a'), 0);
	ck_assert_int_eq(span_index(SPAN("abc"), 'x'), -1);
	ck_assert_int_eq(span_index(SPAN("ab\xff"), '\xff'), 2);
	ck_assert_int_eq(span_index(nothing(), 'x'), -1);
	ck_assert(span_equal(span_skip(SPAN("abc"), 1), SPAN("bc")));
	ck_assert(span_equal(span_skip(SPAN("abc"), 3), SPAN_EMPTY));
	ck_assert(span_skip(nothing(), 0).ptr == NULL);
}
END_TEST

START_TEST(trim)
{
	ck_assert(span_equal(span_trim(SPAN(" \t a b\t ")), SPAN("a b")));
	ck_assert(span_equal(span_trim(SPAN(" \t ")), SPAN_EMPTY));
	ck_assert(span_equal(span_trim(SPAN("\r\na\v")), SPAN("\r\na\v")));
	ck_assert_uint_eq(span_trim(nothing()).len, 0);
}
END_TEST

static void
expect_split(struct span text, size_t n, const char *const *parts)
{
	struct span part;

	for (size_t i = 0; i < n; i++) {
		ck_assert(span_split(&text, ',', &part));
		ck_assert_msg(span_equal(part, span_str(parts[i])),
		    "part %zu is \"%.*s\"", i, SPAN_ARG(part));
	}
	ck_assert(text.ptr == NULL);
	ck_assert(!span_split(&text, ',', &part));
}

START_TEST(split)
{
	expect_split(SPAN("a,,b"), 3, (const char *[]){ "a", "", "b" });
	expect_split(SPAN(""), 1, (const char *[]){ "" });
	expect_split(SPAN(","), 2, (const char *[]){ "", "" });
	expect_split(SPAN("abc"), 1, (const char *[]){ "abc" });
	expect_split(SPAN("a,"), 2, (const char *[]){ "a", "" });
	expect_split(nothing(), 0, NULL);
}
END_TEST

static void
expect_elements(struct span text, size_t n, const char *const *elements)
{
	struct span element;

	for (size_t i = 0; i < n; i++) {
		ck_assert(span_next_element(&text, &element));
		ck_assert_msg(span_equal(element, span_str(elements[i])),
		    "element %zu is \"%.*s\"", i, SPAN_ARG(element));
	}
	element = SPAN("kept");
	ck_assert(!span_next_element(&text, &element));
	ck_assert(span_equal(element, SPAN("kept")));
}

START_TEST(elements)
{
	expect_elements(SPAN(" a ,\t,b , "), 2, (const char *[]){ "a", "b" });
	expect_elements(SPAN(""), 0, NULL);
	expect_elements(SPAN(" , ,"), 0, NULL);
	expect_elements(SPAN("a"), 1, (const char *[]){ "a" });
	expect_elements(SPAN("x=\"a,b\", c"), 2,
	    (const char *[]){ "x=\"a,b\"", "c" });
	expect_elements(SPAN("\"a\\\",b\",c"), 2,
	    (const char *[]){ "\"a\\\",b\"", "c" });
	/* A backslash escapes in quoted strings only. */
	expect_elements(SPAN("a\\,b"), 2, (const char *[]){ "a\\", "b" });
	expect_elements(SPAN("\"open, end"), 1,
	    (const char *[]){ "\"open, end" });
	expect_elements(SPAN("\"a\\"), 1, (const char *[]){ "\"a\\" });
}
END_TEST

static const struct {
	const char *text;
	int64_t min, max;
	enum err e;
	int64_t value;
} numbers[] = {
	{ "0", 0, INT64_MAX, ERR_OK, 0 },
	{ "007", 0, 10, ERR_OK, 7 },
	{ "9223372036854775807", 0, INT64_MAX, ERR_OK, INT64_MAX },
	{ "9223372036854775808", 0, INT64_MAX, ERR_RANGE, 0 },
	{ "9223372036854775809", 0, INT64_MAX, ERR_RANGE, 0 },
	{ "18446744073709551616", 0, INT64_MAX, ERR_RANGE, 0 },
	{ "18446744073709551621", 0, INT64_MAX, ERR_RANGE, 0 },
	{ "99999999999999999999999999999999999999999999999999"
	  "99999999999999999999999999999999999999999999999999",
	    0, INT64_MAX, ERR_RANGE, 0 },
	{ "99999999999999999999x", 0, INT64_MAX, ERR_SYNTAX, 0 },
	{ "", 0, 10, ERR_SYNTAX, 0 },
	{ "-1", -5, 10, ERR_SYNTAX, 0 },
	{ "+1", 0, 10, ERR_SYNTAX, 0 },
	{ " 1", 0, 10, ERR_SYNTAX, 0 },
	{ "1 ", 0, 10, ERR_SYNTAX, 0 },
	{ "0x1", 0, 10, ERR_SYNTAX, 0 },
	{ "1.0", 0, 10, ERR_SYNTAX, 0 },
	{ "/", 0, 100, ERR_SYNTAX, 0 },
	{ ":", 0, 100, ERR_SYNTAX, 0 },
	{ "4", 5, 10, ERR_RANGE, 0 },
	{ "5", 5, 10, ERR_OK, 5 },
	{ "10", 5, 10, ERR_OK, 10 },
	{ "11", 5, 10, ERR_RANGE, 0 },
};

START_TEST(to_i64)
{
	const int64_t untouched = -77;
	int64_t value = untouched;
	enum err e = span_to_i64(span_str(numbers[_i].text),
	    numbers[_i].min, numbers[_i].max, &value);

	ck_assert_msg(e == numbers[_i].e, "%s: %s", numbers[_i].text,
	    err_text(e));
	ck_assert_int_eq(value, e == ERR_OK ? numbers[_i].value : untouched);
}
END_TEST

START_TEST(to_i64_nul)
{
	int64_t value = 1;

	ck_assert_int_eq(span_to_i64(SPAN("1\0"), 0, 10, &value), ERR_SYNTAX);
	ck_assert_int_eq(span_to_i64(nothing(), 0, 10, &value), ERR_SYNTAX);
}
END_TEST

START_TEST(put_u64)
{
	char buf[20];

	ck_assert(span_equal(span_of(buf, span_put_u64(buf, 0)), SPAN("0")));
	ck_assert(span_equal(span_of(buf, span_put_u64(buf, 1090)),
	    SPAN("1090")));
	ck_assert(span_equal(span_of(buf, span_put_u64(buf, UINT64_MAX)),
	    SPAN("18446744073709551615")));
}
END_TEST

START_TEST(put_u64_at_every_length)
{
	uint64_t power = 1;

	for (int digits = 1; digits <= 20; digits++, power *= 10) {
		for (uint64_t v = power - 1; v <= power + 1; v++) {
			char buf[32], want[32];
			size_t n = span_put_u64(buf, v);

			snprintf(want, sizeof(want), "%" PRIu64, v);
			ck_assert(span_equal(span_of(buf, n),
			    span_str(want)));
		}
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("span");
	TCase *tc = tcase_create("span");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, compare);
	tcase_add_test(tc, compare_nocase);
	tcase_add_test(tc, starts_and_ends);
	tcase_add_test(tc, index_and_skip);
	tcase_add_test(tc, trim);
	tcase_add_test(tc, split);
	tcase_add_test(tc, elements);
	tcase_add_loop_test(tc, to_i64, 0,
	    (int)(sizeof(numbers) / sizeof(numbers[0])));
	tcase_add_test(tc, to_i64_nul);
	tcase_add_test(tc, put_u64);
	tcase_add_test(tc, put_u64_at_every_length);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
