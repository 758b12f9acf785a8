#include <check.h>
#include <ctype.h>
#include <stdlib.h>

#include "http/field.h"

static struct span
mapped(struct span name, int (*map)(int), char *buf)
{
	for (size_t i = 0; i < name.len; i++)
		buf[i] = (char)map((unsigned char)name.ptr[i]);
	return span_of(buf, name.len);
}

static int
underscore(int c)
{
	return c == '-' ? '_' : c;
}

/* Every row of field.def is found in any case, under its own id. */
START_TEST(every_row)
{
	enum http_field_id id = (enum http_field_id)_i;
	struct span name = http_field_name(id);
	char buf[64];

	ck_assert_uint_gt(name.len, 0);
	ck_assert_int_eq(http_field_lookup(name), id);
	ck_assert_int_eq(http_field_lookup(mapped(name, tolower, buf)), id);
	ck_assert_int_eq(http_field_lookup(mapped(name, toupper, buf)), id);
}
END_TEST

/* One octet less, more or different is another name. */
START_TEST(every_near_miss)
{
	struct span name = http_field_name((enum http_field_id)_i);
	char buf[64];

	memcpy(buf, name.ptr, name.len);
	ck_assert_int_ne(http_field_lookup(span_of(buf, name.len - 1)), _i);
	ck_assert_int_ne(http_field_lookup(span_of(buf + 1, name.len - 1)),
	    _i);
	buf[name.len] = 's';
	ck_assert_int_eq(http_field_lookup(span_of(buf, name.len + 1)),
	    FIELD_OTHER);
	for (size_t i = 0; i < name.len; i++) {
		buf[i] = '!';
		ck_assert_int_eq(http_field_lookup(span_of(buf, name.len)),
		    FIELD_OTHER);
		buf[i] = name.ptr[i];
	}
}
END_TEST

START_TEST(every_alias)
{
	enum http_field_id id = (enum http_field_id)_i;
	struct span name = http_field_name(id);
	unsigned matters = FIELD_HOP | FIELD_FRAMING | FIELD_PEER |
	    FIELD_PROTECTED;
	char buf[64];

	if (span_index(name, '-') < 0)
		return;
	name = mapped(name, underscore, buf);
	ck_assert_int_eq(http_field_lookup(name),
	    http_field_flags(id) & matters ? FIELD_ALIAS : FIELD_OTHER);
}
END_TEST

START_TEST(others)
{
	ck_assert_int_eq(http_field_lookup(SPAN_EMPTY), FIELD_OTHER);
	ck_assert_int_eq(http_field_lookup(SPAN("X-Api-Key")), FIELD_OTHER);
	ck_assert_int_eq(http_field_lookup(SPAN("Ho\0t")), FIELD_OTHER);
	ck_assert_int_eq(http_field_lookup(SPAN("\xc8ost")), FIELD_OTHER);
	ck_assert_int_eq(http_field_lookup(SPAN("X-Api_Key")), FIELD_OTHER);
	ck_assert_int_eq(http_field_lookup(SPAN("Content_length")),
	    FIELD_ALIAS);
	ck_assert_int_eq(http_field_lookup(SPAN("X-Forwarded_For")),
	    FIELD_ALIAS);
}
END_TEST

START_TEST(flags)
{
	ck_assert_uint_eq(http_field_flags(FIELD_OTHER), 0);
	ck_assert_uint_eq(http_field_flags(FIELD_ALIAS), FIELD_HOP);
	ck_assert_uint_eq(http_field_flags(FIELD_CONNECTION),
	    FIELD_HOP | FIELD_LIST);
	ck_assert(http_field_flags(FIELD_CONTENT_LENGTH) & FIELD_FRAMING);
	ck_assert(http_field_flags(FIELD_X_REAL_IP) & FIELD_PEER);
	ck_assert(http_field_flags(FIELD_X_RATELIMIT_POLICY) & FIELD_LIMIT);
	ck_assert_uint_eq(http_field_name(FIELD_OTHER).len, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("field");
	TCase *tc = tcase_create("field");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, every_row, FIELD_ALIAS + 1, FIELD_COUNT);
	tcase_add_loop_test(tc, every_near_miss, FIELD_ALIAS + 1,
	    FIELD_COUNT);
	tcase_add_loop_test(tc, every_alias, FIELD_ALIAS + 1, FIELD_COUNT);
	tcase_add_test(tc, others);
	tcase_add_test(tc, flags);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
