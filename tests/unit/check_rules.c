#include <stdlib.h>

#include "base/mem.h"
#include "limit/rules.h"
#include "limit_request.h"

#define DAY	INT64_C(86400000000)

static struct asked_request r;
static struct rules rules;
static struct plan plans[4];		/* test, live, listed, unknown */
static struct caller callers[3];	/* live, test, anonymous */
static struct route routes[3];		/* search, health, any */
static struct asked_match live_match, test_match, route_match[2], match;
static struct lookup *lookup;
static struct policy policy;

static char names[][12] = { "test", "live", "listed", "unknown", "anon",
	"search", "health", "any", "p" };

static void
list(const char *key, const struct plan *plan, int64_t until)
{
	unsigned char sha256[32];

	hash_sha256(span_str(key), sha256);
	ck_assert_int_eq(lookup_add(lookup, sha256, plan, until), ERR_OK);
}

static void
set_caller(unsigned i, char *name, struct asked_match *m, const char *glob,
    const struct plan *plan)
{
	callers[i] = (struct caller){ .name = name, .lookup = lookup,
	    .plan = plan };
	callers[i].match = *asked_match(m, MATCH_HEADER, "x-api-key", glob,
	    NULL);
	ck_assert_int_eq(key_part_parse(SPAN("header:x-api-key"),
	    &callers[i].key.parts[0]), ERR_OK);
	callers[i].key.n = 1;
}

static void
setup(void)
{
	hash_init();
	lookup = lookup_new("keys");
	for (unsigned i = 0; i < 4; i++)
		plans[i].name = names[i];
	set_caller(0, names[1], &live_match, "sk_live_*", &plans[1]);
	set_caller(1, names[0], &test_match, "sk_*", &plans[0]);
	callers[2] = (struct caller){ .name = names[4] };
	routes[0] = (struct route){ .name = names[5], .cost = 5,
	    .has_cost = true };
	routes[0].match = *asked_match(&route_match[0], MATCH_PATH, NULL,
	    "/search", NULL);
	routes[1] = (struct route){ .name = names[6], .no_policies = true };
	routes[1].match = *asked_match(&route_match[1], MATCH_PATH, NULL,
	    "/healthz", NULL);
	routes[2] = (struct route){ .name = names[7] };
	rules = (struct rules){ .callers = callers, .ncallers = 3,
	    .routes = routes, .nroutes = 2, .policies = &policy,
	    .npolicies = 1 };
	policy = (struct policy){ .name = names[8], .limits = { .n = 1 } };
	policy.limits.rate[0] = (struct rate){ .count = 10, .burst = 10,
	    .period_us = 1000000 };
	list("sk_live_a", &plans[2], INT64_MAX);
	list("sk_live_b", NULL, INT64_MAX);
	list("sk_live_c", &plans[2], 1000);
	list("sk_test_a", &plans[2], INT64_MAX);
}

static void
teardown(void)
{
	key_spec_fini(&callers[0].key);
	key_spec_fini(&callers[1].key);
	lookup_free(lookup);
}

static enum err
classify(const char *line, const char *key, int64_t now)
{
	char fields[64];

	snprintf(fields, sizeof(fields), "X-Api-Key: %s\r\n", key);
	asked_read(&r, line, key[0] != '\0' ? fields : "", "192.0.2.1", NULL);
	r.req.route = &routes[2];	/* left from another request */
	return rules_classify(&rules, &r.req, now);
}

static void
assert_class(const char *key, int64_t now, unsigned caller,
    const struct plan *plan)
{
	ck_assert_int_eq(classify("GET /", key, now), ERR_OK);
	ck_assert_ptr_eq(r.req.caller, &callers[caller]);
	ck_assert_ptr_eq(r.req.plan, plan);
}

START_TEST(the_plan_of_the_lookup_wins)
{
	assert_class("sk_live_a", 0, 0, &plans[2]);
	assert_class("sk_test_a", 0, 1, &plans[2]);
}
END_TEST

START_TEST(the_class_has_a_plan_for_those_listed_without)
{
	assert_class("sk_live_b", 0, 0, &plans[1]);
}
END_TEST

START_TEST(unknown_keys_go_on_to_the_next_class)
{
	assert_class("sk_live_x", 0, 2, NULL);
	assert_class("other", 0, 2, NULL);
	assert_class("", 0, 2, NULL);
}
END_TEST

