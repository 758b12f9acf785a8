/* What a file cannot do that it seems to say. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "config/findings.h"
#include "config/covers.h"
#include "config/load.h"
#include "harness/config_env.h"

#define OK	"listen: 127.0.0.1:80\nupstream: http://127.0.0.1:90\n"
#define IP	"  - {name: ip, key: client_ip, limit: 9/s}\n"
#define LOOKUP	"lookups: {keys: {file: keys.map}}\n"
#define FIRM	"policies:\n" IP

/* A costly route, and a class that never gets there. */
#define R10	"routes: [{name: r, match: {path: /r}, cost: 10}]\n"
#define TWO	"plans: {small: {limit: 9/s}, big: {limit: 99/s}}\n" \
	"callers: [{name: c, match: {path: /c}, plan: small}, {name: d, " \
	"plan: big}]\n"

static const struct doubt {
	const char *yaml;
	const char *code;		/* NULL: none at all */
	unsigned line, column;
	const char *says;
} doubts[] = {
	/* the address of the client */
	{ OK FIRM, NULL, 0, 0, NULL },
	{ OK "client_ip: {from: x-forwarded-for}\n" FIRM, "W104", 3, 19,
	    "nobody is trusted" },
	{ OK "client_ip: {from: forwarded, trusted_proxies: [0.0.0.0/0]}\n"
	    FIRM, "W104", 3, 47, "everybody" },
	{ OK "client_ip: {trusted_proxies: [10.0.0.0/8]}\n" FIRM, "W104", 3,
	    30, "from: x-forwarded-for" },
	{ OK "client_ip: {from: peer, trusted_proxies: [10.0.0.0/8]}\n" FIRM,
	    "W104", 3, 42, "share its address" },
	{ OK "client_ip: {trusted_proxies: []}\n" FIRM, NULL, 0, 0, NULL },
	{ OK "client_ip: {from: forwarded, trusted_proxies: [10.0.0.0/8]}\n"
	    FIRM, NULL, 0, 0, NULL },
	{ "listen: unix:/a\nupstream: unix:/b\n" FIRM, "W101", 4, 21,
	    "always missing" },
	{ "listen: [unix:/a, 127.0.0.1:80]\nupstream: unix:/b\n" FIRM,
	    "W106", 4, 21, "requests through unix:/a have no address" },
	{ "listen: [unix:/a, 127.0.0.1:80]\nupstream: unix:/b\npolicies:\n"
	    "  - {name: a, key: caller, limit: 9/s, on_missing_key: deny}\n",
	    "W101", 4, 20, "through unix:/a" },
	{ "listen: [unix:/a, 127.0.0.1:80]\nupstream: unix:/b\npolicies:\n"
	    "  - {name: a, key: all, limit: 9/s}\n", NULL, 0, 0, NULL },
	{ "listen: ['[::1]:80', 127.0.0.1:80]\nupstream: unix:/b\n" FIRM,
	    NULL, 0, 0, NULL },

	/* one count for all */
	{ OK "policies: [{name: a, key: method, limit: 9/s}]\n", "W101", 3,
	    27, "a few methods" },
	{ OK "policies: [{name: a, key: [client_ip, method], limit: 9/s}]\n",
	    NULL, 0, 0, NULL },
	{ OK "policies: [{name: a, key: route, limit: 9/s}]\n", "W101", 3,
	    27, "no routes" },
	{ OK "routes: [{name: r, match: {path: /r}}]\n"
	    "policies: [{name: a, key: route, limit: 9/s}]\n", NULL, 0, 0,
	    NULL },
	{ OK "callers: [{name: c, key: all}]\n"
	    "policies: [{name: a, key: caller, limit: 9/s}]\n", "W101", 4, 27,
	    "have the key all" },
	{ OK "callers: [{name: c, key: all, match: {method: GET}}]\n"
	    "policies: [{name: a, key: caller, limit: 9/s}]\n", NULL, 0, 0,
	    NULL },
	{ OK "policies: [{name: a, key: all, limit: 9/s}]\n", NULL, 0, 0,
	    NULL },
	{ OK "policies: [{name: a, mode: off, key: method, limit: 9/s}]\n",
	    NULL, 0, 0, NULL },

	/* a template; a holder of anchors */
	{ OK "policies: []\n", NULL, 0, 0, NULL },
	{ OK "x-base: &b {limit: 9/s, whatever: [1]}\nx-none:\npolicies: "
	    "[{name: a, key: all, limit: 9/s}]\n", NULL, 0, 0, NULL },

	/* what nothing reaches */
	{ OK "callers: [{name: a}, {name: b, match: {method: GET}}]\n",
	    "W102", 3, 29, "'a' before it" },
	{ OK LOOKUP "callers: [{name: a, key: header:k, lookup: keys}, "
	    "{name: b, match: {method: GET}}]\n", NULL, 0, 0, NULL },
	{ OK "routes: [{name: a, match: {path: /a/**}}, {name: b, match: "
	    "{path: /a/b, method: GET}}]\n", "W102", 3, 50, "'b'" },
	{ OK "routes: [{name: a, match: {path: /a/*}}, {name: b, match: "
	    "{path: /a/b/c}}]\n", NULL, 0, 0, NULL },
	{ OK "routes: [{name: h, policies: none, match: {path: /h}}]\n"
	    "policies:\n" IP "  - {name: a, match: {route: h}, key: all, limit:"
	    " 1/s}\n", "W102", 6, 12, "policies: none" },
	{ OK "policies:\n  - {name: a, match: {method: GET}, exempt: "
	    "[method:GET], key: all, limit: 1/s}\n", "W102", 4, 12,
	    "exempt" },
	{ OK "policies:\n  - {name: a, key: all, limit: plan}\n", "W102", 4,
	    12, "no caller has a plan" },
	{ OK "policies:\n  - {name: a, key: all, limit: none}\n", "W109", 4,
	    32, "mode: off" },
	{ OK "policies:\n  - {name: a, key: all, limit: none, mode: off}\n",
	    NULL, 0, 0, NULL },

	/* defined and not used */
	{ OK "plans: {a: {limit: 1/s}}\n", "W110", 3, 9, "plan 'a'" },
	{ OK LOOKUP, "W110", 3, 11, "lookup 'keys'" },
	{ OK "upstreams: {a: {servers: unix:/a}}\n", "W110", 3, 13,
	    "upstream 'a'" },
	{ "listen: 127.0.0.1:80\n", "W112", 1, 1, "404" },
	{ "listen: 127.0.0.1:80\nupstreams: {a: {servers: unix:/a}}\nroutes: "
	    "[{name: r, upstream: a}]\n", NULL, 0, 0, NULL },

	/* costs */
	{ OK FIRM "  - {name: a, key: all, limit: [5/s, 9/m], cost: 6}\n",
	    "W105", 5, 50, "above the 5" },
	{ OK FIRM "  - {name: a, key: all, limit: 5/s, burst: 6, cost: 6}\n",
	    NULL, 0, 0, NULL },
	{ OK "routes: [{name: r, match: {path: /r}, cost: 10}]\n" FIRM,
	    "W105", 3, 45, "policy 'ip'" },
	{ OK "routes: [{name: r, match: {path: /r}, cost: 10}]\npolicies:\n"
	    "  - {name: a, key: all, limit: 9/s, match: {not: {route: r}}}\n"
	    "  - {name: b, key: all, limit: 9/s, cost: 1}\n", NULL, 0, 0,
	    NULL },
	{ OK "routes: [{name: r, match: {path: /r}, cost: 10}]\nplans: {p: "
	    "{limit: 9/s}}\ncallers: [{name: c, plan: p}]\npolicies: [{name: "
	    "a, key: caller, limit: plan}]\n", "W105", 3, 45, "plan p" },
	{ OK R10 "policies: [{name: a, key: all, limit: 9/s, exempt: "
	    "[route:r]}]\n", NULL, 0, 0, NULL },
	{ OK R10 "policies: [{name: a, key: all, limit: 9/s, exempt: "
	    "[path:/r]}]\n", NULL, 0, 0, NULL },
	{ OK R10 "policies: [{name: a, key: all, limit: 9/s, exempt: "
	    "[{route: r, method: [GET, POST]}]}]\n", NULL, 0, 0, NULL },
	{ OK R10 "policies: [{name: a, key: all, limit: 9/s, exempt: "
	    "[path:/s]}]\n", "W105", 3, 45, "policy 'a'" },
	{ OK R10 "policies: [{name: a, key: all, limit: 9/s, match: "
	    "{path: [/s, /t/**]}}]\n", NULL, 0, 0, NULL },
	{ OK R10 "policies: [{name: a, key: all, limit: 9/s, match: "
	    "{path: [/s, /*]}}]\n", "W105", 3, 45, "policy 'a'" },
	{ OK R10 "policies: [{name: a, key: all, limit: 9/s, match: "
	    "{not: {path: /r}}}]\n", NULL, 0, 0, NULL },
	{ OK R10 "policies: [{name: a, key: all, limit: 9/s, match: "
	    "{not: {path: /s}}}]\n", "W105", 3, 45, "policy 'a'" },
	{ OK "routes: [{name: r, match: {method: POST}, cost: 10}]\npolicies: "
	    "[{name: a, key: all, limit: 9/s, match: {method: GET}}]\n", NULL,
	    0, 0, NULL },
	{ OK "routes: [{name: r, match: {path: /*/a}, cost: 10}]\npolicies: "
	    "[{name: a, key: all, limit: 9/s, match: {path: '/b/{x}'}}]\n",
	    NULL, 0, 0, NULL },
	{ OK R10 TWO "policies: [{name: a, key: all, limit: 9/s, match: "
	    "{caller: c}}]\n", NULL, 0, 0, NULL },
	{ OK R10 TWO "policies: [{name: a, key: all, limit: plan, match: "
	    "{caller: d}}]\n", NULL, 0, 0, NULL },
	{ OK R10 TWO "policies: [{name: a, key: all, limit: plan, match: "
	    "{plan: big}}]\n", NULL, 0, 0, NULL },
	{ OK R10 TWO "policies: [{name: a, key: all, limit: plan, exempt: "
	    "['plan:big']}]\n", NULL, 0, 0, NULL },
	{ OK LOOKUP R10 "plans: {p: {limit: 9/s}}\ncallers: [{name: c, key: "
	    "client_ip, lookup: keys}]\npolicies: [{name: a, key: caller, "
	    "limit: plan}]\n", "W105", 4, 45, "plan p" },

	/* keys that are invented, or left out */
	{ OK "policies:\n  - {name: a, key: 'header:k', limit: 1/s, "
	    "on_missing_key: deny}\n", "W103", 4, 20, "lookup" },
	{ OK "policies:\n  - {name: a, key: 'header:k', limit: 1/s, match: "
	    "{header: k}}\n", "W103", 4, 20, "lookup" },
	{ OK FIRM "  - {name: a, key: 'header:k', limit: 1/s}\n", NULL, 0, 0,
	    NULL },
	{ OK "policies:\n  - {name: ip, mode: shadow, key: client_ip, limit: "
	    "9/s}\n  - {name: a, key: 'header:k', limit: 1/s, on_missing_key"
	    ": deny}\n", "W103", 5, 20, "budget" },
	{ OK "policies:\n  - {name: ip, match: {method: GET}, key: client_ip, "
	    "limit: 9/s}\n  - {name: a, key: 'query:k', limit: 1/s, "
	    "on_missing_key: peer}\n", "W103", 5, 20, "budget" },
	{ OK LOOKUP "callers: [{name: c, key: header:k, lookup: keys}]\n"
	    "policies: [{name: a, match: {caller: c}, key: 'header:k', limit: "
	    "1/s, on_missing_key: deny}]\n", NULL, 0, 0, NULL },
	{ OK LOOKUP "callers: [{name: c, key: header:k, lookup: keys}]\n"
	    "policies: [{name: a, key: caller, limit: 1/s}]\n", NULL, 0, 0,
	    NULL },
	{ OK "callers: [{name: c, match: {header: k}, key: header:k}]\n"
	    "policies: [{name: a, key: caller, limit: 1/s}]\n", "W103", 3, 46,
	    "budget" },
	{ OK LOOKUP "callers: [{name: c, key: header:k, lookup: keys}]\n"
	    "policies: [{name: a, match: {caller: c}, key: ['header:k', host]"
	    ", limit: 1/s}]\n", NULL, 0, 0, NULL },

	/* the store */
	{ OK "store: {redis: 'unix:/r'}\n", "W108", 3, 16, "prefix" },
	{ OK "store: {redis: 'unix:/r', secret: {env: WEIR_SECRET}}\n", NULL,
	    0, 0, NULL },
	{ OK "store: {secret: abc}\n", "W107", 3, 17, "{file: PATH}" },
	{ OK "store: {timeout: 1s}\n", "W111", 3, 18, "no effect" },
	{ OK "store: {memory: 1MiB}\n", NULL, 0, 0, NULL },
	{ OK "store: memory\n", NULL, 0, 0, NULL },
};

