#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "http_feed.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define H		"Host: a.test\r\n"
#define GET(fields)	"GET / HTTP/1.1\r\n" H fields "\r\n"
#define LINE(line)	line "\r\n" H "\r\n"
#define HOST(value)	"GET / HTTP/1.1\r\nHost: " value "\r\n\r\n"
#define TEN(s)		s s s s s s s s s s
#define CASE(e, text)	{ e, { text, sizeof(text) - 1 } }

static const struct http_limits limits = {
	.head_bytes = 400, .target_bytes = 100, .fields = 6
};

struct row {
	enum err e;
	struct span text;
};

static const struct row requests[] = {
	CASE(ERR_OK, GET("")),
	CASE(ERR_OK, GET("X: \t a b \t\r\nY:\r\nz:v\r\n")),
	CASE(ERR_OK, GET("X: caf\xe9 \"(,)\"\r\n")),
	CASE(ERR_OK, GET("!#$%&'*+-.^_`|~09azAZ: x\r\n")),
	CASE(ERR_OK, GET("An-Unusually-Long-Name-Of-More-Than-16: 1\r\n")),
	CASE(ERR_OK, "GET / HTTP/1.0\r\n\r\n"),
	CASE(ERR_OK, "\r\n\r\n" GET("")),
	CASE(ERR_OK, "\r\n\r\n\r\n\r\n" GET("")),
	CASE(ERR_OK, LINE("GET / HTTP/1.2")),
	CASE(ERR_OK, LINE("get {|}[]^`\\\" HTTP/1.1")),
	CASE(ERR_OK, GET("") "G\0garbage"),
	CASE(ERR_AGAIN, ""),
	CASE(ERR_AGAIN, "\r"),
	CASE(ERR_AGAIN, "\r\nGE"),
	CASE(ERR_AGAIN, "GET / HTTP/1."),
	CASE(ERR_AGAIN, "GET / HTTP/1.1\r\n" H),
	CASE(ERR_AGAIN, "GET / HTTP/1.1\r\n" H "\r"),
	CASE(ERR_AGAIN, "GET / HTTP/1.1\r\nHo"),
	CASE(ERR_AGAIN, "GET / HTTP/1.1\r\nHost: a\r"),
	CASE(ERR_SYNTAX, "\x16\x03\x01"),
	CASE(ERR_SYNTAX, "\n"),
	CASE(ERR_SYNTAX, " "),
	CASE(ERR_SYNTAX, "\rG"),
	CASE(ERR_SYNTAX, "\r\n\r\n\r\n\r\n\r\n"),
	CASE(ERR_SYNTAX, "G\0"),
	CASE(ERR_SYNTAX, "G\x80"),
	CASE(ERR_SYNTAX, "(GET)"),
	CASE(ERR_SYNTAX, "GET\t"),
	CASE(ERR_SYNTAX, "GET  "),
	CASE(ERR_SYNTAX, "GET\r\n"),
	CASE(ERR_SYNTAX, "GET /\r\n"),
	CASE(ERR_SYNTAX, "GET /a\t"),
	CASE(ERR_SYNTAX, "GET /a\x7f"),
	CASE(ERR_SYNTAX, "GET /a\xc3"),
	CASE(ERR_SYNTAX, "GET /0123456789abcdefgh\x01"),
	CASE(ERR_SYNTAX, "GET /a b"),
	CASE(ERR_SYNTAX, "GET / http"),
	CASE(ERR_SYNTAX, "GET / HTTPS"),
	CASE(ERR_SYNTAX, "GET / HTTP/1,"),
	CASE(ERR_SYNTAX, "GET / HTTP/+"),
	CASE(ERR_SYNTAX, "GET / HTTP/01"),
	CASE(ERR_SYNTAX, "GET / HTTP/1.1 "),
	CASE(ERR_SYNTAX, "GET / HTTP/1.1x"),
	CASE(ERR_SYNTAX, "GET / HTTP/1.10"),
	CASE(ERR_SYNTAX, "GET / HTTP/1.1\n"),
	CASE(ERR_SYNTAX, "GET / HTTP/1.1\rX"),
	CASE(ERR_SYNTAX, "GET / HTTP/2.0x"),
	CASE(ERR_SYNTAX, "GET HTTP/1.1\r\n"),
	CASE(ERR_VERSION, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
	CASE(ERR_VERSION, "GET / HTTP/0.9\r\n"),
	CASE(ERR_VERSION, "GET / HTTP/3.1\r\nBad Name: x"),
	CASE(ERR_METHOD, TEN("ABCDEFG")),
	CASE(ERR_METHOD, TEN("ABCDEFG") "\x01"),
	CASE(ERR_TARGET_LONG, "GET /" TEN("0123456789")),
	CASE(ERR_TARGET_LONG, "GET /" TEN("0123456789") "\x01"),
	CASE(ERR_SYNTAX, GET(" X: 1\r\n")),
	CASE(ERR_SYNTAX, "GET / HTTP/1.1\r\n "),
	CASE(ERR_SYNTAX, GET("X: a\r\n b\r\n")),
	CASE(ERR_SYNTAX, GET("X:\r\n\tHost: b\r\n")),
	CASE(ERR_SYNTAX, GET("X : 1\r\n")),
	CASE(ERR_SYNTAX, GET("X\t: 1\r\n")),
	CASE(ERR_SYNTAX, GET(": 1\r\n")),
	CASE(ERR_SYNTAX, GET("nocolon\r\n")),
	CASE(ERR_SYNTAX, GET("X\0: 1\r\n")),
	CASE(ERR_SYNTAX, GET("X\xe9: 1\r\n")),
	CASE(ERR_SYNTAX, GET("X/Y: 1\r\n")),
	CASE(ERR_SYNTAX, GET("An-Unusually-Long-Name@Of-More-Than-16: 1\r\n")),
	CASE(ERR_SYNTAX, GET("X: a\0b\r\n")),
	CASE(ERR_SYNTAX, GET("X: a\rb\r\n")),
	CASE(ERR_SYNTAX, GET("X: a\nb: c\r\n")),
	CASE(ERR_SYNTAX, GET("X: 0123456789abcdefghij\x1bk\r\n")),
	CASE(ERR_SYNTAX, GET("X: 0123456789abcdefghij\x7fk\r\n")),
	CASE(ERR_SYNTAX, "GET / HTTP/1.1\r\n" H "\n"),
	CASE(ERR_SYNTAX, "GET / HTTP/1.1\r\n" H "\rX"),
	CASE(ERR_SYNTAX, "GET / HTTP/1.1\r\n" H "\r\r\n"),
	CASE(ERR_SYNTAX, "GET / HTTP/1.1\n" H "\n"),
	CASE(ERR_SYNTAX, "GET / HTTP/1.1\r\nX: 1\r\n\r\n"),
	CASE(ERR_SYNTAX, GET("Host: a.test\r\n")),
	CASE(ERR_SYNTAX, "GET / HTTP/1.0\r\n" H H "\r\n"),
	CASE(ERR_SYNTAX, GET("Max-Forwards: 1\r\nmax-forwards: 1\r\n")),
	CASE(ERR_OK, HOST("")),
	CASE(ERR_OK, HOST("[::1]:8080")),
	CASE(ERR_OK, HOST("A.b-c_d.:443")),
	CASE(ERR_OK, HOST("a:")),
	CASE(ERR_SYNTAX, HOST("a b")),
	CASE(ERR_SYNTAX, HOST("a/b")),
	CASE(ERR_SYNTAX, HOST("u@a")),
	CASE(ERR_SYNTAX, HOST("[::1")),
	CASE(ERR_SYNTAX, HOST("[::1]8")),
	CASE(ERR_SYNTAX, HOST("::1")),
	CASE(ERR_SYNTAX, HOST("a:9x")),
	CASE(ERR_SYNTAX, HOST("a:65536")),
	CASE(ERR_SYNTAX, HOST(":80")),
	CASE(ERR_SYNTAX, HOST("a\xe9")),
	CASE(ERR_OK, GET("Content-Length: 5\r\n")),
	CASE(ERR_OK, GET("Transfer-Encoding: chunked\r\n")),
	CASE(ERR_AMBIGUOUS,
	    GET("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")),
	CASE(ERR_AMBIGUOUS, GET("Content-Length: +5\r\n")),
	CASE(ERR_CODING, GET("Transfer-Encoding: gzip, chunked\r\n")),
	CASE(ERR_OK, GET("1:\r\n2:\r\n3:\r\n4:\r\n5:\r\n")),
	CASE(ERR_TOO_LARGE, GET("1:\r\n2:\r\n3:\r\n4:\r\n5:\r\n6:\r\n")),
	CASE(ERR_SYNTAX, GET("1:\r\n2:\r\n3:\r\n4:\r\n5:\r\n6:\r\n7\r\n")),
	CASE(ERR_TOO_LARGE, "GET / HTTP/1.1\r\nX: "
	    TEN("0123456789012345678901234567890123456789")),
	CASE(ERR_TOO_LARGE, "GET / HTTP/1.1\r\n"
	    TEN("0123456789012345678901234567890123456789")),
};

#define OK_LINE	"HTTP/1.1 200 OK\r\n"

static const struct row responses[] = {
	CASE(ERR_OK, OK_LINE "\r\n"),
	CASE(ERR_OK, OK_LINE "X: 1\r\nContent-Length: 2\r\n\r\nhi"),
	CASE(ERR_OK, "HTTP/1.0 599 caf\xe9 \t()\r\n\r\n"),
	CASE(ERR_OK, "HTTP/1.1 200 \r\n\r\n"),
	CASE(ERR_OK, "HTTP/1.1 200\r\n\r\n"),
	CASE(ERR_OK, "HTTP/1.1 100 Continue\r\n\r\n"),
	CASE(ERR_OK, OK_LINE "Host: x y\r\nHost: z\r\n\r\n"),
	CASE(ERR_OK, OK_LINE "Content-Length: x\r\n\r\n"),
	CASE(ERR_AGAIN, "HTTP/1.1 200 O"),
	CASE(ERR_AGAIN, OK_LINE "X: 1\r\n"),
	CASE(ERR_SYNTAX, "<html>"),
	CASE(ERR_SYNTAX, "\r\n" OK_LINE "\r\n"),
	CASE(ERR_SYNTAX, "HTTP/1.1  200"),
	CASE(ERR_SYNTAX, "HTTP/1.1\t200"),
	CASE(ERR_SYNTAX, "HTTP/1.1 0"),
	CASE(ERR_SYNTAX, "HTTP/1.1 6"),
	CASE(ERR_SYNTAX, "HTTP/1.1 99 X"),
	CASE(ERR_SYNTAX, "HTTP/1.1 2000"),
	CASE(ERR_SYNTAX, "HTTP/1.1 20x"),
	CASE(ERR_SYNTAX, "HTTP/1.1 200OK"),
	CASE(ERR_SYNTAX, "HTTP/1.1 200 O\0K\r\n"),
	CASE(ERR_SYNTAX, "HTTP/1.1 200 O\rK\r\n"),
	CASE(ERR_SYNTAX, "HTTP/1.1 200 OK\n"),
	CASE(ERR_SYNTAX, "ICY 200 OK\r\n"),
	CASE(ERR_VERSION, "HTTP/2.0 200 OK\r\n"),
	CASE(ERR_SYNTAX, OK_LINE "X: a\r\n b\r\n\r\n"),
	CASE(ERR_SYNTAX, OK_LINE "X : a\r\n\r\n"),
	CASE(ERR_SYNTAX, OK_LINE "nocolon\r\n\r\n"),
	CASE(ERR_SYNTAX, OK_LINE ": v\r\n\r\n"),
	CASE(ERR_SYNTAX, OK_LINE "X: a\0b\r\n\r\n"),
	CASE(ERR_TOO_LARGE, "HTTP/1.1 200 "
	    TEN("0123456789012345678901234567890123456789")),
};

static struct fed want, got;

/* The verdict, the same at any cut; and each beginning is judged alike whether
 * it comes at once or octet by octet. */
static void
check_row(feed_parser *parser, const struct row *row)
{
	feed_cut(parser, row->text, 0, &limits, &want);
	ck_assert_msg(want.e == row->e, "%s, not %s: %.*s", err_text(want.e),
	    err_text(row->e), SPAN_ARG(row->text));
	for (size_t cut = 1; cut < row->text.len; cut++) {
		feed_cut(parser, row->text, cut, &limits, &got);
		ck_assert_msg(feed_same(&want, &got), "%s cut at %zu: %.*s",
		    err_text(got.e), cut, SPAN_ARG(row->text));
	}
	for (size_t n = 1; n <= row->text.len; n++) {
		struct span part = span_of(row->text.ptr, n);

		feed_cut(parser, part, 0, &limits, &want);
		feed_octets(parser, part, &limits, &got);
		ck_assert_msg(feed_same(&want, &got), "%s or %s: %.*s",
		    err_text(want.e), err_text(got.e), SPAN_ARG(part));
	}
}

START_TEST(request_rows)
{
	check_row(http_parse_request, &requests[_i]);
}
END_TEST

START_TEST(response_rows)
{
	check_row(http_parse_response, &responses[_i]);
}
END_TEST

static void
check_field(unsigned i, struct span name, struct span value,
    enum http_field_id id)
{
	ck_assert(span_equal(got.head.fields[i].name, name));
	ck_assert(span_equal(got.head.fields[i].value, value));
	ck_assert_int_eq(got.head.fields[i].id, id);
}

START_TEST(request_content)
{
	struct span text = SPAN("\r\nPATCH /x?y HTTP/1.0\r\nhOST:\ta:1\t\r\n"
	    "X-Y: one  two\r\nEmpty: \r\n\r\nGET /next");

	feed_cut(http_parse_request, text, 0, &limits, &got);
	ck_assert_int_eq(got.e, ERR_OK);
	ck_assert(span_equal(got.head.method, SPAN("PATCH")));
	ck_assert_int_eq(got.head.method_id, HTTP_PATCH);
	ck_assert(span_equal(got.head.target, SPAN("/x?y")));
	ck_assert_int_eq(got.head.minor, 0);
	ck_assert_int_eq(got.head.status, 0);
	ck_assert_uint_eq(got.head.nfields, 3);
	check_field(0, SPAN("hOST"), SPAN("a:1"), FIELD_HOST);
	check_field(1, SPAN("X-Y"), SPAN("one  two"), FIELD_OTHER);
	check_field(2, SPAN("Empty"), SPAN_EMPTY, FIELD_OTHER);
	ck_assert_uint_eq(got.used, text.len - sizeof("GET /next") + 1);
	ck_assert_ptr_eq(got.head.raw.ptr, text.ptr + 2);
	ck_assert_uint_eq(got.head.raw.len, got.used - 2);
}
END_TEST

START_TEST(response_content)
{
	feed_cut(http_parse_response,
	    SPAN("HTTP/1.1 404 Not  There\r\nDate: x\r\n\r\nbody"), 0, &limits,
	    &got);
	ck_assert_int_eq(got.e, ERR_OK);
	ck_assert_int_eq(got.head.status, 404);
	ck_assert(span_equal(got.head.reason, SPAN("Not  There")));
	ck_assert_int_eq(got.head.minor, 1);
	check_field(0, SPAN("Date"), SPAN("x"), FIELD_DATE);
	ck_assert_uint_eq(got.head.raw.len, got.used);
}
END_TEST

START_TEST(method_ids)
{
	static const struct {
		const char *name;
		enum http_method id;
	} rows[] = {
		{ "GET", HTTP_GET }, { "HEAD", HTTP_HEAD },
		{ "POST", HTTP_POST }, { "PUT", HTTP_PUT },
		{ "DELETE", HTTP_DELETE }, { "CONNECT", HTTP_CONNECT },
		{ "OPTIONS", HTTP_OPTIONS }, { "TRACE", HTTP_TRACE },
		{ "PATCH", HTTP_PATCH }, { "get", HTTP_METHOD_OTHER },
		{ "GETS", HTTP_METHOD_OTHER }, { "QUERY", HTTP_METHOD_OTHER },
	};
	char text[64];

	for (size_t i = 0; i < COUNT(rows); i++) {
		int n = snprintf(text, sizeof(text), "%s / HTTP/1.0\r\n\r\n",
		    rows[i].name);

		feed_cut(http_parse_request, span_of(text, (size_t)n), 0,
		    &limits, &got);
		ck_assert_int_eq(got.e, ERR_OK);
		ck_assert_int_eq(got.head.method_id, rows[i].id);
	}
}
END_TEST

/* The edges of the limits themselves are allowed. */
START_TEST(edges)
{
	static char text[512];
	int n;

	n = snprintf(text, sizeof(text), "GET /%099d HTTP/1.0\r\n\r\n", 0);
	feed_cut(http_parse_request, span_of(text, (size_t)n), 0, &limits,
	    &got);
	ck_assert_int_eq(got.e, ERR_OK);
	n = snprintf(text, sizeof(text), "%064d / HTTP/1.0\r\n\r\n", 0);
	feed_cut(http_parse_request, span_of(text, (size_t)n), 0, &limits,
	    &got);
	ck_assert_int_eq(got.e, ERR_OK);
	for (int extra = 0; extra < 2; extra++) {
		n = snprintf(text, sizeof(text),
		    "GET / HTTP/1.0\r\nX: %0*d\r\n\r\n", 377 + extra, 0);
		ck_assert_int_eq(n, 400 + extra);
		feed_cut(http_parse_request, span_of(text, (size_t)n), 0,
		    &limits, &got);
		ck_assert_int_eq(got.e, extra ? ERR_TOO_LARGE : ERR_OK);
		feed_octets(http_parse_request, span_of(text, (size_t)n),
		    &limits, &got);
		ck_assert_int_eq(got.e, extra ? ERR_TOO_LARGE : ERR_OK);
	}
	/* A full 400 octets and no end: there is no use in waiting. */
	for (size_t len = 399; len <= 400; len++) {
		feed_cut(http_parse_request, span_of(text, len), 0, &limits,
		    &got);
		ck_assert_int_eq(got.e,
		    len == 400 ? ERR_TOO_LARGE : ERR_AGAIN);
	}
}
END_TEST

START_TEST(every_octet)
{
	char text[] = GET("Name: 0123456789-0123456789\r\nZ: last\r\n");
	char *name = strstr(text, "Name"), *value = strstr(text, "9-0") + 1;
	char *last = strstr(text, "ast");
	bool is_value = _i == '\t' || (_i >= ' ' && _i != 0x7f);

	*name = (char)_i;
	feed_cut(http_parse_request, SPAN(text), 0, &limits, &got);
	ck_assert_int_eq(got.e == ERR_OK, _i != 0 && (isalnum(_i) ||
	    strchr("!#$%&'*+-.^_`|~", _i) != NULL));
	*name = 'N';
	*value = (char)_i;
	feed_cut(http_parse_request, SPAN(text), 0, &limits, &got);
	ck_assert_int_eq(got.e == ERR_OK, is_value);
	*value = '-';
	*last = (char)_i;
	feed_cut(http_parse_request, SPAN(text), 0, &limits, &got);
	ck_assert_int_eq(got.e == ERR_OK, is_value);
}
END_TEST

START_TEST(head_functions)
{
	struct span text = SPAN("GET /t HTTP/1.1\r\nHost: a\r\nX-K: 1\r\n"
	    "Connection: a , B\r\nconnection: \"q,c\", d\r\n\r\n");
	static char moved[256];
	struct http_head *head = &got.head;

	feed_cut(http_parse_request, text, 0, &limits, &got);
	ck_assert_ptr_eq(http_head_find(head, FIELD_CONNECTION),
	    &head->fields[2]);
	ck_assert_ptr_null(http_head_find(head, FIELD_DATE));
	ck_assert_ptr_eq(http_head_find_name(head, SPAN("x-k")),
	    &head->fields[1]);
	ck_assert_ptr_null(http_head_find_name(head, SPAN("x-")));
	ck_assert_uint_eq(http_head_count(head, FIELD_CONNECTION), 2);
	ck_assert(http_head_has_token(head, FIELD_CONNECTION, SPAN("b")));
	ck_assert(http_head_has_token(head, FIELD_CONNECTION, SPAN("D")));
	ck_assert(!http_head_has_token(head, FIELD_CONNECTION, SPAN("c")));
	want = got;
	memcpy(moved + 7, text.ptr, text.len);
	http_head_rebase(head, text.ptr, moved + 7);
	ck_assert(feed_same_head(&want.head, head));
	ck_assert_ptr_eq(head->raw.ptr, moved + 7);
	ck_assert_ptr_eq(head->target.ptr, moved + 7 + 4);
	ck_assert_int_eq(head->fields[3].value.ptr - moved,
	    want.head.fields[3].value.ptr - text.ptr + 7);
}
END_TEST

START_TEST(statuses)
{
	ck_assert_int_eq(http_err_status(ERR_SYNTAX), 400);
	ck_assert_int_eq(http_err_status(ERR_AMBIGUOUS), 400);
	ck_assert_int_eq(http_err_status(ERR_TARGET_LONG), 414);
	ck_assert_int_eq(http_err_status(ERR_EXPECT), 417);
	ck_assert_int_eq(http_err_status(ERR_TOO_LARGE), 431);
	ck_assert_int_eq(http_err_status(ERR_CODING), 501);
	ck_assert_int_eq(http_err_status(ERR_METHOD), 501);
	ck_assert_int_eq(http_err_status(ERR_VERSION), 505);
	ck_assert_int_eq(http_err_status(ERR_LOOP), 508);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("parse");
	TCase *tc = tcase_create("parse");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, request_rows, 0, COUNT(requests));
	tcase_add_loop_test(tc, response_rows, 0, COUNT(responses));
	tcase_add_test(tc, request_content);
	tcase_add_test(tc, response_content);
	tcase_add_test(tc, method_ids);
	tcase_add_test(tc, edges);
	tcase_add_loop_test(tc, every_octet, 0, 256);
	tcase_add_test(tc, head_functions);
	tcase_add_test(tc, statuses);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
