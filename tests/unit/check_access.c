#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "proxy/access.h"

static int ends[2];
static struct log_conf conf;
static struct access_log *lines;

static void
setup(void)
{
	ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
	conf = (struct log_conf){ .access_format = LOG_JSON,
	    .sample_ppm = 1000000 };
}

static void
teardown(void)
{
	access_free(lines);
	lines = NULL;
	close(ends[0]);
	close(ends[1]);
}

static void
start(enum log_format format)
{
	conf.access_format = format;
	lines = access_new(ends[1], &conf);
}

static struct access_entry
entry(void)
{
	struct access_entry e = {
		.wall_us = INT64_C(1796029200123456),
		.duration_us = 12400, .upstream_us = 11900,
		.client = { 4, { 192, 0, 2, 7 } },
		.peer = { 4, { 10, 0, 0, 1 } }, .peer_port = 4711,
		.method = SPAN("GET"),
		.target = SPAN("/a/\"b?api_key=sk_live_secret"),
		.host = SPAN("example.com"),
		.user_agent = SPAN("curl/8 \"x\"\x01\xff"), .minor = 1,
		.status = 200, .bytes_in = 3, .bytes_out = 1234,
		.upstream = "api", .server = "127.0.0.1:9000",
	};

	return e;
}

/* All that came through the pipe. */
static void
drain(struct text *t)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(ends[0], buf, sizeof(buf))) > 0)
		text_append(t, span_of(buf, (size_t)n));
}

START_TEST(json_line)
{
	struct access_entry e = entry();
	struct text t = { 0 };

	start(LOG_JSON);
	access_write(lines, &e);
	drain(&t);
	ck_assert_uint_eq(t.len, 0);
	access_flush(lines);
	drain(&t);
	ck_assert_str_eq(text_cstr(&t),
	    "{\"ts\":\"2026-11-30T09:00:00.123Z\",\"level\":\"info\","
	    "\"msg\":\"request\",\"client_ip\":\"192.0.2.7\","
	    "\"peer_ip\":\"10.0.0.1\",\"peer_port\":4711,\"method\":\"GET\","
	    "\"host\":\"example.com\",\"path\":\"/a/\\\"b\","
	    "\"protocol\":\"1.1\",\"status\":200,\"bytes_in\":3,"
	    "\"bytes_out\":1234,\"duration_ms\":12.400,"
	    "\"upstream_ms\":11.900,\"upstream\":\"api\","
	    "\"endpoint\":\"127.0.0.1:9000\","
	    "\"user_agent\":\"curl/8 \\\"x\\\"\\u0001\\ufffd\"}\n");
	text_fini(&t);
}
END_TEST

START_TEST(combined_line)
{
	struct access_entry e = entry();
	struct text t = { 0 };

	start(LOG_COMBINED);
	access_write(lines, &e);
	access_flush(lines);
	drain(&t);
	ck_assert_str_eq(text_cstr(&t),
	    "192.0.2.7 - - [30/Nov/2026:09:00:00 +0000] "
	    "\"GET /a/\\\"b HTTP/1.1\" 200 1234 \"-\" "
	    "\"curl/8 \\\"x\\\"\\x01\\xff\"\n");
	text_fini(&t);
}
END_TEST

static const struct {
	enum outcome outcome;
	bool degraded, shadow;
	enum store_source source;
	const char *want;
} outcomes[] = {
	{ OUTCOME_LIMITED, false, false, SOURCE_REDIS, "limited" },
	{ OUTCOME_LIMITED, true, false, SOURCE_LOCAL, "limited" },
	{ OUTCOME_STORE_AWAY, true, false, SOURCE_NONE, "error_denied" },
	{ OUTCOME_NO_KEY, false, false, SOURCE_NONE, "error_denied" },
	{ OUTCOME_PASS, true, false, SOURCE_NONE, "error_allowed" },
	{ OUTCOME_PASS, false, true, SOURCE_MEMORY, "shadow_limited" },
	{ OUTCOME_PASS, false, false, SOURCE_NONE, "bypassed" },
};

