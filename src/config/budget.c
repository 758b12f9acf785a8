#include "config/budget.h"

#include "config/covers.h"

static const struct node *
value_at(const struct load *load, const char *section, unsigned i,
    const char *key)
{
	const struct node *item =
	    yaml_get(load->root, section)->pairs[i].value;
	const struct node *value = yaml_get(item, key);

	return value != NULL ? value : item;
}

static bool
is_counting(const struct policy *p)
{
	return p->mode == MODE_ENFORCE &&
	    (p->limit_is_plan || p->limits.n > 0);
}

/* ---- costs ---- */

/* The most that passes at once; INT64_MAX: no limit. */
static int64_t
capacity(enum algo_kind kind, const struct limits *limits)
{
	int64_t least = INT64_MAX;

	for (unsigned i = 0; i < limits->n; i++)
		least = algo_min(least, algo_capacity(kind,
		    &limits->rate[i]));
	return least;
}

/* The smallest capacity under that policy, and the plan it is in. */
static int64_t
smallest(const struct rules *rules, const struct policy *p,
    const struct plan **ret_plan)
{
	int64_t least = capacity(p->algorithm, &p->limits);

	*ret_plan = NULL;
	for (unsigned i = 0; p->limit_is_plan && i < rules->nplans; i++) {
		const int64_t room = capacity(p->algorithm,
		    &rules->plans[i].limits);

		if (room >= least)
			continue;
		least = room;
		*ret_plan = &rules->plans[i];
	}
	return least;
}

static void
report_cost(struct load *load, const struct node *node, int64_t cost,
    int64_t room, const struct policy *p, const struct plan *plan)
{
	findings_help(load_find(load, node, W_COST,
	    "a cost of %lld is above the %lld of policy '%s'%s%s",
	    (long long)cost, (long long)room, p->name,
	    plan != NULL ? " under plan " : "",
	    plan != NULL ? plan->name : ""),
	    "such a request passes only with the whole budget free, and "
	    "takes all of it");
}

static bool
concerns_route(const struct policy *p, const struct route *r)
{
	for (unsigned i = 0; i < p->match.n; i++) {
		const struct condition *c = &p->match.conditions[i];

		if (c->kind == MATCH_ROUTE &&
		    covers_has_value(c, r->name) == c->negate)
			return false;
	}
	return p->mode != MODE_OFF && p->cost == 0 && !r->no_policies;
}

static void
check_costs(struct load *load)
{
	const struct rules *rules = &load->config->rules;
	const struct plan *plan;

	for (unsigned i = 0; i < rules->npolicies; i++) {
		const struct policy *p = &rules->policies[i];
		const int64_t room = smallest(rules, p, &plan);

		if (p->cost > room)
			report_cost(load, value_at(load, "policies", i,
			    "cost"), p->cost, room, p, plan);
		for (unsigned j = 0; j < rules->nroutes; j++)
			if (rules->routes[j].cost > room &&
			    concerns_route(p, &rules->routes[j]))
				report_cost(load, value_at(load, "routes", j,
				    "cost"), rules->routes[j].cost, room, p,
				    plan);
	}
}

/* ---- keys that callers choose, or leave out ---- */

static bool
is_chosen(const struct key_part *part)
{
	return part->source == KEY_HEADER || part->source == KEY_QUERY ||
	    part->source == KEY_COOKIE;
}

static bool
is_equal(const struct key_part *a, const struct key_part *b)
{
	return a->source == b->source && a->name != NULL &&
	    b->name != NULL && strcmp(a->name, b->name) == 0;
}

/* May the policy concern requests of that caller? */
static bool
concerns_caller(const struct policy *p, const struct caller *c)
{
	for (unsigned i = 0; i < p->match.n; i++) {
		const struct condition *x = &p->match.conditions[i];

		if (x->kind == MATCH_CALLER &&
		    covers_has_value(x, c->name) == x->negate)
			return false;
	}
	for (unsigned i = 0; i < p->nexempt; i++) {
		const struct condition *x =
		    covers_find(&p->exempt[i], MATCH_CALLER, NULL);

		if (x != NULL && p->exempt[i].n == 1 &&
		    covers_has_value(x, c->name))
			return false;
	}
	return !p->limit_is_plan || c->plan != NULL || c->lookup != NULL;
}

