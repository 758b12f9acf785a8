#include <check.h>
#include <stdlib.h>

#include "http/parse.h"
#include "proxy/reply.h"

static char buf[8192];
static const struct http_limits limits = { sizeof(buf), 0, HTTP_FIELDS_MAX };

/* Put the reply, and read it back as a client would. */
static struct span
put(const struct reply *r, struct http_head *head)
{
	struct http_out out = { .buf = buf, .cap = sizeof(buf) };
	size_t scanned = 0, used;

	reply_put(r, &out);
	ck_assert(!out.over);
	ck_assert_int_eq(http_parse_response(span_of(buf, out.len), &limits,
	    &scanned, head, &used), ERR_OK);
	return span_of(buf + used, out.len - used);
}

static void
ck_field(const struct http_head *head, const char *name, const char *want)
{
	const struct http_field *f = http_head_find_name(head,
	    span_str(name));

	if (want == NULL) {
		ck_assert_msg(f == NULL, "%s is there", name);
		return;
	}
	ck_assert_msg(f != NULL && span_equal(f->value, span_str(want)),
	    "%s: %.*s", name, f == NULL ? 0 : SPAN_ARG(f->value));
}

static struct reply
base(void)
{
	return (struct reply){ .status = 429, .type = REPLY_PROBLEM,
	    .body = SPAN("{}\n"), .lines = SPAN("Retry-After: 2\r\n"),
	    .date = SPAN("Sun, 06 Nov 1994 08:49:37 GMT") };
}

START_TEST(what_every_reply_has)
{
	static struct http_head head;
	struct reply r = base();
	struct span body = put(&r, &head);

	ck_assert_int_eq(head.status, 429);
	ck_assert(span_equal(head.reason, SPAN("Too Many Requests")));
	ck_assert(span_equal(body, SPAN("{}\n")));
	ck_field(&head, "Date", "Sun, 06 Nov 1994 08:49:37 GMT");
	ck_field(&head, "Server", "weir");
	ck_field(&head, "Content-Type", "application/problem+json");
	ck_field(&head, "Content-Length", "3");
	ck_field(&head, "Cache-Control", "no-store");
	ck_field(&head, "Retry-After", "2");
	ck_field(&head, "Connection", NULL);
	ck_field(&head, "Vary", NULL);
	ck_field(&head, "Access-Control-Allow-Origin", NULL);
}
END_TEST

START_TEST(head_has_the_length_but_no_body)
{
	static struct http_head head;
	struct reply r = base();

	r.no_body = true;
	r.close = true;
	ck_assert_uint_eq(put(&r, &head).len, 0);
	ck_field(&head, "Content-Length", "3");
	ck_field(&head, "Connection", "close");
}
END_TEST

START_TEST(empty_body_is_said)
{
	static struct http_head head;
	struct reply r = base();

	r.status = 200;
	r.body = SPAN_EMPTY;
	ck_assert_uint_eq(put(&r, &head).len, 0);
	ck_field(&head, "Content-Length", "0");
	ck_field(&head, "Content-Type", NULL);
}
END_TEST

static char app[] = "https://app.example.com", star[] = "*";
static char *one[] = { app }, *any[] = { star };

static const struct {
	char **origins;
	unsigned n;
	bool expose;
	const char *origin, *allow, *vary;
} origins[] = {
	{ one, 1, true, "https://app.example.com", "https://app.example.com",
	    "Origin" },
	{ one, 1, false, "https://app.example.com", "https://app.example.com",
	    "Origin" },
	/* Another one, and one that only begins like it */
	{ one, 1, true, "https://evil.example.com", NULL, "Origin" },
	{ one, 1, true, "https://app.example.com.evil.com", NULL, "Origin" },
	{ one, 1, true, "HTTPS://app.example.com", NULL, "Origin" },
	{ any, 1, true, "https://x.example", "*", "Origin" },
	{ NULL, 0, true, "https://x.example", NULL, NULL },
};

START_TEST(cors)
{
	static struct http_head head;
	struct cors_conf conf = { .allow_origins = origins[_i].origins,
	    .nallow_origins = origins[_i].n, .expose = origins[_i].expose };
	struct reply r = base();
	const struct http_field *expose;

	r.cors = &conf;
	r.origin = span_str(origins[_i].origin);
	put(&r, &head);
	ck_field(&head, "Access-Control-Allow-Origin", origins[_i].allow);
	ck_field(&head, "Vary", origins[_i].vary);
	expose = http_head_find(&head, FIELD_ACCESS_CONTROL_EXPOSE_HEADERS);
	ck_assert((expose != NULL) ==
	    (origins[_i].allow != NULL && origins[_i].expose));
	if (expose != NULL)
		ck_assert(http_head_has_token(&head,
		    FIELD_ACCESS_CONTROL_EXPOSE_HEADERS,
		    SPAN("retry-after")));
	/* Without an origin nothing of it. */
	r.origin = SPAN_EMPTY;
	put(&r, &head);
	ck_field(&head, "Access-Control-Allow-Origin", NULL);
}
END_TEST

START_TEST(problem_is_json)
{
	struct http_out out = { .buf = buf, .cap = sizeof(buf) };

	reply_put_problem(504, &out);
	ck_assert(span_equal(span_of(buf, out.len), SPAN(
	    "{\"type\":\"about:blank\",\"title\":\"Gateway Timeout\","
	    "\"status\":504,"
	    "\"detail\":\"The upstream did not answer in time.\"}")));
}
END_TEST

START_TEST(expose_keeps_the_upstreams)
{
	static struct http_head head;
	const struct span text = SPAN("HTTP/1.1 200 OK\r\n"
	    "Access-Control-Expose-Headers: X-One\r\n"
	    "Access-Control-Expose-Headers: X-Two, ETag\r\n"
	    "Access-Control-Expose-Headers:\r\n\r\n");
	const struct span want = SPAN(
	    "Access-Control-Expose-Headers: X-One, X-Two, ETag, Retry-After, ");
	struct http_out out = { .buf = buf, .cap = sizeof(buf) };
	size_t scanned = 0, used;

	ck_assert_int_eq(http_parse_response(text, &limits, &scanned, &head,
	    &used), ERR_OK);
	reply_put_expose(&head, &out);
	ck_assert(span_starts(span_of(buf, out.len), want));
	ck_assert(span_ends(span_of(buf, out.len), SPAN("\r\n")));
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

int
main(void)
{
	Suite *suite = suite_create("reply");
	TCase *tc = tcase_create("reply");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, what_every_reply_has);
	tcase_add_test(tc, head_has_the_length_but_no_body);
	tcase_add_test(tc, empty_body_is_said);
	tcase_add_loop_test(tc, cors, 0, ROWS(origins));
	tcase_add_test(tc, problem_is_json);
	tcase_add_test(tc, expose_keeps_the_upstreams);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
