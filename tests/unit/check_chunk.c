#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "http_feed.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define LAST		"0\r\n\r\n"
#define GOOD(body, text) { ERR_OK, true, body, sizeof(body) - 1, \
	{ text, sizeof(text) - 1 } }
#define OPEN(body, text) { ERR_OK, false, body, sizeof(body) - 1, \
	{ text, sizeof(text) - 1 } }
#define BAD(e, body, text) { e, false, body, sizeof(body) - 1, \
	{ text, sizeof(text) - 1 } }
#define MALFORMED(body, text) BAD(ERR_SYNTAX, body, text)

static const struct {
	enum err e;
	bool done;
	const char *body;
	size_t len;
	struct span text;
} rows[] = {
	GOOD("", LAST),
	GOOD("hello", "5\r\nhello\r\n" LAST),
	GOOD("hello", "5\r\nhello\r\n" LAST "GET / HTTP/1.1\r\n"),
	GOOD("0123456789abcdefghij!", "A\r\n0123456789\r\nb\r\nabcdefghij!\r\n"
	    "000\r\n\r\n"),
	GOOD("\r\n0\r\n\r\n\0", "8\r\n\r\n0\r\n\r\n\0\r\n" LAST),
	GOOD("a", "0000000000000000000001\r\na\r\n" LAST),
	GOOD("a", "1;a=b;c;d=\"q;\\\"\xe9\\\\x\"\r\na\r\n0;z\r\n\r\n"),
	GOOD("a", "1 ; a = b ;\tc\t=\t\"\" ; d\r\na\r\n" LAST),
	GOOD("a", "1\r\na\r\n0\r\nX-T: 1\r\nY:\r\n\r\n"),
	OPEN("", ""),
	OPEN("", "7fffffffffffffff"),
	OPEN("he", "5\r\nhe"),
	OPEN("hello", "5\r\nhello\r\n"),
	OPEN("hello", "5\r\nhello\r\n0\r\n"),
	OPEN("", "0\r\nX: 1\r\n\r"),
	BAD(ERR_RANGE, "", "8000000000000000\r\n"),
	BAD(ERR_RANGE, "", "FFFFFFFFFFFFFFFF\r\n"),
	BAD(ERR_RANGE, "", "10000000000000005\r\n"),
	MALFORMED("", "0x5\r\nhello\r\n"),
	MALFORMED("", "+5\r\n"),
	MALFORMED("", "-5\r\n"),
	MALFORMED("", "0_5\r\n"),
	MALFORMED("", "\r\nhello"),
	MALFORMED("", ";a\r\n"),
	MALFORMED("", "5g\r\n"),
	MALFORMED("", " 5\r\n"),
	MALFORMED("", "5\n"),
	MALFORMED("", "5\r\r\n"),
	MALFORMED("", "5\rhello"),
	MALFORMED("", "5 \r\nhello"),
	MALFORMED("", "5 5\r\n"),
	MALFORMED("", "5;\r\nhello"),
	MALFORMED("", "5;\nhello"),
	MALFORMED("", "5;;a\r\n"),
	MALFORMED("", "5;a;\r\n"),
	MALFORMED("", "5;a=\r\n"),
	MALFORMED("", "5;=b\r\n"),
	MALFORMED("", "5;a=b \r\n"),
	MALFORMED("", "5;a \r\n"),
	MALFORMED("", "5;a b\r\n"),
	MALFORMED("", "5;a=b c\r\n"),
	MALFORMED("", "5;a=\"b\"c\r\n"),
	MALFORMED("", "5;a\rb\r\n"),
	MALFORMED("", "5;a\0b\r\n"),
	MALFORMED("", "5;a=\"x\r\ny\"\r\n"),
	MALFORMED("", "5;a=\"x\\\ry\"\r\n"),
	MALFORMED("", "5;a=\"\x7f\"\r\n"),
	MALFORMED("hello", "5\r\nhello0\r\n"),
	MALFORMED("hello", "5\r\nhello\n0\r\n"),
	MALFORMED("hello", "5\r\nhello\rX"),
	MALFORMED("hel", "3\r\nhello\r\n"),
	MALFORMED("", "0\r\n\n"),
	MALFORMED("", "0\r\n\rZ"),
	MALFORMED("", "0\r\nGET / HTTP/1.1\r\n"),
	MALFORMED("", "0\r\nnocolon\r\n\r\n"),
	MALFORMED("", "0\r\n: x\r\n\r\n"),
	MALFORMED("", "0\r\nX : x\r\n\r\n"),
	MALFORMED("", "0\r\n X: x\r\n\r\n"),
	MALFORMED("", "0\r\nX: a\r\n b\r\n\r\n"),
	MALFORMED("", "0\r\nX: a\rb\r\n\r\n"),
	MALFORMED("", "0\r\nX: a\nY: b\r\n\r\n"),
	MALFORMED("", "0\r\nX: a\0\r\n\r\n"),
};

