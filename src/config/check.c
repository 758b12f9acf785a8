#include "config/check.h"

#include "base/mem.h"
#include "config/budget.h"
#include "config/covers.h"
#include "config/schema.h"

/*
 * What a file cannot do that it seems to say. The entries of a section and its
 * structs agree one by one; the built-in caller has no entry.
 */

static const struct node *
entry(const struct load *load, const char *section, unsigned i)
{
	const struct node *node = yaml_get(load->root, section);

	return node->pairs[i].value;
}

/* Its value of that key, or the entry itself. */
static const struct node *
entry_key(const struct load *load, const char *section, unsigned i,
    const char *key)
{
	const struct node *node = entry(load, section, i);
	const struct node *value = yaml_get(node, key);

	return value != NULL ? value : node;
}

/* ---- where the client's address comes from ---- */

static void
check_proxies(struct load *load)
{
	const struct http_client_rule *rule = &load->config->client;
	const struct node *section = yaml_get(load->root, "client_ip");
	const struct node *from = yaml_get(section, "from");

	if (rule->from == HTTP_CLIENT_PEER && rule->ntrusted > 0)
		findings_help(load_find(load,
		    yaml_get(section, "trusted_proxies"), W_PROXIES,
		    "no field of these proxies is believed: all clients "
		    "behind one share its address"), "say which field they "
		    "set: from: x-forwarded-for, forwarded or header:NAME");
	if (rule->from == HTTP_CLIENT_PEER || from == NULL)
		return;
	if (rule->ntrusted == 0)
		findings_help(load_find(load, from, W_PROXIES,
		    "nobody is trusted to say who the client is: all clients "
		    "behind a proxy have its address"),
		    "name the proxies under client_ip.trusted_proxies");
	for (size_t i = 0; i < rule->ntrusted; i++)
		if (rule->trusted[i].bits == 0)
			findings_help(load_find(load,
			    yaml_get(section, "trusted_proxies"), W_PROXIES,
			    "everybody is trusted, so that clients choose "
			    "their own address"), "name the proxies only");
}

static bool
has_source(const struct key_spec *key, enum key_source source)
{
	for (unsigned i = 0; i < key->n; i++)
		if (key->parts[i].source == source)
			return true;
	return key->n == 0 && source == KEY_CLIENT_IP;
}

/* Have all the classes the policy concerns such a part in their key? */
static bool
all_have_source(const struct rules *rules, const struct policy *p,
    enum key_source source)
{
	unsigned n = 0;

	for (unsigned i = 0; i < rules->ncallers; i++) {
		const struct caller *c = &rules->callers[i];

		if (p != NULL && !budget_concerns(p, c))
			continue;
		n++;
		if (!has_source(&c->key, source))
			return false;
	}
	return n > 0;
}

static bool
counts_by_address(const struct rules *rules, const struct policy *p)
{
	if (p->mode == MODE_OFF)
		return false;
	return has_source(&p->key, KEY_CLIENT_IP) ||
	    (has_source(&p->key, KEY_CALLER) &&
	    all_have_source(rules, p, KEY_CLIENT_IP));
}

static void
report_unix(struct load *load, unsigned i, bool all, const char *through)
{
	const struct policy *p = &load->config->rules.policies[i];
	const struct node *node = entry_key(load, "policies", i, "key");

	if (all)
		findings_help(load_find(load, node, W_CONSTANT,
		    "peers of a Unix socket have no address: this key is "
		    "always missing"), "listen on host:port, or count by "
		    "another key");
	else if (p->on_missing_key == MISSING_SKIP)
		findings_help(load_find(load, node, W_SKIP,
		    "requests through %s have no address: this policy does "
		    "not limit them", through), "on_missing_key: deny, or "
		    "count by another key");
	else
		findings_help(load_find(load, node, W_CONSTANT,
		    "requests through %s have no address: this key is always "
		    "missing there", through), "listen on host:port only, or "
		    "count by another key");
}

/* Peers of a Unix socket have no address, and so are not trusted either. */
static void
check_unix_peers(struct load *load)
{
	const struct config *c = load->config;
	struct text through = { 0 };
	unsigned n = 0;

	for (unsigned i = 0; i < c->nlistens; i++)
		if (c->listens[i].endpoint.ss.ss_family == AF_UNIX)
			text_printf(&through, "%s%s", n++ > 0 ? ", " : "",
			    c->listens[i].text);
	for (unsigned i = 0; n > 0 && i < c->rules.npolicies; i++)
		if (counts_by_address(&c->rules, &c->rules.policies[i]))
			report_unix(load, i, n == c->nlistens,
			    text_cstr(&through));
	text_fini(&through);
}

