#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "http/framing.h"
#include "http_feed.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define CL		"Content-Length: "
#define TE		"Transfer-Encoding: "

static const struct http_limits limits = {
	.head_bytes = 4096, .target_bytes = 100, .fields = 10
};
static struct fed fed;

/* Only what can be parsed as fields; the parser itself asks for the framing,
 * so its verdict is the one to see. */
static const struct {
	const char *version, *fields;
	enum err e;
	int64_t length;
} requests[] = {
	{ "1.1", "", ERR_OK, 0 },
	{ "1.1", CL "0\r\n", ERR_OK, 0 },
	{ "1.1", CL "5\r\n", ERR_OK, 5 },
	{ "1.0", CL "5\r\n", ERR_OK, 5 },
	{ "1.1", CL "0005\r\n", ERR_OK, 5 },
	{ "1.1", CL "9223372036854775807\r\n", ERR_OK, INT64_MAX },
	{ "1.1", CL "9223372036854775808\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", CL "18446744073709551621\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", CL "5\r\n" CL "5\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", CL "0\r\n" CL "5\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", CL "\r\n" CL "5\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", CL "5, 5\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", CL "5,\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", CL "\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", CL "+5\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", CL "-5\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", CL "0x5\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", CL "5 0\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", CL "\xd9\xa5\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", TE "chunked\r\n", ERR_OK, HTTP_CHUNKED },
	{ "1.1", TE "\tChUnKeD \r\n", ERR_OK, HTTP_CHUNKED },
	{ "1.1", TE ", chunked ,\r\n", ERR_OK, HTTP_CHUNKED },
	{ "1.1", TE "\r\n" TE "chunked\r\n", ERR_OK, HTTP_CHUNKED },
	{ "1.0", TE "chunked\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", TE "\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", TE "identity\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", TE "xchunked\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", TE "\"chunked\"\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", TE "chunked;q=1\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", TE "chunked, chunked\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", TE "chunked\r\n" TE "chunked\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", TE "chunked, identity\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", TE "chunked\r\n" TE "gzip\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", TE "gzip, chunked\r\n", ERR_CODING, 0 },
	{ "1.1", TE "identity, chunked\r\n", ERR_CODING, 0 },
	{ "1.1", TE "gzip\r\n" TE "chunked\r\n", ERR_CODING, 0 },
	{ "1.1", CL "5\r\n" TE "chunked\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", TE "chunked\r\n" CL "5\r\n", ERR_AMBIGUOUS, 0 },
	{ "1.1", CL "0\r\n" TE "gzip, chunked\r\n", ERR_AMBIGUOUS, 0 },
};

START_TEST(request_rows)
{
	char text[512];
	int64_t length = -99;
	enum err e;
	int n = snprintf(text, sizeof(text), "POST / HTTP/%s\r\nHost: a\r\n"
	    "%s\r\n", requests[_i].version, requests[_i].fields);

	feed_cut(http_parse_request, span_of(text, (size_t)n), 0, &limits,
	    &fed);
	ck_assert_int_eq(fed.e, requests[_i].e);
	e = http_request_framing(&fed.head, &length);
	ck_assert_int_eq(e, requests[_i].e);
	ck_assert_int_eq(length, e == ERR_OK ? requests[_i].length : -99);
}
END_TEST