START_TEST(a_listing_ends)
{
	assert_class("sk_live_c", 1000, 0, &plans[2]);
	assert_class("sk_live_c", 1001, 2, NULL);
}
END_TEST

START_TEST(unknown_keys_may_be_refused)
{
	callers[0].unknown = UNKNOWN_DENY;
	ck_assert_int_eq(classify("GET /search", "sk_live_x", 0),
	    ERR_REFUSED);
	ck_assert_ptr_eq(r.req.caller, &callers[0]);
	ck_assert_ptr_eq(r.req.route, &routes[0]);
	assert_class("sk_live_a", 0, 0, &plans[2]);
	assert_class("", 0, 2, NULL);
}
END_TEST

START_TEST(unknown_keys_may_have_a_plan)
{
	callers[0].unknown = UNKNOWN_PLAN;
	callers[0].unknown_plan = &plans[3];
	assert_class("sk_live_x", 0, 0, &plans[3]);
	assert_class("sk_live_a", 0, 0, &plans[2]);
}
END_TEST

START_TEST(a_class_whose_key_is_missing_does_not_fit)
{
	callers[0].match.n = 0;
	callers[0].unknown = UNKNOWN_DENY;
	assert_class("", 0, 2, NULL);
}
END_TEST

START_TEST(without_lookup_the_match_decides)
{
	callers[0].lookup = NULL;
	assert_class("sk_live_x", 0, 0, &plans[1]);
}
END_TEST

START_TEST(there_is_always_a_class)
{
	rules.ncallers = 0;
	ck_assert_int_eq(classify("GET /", "sk_live_a", 0), ERR_OK);
	ck_assert_str_eq(r.req.caller->name, "anonymous");
	ck_assert_uint_eq(r.req.caller->key.n, 0);
	ck_assert_ptr_null(r.req.plan);
	rules.ncallers = 1;
	ck_assert_int_eq(classify("GET /", "sk_live_x", 0), ERR_OK);
	ck_assert_str_eq(r.req.caller->name, "anonymous");
	ck_assert_ptr_null(r.req.plan);
}
END_TEST

START_TEST(the_first_route_that_fits)
{
	rules.nroutes = 3;
	classify("GET /search", "", 0);
	ck_assert_ptr_eq(r.req.route, &routes[0]);
	classify("GET /other", "", 0);
	ck_assert_ptr_eq(r.req.route, &routes[2]);
	rules.nroutes = 2;
	classify("GET /other", "", 0);
	ck_assert_ptr_null(r.req.route);
}
END_TEST

START_TEST(a_route_may_be_for_a_class)
{
	routes[2].match = *asked_match(&match, MATCH_CALLER, NULL, "live",
	    NULL);
	rules.nroutes = 3;
	classify("GET /x", "sk_live_a", 0);
	ck_assert_ptr_eq(r.req.route, &routes[2]);
	classify("GET /x", "sk_test_a", 0);
	ck_assert_ptr_null(r.req.route);
}
END_TEST

static enum policy_concern
concern(const char *line, const char *key)
{
	classify(line, key, 0);
	return policy_concerns(&policy, &r.req);
}

START_TEST(why_a_policy_concerns)
{
	ck_assert_int_eq(concern("GET /", ""), CONCERN_YES);
	ck_assert_int_eq(concern("GET /healthz", ""), CONCERN_ROUTE_NONE);
	policy.match = *asked_match(&match, MATCH_PATH, NULL, "/search",
	    NULL);
	ck_assert_int_eq(concern("GET /", ""), CONCERN_NO_MATCH);
	ck_assert_int_eq(concern("GET /search", ""), CONCERN_YES);
	policy.mode = MODE_SHADOW;
	ck_assert_int_eq(concern("GET /search", ""), CONCERN_YES);
	policy.mode = MODE_OFF;
	ck_assert_int_eq(concern("GET /search", ""), CONCERN_OFF);
	policy.mode = MODE_ENFORCE;
	policy.limits.n = 0;
	ck_assert_int_eq(concern("GET /search", ""), CONCERN_NO_LIMIT);
}
END_TEST