/* Do all the callers the policy is for have that part looked up? */
static bool
is_verified(const struct rules *rules, const struct policy *p,
    const struct key_part *part)
{
	if (covers_find(&p->match, MATCH_CALLER, NULL) == NULL)
		return false;
	for (unsigned i = 0; i < rules->ncallers; i++) {
		const struct caller *c = &rules->callers[i];

		if (concerns_caller(p, c) && (c->lookup == NULL ||
		    !is_equal(&c->key.parts[0], part)))
			return false;
	}
	return true;
}

/* Does a match see to it that the part is there? */
static bool
is_required(const struct match *m, const struct key_part *part)
{
	if (part->source == KEY_HEADER)
		return covers_find(m, MATCH_HEADER, part->name) != NULL;
	return part->source == KEY_QUERY &&
	    covers_find(m, MATCH_QUERY, part->name) != NULL;
}

static bool
may_lack(const struct match *m, const struct key_spec *key)
{
	for (unsigned i = 0; i < key->n; i++)
		if (is_chosen(&key->parts[i]) &&
		    !is_required(m, &key->parts[i]))
			return true;
	return false;
}

static bool
is_invented(const struct caller *c)
{
	for (unsigned i = 0; c->lookup == NULL && i < c->key.n; i++)
		if (is_chosen(&c->key.parts[i]))
			return true;
	return false;
}

/* Is the key the same however a caller dresses up? */
static bool
is_firm(const struct key_spec *key)
{
	for (unsigned i = 0; i < key->n; i++)
		if (key->parts[i].source != KEY_CLIENT_IP &&
		    key->parts[i].source != KEY_ALL &&
		    key->parts[i].source != KEY_ROUTE &&
		    key->parts[i].source != KEY_METHOD)
			return false;
	return true;
}

/* Another policy that limits all of these requests by a firm key. */
static bool
is_backed(const struct rules *rules, const struct policy *p)
{
	for (unsigned i = 0; i < rules->npolicies; i++) {
		const struct policy *q = &rules->policies[i];

		if (q != p && is_counting(q) && !q->limit_is_plan &&
		    q->nexempt == 0 && is_firm(&q->key) &&
		    covers_match(&q->match, &p->match))
			return true;
	}
	return false;
}

static void
report_invented(struct load *load, const struct node *node)
{
	findings_help(load_find(load, node, W_UNVERIFIED,
	    "whoever invents a new key gets a new budget"),
	    "let a caller with a lookup verify keys, or put a policy with "
	    "key client_ip or all beside it");
}

static void
report_skipped(struct load *load, const struct node *node)
{
	findings_help(load_find(load, node, W_SKIP,
	    "requests without this key are not limited"),
	    "on_missing_key: deny or peer, or a policy with key client_ip "
	    "beside it");
}

/* The key is the caller's: what is said of it is said where it stands. */
static void
check_caller_keys(struct load *load, const struct policy *p)
{
	const struct rules *rules = &load->config->rules;
	const unsigned n = rules->ncallers - load->config->builtin_caller;

	for (unsigned i = 0; i < n; i++) {
		const struct caller *c = &rules->callers[i];

		if (!concerns_caller(p, c))
			continue;
		if (is_invented(c))
			report_invented(load, value_at(load, "callers", i,
			    "key"));
		if (p->on_missing_key == MISSING_SKIP && c->lookup == NULL &&
		    may_lack(&c->match, &c->key))
			report_skipped(load, value_at(load, "callers", i,
			    "key"));
	}
}

static void
check_key(struct load *load, unsigned i)
{
	const struct rules *rules = &load->config->rules;
	const struct policy *p = &rules->policies[i];
	const struct node *node = value_at(load, "policies", i, "key");
	bool verified = true, invented = false;

	for (unsigned k = 0; k < p->key.n; k++) {
		const struct key_part *part = &p->key.parts[k];

		if (part->source == KEY_CALLER)
			check_caller_keys(load, p);
		if (!is_chosen(part) || is_verified(rules, p, part))
			continue;
		invented = true;
		verified &= is_required(&p->match, part);
	}
	if (invented)
		report_invented(load, node);
	if (!verified && p->on_missing_key == MISSING_SKIP)
		report_skipped(load, node);
}

void
budget_check(struct load *load)
{
	const struct rules *rules = &load->config->rules;

	check_costs(load);
	for (unsigned i = 0; i < rules->npolicies; i++)
		if (is_counting(&rules->policies[i]) &&
		    !is_backed(rules, &rules->policies[i]))
			check_key(load, i);
}