#define DOUBTS	(sizeof(doubts) / sizeof(doubts[0]))

static void
setup(void)
{
	hash_init();
	config_env_clear();
	config_env_add("/etc/weir/keys.map", "");
}

static void
check(const char *yaml, struct findings *found)
{
	struct config *config = NULL;
	struct text out = { 0 };
	enum err e;

	memset(found, 0, sizeof(*found));
	e = load_text(span_str(yaml), "weir.yaml", &config_env, found,
	    &config);
	findings_print_text(found, &out);
	ck_assert_msg(e == ERR_OK, "%s\n%s", yaml, text_cstr(&out));
	fprintf(stderr, "%s", text_cstr(&out));
	text_fini(&out);
	config_unref(config);
}

START_TEST(test_doubt)
{
	const struct doubt *d = &doubts[_i];
	struct findings found;

	check(d->yaml, &found);
	ck_assert_uint_eq(found.errors, 0);
	ck_assert_uint_eq(found.warnings, d->code != NULL);
	if (d->code != NULL) {
		const struct finding *x = &found.items[0];

		ck_assert_str_eq(x->code, d->code);
		ck_assert_int_eq(x->severity, SEVERITY_WARNING);
		ck_assert_uint_eq(x->line, d->line);
		ck_assert_uint_eq(x->column, d->column);
		ck_assert_msg(strstr(x->message, d->says) != NULL ||
		    (x->help != NULL && strstr(x->help, d->says) != NULL),
		    "%s does not stand in: %s / %s", d->says, x->message,
		    x->help != NULL ? x->help : "-");
	}
	findings_fini(&found);
}
END_TEST

