#include <check.h>
#include <stdlib.h>

#include "http/target.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static const struct {
	enum http_method method;
	const char *text;
	enum err e;
	enum http_target_form form;
	const char *authority, *path, *query;	/* query NULL: none */
} targets[] = {
	{ HTTP_GET, "/", ERR_OK, HTTP_ORIGIN, "", "/", NULL },
	{ HTTP_GET, "/a/b?c=d?e/f", ERR_OK, HTTP_ORIGIN, "", "/a/b",
	    "c=d?e/f" },
	{ HTTP_GET, "/?", ERR_OK, HTTP_ORIGIN, "", "/", "" },
	{ HTTP_GET, "//a", ERR_OK, HTTP_ORIGIN, "", "//a", NULL },
	{ HTTP_GET, "/%2f%E2;p=1/-._~!$&'()*+,;=:@", ERR_OK, HTTP_ORIGIN, "",
	    "/%2f%E2;p=1/-._~!$&'()*+,;=:@", NULL },
	{ HTTP_GET, "/[]{|}^`?[]{|}^`\\", ERR_OK, HTTP_ORIGIN, "",
	    "/[]{|}^`", "[]{|}^`\\" },
	{ HTTP_GET, "http://a.test", ERR_OK, HTTP_ABSOLUTE, "a.test", "/",
	    NULL },
	{ HTTP_GET, "HTTPS://A.test:1/x?y", ERR_OK, HTTP_ABSOLUTE, "A.test:1",
	    "/x", "y" },
	{ HTTP_GET, "http://[::1]?q", ERR_OK, HTTP_ABSOLUTE, "[::1]", "/",
	    "q" },
	{ HTTP_OPTIONS, "http://a", ERR_OK, HTTP_ABSOLUTE, "a", "*", NULL },
	{ HTTP_OPTIONS, "http://a?", ERR_OK, HTTP_ABSOLUTE, "a", "/", "" },
	{ HTTP_OPTIONS, "http://a/", ERR_OK, HTTP_ABSOLUTE, "a", "/", NULL },
	{ HTTP_OPTIONS, "*", ERR_OK, HTTP_ASTERISK, "", "*", NULL },
	{ HTTP_CONNECT, "a.test:443", ERR_OK, HTTP_AUTHORITY, "a.test:443",
	    "", NULL },
	{ HTTP_CONNECT, "[::1]:443", ERR_OK, HTTP_AUTHORITY, "[::1]:443", "",
	    NULL },
	{ HTTP_GET, "", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "*", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "a", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "a.test:80", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "?q", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "ftp://a/", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "http:/a", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "http://", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "http:///a", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "http://u@a/", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "http://u:p@a/", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "http://a:x/", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "http://a\\b/", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "http://a#f", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "/a#f", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "/a?b#f", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "/%", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "/%2", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "/%2g", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "/?%zz", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "/\\", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "/\"", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "/<>", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "/ ", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "/\xc3\xa9", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_GET, "/\x7f", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_CONNECT, "a.test", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_CONNECT, "a.test:", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_CONNECT, "[::1]", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_CONNECT, "/", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_CONNECT, "", ERR_SYNTAX, 0, NULL, NULL, NULL },
	{ HTTP_CONNECT, "http://a/", ERR_SYNTAX, 0, NULL, NULL, NULL },
};

START_TEST(target_rows)
{
	struct http_target t;

	ck_assert_int_eq(http_target_parse(span_str(targets[_i].text),
	    targets[_i].method, &t), targets[_i].e);
	if (targets[_i].e != ERR_OK)
		return;
	ck_assert_int_eq(t.form, targets[_i].form);
	ck_assert(span_equal(t.authority, span_str(targets[_i].authority)));
	ck_assert(span_equal(t.path, span_str(targets[_i].path)));
	ck_assert_int_eq(t.query.ptr == NULL, targets[_i].query == NULL);
	if (targets[_i].query != NULL)
		ck_assert(span_equal(t.query, span_str(targets[_i].query)));
}
END_TEST

