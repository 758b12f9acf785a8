#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "limit/advert.h"

#define S INT64_C(1000000)

static char buf[2048];
static struct http_out out;
static struct headers_conf conf;
static struct policy policy;
static struct rate rate;
static struct decision d;
static char per_ip[] = "per-ip";

/* A denial of "per-ip", 10/s, for 1.2 s. */
static void
setup(void)
{
	out = (struct http_out){ .buf = buf, .cap = sizeof(buf) };
	conf = (struct headers_conf){ .policy = true };
	policy = (struct policy){ .name = per_ip };
	rate = (struct rate){ .count = 10, .burst = 10, .period_us = S };
	d = (struct decision){ .outcome = OUTCOME_LIMITED,
	    .policy = &policy, .rate = &rate, .verdict = { .limit = 10,
	    .pass_in = 1200000, .reset_in = 1200000 } };
}

static void
assert_out(const char *text)
{
	ck_assert(!out.over);
	ck_assert_uint_lt(out.len, sizeof(buf));
	buf[out.len] = '\0';
	ck_assert_str_eq(buf, text);
	out.len = 0;
}

static void
assert_fields(int64_t wall_us, const char *text)
{
	advert_put(&conf, &d, wall_us, &out);
	assert_out(text);
}

static void
assert_body(int64_t retry_after, const char *text)
{
	advert_put_body(&d, retry_after, &out);
	assert_out(text);
}

/* Only the sentence. */
static void
assert_detail(const char *detail)
{
	char *from, *to;

	advert_put_body(&d, 2, &out);
	buf[out.len] = '\0';
	out.len = 0;
	from = strstr(buf, "\"detail\":\"");
	ck_assert_ptr_nonnull(from);
	from += strlen("\"detail\":\"");
	to = strchr(from, '"');
	ck_assert_ptr_nonnull(to);
	*to = '\0';
	ck_assert_str_eq(from, detail);
}

START_TEST(denied)
{
	assert_fields(0, "x-ratelimit-limit: 10\r\n"
	    "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 2\r\n"
	    "x-ratelimit-policy: per-ip\r\n");
	ck_assert_int_eq(advert_retry_after(&conf, &d, UINT32_MAX), 2);
	assert_body(2, "{\"type\":\"https://iana.org/assignments/"
	    "http-problem-types#quota-exceeded\",\"title\":"
	    "\"Quota exceeded\",\"status\":429,\"detail\":\"Policy per-ip "
	    "allows 10 requests per 1 s. Retry in 2 s.\","
	    "\"violated-policies\":[\"per-ip\"],\"retry-after\":2}");
}
END_TEST

START_TEST(allowed)
{
	d.outcome = OUTCOME_PASS;
	d.verdict = (struct verdict){ .passed = true, .limit = 5000,
	    .remaining = 4999, .reset_in = 720000 };
	assert_fields(0, "x-ratelimit-limit: 5000\r\n"
	    "x-ratelimit-remaining: 4999\r\nx-ratelimit-reset: 1\r\n"
	    "x-ratelimit-policy: per-ip\r\n");
	assert_body(1, "");
}
END_TEST

START_TEST(the_policy_may_be_left_out)
{
	conf.policy = false;
	assert_fields(0, "x-ratelimit-limit: 10\r\n"
	    "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 2\r\n");
}
END_TEST

START_TEST(f020_reset_may_be_a_time)
{
	conf.reset = RESET_EPOCH;
	conf.policy = false;
	/* Up, so that waiting until then is enough. */
	assert_fields(1700000000 * S, "x-ratelimit-limit: 10\r\n"
	    "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 1700000002\r\n");
	d.verdict.reset_in = 60 * S;
	assert_fields(1700000000 * S, "x-ratelimit-limit: 10\r\n"
	    "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 1700000060\r\n");
	ck_assert_int_eq(advert_retry_after(&conf, &d, 0), 2);
}
END_TEST

START_TEST(nothing_to_say)
{
	conf.style = HEADERS_NONE;
	assert_fields(0, "");
	conf.style = HEADERS_X_RATELIMIT;
	d.outcome = OUTCOME_STORE_AWAY;
	assert_fields(0, "");
	d.outcome = OUTCOME_NO_KEY;
	assert_fields(0, "");
	d.outcome = OUTCOME_PASS;
	d.policy = NULL;
	assert_fields(0, "");
}
END_TEST

START_TEST(waits_are_whole_seconds)
{
	static const int64_t waits[][2] = { { 1, 1 }, { S - 1, 1 }, { S, 1 },
	    { S + 1, 2 }, { 2 * S, 2 }, { 30 * 86400 * S, 30 * 86400 } };

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		d.verdict.pass_in = waits[i][0];
		ck_assert_int_eq(advert_retry_after(&conf, &d, 77),
		    waits[i][1]);
	}
	d.outcome = OUTCOME_STORE_AWAY;
	ck_assert_int_eq(advert_retry_after(&conf, &d, 77), 1);
}
END_TEST