START_TEST(any_exemption_exempts)
{
	struct asked_match a, b;
	struct match exempt[2];

	exempt[0] = *asked_match(&a, MATCH_CALLER, NULL, "live", NULL);
	exempt[1] = *asked_match(&b, MATCH_CLIENT_IP, NULL, "10.0.0.0/8",
	    NULL);
	policy.exempt = exempt;
	policy.nexempt = 2;
	ck_assert_int_eq(concern("GET /", "sk_live_a"), CONCERN_EXEMPT);
	ck_assert_int_eq(concern("GET /", "sk_test_a"), CONCERN_YES);
	r.req.client = asked_addr("10.9.9.9");
	ck_assert_int_eq(policy_concerns(&policy, &r.req), CONCERN_EXEMPT);
}
END_TEST

START_TEST(a_limit_may_be_the_plan)
{
	policy.limit_is_plan = true;
	policy.limits.n = 0;
	ck_assert_int_eq(concern("GET /", ""), CONCERN_NO_PLAN);
	ck_assert_int_eq(concern("GET /", "sk_live_a"), CONCERN_NO_LIMIT);
	plans[2].limits.n = 1;
	ck_assert_int_eq(concern("GET /", "sk_live_a"), CONCERN_YES);
}
END_TEST

START_TEST(costs)
{
	classify("GET /", "", 0);
	ck_assert_int_eq(policy_cost(&policy, &r.req), 1);
	classify("GET /search", "", 0);
	ck_assert_int_eq(policy_cost(&policy, &r.req), 5);
	policy.cost = 3;
	ck_assert_int_eq(policy_cost(&policy, &r.req), 3);
	classify("GET /healthz", "", 0);
	policy.cost = 0;
	ck_assert_int_eq(policy_cost(&policy, &r.req), 1);
}
END_TEST

START_TEST(tags)
{
	struct policy other = policy;
	char name[] = "q";
	uint64_t tag = policy_tag(&policy);

	other.limits.rate[0].count = 99;
	other.mode = MODE_SHADOW;
	ck_assert_uint_eq(policy_tag(&other), tag);
	other.algorithm = ALGO_FIXED_WINDOW;
	ck_assert_uint_ne(policy_tag(&other), tag);
	other = policy;
	other.name = name;
	ck_assert_uint_ne(policy_tag(&other), tag);
	other = policy;
	other.key.n = 1;
	other.key.parts[0].source = KEY_CALLER;
	ck_assert_uint_ne(policy_tag(&other), tag);
	/* A key left out is client_ip, written or not. */
	other.key.parts[0].source = KEY_CLIENT_IP;
	ck_assert_uint_eq(policy_tag(&other), tag);
}
END_TEST

static void
assert_local(int64_t count, int64_t burst, int64_t period, unsigned instances,
    int64_t want_count, int64_t want_burst)
{
	struct rate *rate = &policy.limits.rate[0];
	const struct rate *local = &policy.local_limits.rate[0];

	*rate = (struct rate){ .count = count, .burst = burst,
	    .period_us = period };
	rules.instances = instances;
	ck_assert_int_eq(rules_finish(&rules), ERR_OK);
	ck_assert_int_eq(rate->count, count);
	ck_assert_int_gt(rate->unit, 0);
	ck_assert_uint_eq(policy.local_limits.n, policy.limits.n);
	ck_assert_int_eq(local->count, want_count);
	ck_assert_int_eq(local->burst, want_burst);
	ck_assert_int_eq(local->period_us, period);
	ck_assert_int_gt(local->unit, 0);
	ck_assert_int_eq(local->cap, local->burst * local->unit);
}

START_TEST(local_limits_are_a_share)
{
	assert_local(10, 30, 1000000, 1, 10, 30);
	assert_local(10, 30, 1000000, 0, 10, 30);
	assert_local(10, 30, 1000000, 3, 3, 10);
	assert_local(2, 2, 1000000, 3, 1, 1);
	assert_local(10, 1, 1000000, 3, 3, 1);
}
END_TEST

/* 10^12 a day is fine, but a sixth of it has too few factors in common with the
 * seconds of a day. */
START_TEST(a_share_that_does_not_fit_is_rounded_down)
{
	const int64_t count = INT64_C(1000000000000);
	struct rate sixth = { .count = count / 6, .burst = count / 6,
	    .period_us = DAY };

	ck_assert_int_eq(rate_prepare(&sixth), ERR_RANGE);
	assert_local(count, count, DAY, 6, INT64_C(166666666660),
	    INT64_C(166666666660));
}
END_TEST