START_TEST(decisions)
{
	struct access_entry e = entry();
	struct decision d = { .outcome = outcomes[_i].outcome,
	    .degraded = outcomes[_i].degraded,
	    .shadow_limited = outcomes[_i].shadow,
	    .source = outcomes[_i].source, .asked_at = 100,
	    .decided_at = 141, .store_now = INT64_C(1796029200000001) };
	struct text t = { 0 }, want = { 0 };

	start(LOG_JSON);
	e.decision = &d;
	access_write(lines, &e);
	access_flush(lines);
	drain(&t);
	text_printf(&want, ",\"decision\":\"%s\",\"decide_us\":41,"
	    "\"decided_at\":1796029200.000001", outcomes[_i].want);
	ck_assert_msg(strstr(text_cstr(&t), text_cstr(&want)) != NULL, "%s",
	    text_cstr(&t));
	text_fini(&t);
	text_fini(&want);
}
END_TEST

START_TEST(no_query_and_no_secret_ever)
{
	struct access_entry e = entry();
	struct text t = { 0 };

	start(LOG_JSON);
	access_write(lines, &e);
	access_flush(lines);
	access_free(lines);
	start(LOG_COMBINED);
	access_write(lines, &e);
	access_flush(lines);
	drain(&t);
	ck_assert_ptr_null(strstr(text_cstr(&t), "secret"));
	ck_assert_ptr_null(strstr(text_cstr(&t), "api_key"));
	text_fini(&t);
}
END_TEST

/* The pipe is full again and again: no octet is lost or doubled. */
START_TEST(short_writes_stay_in_step)
{
	const int total = 3000;
	struct access_entry e = entry();
	struct text t = { 0 };
	struct span rest, line;
	int n = 0;

	start(LOG_JSON);
	for (int i = 0; i < total; i++) {
		e.bytes_out = i;
		access_write(lines, &e);
		if (i % 7 == 0)
			access_flush(lines);
	}
	for (size_t before = 1; before != t.len || t.len == 0;) {
		before = t.len;
		drain(&t);
		access_flush(lines);
		drain(&t);
	}
	rest = text_span(&t);
	while (rest.len > 0 && span_split(&rest, '\n', &line)) {
		char want[32];

		snprintf(want, sizeof(want), "\"bytes_out\":%d,", n++);
		ck_assert(span_starts(line, SPAN("{\"ts\":")));
		ck_assert(span_ends(line, SPAN("}")));
		ck_assert_ptr_nonnull(memmem(line.ptr, line.len, want,
		    strlen(want)));
	}
	ck_assert_int_eq(n, total);
	text_fini(&t);
}
END_TEST

START_TEST(sampling_spares_denials)
{
	struct access_entry e = entry();
	struct decision d = { .outcome = OUTCOME_PASS };
	struct text t = { 0 };
	int n = 0;

	conf.sample_ppm = 250000;
	start(LOG_COMBINED);
	e.decision = &d;
	for (int i = 0; i < 100; i++)
		access_write(lines, &e);
	d.outcome = OUTCOME_LIMITED;
	for (int i = 0; i < 10; i++)
		access_write(lines, &e);
	access_flush(lines);
	drain(&t);
	for (size_t i = 0; i < t.len; i++)
		n += t.data[i] == '\n';
	ck_assert_int_eq(n, 25 + 10);
	text_fini(&t);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

int
main(void)
{
	Suite *suite = suite_create("access");
	TCase *tc = tcase_create("access");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, json_line);
	tcase_add_test(tc, combined_line);
	tcase_add_loop_test(tc, decisions, 0, ROWS(outcomes));
	tcase_add_test(tc, no_query_and_no_secret_ever);
	tcase_add_test(tc, short_writes_stay_in_step);
	tcase_add_test(tc, sampling_spares_denials);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