START_TEST(jitter_only_adds)
{
	conf.retry_after_jitter = 50;
	d.verdict.pass_in = 100 * S;
	ck_assert_int_eq(advert_retry_after(&conf, &d, 0), 100);
	ck_assert_int_eq(advert_retry_after(&conf, &d, 1u << 31), 125);
	ck_assert_int_eq(advert_retry_after(&conf, &d, UINT32_MAX), 150);
	conf.retry_after_jitter = 100;
	d.verdict.pass_in = 366 * 86400 * S;
	ck_assert_int_eq(advert_retry_after(&conf, &d, UINT32_MAX),
	    2 * 366 * 86400);
	d.outcome = OUTCOME_STORE_AWAY;
	ck_assert_int_eq(advert_retry_after(&conf, &d, UINT32_MAX), 1);
}
END_TEST

START_TEST(periods_in_words)
{
	static const struct {
		int64_t us;
		const char *text;
	} periods[] = {
		{ S / 2, "500 ms" }, { 1000, "1 ms" }, { 1500000, "1500 ms" },
		{ 10 * S, "10 s" }, { 59 * S, "59 s" }, { 60 * S, "1 min" },
		{ 90 * S, "90 s" }, { 900 * S, "15 min" }, { 3600 * S, "1 h" },
		{ 5400 * S, "90 min" }, { 86400 * S, "1 d" },
		{ 129600 * S, "36 h" }, { 30 * 86400 * S, "30 d" },
	};
	char detail[128];

	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		rate.period_us = periods[i].us;
		snprintf(detail, sizeof(detail), "Policy per-ip allows 10 "
		    "requests per %s. Retry in 2 s.", periods[i].text);
		assert_detail(detail);
	}
}
END_TEST

START_TEST(one_request_and_a_burst)
{
	rate.count = rate.burst = d.verdict.limit = 1;
	assert_detail("Policy per-ip allows 1 request per 1 s. Retry in 2 s.");
	rate.count = 10;
	rate.burst = d.verdict.limit = 30;
	assert_detail("Policy per-ip allows 10 requests per 1 s (burst 30). "
	    "Retry in 2 s.");
}
END_TEST

START_TEST(store_away)
{
	d.outcome = OUTCOME_STORE_AWAY;
	assert_body(1, "{\"type\":\"https://iana.org/assignments/"
	    "http-problem-types#temporary-reduced-capacity\",\"title\":"
	    "\"Temporary reduced capacity\",\"status\":503,\"detail\":"
	    "\"The rate limiter's store is unavailable. Retry in 1 s.\","
	    "\"retry-after\":1}");
}
END_TEST

START_TEST(no_key)
{
	static char name[] = "x-api-key";

	d.outcome = OUTCOME_NO_KEY;
	policy.key.n = 2;
	policy.key.parts[0].source = KEY_HOST;
	policy.key.parts[1] = (struct key_part){ .source = KEY_HEADER,
	    .name = name };
	d.missing_part = 1;
	assert_body(0, "{\"type\":\"about:blank\",\"title\":\"Bad Request\","
	    "\"status\":400,\"detail\":\"The request lacks header x-api-key, "
	    "which policy per-ip needs.\"}");
	policy.key.parts[1].source = KEY_QUERY;
	assert_detail("The request lacks query parameter x-api-key, which "
	    "policy per-ip needs.");
	policy.key.parts[1].source = KEY_COOKIE;
	assert_detail("The request lacks cookie x-api-key, which policy "
	    "per-ip needs.");
	d.missing_part = 0;
	assert_detail("The request lacks a host, which policy per-ip needs.");
	policy.key.parts[0].source = KEY_CALLER;
	assert_detail("The request lacks the key of its caller class, which "
	    "policy per-ip needs.");
	policy.key.n = 0;
	assert_detail("The request lacks a client address, which policy "
	    "per-ip needs.");
}
END_TEST

START_TEST(names_cannot_break_the_body)
{
	char name[] = "a\"b\\c\n\xc3\xa9";

	policy.name = name;
	assert_body(2, "{\"type\":\"https://iana.org/assignments/"
	    "http-problem-types#quota-exceeded\",\"title\":"
	    "\"Quota exceeded\",\"status\":429,\"detail\":\"Policy "
	    "a\\u0022b\\u005cc\\u000a\xc3\xa9 allows 10 requests per 1 s. "
	    "Retry in 2 s.\",\"violated-policies\":["
	    "\"a\\u0022b\\u005cc\\u000a\xc3\xa9\"],\"retry-after\":2}");
}
END_TEST

START_TEST(no_room)
{
	out.cap = 20;
	advert_put(&conf, &d, 0, &out);
	ck_assert(out.over);
	ck_assert_uint_le(out.len, 20);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("advert");
	TCase *t = tcase_create("advert");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, denied);
	tcase_add_test(t, allowed);
	tcase_add_test(t, the_policy_may_be_left_out);
	tcase_add_test(t, f020_reset_may_be_a_time);
	tcase_add_test(t, nothing_to_say);
	tcase_add_test(t, waits_are_whole_seconds);
	tcase_add_test(t, jitter_only_adds);
	tcase_add_test(t, periods_in_words);
	tcase_add_test(t, one_request_and_a_burst);
	tcase_add_test(t, store_away);
	tcase_add_test(t, no_key);
	tcase_add_test(t, names_cannot_break_the_body);
	tcase_add_test(t, no_room);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