/* A key that may be missing is also one that may be invented. */
START_TEST(test_skip)
{
	static const char *const files[] = {
		OK "policies: [{name: a, key: 'header:k', limit: 1/s}]\n",
		OK "callers: [{name: c, key: 'cookie:k'}]\n"
		    "policies: [{name: a, key: caller, limit: 1/s}]\n",
	};
	struct findings found;

	for (int i = 0; i < 2; i++) {
		check(files[i], &found);
		ck_assert_uint_eq(found.warnings, 2);
		ck_assert_str_eq(found.items[0].code, "W103");
		ck_assert_str_eq(found.items[1].code, "W106");
		ck_assert_uint_eq(found.items[1].line, 3);
		ck_assert_ptr_nonnull(strstr(found.items[1].help,
		    "on_missing_key"));
		findings_fini(&found);
	}
}
END_TEST

/* A caller that is never reached, and the policy for it. */
START_TEST(test_callers_policy)
{
	struct findings found;

	check(OK "callers: [{name: a}, {name: b}]\npolicies:\n  - {name: a, "
	    "match: {caller: b}, key: all, limit: 1/s}\n", &found);
	ck_assert_uint_eq(found.warnings, 2);
	ck_assert_str_eq(found.items[1].code, "W102");
	ck_assert_ptr_nonnull(strstr(found.items[1].message,
	    "its callers are never reached"));
	findings_fini(&found);
}
END_TEST

