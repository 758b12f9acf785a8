#include <check.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"

START_TEST(empty)
{
	struct text zero = { .data = NULL };
	char *taken;

	ck_assert_str_eq(text_cstr(&zero), "");
	ck_assert_uint_eq(text_span(&zero).len, 0);
	ck_assert(text_span(&zero).ptr != NULL);
	text_clear(&zero);
	taken = text_take(&zero);
	ck_assert_str_eq(taken, "");
	mem_free(taken);
	text_fini(&zero);
	text_fini(&zero);
}
END_TEST

START_TEST(appends)
{
	struct text t;
	char *taken;

	text_init(&t);
	text_append(&t, SPAN_EMPTY);
	text_append(&t, (struct span){ NULL, 0 });
	ck_assert_str_eq(t.data, "");
	text_append(&t, SPAN("ab"));
	text_append_str(&t, "cd");
	text_append_char(&t, 'e');
	text_append_u64(&t, UINT64_MAX);
	text_printf(&t, "[%d|%s]", -3, "x");
	ck_assert_str_eq(text_cstr(&t), "abcde18446744073709551615[-3|x]");
	ck_assert_uint_eq(t.len, strlen(t.data));
	taken = text_take(&t);
	ck_assert(t.data == NULL && t.len == 0 && t.cap == 0);
	ck_assert_uint_eq(strlen(taken), 31);
	mem_free(taken);
}
END_TEST

/* The NUL needs its octet at every length, also just at a border of cap. */
START_TEST(grows)
{
	struct text t = { .data = NULL };

	for (size_t i = 0; i < 5000; i++) {
		text_append_char(&t, (char)('a' + i % 26));
		ck_assert_uint_eq(t.len, i + 1);
		ck_assert_uint_gt(t.cap, t.len);
		ck_assert_int_eq(t.data[t.len], '\0');
	}
	for (size_t i = 0; i < 5000; i++)
		ck_assert_int_eq(t.data[i], 'a' + (int)(i % 26));
	text_fini(&t);
}
END_TEST

START_TEST(printf_of_any_length)
{
	for (int n = 0; n < 300; n++) {
		struct text t = { .data = NULL };

		text_printf(&t, "%*s", n, "");
		ck_assert_uint_eq(t.len, (size_t)n);
		ck_assert_uint_eq(strlen(text_cstr(&t)), (size_t)n);
		text_fini(&t);
	}
}
END_TEST

START_TEST(clear_keeps_room)
{
	struct text t = { .data = NULL };
	const char *data;

	text_append_str(&t, "0123456789");
	data = t.data;
	text_clear(&t);
	ck_assert_str_eq(text_cstr(&t), "");
	text_append_str(&t, "abc");
	ck_assert_ptr_eq(t.data, data);
	ck_assert_str_eq(text_cstr(&t), "abc");
	text_fini(&t);
}
END_TEST

static const struct {
	struct span in;
	const char *out;
} json[] = {
	{ { "", 0 }, "" },
	{ { NULL, 0 }, "" },
	{ { "plain /a?b=c'd", 14 }, "plain /a?b=c'd" },
	{ { "\"\\/", 3 }, "\\\"\\\\/" },
	{ { "\b\f\n\r\t", 5 }, "\\b\\f\\n\\r\\t" },
	{ { "\0\1\x1f\x7f", 4 }, "\\u0000\\u0001\\u001f\\u007f" },
	{ { "a\0b", 3 }, "a\\u0000b" },
	/* Valid: 2, 3 and 4 octets, the last before and after surrogates */
	{ { "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9 },
	    "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ { "\xc2\xa0\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf", 12 },
	    "\xc2\xa0\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf" },
	/* C1 controls */
	{ { "\xc2\x80\xc2\x9b\xc2\x9f", 6 }, "\\u0080\\u009b\\u009f" },
	/* Alone, cut short, wrong continuation */
	{ { "\x80" "a", 2 }, "\\ufffda" },
	{ { "\xc3", 1 }, "\\ufffd" },
	{ { "\xe2\x82", 2 }, "\\ufffd\\ufffd" },
	{ { "\xc3\"", 2 }, "\\ufffd\\\"" },
	{ { "\xf0\x9f\x98x", 4 }, "\\ufffd\\ufffd\\ufffdx" },
	/* Longer than needed: NUL, slash, in 2, 3 and 4 octets */
	{ { "\xc0\x80", 2 }, "\\ufffd\\ufffd" },
	{ { "\xc1\xbf", 2 }, "\\ufffd\\ufffd" },
	{ { "\xe0\x9f\xbf", 3 }, "\\ufffd\\ufffd\\ufffd" },
	{ { "\xf0\x8f\xbf\xbf", 4 }, "\\ufffd\\ufffd\\ufffd\\ufffd" },
	/* Surrogate, beyond U+10FFFF, octets that never occur */
	{ { "\xed\xa0\x80", 3 }, "\\ufffd\\ufffd\\ufffd" },
	{ { "\xf4\x90\x80\x80", 4 }, "\\ufffd\\ufffd\\ufffd\\ufffd" },
	{ { "\xf5\xff", 2 }, "\\ufffd\\ufffd" },
};

START_TEST(append_json)
{
	struct text t = { .data = NULL };

	text_append_json(&t, json[_i].in);
	ck_assert_str_eq(text_cstr(&t), json[_i].out);
	text_fini(&t);
}
END_TEST

/* A sequence cut by the end of the span must not be read beyond it. */
START_TEST(json_stays_inside)
{
	struct text t = { .data = NULL };
	char *heap = mem_dup("\xf0\x9f\x98\x80", 3);

	text_append_json(&t, span_of(heap, 3));
	ck_assert_str_eq(text_cstr(&t), "\\ufffd\\ufffd\\ufffd");
	text_fini(&t);
	mem_free(heap);
}
END_TEST

START_TEST(mem_edges)
{
	char *p = mem_strndup("abcdef", 3);
	void *none = mem_alloc(0);

	ck_assert_str_eq(p, "abc");
	mem_free(p);
	ck_assert(none != NULL);
	none = mem_realloc(none, 0);
	ck_assert(none != NULL);
	mem_free(none);
	p = mem_strndup(NULL, 0);
	ck_assert_str_eq(p, "");
	mem_free(p);
	p = mem_zalloc(3);
	ck_assert(p[0] == 0 && p[1] == 0 && p[2] == 0);
	mem_free(p);
	mem_free(NULL);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("text");
	TCase *tc = tcase_create("text");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, empty);
	tcase_add_test(tc, appends);
	tcase_add_test(tc, grows);
	tcase_add_test(tc, printf_of_any_length);
	tcase_add_test(tc, clear_keeps_room);
	tcase_add_loop_test(tc, append_json, 0,
	    (int)(sizeof(json) / sizeof(json[0])));
	tcase_add_test(tc, json_stays_inside);
	tcase_add_test(tc, mem_edges);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
