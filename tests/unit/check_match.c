#include <stdlib.h>

#include "base/mem.h"
#include "limit_request.h"
#include "limit/rules.h"

static struct asked_request r;
static struct asked_match m;

static bool
path_fits(const char *pattern, const char *path)
{
	return match_path(span_str(pattern), span_str(path));
}

START_TEST(literal_paths)
{
	ck_assert(path_fits("/", "/"));
	ck_assert(path_fits("/a/b", "/a/b"));
	ck_assert(!path_fits("/a/b", "/a/b/"));
	ck_assert(!path_fits("/a/b/", "/a/b"));
	ck_assert(!path_fits("/a/b", "/a"));
	ck_assert(!path_fits("/a", "/a/b"));
	ck_assert(!path_fits("/a", "/ab"));
	ck_assert(!path_fits("/ab", "/a"));
	ck_assert(!path_fits("/a", "/A"));
	ck_assert(!path_fits("/", "*"));
	ck_assert(!path_fits("/**", "*"));
	ck_assert(!path_fits("", "/"));
}
END_TEST

START_TEST(stars_in_a_segment)
{
	ck_assert(path_fits("/a/*", "/a/b"));
	ck_assert(path_fits("/a/*", "/a/"));
	ck_assert(!path_fits("/a/*", "/a"));
	ck_assert(!path_fits("/a/*", "/a/b/c"));
	ck_assert(path_fits("/*/c", "/b/c"));
	ck_assert(path_fits("/v*.json", "/v1.json"));
	ck_assert(path_fits("/v*.json", "/v1.json.json"));
	ck_assert(!path_fits("/v*.json", "/v1.jsonx"));
	ck_assert(!path_fits("/v*.json", "/v1/x.json"));
	ck_assert(path_fits("/*a*b*", "/xaybz"));
	ck_assert(!path_fits("/*a*b*", "/xbya"));
}
END_TEST

START_TEST(names_are_whole_segments_that_are_not_empty)
{
	ck_assert(path_fits("/users/{id}", "/users/7"));
	ck_assert(!path_fits("/users/{id}", "/users/"));
	ck_assert(!path_fits("/users/{id}", "/users"));
	ck_assert(!path_fits("/users/{id}", "/users/7/"));
	ck_assert(path_fits("/users/{id}/posts", "/users/7/posts"));
	ck_assert(!path_fits("/users/{id}/posts", "/users//posts"));
}
END_TEST

START_TEST(a_rest_may_be_empty)
{
	ck_assert(path_fits("/**", "/"));
	ck_assert(path_fits("/**", "/a/b"));
	ck_assert(path_fits("/a/**", "/a"));
	ck_assert(path_fits("/a/**", "/a/"));
	ck_assert(path_fits("/a/**", "/a/b/c"));
	ck_assert(!path_fits("/a/**", "/ab"));
	ck_assert(!path_fits("/a/**", "/"));
	ck_assert(path_fits("/{x}/**", "/a"));
	ck_assert(!path_fits("/{x}/**", "/"));
}
END_TEST

static bool
glob_fits(const char *pattern, const char *text)
{
	return match_glob(span_str(pattern), span_str(text));
}

START_TEST(globs)
{
	ck_assert(glob_fits("", ""));
	ck_assert(glob_fits("*", ""));
	ck_assert(glob_fits("**", "x"));
	ck_assert(glob_fits("sk_live_*", "sk_live_"));
	ck_assert(glob_fits("sk_live_*", "sk_live_a/b c"));
	ck_assert(!glob_fits("sk_live_*", "sk_liv"));
	ck_assert(!glob_fits("sk_live_*", "xsk_live_"));
	ck_assert(glob_fits("*ab", "aab"));
	ck_assert(glob_fits("*aab", "aaab"));
	ck_assert(!glob_fits("*ab", "aba"));
	ck_assert(glob_fits("a*b*c", "a-b-b-c"));
	ck_assert(!glob_fits("a", ""));
	ck_assert(!glob_fits("", "a"));
}
END_TEST