/* normal NULL: refused. */
static const struct {
	const char *path, *normal;
} paths[] = {
	{ "*", "*" },
	{ "/", "/" },
	{ "/a/b.c/..d/.e", "/a/b.c/..d/.e" },
	{ "/a/", "/a/" },
	{ "//", "/" },
	{ "///a//b///", "/a/b/" },
	{ "/./a/./b/.", "/a/b/" },
	{ "/a/../b", "/b" },
	{ "/a/b/..", "/a/" },
	{ "/a/b/../", "/a/" },
	{ "/a/..", "/" },
	{ "/a//../b", "/b" },
	{ "/a/%2e%2E/b", "/b" },
	{ "/a/.%2e/b", "/b" },
	{ "/%2e/a", "/a" },
	{ "/%6Cogin", "/login" },
	{ "/%7euser", "/~user" },
	{ "/a%2fb%5c", "/a%2Fb%5C" },
	{ "/x/..%2fy", "/x/..%2Fy" },
	{ "/%c0%ae%c0%ae/a", "/%C0%AE%C0%AE/a" },
	{ "/%252e%252e/a", "/%252e%252e/a" },
	{ "/%7B%7c%7D%5b%5D%5E%60", "/{|}[]^`" },
	{ "/{|}[]^`", "/{|}[]^`" },
	{ "/a;x=1/..;y/b;z", "/a;x=1/..;y/b;z" },
	{ "/%3b%3A%20", "/%3B%3A%20" },
	{ "/...", "/..." },
	{ "/..", NULL },
	{ "/../a", NULL },
	{ "/a/../..", NULL },
	{ "//..", NULL },
	{ "/./../a", NULL },
	{ "/%2e%2e", NULL },
	{ "/a%00", NULL },
	{ "/a\\b", NULL },
	{ "/%4", NULL },
	{ "", NULL },
	{ "a", NULL },
	{ "**", NULL },
};

/* Into a buffer of exactly path.len, and once more: normal stays normal. */
START_TEST(path_rows)
{
	struct span path = span_str(paths[_i].path), normal, twice;
	char *buf = malloc(path.len + (path.len == 0));
	char *again = malloc(path.len + (path.len == 0));
	enum err e = http_target_normalise(path, buf, &normal);

	ck_assert_int_eq(e, paths[_i].normal ? ERR_OK : ERR_SYNTAX);
	if (e == ERR_OK) {
		ck_assert_msg(span_equal(normal, span_str(paths[_i].normal)),
		    "%.*s", SPAN_ARG(normal));
		ck_assert_int_eq(http_target_normalise(normal, again, &twice),
		    ERR_OK);
		ck_assert(span_equal(normal, twice));
	}
	free(buf);
	free(again);
}
END_TEST

static const struct {
	const char *host, *normal;
} hosts[] = {
	{ "", "" },
	{ "a", "a" },
	{ "A.Test", "a.test" },
	{ "a.test:8080", "a.test" },
	{ "a.test:", "a.test" },
	{ "a.test.", "a.test" },
	{ "a.test.:443", "a.test" },
	{ "192.0.2.1:65535", "192.0.2.1" },
	{ "[::1]", "[::1]" },
	{ "[2001:DB8::1]:80", "[2001:db8::1]" },
	{ "a_b-c~!$&'()*+,;=", "a_b-c~!$&'()*+,;=" },
	{ "%41%2d%c3", "a-%c3" },
	{ "a:65536", NULL },
	{ "a:000080", NULL },
	{ "a:b", NULL },
	{ "a:8:8", NULL },
	{ ":80", NULL },
	{ "::1", NULL },
	{ "[::1", NULL },
	{ "[::1]x", NULL },
	{ "[::1]:x", NULL },
	{ "[]", NULL },
	{ "[1.2.3.4]", NULL },
	{ "[fe80::1%25eth0]", NULL },
	{ "[v1.a]", NULL },
	{ "u@a", NULL },
	{ "a b", NULL },
	{ "a\tb", NULL },
	{ "a/b", NULL },
	{ "a?b", NULL },
	{ "a%4", NULL },
	{ "a<b>", NULL },
	{ "a\x7f", NULL },
	{ "\xc3\xa9.test", NULL },
};

