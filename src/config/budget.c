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

/* ---- whom a policy concerns ---- */

/* Do the conditions on names of that kind allow this one? */
static bool
allows(const struct match *m, enum match_kind kind, const char *name)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->conditions[i].kind == kind &&
		    covers_has_value(&m->conditions[i], name) ==
		    m->conditions[i].negate)
			return false;
	return true;
}

/* An exemption for that name and nothing else. */
static bool
is_exempt(const struct policy *p, enum match_kind kind, const char *name)
{
	for (unsigned i = 0; i < p->nexempt; i++) {
		const struct condition *x =
		    covers_find(&p->exempt[i], kind, NULL);

		if (x != NULL && p->exempt[i].n == 1 &&
		    covers_has_value(x, name))
			return true;
	}
	return false;
}

bool
budget_concerns(const struct policy *p, const struct caller *c)
{
	if (!allows(&p->match, MATCH_CALLER, c->name) ||
	    is_exempt(p, MATCH_CALLER, c->name))
		return false;
	return !p->limit_is_plan || c->plan != NULL || c->lookup != NULL;
}

/* An exemption that takes all of the route, or names it and more. */
static bool
is_route_exempt(const struct policy *p, const struct route *r)
{
	for (unsigned i = 0; i < p->nexempt; i++) {
		const struct match *m = &p->exempt[i];
		const struct condition *x =
		    covers_find(m, MATCH_ROUTE, NULL);

		if (x != NULL ? covers_has_value(x, r->name) :
		    covers_match(m, &r->match))
			return true;
	}
	return false;
}

/* Does it plainly concern requests of that route, at the route's cost? */
static bool
concerns_route(const struct policy *p, const struct route *r)
{
	return p->mode != MODE_OFF && p->cost == 0 && !r->no_policies &&
	    allows(&p->match, MATCH_ROUTE, r->name) &&
	    covers_overlap(&p->match, &r->match) && !is_route_exempt(p, r);
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

static bool
is_named(const struct rules *rules, const struct plan *plan)
{
	for (unsigned i = 0; i < rules->ncallers; i++)
		if (rules->callers[i].plan == plan ||
		    rules->callers[i].unknown_plan == plan)
			return true;
	return false;
}

/* Callers of that class, on that route (NULL: any), under that plan (NULL:
 * any): may the policy concern them? A plan that no class names comes from
 * lookups. */
static bool
concerns_plan(const struct rules *rules, const struct policy *p,
    const struct route *r, const struct caller *c, const struct plan *plan)
{
	if (!budget_concerns(p, c) ||
	    (r != NULL && (!allows(&r->match, MATCH_CALLER, c->name) ||
	    !covers_overlap(&c->match, &r->match))))
		return false;
	if (plan == NULL)
		return true;
	if (!allows(&p->match, MATCH_PLAN, plan->name) ||
	    is_exempt(p, MATCH_PLAN, plan->name) ||
	    (r != NULL && !allows(&r->match, MATCH_PLAN, plan->name)))
		return false;
	return c->plan == plan || c->unknown_plan == plan ||
	    (c->lookup != NULL && !is_named(rules, plan));
}

static bool
concerns_any(const struct rules *rules, const struct policy *p,
    const struct route *r, const struct plan *plan)
{
	for (unsigned i = 0; i < rules->ncallers; i++)
		if (concerns_plan(rules, p, r, &rules->callers[i], plan))
			return true;
	return false;
}

/* The smallest capacity under that policy for requests of that route (NULL:
 * any), and the plan it is in. */
static int64_t
smallest(const struct rules *rules, const struct policy *p,
    const struct route *r, const struct plan **ret_plan)
{
	int64_t least = INT64_MAX;

	*ret_plan = NULL;
	if (!p->limit_is_plan && concerns_any(rules, p, r, NULL))
		return capacity(p->algorithm, &p->limits);
	for (unsigned i = 0; p->limit_is_plan && i < rules->nplans; i++) {
		const int64_t room = capacity(p->algorithm,
		    &rules->plans[i].limits);

		if (room >= least ||
		    !concerns_any(rules, p, r, &rules->plans[i]))
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

static void
check_route_cost(struct load *load, const struct policy *p, unsigned i)
{
	const struct rules *rules = &load->config->rules;
	const struct route *r = &rules->routes[i];
	const struct plan *plan;
	int64_t room;

	if (!concerns_route(p, r))
		return;
	room = smallest(rules, p, r, &plan);
	if (r->cost > room)
		report_cost(load, value_at(load, "routes", i, "cost"),
		    r->cost, room, p, plan);
}

static void
check_costs(struct load *load)
{
	const struct rules *rules = &load->config->rules;
	const struct plan *plan;

	for (unsigned i = 0; i < rules->npolicies; i++) {
		const struct policy *p = &rules->policies[i];
		const int64_t room = smallest(rules, p, NULL, &plan);

		if (p->cost > room)
			report_cost(load, value_at(load, "policies", i,
			    "cost"), p->cost, room, p, plan);
		for (unsigned j = 0; j < rules->nroutes; j++)
			check_route_cost(load, p, j);
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

/* Do all the callers the policy is for have that part looked up? */
static bool
is_verified(const struct rules *rules, const struct policy *p,
    const struct key_part *part)
{
	if (covers_find(&p->match, MATCH_CALLER, NULL) == NULL)
		return false;
	for (unsigned i = 0; i < rules->ncallers; i++) {
		const struct caller *c = &rules->callers[i];

		if (budget_concerns(p, c) && (c->lookup == NULL ||
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

		if (!budget_concerns(p, c))
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