static struct fed_body want, got;

START_TEST(every_row)
{
	struct span text = rows[_i].text;

	feed_chunks(text, text.len, 1, &want);
	ck_assert_int_eq(want.e, rows[_i].e);
	ck_assert_int_eq(want.done, rows[_i].done);
	ck_assert_uint_eq(want.len, rows[_i].len);
	ck_assert_mem_eq(want.body, rows[_i].body, want.len);
	feed_chunks(text, 0, 1, &got);
	ck_assert(feed_same_body(&want, &got));
	for (size_t cut = 1; cut < text.len; cut++) {
		feed_chunks(text, cut, text.len, &got);
		ck_assert_msg(feed_same_body(&want, &got), "cut at %zu", cut);
	}
}
END_TEST

START_TEST(ends_at_the_last_line)
{
	struct span text = SPAN("1\r\na\r\n0\r\nX: y\r\n\r\nGET");

	feed_chunks(text, text.len, 1, &got);
	ck_assert(got.done);
	ck_assert_uint_eq(got.used, text.len - 3);
}
END_TEST

/* A line of exactly the bound passes, one octet more does not. */
START_TEST(line_bound)
{
	char text[HTTP_CHUNK_LINE_MAX + 8];

	for (int extra = 0; extra < 2; extra++) {
		int n = snprintf(text, sizeof(text), "1;%0*d\r\n",
		    HTTP_CHUNK_LINE_MAX - 4 + extra, 0);

		feed_chunks(span_of(text, (size_t)n), 0, 1, &got);
		ck_assert_int_eq(got.e, extra ? ERR_TOO_LARGE : ERR_OK);
	}
	memset(text, '0', sizeof(text));
	feed_chunks(SPAN(text), 0, 7, &got);
	ck_assert_int_eq(got.e, ERR_TOO_LARGE);
}
END_TEST

/* The bound is that of one line, not of all. */
START_TEST(many_lines)
{
	char text[100 * 8 + 1], *at = text;

	for (int i = 0; i < 100; i++)
		at += sprintf(at, "1;a\r\nx\r\n");
	feed_chunks(span_of(text, (size_t)(at - text)), 0, 1, &got);
	ck_assert_int_eq(got.e, ERR_OK);
	ck_assert_uint_eq(got.len, 100);
}
END_TEST

START_TEST(trailer_bound)
{
	static char text[HTTP_TRAILER_MAX + 16];

	for (int extra = 0; extra < 2; extra++) {
		int n = snprintf(text, sizeof(text), "0\r\nX:%0*d\r\n\r\n",
		    HTTP_TRAILER_MAX - 6 + extra, 0);

		feed_chunks(span_of(text, (size_t)n), 0, 100, &got);
		ck_assert_int_eq(got.e, extra ? ERR_TOO_LARGE : ERR_OK);
		ck_assert_int_eq(got.done, !extra);
	}
}
END_TEST

START_TEST(written_sizes)
{
	static const size_t sizes[] = {
		1, 9, 10, 15, 16, 255, 256, 4095, 65536, 0x123456789abcdef,
		SIZE_MAX
	};
	char buf[18], text[32];

	for (size_t i = 0; i < COUNT(sizes); i++) {
		size_t n = http_chunk_put_size(buf, sizes[i]);

		snprintf(text, sizeof(text), "%zx\r\n", sizes[i]);
		ck_assert(span_equal(span_of(buf, n), span_str(text)));
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("chunk");
	TCase *tc = tcase_create("chunk");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, every_row, 0, COUNT(rows));
	tcase_add_test(tc, ends_at_the_last_line);
	tcase_add_test(tc, line_bound);
	tcase_add_test(tc, many_lines);
	tcase_add_test(tc, trailer_bound);
	tcase_add_test(tc, written_sizes);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