START_TEST(host_rows)
{
	struct span host = span_str(hosts[_i].host), normal;
	char *buf = malloc(host.len + (host.len == 0));
	enum err e = http_host_normalise(host, buf, &normal);

	ck_assert_int_eq(e, hosts[_i].normal ? ERR_OK : ERR_SYNTAX);
	ck_assert_int_eq(http_host_valid(host), hosts[_i].normal != NULL);
	if (e == ERR_OK)
		ck_assert_msg(span_equal(normal, span_str(hosts[_i].normal)),
		    "%.*s", SPAN_ARG(normal));
	free(buf);
}
END_TEST

START_TEST(nul_octets)
{
	struct http_target t;

	ck_assert(!http_host_valid(SPAN("a\0")));
	ck_assert(!http_host_valid(SPAN("[::1\0]")));
	ck_assert_int_eq(http_target_parse(SPAN("/a\0"), HTTP_GET, &t),
	    ERR_SYNTAX);
}
END_TEST

static const struct {
	const char *query, *name, *value;	/* NULL: absent */
} queries[] = {
	{ "a=1&b=2", "a", "1" },
	{ "a=1&b=2", "b", "2" },
	{ "a=1&b=2", "c", NULL },
	{ "a=1&a=2", "a", "1" },
	{ "ba=1&a=2", "a", "2" },
	{ "a&b", "a", "" },
	{ "a=&b", "a", "" },
	{ "&&a=x=y&", "a", "x=y" },
	{ "%61=%31+%2B%zz%", "a", "1 +%zz%" },
	{ "x+y=1", "x y", "1" },
	{ "A=1", "a", NULL },
	{ "a;b=1", "b", NULL },
	{ "", "a", NULL },
};

START_TEST(query_rows)
{
	struct span query = span_str(queries[_i].query), value;
	char *buf = malloc(query.len + (query.len == 0));
	bool found = http_query_find(query, span_str(queries[_i].name), buf,
	    &value);

	ck_assert_int_eq(found, queries[_i].value != NULL);
	if (found)
		ck_assert(span_equal(value, span_str(queries[_i].value)));
	free(buf);
}
END_TEST

START_TEST(no_query)
{
	struct span value;

	ck_assert(!http_query_find(span_of(NULL, 0), SPAN("a"), NULL,
	    &value));
}
END_TEST

static void
check_cookie(const struct http_head *head, const char *name,
    const char *value)
{
	struct span got;
	bool found = http_cookie_find(head, span_str(name), &got);

	ck_assert_int_eq(found, value != NULL);
	if (found)
		ck_assert(span_equal(got, span_str(value)));
}

START_TEST(cookies)
{
	static struct http_head head = { .nfields = 3 };

	head.fields[0] = (struct http_field){ SPAN("Cookie"),
	    SPAN("a=1; b=\"2\";c=x=y;flag; e=\""), FIELD_COOKIE };
	head.fields[1] = (struct http_field){ SPAN("X"), SPAN("z=9"),
	    FIELD_OTHER };
	head.fields[2] = (struct http_field){ SPAN("cookie"),
	    SPAN("a=other; d="), FIELD_COOKIE };
	check_cookie(&head, "a", "1");
	check_cookie(&head, "b", "2");
	check_cookie(&head, "c", "x=y");
	check_cookie(&head, "d", "");
	check_cookie(&head, "e", "\"");
	check_cookie(&head, "flag", NULL);
	check_cookie(&head, "A", NULL);
	check_cookie(&head, "z", NULL);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("target");
	TCase *tc = tcase_create("target");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, target_rows, 0, COUNT(targets));
	tcase_add_loop_test(tc, path_rows, 0, COUNT(paths));
	tcase_add_loop_test(tc, host_rows, 0, COUNT(hosts));
	tcase_add_test(tc, nul_octets);
	tcase_add_loop_test(tc, query_rows, 0, COUNT(queries));
	tcase_add_test(tc, no_query);
	tcase_add_test(tc, cookies);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