static const struct {
	enum http_method method;
	const char *head;
	enum err e;
	int64_t length;
} responses[] = {
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n", ERR_OK, HTTP_UNTIL_CLOSE },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" CL "5\r\n", ERR_OK, 5 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" CL "0\r\n", ERR_OK, 0 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" CL "5\r\n" CL "5\r\n", ERR_OK, 5 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" CL "5, 5 ,5\r\n", ERR_OK, 5 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" CL "5, 6\r\n", ERR_AMBIGUOUS, 0 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" CL "5\r\n" CL "3\r\n",
	    ERR_AMBIGUOUS, 0 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" CL "5,\r\n", ERR_AMBIGUOUS, 0 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" CL "\r\n", ERR_AMBIGUOUS, 0 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" CL "+5\r\n", ERR_AMBIGUOUS, 0 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" CL "-1\r\n", ERR_AMBIGUOUS, 0 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" CL "18446744073709551621\r\n",
	    ERR_AMBIGUOUS, 0 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" TE "chunked\t\r\n", ERR_OK,
	    HTTP_CHUNKED },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" TE "chunked\r\n" CL "3\r\n",
	    ERR_AMBIGUOUS, 0 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" TE "chunked\r\n" CL "x\r\n",
	    ERR_AMBIGUOUS, 0 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" TE "gzip, chunked\r\n", ERR_CODING,
	    0 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" TE "chunked, identity\r\n",
	    ERR_AMBIGUOUS, 0 },
	{ HTTP_GET, "HTTP/1.1 200 OK\r\n" TE "gzip\r\n", ERR_AMBIGUOUS, 0 },
	{ HTTP_GET, "HTTP/1.0 200 OK\r\n" TE "chunked\r\n", ERR_AMBIGUOUS,
	    0 },
	{ HTTP_HEAD, "HTTP/1.1 200 OK\r\n" CL "5\r\n", ERR_OK, 0 },
	{ HTTP_HEAD, "HTTP/1.1 200 OK\r\n" TE "chunked\r\n", ERR_OK, 0 },
	{ HTTP_GET, "HTTP/1.1 204 No\r\n" CL "5\r\n", ERR_OK, 0 },
	{ HTTP_GET, "HTTP/1.1 304 No\r\n" CL "5\r\n", ERR_OK, 0 },
	{ HTTP_GET, "HTTP/1.1 103 No\r\n" CL "x\r\n", ERR_OK, 0 },
	{ HTTP_GET, "HTTP/1.1 205 No\r\n", ERR_OK, HTTP_UNTIL_CLOSE },
};

START_TEST(response_rows)
{
	char text[512];
	int64_t length = -99;
	enum err e;
	int n = snprintf(text, sizeof(text), "%s\r\n", responses[_i].head);

	feed_cut(http_parse_response, span_of(text, (size_t)n), 0, &limits,
	    &fed);
	ck_assert_int_eq(fed.e, ERR_OK);
	e = http_response_framing(&fed.head, responses[_i].method, &length);
	ck_assert_int_eq(e, responses[_i].e);
	ck_assert_int_eq(length, e == ERR_OK ? responses[_i].length : -99);
}
END_TEST

static const struct {
	const char *version, *fields;
	bool persistent;
} connections[] = {
	{ "1.1", "", true },
	{ "1.0", "", false },
	{ "1.1", "Connection: keep-alive\r\n", true },
	{ "1.0", "Connection: x, Keep-Alive\r\n", true },
	{ "1.1", "Connection: x ,CLOSE\r\n", false },
	{ "1.1", "Connection: keep-alive\r\nConnection: close\r\n", false },
	{ "1.0", "Connection: close, keep-alive\r\n", false },
	{ "1.1", "Connection: closed\r\n", true },
	{ "1.0", "Proxy-Connection: keep-alive\r\n", false },
};

START_TEST(persistence)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "GET / HTTP/%s\r\nHost: a\r\n"
	    "%s\r\n", connections[_i].version, connections[_i].fields);

	feed_cut(http_parse_request, span_of(text, (size_t)n), 0, &limits,
	    &fed);
	ck_assert_int_eq(fed.e, ERR_OK);
	ck_assert_int_eq(http_is_persistent(&fed.head),
	    connections[_i].persistent);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("framing");
	TCase *tc = tcase_create("framing");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, request_rows, 0, COUNT(requests));
	tcase_add_loop_test(tc, response_rows, 0, COUNT(responses));
	tcase_add_loop_test(tc, persistence, 0, COUNT(connections));
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