/* Said once, however many policies count by the caller. */
START_TEST(test_once_a_caller)
{
	struct findings found;

	check(OK "callers: [{name: c, match: {header: k}, key: header:k}]\n"
	    "policies: [{name: a, key: caller, limit: 1/s}, {name: b, key: "
	    "caller, limit: 9/m}]\n", &found);
	ck_assert_uint_eq(found.warnings, 1);
	findings_fini(&found);
}
END_TEST

START_TEST(test_every_warning_is_met)
{
	for (int id = 0; id < FINDING_COUNT; id++) {
		const char *code = findings_code((enum finding_id)id);
		bool met = code[0] == 'E' || strcmp(code, "W106") == 0;

		for (size_t i = 0; i < DOUBTS; i++)
			met |= doubts[i].code != NULL &&
			    strcmp(doubts[i].code, code) == 0;
		ck_assert_msg(met, "no row for %s", code);
	}
}
END_TEST

/* ---- covers ---- */

static struct condition
one(enum match_kind kind, const char **value, bool negate)
{
	return (struct condition){ .kind = kind, .negate = negate,
		.values = (char **)(uintptr_t)value, .n = 1 };
}

static bool
covers(enum match_kind kind, const char *wide, const char *narrow)
{
	struct condition a = one(kind, &wide, false);
	struct condition b = one(kind, &narrow, false);
	const struct match w = { &a, 1 }, n = { &b, 1 };

	return covers_match(&w, &n);
}