START_TEST(finish_prepares_plans_and_numbers_policies)
{
	struct policy two[2] = { policy, policy };

	two[1].algorithm = ALGO_SLIDING_LOG;
	rules.policies = two;
	rules.npolicies = 2;
	rules.plans = plans;
	rules.nplans = 4;
	rules.instances = 2;
	plans[1].limits = (struct limits){ .n = 2, .rate = {
	    { .count = 10, .burst = 10, .period_us = 1000000 },
	    { .count = 5000, .burst = 5000, .period_us = DAY } } };
	ck_assert_int_eq(rules_finish(&rules), ERR_OK);
	ck_assert_uint_eq(two[0].index, 0);
	ck_assert_uint_eq(two[1].index, 1);
	ck_assert_uint_eq(two[0].tag, policy_tag(&two[0]));
	ck_assert_uint_eq(two[1].tag, policy_tag(&two[1]));
	ck_assert_uint_eq(plans[1].local_limits.n, 2);
	ck_assert_int_eq(plans[1].local_limits.rate[1].count, 2500);
	ck_assert_int_gt(plans[1].local_limits.rate[1].unit, 0);
	ck_assert_int_gt(plans[1].limits.rate[1].unit, 0);
	ck_assert_uint_eq(plans[0].local_limits.n, 0);
}
END_TEST

START_TEST(finish_refuses_what_cannot_be_prepared)
{
	policy.limits.rate[0].count = 0;
	ck_assert_int_eq(rules_finish(&rules), ERR_RANGE);
	policy.limits.rate[0].count = 1;
	rules.plans = plans;
	rules.nplans = 1;
	plans[0].limits.n = 1;
	plans[0].limits.rate[0] = (struct rate){ .count = 1, .burst = 0,
	    .period_us = 1000000 };
	ck_assert_int_eq(rules_finish(&rules), ERR_RANGE);
}
END_TEST

START_TEST(all_that_is_owned_is_freed)
{
	struct rules own = { .nplans = 1, .nlookups = 1, .ncallers = 1,
	    .nroutes = 1, .npolicies = 1 };

	own.plans = mem_zalloc(sizeof(*own.plans));
	own.plans[0].name = mem_strdup("plan");
	own.lookups = mem_zalloc(sizeof(*own.lookups));
	own.lookups[0] = lookup_new("keys");
	own.callers = mem_zalloc(sizeof(*own.callers));
	own.callers[0].name = mem_strdup("caller");
	ck_assert_int_eq(key_part_parse(SPAN("header:x"),
	    &own.callers[0].key.parts[own.callers[0].key.n++]), ERR_OK);
	own.routes = mem_zalloc(sizeof(*own.routes));
	own.routes[0].name = mem_strdup("route");
	own.routes[0].match.conditions = mem_zalloc(sizeof(struct condition));
	own.routes[0].match.n = 1;
	own.policies = mem_zalloc(sizeof(*own.policies));
	own.policies[0].name = mem_strdup("policy");
	own.policies[0].exempt = mem_zalloc(sizeof(struct match));
	own.policies[0].nexempt = 1;
	rules_fini(&own);
	ck_assert_ptr_null(own.policies);
	ck_assert_uint_eq(own.npolicies, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("rules");
	TCase *t = tcase_create("rules");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_plan_of_the_lookup_wins);
	tcase_add_test(t, the_class_has_a_plan_for_those_listed_without);
	tcase_add_test(t, unknown_keys_go_on_to_the_next_class);
	tcase_add_test(t, a_listing_ends);
	tcase_add_test(t, unknown_keys_may_be_refused);
	tcase_add_test(t, unknown_keys_may_have_a_plan);
	tcase_add_test(t, a_class_whose_key_is_missing_does_not_fit);
	tcase_add_test(t, without_lookup_the_match_decides);
	tcase_add_test(t, there_is_always_a_class);
	tcase_add_test(t, the_first_route_that_fits);
	tcase_add_test(t, a_route_may_be_for_a_class);
	tcase_add_test(t, why_a_policy_concerns);
	tcase_add_test(t, any_exemption_exempts);
	tcase_add_test(t, a_limit_may_be_the_plan);
	tcase_add_test(t, costs);
	tcase_add_test(t, tags);
	tcase_add_test(t, local_limits_are_a_share);
	tcase_add_test(t, a_share_that_does_not_fit_is_rounded_down);
	tcase_add_test(t, finish_prepares_plans_and_numbers_policies);
	tcase_add_test(t, finish_refuses_what_cannot_be_prepared);
	tcase_add_test(t, all_that_is_owned_is_freed);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
