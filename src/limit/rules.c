#include "limit/rules.h"

#include "base/mem.h"
#include "limit/scratch.h"

static char anonymous_name[] = "anonymous";
static const struct caller anonymous = { .name = anonymous_name,
	.priority = PRIORITY_NORMAL };

/* ---- who is asking ---- */

enum knowledge { KNOWN, UNKNOWN, UNFIT, REFUSED };

/* What the lookup of a class makes of the request's key. */
static enum knowledge
look_up(const struct caller *caller, const struct request *req, int64_t now,
    const struct plan **ret_plan)
{
	enum knowledge known = UNFIT;
	const struct plan *plan = NULL;
	struct scratch scratch;
	struct span key;

	scratch_init(&scratch);
	if (key_value(&caller->key, req, &scratch, &key))
		known = lookup_find(caller->lookup, key, now, &plan) ?
		    KNOWN : UNKNOWN;
	scratch_fini(&scratch);
	if (known == KNOWN) {
		*ret_plan = plan != NULL ? plan : caller->plan;
	} else if (known == UNKNOWN && caller->unknown == UNKNOWN_PLAN) {
		*ret_plan = caller->unknown_plan;
		known = KNOWN;
	} else if (known == UNKNOWN && caller->unknown == UNKNOWN_DENY) {
		known = REFUSED;
	}
	return known;
}

static enum err
classify(const struct rules *rules, struct request *req, int64_t now)
{
	enum knowledge known;

	for (unsigned i = 0; i < rules->ncallers; i++) {
		const struct caller *c = &rules->callers[i];

		if (!match_test(&c->match, req))
			continue;
		req->plan = c->plan;
		known = c->lookup == NULL ? KNOWN :
		    look_up(c, req, now, &req->plan);
		if (known == KNOWN || known == REFUSED) {
			req->caller = c;
			return known == KNOWN ? ERR_OK : ERR_REFUSED;
		}
	}
	req->caller = &anonymous;
	req->plan = NULL;
	return ERR_OK;
}

enum err
rules_classify(const struct rules *rules, struct request *req, int64_t now)
{
	enum err e;

	req->caller = NULL;
	req->plan = NULL;
	req->route = NULL;
	e = classify(rules, req, now);
	for (unsigned i = 0; i < rules->nroutes; i++) {
		if (!match_test(&rules->routes[i].match, req))
			continue;
		req->route = &rules->routes[i];
		break;
	}
	return e;
}

/* ---- which policies ---- */

static bool
is_exempt(const struct policy *policy, const struct request *req)
{
	for (unsigned i = 0; i < policy->nexempt; i++)
		if (match_test(&policy->exempt[i], req))
			return true;
	return false;
}

enum policy_concern
policy_concerns(const struct policy *policy, const struct request *req)
{
	if (policy->mode == MODE_OFF)
		return CONCERN_OFF;
	if (req->route != NULL && req->route->no_policies)
		return CONCERN_ROUTE_NONE;
	if (!match_test(&policy->match, req))
		return CONCERN_NO_MATCH;
	if (is_exempt(policy, req))
		return CONCERN_EXEMPT;
	if (policy->limit_is_plan && req->plan == NULL)
		return CONCERN_NO_PLAN;
	if ((policy->limit_is_plan ? req->plan->limits.n :
	    policy->limits.n) == 0)
		return CONCERN_NO_LIMIT;
	return CONCERN_YES;
}

int64_t
policy_cost(const struct policy *policy, const struct request *req)
{
	if (policy->cost > 0)
		return policy->cost;
	return req->route != NULL && req->route->has_cost ?
	    req->route->cost : 1;
}

uint64_t
policy_tag(const struct policy *policy)
{
	struct text t = { .len = 0 };
	uint64_t tag;

	text_append_str(&t, policy->name);
	text_append_char(&t, '\0');
	text_append_u64(&t, key_spec_hash(&policy->key));
	text_append_char(&t, '\0');
	text_append_str(&t, algo_get(policy->algorithm)->name);
	tag = hash_name(text_span(&t));
	text_fini(&t);
	return tag;
}

/* ---- what is derived ---- */

static int64_t
share(int64_t whole, unsigned instances)
{
	return whole > instances ? whole / instances : 1;
}

/*
 * One weir's share of a rate. A share may have fewer factors in common with
 * the period than the whole has and then not fit exact arithmetic; so it is
 * rounded down to tens, hundreds and so on until it does.
 */
static enum err
share_rate(const struct rate *whole, unsigned instances, struct rate *ret)
{
	struct rate rate = *whole;
	const int64_t count = share(whole->count, instances);

	for (int64_t step = 1; step <= count; step *= 10) {
		rate.count = count / step * step;
		rate.burst = whole->burst == whole->count ? rate.count :
		    share(whole->burst, instances);
		if (rate_prepare(&rate) == ERR_OK) {
			*ret = rate;
			return ERR_OK;
		}
	}
	return ERR_RANGE;
}

static enum err
finish_limits(struct limits *limits, unsigned instances, struct limits *ret)
{
	struct limits local = { .n = limits->n };
	enum err e;

	for (unsigned i = 0; i < limits->n; i++) {
		if ((e = rate_prepare(&limits->rate[i])) != ERR_OK)
			return e;
		if ((e = share_rate(&limits->rate[i], instances,
		    &local.rate[i])) != ERR_OK)
			return e;
	}
	*ret = local;
	return ERR_OK;
}

enum err
rules_finish(struct rules *rules)
{
	const unsigned instances = rules->instances > 0 ?
	    rules->instances : 1;
	enum err e;

	for (unsigned i = 0; i < rules->nplans; i++) {
		struct plan *plan = &rules->plans[i];

		if ((e = finish_limits(&plan->limits, instances,
		    &plan->local_limits)) != ERR_OK)
			return e;
	}
	for (unsigned i = 0; i < rules->npolicies; i++) {
		struct policy *policy = &rules->policies[i];

		policy->index = i;
		policy->tag = policy_tag(policy);
		if ((e = finish_limits(&policy->limits, instances,
		    &policy->local_limits)) != ERR_OK)
			return e;
	}
	return ERR_OK;
}

/* ---- the end ---- */

static void
caller_fini(struct caller *caller)
{
	mem_free(caller->name);
	match_fini(&caller->match);
	key_spec_fini(&caller->key);
}

static void
policy_fini(struct policy *policy)
{
	mem_free(policy->name);
	match_fini(&policy->match);
	for (unsigned i = 0; i < policy->nexempt; i++)
		match_fini(&policy->exempt[i]);
	mem_free(policy->exempt);
	key_spec_fini(&policy->key);
}

void
rules_fini(struct rules *rules)
{
	for (unsigned i = 0; i < rules->nplans; i++)
		mem_free(rules->plans[i].name);
	for (unsigned i = 0; i < rules->nlookups; i++)
		lookup_free(rules->lookups[i]);
	for (unsigned i = 0; i < rules->ncallers; i++)
		caller_fini(&rules->callers[i]);
	for (unsigned i = 0; i < rules->nroutes; i++) {
		mem_free(rules->routes[i].name);
		match_fini(&rules->routes[i].match);
	}
	for (unsigned i = 0; i < rules->npolicies; i++)
		policy_fini(&rules->policies[i]);
	mem_free(rules->plans);
	mem_free(rules->lookups);
	mem_free(rules->callers);
	mem_free(rules->routes);
	mem_free(rules->policies);
	memset(rules, 0, sizeof(*rules));
}