/* ---- keys that tell nobody apart ---- */

/* `all` itself says so. */
static bool
is_constant(const struct rules *rules, enum key_source source)
{
	if (source == KEY_CALLER)
		return all_have_source(rules, NULL, KEY_ALL);
	return source == KEY_ALL || source == KEY_METHOD ||
	    (source == KEY_ROUTE && rules->nroutes == 0);
}

static const char *
why_constant(enum key_source source)
{
	switch (source) {
	case KEY_CALLER:
		return "all classes of callers have the key all";
	case KEY_METHOD:
		return "there are only a few methods";
	default:
		return "there are no routes";
	}
}

static void
check_constant(struct load *load)
{
	const struct rules *rules = &load->config->rules;

	for (unsigned i = 0; i < rules->npolicies; i++) {
		const struct key_spec *key = &rules->policies[i].key;
		bool constant = rules->policies[i].mode != MODE_OFF &&
		    !has_source(key, KEY_ALL);

		for (unsigned k = 0; k < key->n; k++)
			constant &= is_constant(rules, key->parts[k].source);
		if (constant)
			findings_help(load_find(load,
			    entry_key(load, "policies", i, "key"), W_CONSTANT,
			    "this key never tells callers apart: %s",
			    why_constant(key->parts[0].source)),
			    "key: all says so plainly; client_ip tells them "
			    "apart");
	}
}

/* ---- what nothing can reach ---- */

/* The earlier one that takes all requests of i, or -1. */
static int
shadowed_caller(const struct rules *rules, unsigned i)
{
	for (unsigned j = 0; j < i; j++)
		if (rules->callers[j].lookup == NULL &&
		    covers_match(&rules->callers[j].match,
		    &rules->callers[i].match))
			return (int)j;
	return -1;
}

static int
shadowed_route(const struct rules *rules, unsigned i)
{
	for (unsigned j = 0; j < i; j++)
		if (covers_match(&rules->routes[j].match,
		    &rules->routes[i].match))
			return (int)j;
	return -1;
}

static void
report_shadowed(struct load *load, const char *section, unsigned i,
    const char *what, const char *name, const char *by)
{
	findings_help(load_find(load, entry_key(load, section, i, "name"),
	    W_REACH, "%s '%s' is never reached: '%s' before it takes all its "
	    "requests", what, name, by), "the first match wins: put '%s' "
	    "before '%s'", name, by);
}

static void
check_order(struct load *load)
{
	const struct rules *rules = &load->config->rules;
	const unsigned n = rules->ncallers - load->config->builtin_caller;
	int by;

	for (unsigned i = 0; i < n; i++)
		if ((by = shadowed_caller(rules, i)) >= 0)
			report_shadowed(load, "callers", i, "caller",
			    rules->callers[i].name, rules->callers[by].name);
	for (unsigned i = 0; i < rules->nroutes; i++)
		if ((by = shadowed_route(rules, i)) >= 0)
			report_shadowed(load, "routes", i, "route",
			    rules->routes[i].name, rules->routes[by].name);
}

/* Is one of the routes of the condition both reached and limited? */
static bool
has_route(const struct rules *rules, const struct condition *c)
{
	for (unsigned i = 0; i < rules->nroutes; i++)
		if (covers_has_value(c, rules->routes[i].name) &&
		    !rules->routes[i].no_policies &&
		    shadowed_route(rules, i) < 0)
			return true;
	return false;
}

static bool
has_caller(const struct rules *rules, const struct condition *c)
{
	for (unsigned i = 0; i < rules->ncallers; i++)
		if (covers_has_value(c, rules->callers[i].name) &&
		    shadowed_caller(rules, i) < 0)
			return true;
	return false;
}

/* With a lookup any plan can be given to a key tomorrow. */
static bool
is_given(const struct rules *rules, const struct plan *plan)
{
	for (unsigned i = 0; i < rules->ncallers; i++) {
		const struct caller *c = &rules->callers[i];

		if (c->lookup != NULL || (plan == NULL ? c->plan != NULL :
		    c->plan == plan || c->unknown_plan == plan))
			return true;
	}
	return false;
}