/* Slow backtracking would take the age of the universe here. */
START_TEST(globs_are_not_explosive)
{
	char text[4096];

	memset(text, 'a', sizeof(text));
	ck_assert(!match_glob(SPAN("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"),
	    span_of(text, sizeof(text))));
}
END_TEST

static const char *
why(const char *pattern)
{
	const char *reason = NULL;
	enum err e = match_check_path(span_str(pattern), &reason);

	ck_assert_int_eq(e, reason == NULL ? ERR_OK : ERR_SYNTAX);
	return reason;
}

START_TEST(patterns_that_can_match)
{
	static const char *const good[] = { "/", "/a", "/a/", "/a/*", "/**",
	    "/a/**", "/users/{id}", "/v*.json", "/a%2Fb", "/caf%C3%A9",
	    "/a;x=1", "/...", "/[x]", "/a:b@c", "/*%20*" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(why(good[i]) == NULL, "%s: %s", good[i],
		    why(good[i]));
}
END_TEST

START_TEST(patterns_that_never_match)
{
	static const struct {
		const char *pattern, *part;
	} bad[] = {
		{ "", "begins" }, { "a", "begins" }, { "*", "begins" },
		{ "/**/a", "last" }, { "/a**", "last" }, { "/**x", "last" },
		{ "//", "merged" }, { "/a//b", "merged" },
		{ "/a/./b", "resolved" }, { "/a/..", "resolved" },
		{ "/.", "resolved" }, { "/a?b=1", "query" },
		{ "/a#b", "fragment" }, { "/{id", "{name}" },
		{ "/{}", "{name}" }, { "/{id}.json", "{name}" },
		{ "/x{id}", "{name}" }, { "/%41", "decoded" },
		{ "/%2f", "upper" }, { "/%7E", "decoded" },
		{ "/%zz", "hexa" }, { "/%2", "hexa" }, { "/%00", "form" },
		{ "/caf\xc3\xa9", "%XX" }, { "/a b", "%XX" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *reason = why(bad[i].pattern);

		ck_assert_msg(reason != NULL &&
		    strstr(reason, bad[i].part) != NULL, "%s: %s",
		    bad[i].pattern, reason ? reason : "accepted");
	}
}
END_TEST

static bool
fits(enum match_kind kind, const char *name, const char *a, const char *b)
{
	asked_match(&m, kind, name, a, b);
	return match_test(&m.match, &r.req);
}

START_TEST(no_condition_fits_all)
{
	const struct match all = { .n = 0 };

	asked_read(&r, "GET /", "", "192.0.2.1", NULL);
	ck_assert(match_test(&all, &r.req));
	ck_assert_int_eq(match_first_failing(&all, &r.req), -1);
}
END_TEST

START_TEST(conditions_of_the_request_line)
{
	asked_read(&r, "POST /v1/x%41?a=1", "", "192.0.2.1", NULL);
	ck_assert(fits(MATCH_METHOD, NULL, "POST", NULL));
	ck_assert(fits(MATCH_METHOD, NULL, "PUT", "POST"));
	ck_assert(!fits(MATCH_METHOD, NULL, "post", NULL));
	ck_assert(fits(MATCH_PATH, NULL, "/v1/xA", NULL));
	ck_assert(fits(MATCH_PATH, NULL, "/other", "/v1/**"));
	ck_assert(!fits(MATCH_PATH, NULL, "/v1", NULL));
	ck_assert(fits(MATCH_HOST, NULL, "Example.COM", NULL));
	ck_assert(fits(MATCH_HOST, NULL, "*.com", NULL));
	ck_assert(!fits(MATCH_HOST, NULL, "*.example.com", NULL));
	ck_assert(!fits(MATCH_HOST, NULL, "ample.com", NULL));
	r.req.host = SPAN("a.b.example.com");
	ck_assert(fits(MATCH_HOST, NULL, "*.example.com", NULL));
	ck_assert(!fits(MATCH_HOST, NULL, "*.ample.com", NULL));
	r.req.host = SPAN(".example.com");
	ck_assert(!fits(MATCH_HOST, NULL, "*.example.com", NULL));
	r.req.host = SPAN_EMPTY;
	ck_assert(!fits(MATCH_HOST, NULL, "*.example.com", NULL));
}
END_TEST

START_TEST(any_line_of_a_header_may_fit)
{
	asked_read(&r, "GET /", "X-Kind: a\r\nx-kind: b\r\nX-Empty:\r\n",
	    "192.0.2.1", NULL);
	ck_assert(fits(MATCH_HEADER, "x-kind", "a", NULL));
	ck_assert(fits(MATCH_HEADER, "x-kind", "b", NULL));
	ck_assert(!fits(MATCH_HEADER, "x-kind", "a, b", NULL));
	ck_assert(fits(MATCH_HEADER, "x-kind", NULL, NULL));
	ck_assert(fits(MATCH_HEADER, "x-empty", NULL, NULL));
	ck_assert(fits(MATCH_HEADER, "x-empty", "*", NULL));
	ck_assert(!fits(MATCH_HEADER, "x-none", NULL, NULL));
	ck_assert(!fits(MATCH_HEADER, "x-none", "*", NULL));
}
END_TEST

START_TEST(any_parameter_of_that_name_may_fit)
{
	asked_read(&r, "GET /?a=1&b=%78+y&a=2&flag&t%5B%5D=1", "",
	    "192.0.2.1", NULL);
	ck_assert(fits(MATCH_QUERY, "a", "1", NULL));
	ck_assert(fits(MATCH_QUERY, "a", "2", NULL));
	ck_assert(!fits(MATCH_QUERY, "a", "3", NULL));
	ck_assert(fits(MATCH_QUERY, "b", "x y", NULL));
	ck_assert(fits(MATCH_QUERY, "flag", NULL, NULL));
	ck_assert(fits(MATCH_QUERY, "t[]", "1", NULL));
	ck_assert(!fits(MATCH_QUERY, "c", NULL, NULL));
	asked_read(&r, "GET /", "", "192.0.2.1", NULL);
	ck_assert(!fits(MATCH_QUERY, "a", NULL, NULL));
	asked_read(&r, "GET /?", "", "192.0.2.1", NULL);
	ck_assert(!fits(MATCH_QUERY, "a", NULL, NULL));
}
END_TEST

START_TEST(a_query_longer_than_the_stack_room)
{
	static char line[20000];

	strcpy(line, "GET /?");
	memset(line + 6, 'x', 12000);
	strcpy(line + 6 + 12000, "&a=1");
	asked_read(&r, line, "", "192.0.2.1", NULL);
	ck_assert(fits(MATCH_QUERY, "a", "1", NULL));
}
END_TEST

START_TEST(client_networks)
{
	asked_read(&r, "GET /", "", "10.1.2.3", NULL);
	ck_assert(fits(MATCH_CLIENT_IP, NULL, "10.0.0.0/8", NULL));
	ck_assert(!fits(MATCH_CLIENT_IP, NULL, "11.0.0.0/8", NULL));
	ck_assert(!fits(MATCH_CLIENT_IP, NULL, "::/0", NULL));
	asked_read(&r, "GET /", "", "", NULL);
	ck_assert(!fits(MATCH_CLIENT_IP, NULL, "0.0.0.0/0", NULL));
}
END_TEST

START_TEST(classes_routes_and_plans)
{
	struct caller caller = { .name = (char *)"live" };
	struct route route = { .name = (char *)"search" };
	struct plan plan = { .name = (char *)"pro" };

	asked_read(&r, "GET /", "", "10.1.2.3", NULL);
	ck_assert(!fits(MATCH_CALLER, NULL, "live", NULL));
	ck_assert(!fits(MATCH_ROUTE, NULL, "search", NULL));
	ck_assert(!fits(MATCH_PLAN, NULL, "pro", NULL));
	r.req.caller = &caller;
	r.req.route = &route;
	r.req.plan = &plan;
	ck_assert(fits(MATCH_CALLER, NULL, "test", "live"));
	ck_assert(!fits(MATCH_CALLER, NULL, "liv", NULL));
	ck_assert(fits(MATCH_ROUTE, NULL, "search", NULL));
	ck_assert(fits(MATCH_PLAN, NULL, "pro", NULL));
}
END_TEST

START_TEST(negated)
{
	asked_read(&r, "GET /a", "X-A: 1\r\n", "10.1.2.3", NULL);
	asked_match(&m, MATCH_PATH, NULL, "/a", "/b");
	m.condition.negate = true;
	ck_assert(!match_test(&m.match, &r.req));
	asked_match(&m, MATCH_PATH, NULL, "/c", "/b");
	m.condition.negate = true;
	ck_assert(match_test(&m.match, &r.req));
	asked_match(&m, MATCH_HEADER, "x-b", NULL, NULL);
	m.condition.negate = true;
	ck_assert(match_test(&m.match, &r.req));
	asked_match(&m, MATCH_HEADER, "x-a", NULL, NULL);
	m.condition.negate = true;
	ck_assert(!match_test(&m.match, &r.req));
}
END_TEST

START_TEST(all_must_hold_and_the_first_that_fails_is_told)
{
	char *get = (char *)"GET", *a = (char *)"/a", *b = (char *)"/b";
	struct condition c[3] = {
		{ .kind = MATCH_METHOD, .values = &get, .n = 1 },
		{ .kind = MATCH_PATH, .values = &a, .n = 1 },
		{ .kind = MATCH_PATH, .values = &b, .n = 1 },
	};
	const struct match all = { .conditions = c, .n = 3 };

	asked_read(&r, "GET /a", "", "10.1.2.3", NULL);
	ck_assert_int_eq(match_first_failing(&all, &r.req), 2);
	ck_assert(!match_test(&all, &r.req));
	asked_read(&r, "GET /b", "", "10.1.2.3", NULL);
	ck_assert_int_eq(match_first_failing(&all, &r.req), 1);
	c[1].negate = true;
	ck_assert_int_eq(match_first_failing(&all, &r.req), -1);
	ck_assert_str_eq(match_kind_name(c[2].kind), "path");
	ck_assert_str_eq(match_kind_name(MATCH_CLIENT_IP), "client_ip");
	ck_assert_str_eq(match_kind_name(MATCH_PLAN), "plan");
}
END_TEST

START_TEST(owned_strings_are_freed)
{
	struct match own = { .n = 2 };

	own.conditions = mem_zalloc(2 * sizeof(struct condition));
	own.conditions[0].name = mem_strdup("x-a");
	own.conditions[0].values = mem_zalloc(sizeof(char *));
	own.conditions[0].values[0] = mem_strdup("1");
	own.conditions[0].n = 1;
	own.conditions[1].kind = MATCH_CLIENT_IP;
	own.conditions[1].cidrs = mem_zalloc(3 * sizeof(struct cidr));
	own.conditions[1].n = 3;
	match_fini(&own);
	ck_assert_uint_eq(own.n, 0);
	ck_assert_ptr_null(own.conditions);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("match");
	TCase *t = tcase_create("match");
	SRunner *runner;
	int failed;

	tcase_add_test(t, literal_paths);
	tcase_add_test(t, stars_in_a_segment);
	tcase_add_test(t, names_are_whole_segments_that_are_not_empty);
	tcase_add_test(t, a_rest_may_be_empty);
	tcase_add_test(t, globs);
	tcase_add_test(t, globs_are_not_explosive);
	tcase_add_test(t, patterns_that_can_match);
	tcase_add_test(t, patterns_that_never_match);
	tcase_add_test(t, no_condition_fits_all);
	tcase_add_test(t, conditions_of_the_request_line);
	tcase_add_test(t, any_line_of_a_header_may_fit);
	tcase_add_test(t, any_parameter_of_that_name_may_fit);
	tcase_add_test(t, a_query_longer_than_the_stack_room);
	tcase_add_test(t, client_networks);
	tcase_add_test(t, classes_routes_and_plans);
	tcase_add_test(t, negated);
	tcase_add_test(t, all_must_hold_and_the_first_that_fails_is_told);
	tcase_add_test(t, owned_strings_are_freed);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