START_TEST(test_covers)
{
	static const struct {
		enum match_kind kind;
		const char *wide, *narrow;
		bool covers;
	} pairs[] = {
		{ MATCH_PATH, "/a", "/a", true },
		{ MATCH_PATH, "/a", "/b", false },
		{ MATCH_PATH, "/**", "/a/*/{b}", true },
		{ MATCH_PATH, "/a/**", "/a/b/**", true },
		{ MATCH_PATH, "/a/**", "/a", true },
		{ MATCH_PATH, "/a/**", "/ab", false },
		{ MATCH_PATH, "/a/*", "/a/b", true },
		{ MATCH_PATH, "/a/*", "/a/**", false },
		{ MATCH_PATH, "/*/b/**", "/x/b/c", true },
		{ MATCH_PATH, "/*/b/**", "/*/c", false },
		{ MATCH_HOST, "*.a.b", "x.A.b", true },
		{ MATCH_HOST, "*.a.b", "*.c.a.b", true },
		{ MATCH_HOST, "*.a.b", "a.b", false },
		{ MATCH_METHOD, "GET", "HEAD", false },
	};
	const struct match all = { NULL, 0 };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		ck_assert_msg(covers(pairs[i].kind, pairs[i].wide,
		    pairs[i].narrow) == pairs[i].covers, "%s %s",
		    pairs[i].wide, pairs[i].narrow);
	ck_assert(covers_match(&all, &all));
}
END_TEST

static bool
overlap(struct condition a, struct condition b)
{
	const struct match x = { &a, 1 }, y = { &b, 1 };
	const bool both = covers_overlap(&x, &y);

	ck_assert(covers_overlap(&y, &x) == both);
	return both;
}

START_TEST(test_overlap)
{
	static const struct {
		enum match_kind kind;
		const char *a, *b;
		bool overlap, without;	/* and with b negated */
	} pairs[] = {
		{ MATCH_PATH, "/a", "/a", true, false },
		{ MATCH_PATH, "/a", "/b", false, true },
		{ MATCH_PATH, "/a/b", "/a/*", true, false },
		{ MATCH_PATH, "/a/**", "/a/b/*", true, false },
		{ MATCH_PATH, "/*/a", "/b/{x}", false, false },
		{ MATCH_METHOD, "GET", "GET", true, false },
		{ MATCH_METHOD, "GET", "POST", false, true },
		{ MATCH_HOST, "a.test", "*.test", true, false },
		{ MATCH_HOST, "a.test", "b.test", false, true },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const char *a = pairs[i].a, *b = pairs[i].b;
		const enum match_kind kind = pairs[i].kind;

		ck_assert_msg(overlap(one(kind, &a, false),
		    one(kind, &b, false)) == pairs[i].overlap, "%s %s", a, b);
		ck_assert_msg(overlap(one(kind, &a, false),
		    one(kind, &b, true)) == pairs[i].without, "%s not %s", a,
		    b);
		ck_assert(overlap(one(kind, &a, true), one(kind, &b, true)));
	}
}
END_TEST

/* Fields: by name, with any value or a certain one. */
START_TEST(test_overlap_of_fields)
{
	const char *value[] = { "v" };
	struct condition a = one(MATCH_HEADER, value, false);
	struct condition b = one(MATCH_HEADER, value, false);
	char x[] = "x", upper[] = "X", y[] = "y";

	a.name = x;
	b.name = y;
	ck_assert(overlap(a, b));
	b.negate = true;
	ck_assert(overlap(a, b));
	b.name = upper;
	ck_assert(!overlap(a, b));
	b.n = 0;
	ck_assert(!overlap(a, b));
	b.negate = false;
	ck_assert(overlap(a, b));
	a.n = 0;
	b.n = 1;
	b.negate = true;
	ck_assert(overlap(a, b));
}
END_TEST

START_TEST(test_covers_negated)
{
	const char *get[] = { "GET" }, *two[] = { "GET", "PUT" };
	struct condition not_get = one(MATCH_METHOD, get, true);
	struct condition not_two = one(MATCH_METHOD, two, true);
	const struct match a = { &not_get, 1 }, b = { &not_two, 1 };

	not_two.n = 2;
	ck_assert(covers_match(&a, &b));
	ck_assert(!covers_match(&b, &a));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("config warnings");
	TCase *tc = tcase_create("all");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, test_doubt, 0, (int)DOUBTS);
	tcase_add_test(tc, test_skip);
	tcase_add_test(tc, test_callers_policy);
	tcase_add_test(tc, test_once_a_caller);
	tcase_add_test(tc, test_every_warning_is_met);
	tcase_add_test(tc, test_covers);
	tcase_add_test(tc, test_covers_negated);
	tcase_add_test(tc, test_overlap);
	tcase_add_test(tc, test_overlap_of_fields);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