static const char *
why_unreached(const struct rules *rules, const struct policy *p)
{
	const struct condition *c;

	c = covers_find(&p->match, MATCH_ROUTE, NULL);
	if (c != NULL && !has_route(rules, c))
		return "its routes have policies: none, or are never reached";
	c = covers_find(&p->match, MATCH_CALLER, NULL);
	if (c != NULL && !has_caller(rules, c))
		return "its callers are never reached";
	for (unsigned i = 0; i < p->nexempt; i++)
		if (covers_match(&p->exempt[i], &p->match))
			return "whom it matches is exempt";
	if (p->limit_is_plan && !is_given(rules, NULL))
		return "no caller has a plan";
	return NULL;
}

static void
check_reach(struct load *load)
{
	const struct rules *rules = &load->config->rules;

	for (unsigned i = 0; i < rules->npolicies; i++) {
		const struct policy *p = &rules->policies[i];
		const char *why = p->mode == MODE_OFF ? NULL :
		    why_unreached(rules, p);

		if (why != NULL)
			load_find(load,
			    entry_key(load, "policies", i, "name"), W_REACH,
			    "policy '%s' concerns no request: %s", p->name,
			    why);
		else if (p->mode != MODE_OFF && !p->limit_is_plan &&
		    p->limits.n == 0)
			findings_help(load_find(load,
			    entry_key(load, "policies", i, "limit"),
			    W_NO_LIMIT, "policy '%s' limits nothing",
			    p->name), "mode: off says so plainly");
	}
}

/* ---- defined and not used ---- */

static void
report_unused(struct load *load, const char *section, unsigned i,
    const char *what)
{
	const struct node *key =
	    yaml_get(load->root, section)->pairs[i].key;

	load_find(load, key, W_UNUSED, "%s '%.*s' is never used", what,
	    LOAD_QUOTE(key));
}

static bool
is_looked_up(const struct rules *rules, const struct lookup *lookup)
{
	for (unsigned i = 0; i < rules->ncallers; i++)
		if (rules->callers[i].lookup == lookup)
			return true;
	return false;
}

static bool
is_routed_to(const struct config *c, int upstream)
{
	for (unsigned i = 0; i < c->rules.nroutes; i++)
		if (c->rules.routes[i].upstream == upstream)
			return true;
	return c->default_upstream == upstream;
}

static void
check_used(struct load *load)
{
	const struct config *c = load->config;
	const struct node *upstreams = yaml_get(load->root, "upstreams");
	bool any = c->default_upstream >= 0;

	for (unsigned i = 0; i < c->rules.nplans; i++)
		if (!is_given(&c->rules, &c->rules.plans[i]))
			report_unused(load, "plans", i, "plan");
	for (unsigned i = 0; i < c->nlookups; i++)
		if (!is_looked_up(&c->rules, c->lookups[i].lookup))
			report_unused(load, "lookups", i, "lookup");
	for (unsigned i = 0; upstreams != NULL && i < upstreams->n; i++) {
		if (is_routed_to(c, (int)i))
			any = true;
		else
			report_unused(load, "upstreams", i, "upstream");
	}
	if (!any)
		findings_help(load_find(load, load->root, W_UPSTREAM,
		    "no upstream: every request gets 404"),
		    "upstream: http://127.0.0.1:9000");
}

/* ---- the store ---- */

static void
check_store(struct load *load)
{
	static const char *const shared[] = { "database", "username",
		"password", "timeout", "instances", "prefix" };
	const struct store_conf *store = &load->config->store;
	const struct node *section = yaml_get(load->root, "store");

	if (section == NULL)
		return;
	if (store->kind == STORE_REDIS && !store->has_secret)
		findings_help(load_find(load, yaml_get(section, "redis"),
		    W_SECRET, "identities are hashed with a key that follows "
		    "from the prefix: whoever reads the store can test "
		    "guesses"), "secret: {file: PATH}, the same on all weirs");
	if (store->kind == STORE_REDIS)
		return;
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if (yaml_get(section, shared[i]) != NULL)
			findings_help(load_find(load,
			    yaml_get(section, shared[i]), W_NO_EFFECT,
			    "'%s' has no effect without a shared store",
			    shared[i]), "add redis: URL");
}

void
check_all(struct load *load)
{
	check_proxies(load);
	check_unix_peers(load);
	check_constant(load);
	check_order(load);
	check_reach(load);
	check_used(load);
	check_store(load);
	budget_check(load);
}
