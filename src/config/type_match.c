#include "base/mem.h"
#include "config/types.h"
#include "http/target.h"
#include "limit/match.h"

/* Which requests something is for. */

struct draft {
	struct match match;
	bool negate;			/* inside `not` */
};

/* Nothing is removed again: a condition that is wrong stays empty. */
static struct condition *
add_condition(struct draft *draft, enum match_kind kind, const char *name,
    unsigned n)
{
	struct match *m = &draft->match;
	struct condition *c;

	m->conditions = mem_realloc(m->conditions,
	    (m->n + 1) * sizeof(*m->conditions));
	c = &m->conditions[m->n++];
	*c = (struct condition){ .kind = kind, .negate = draft->negate };
	if (name != NULL)
		c->name = mem_strdup(name);
	if (kind == MATCH_CLIENT_IP)
		c->cidrs = mem_zalloc((n + 1) * sizeof(*c->cidrs));
	else
		c->values = mem_zalloc((n + 1) * sizeof(*c->values));
	return c;
}

static void
add_value(struct condition *c, const char *value)
{
	c->values[c->n++] = mem_strdup(value);
}

/* ---- what a value has to be ---- */

static bool
good_path(struct load *load, const struct node *node)
{
	const char *why = "";

	if (match_check_path(yaml_text(node), &why) == ERR_OK)
		return true;
	findings_help(load_find(load, node, PATTERN,
	    "no path fits '%.*s'", LOAD_QUOTE(node)), "%s", why);
	return false;
}

static bool
good_method(struct load *load, const struct node *node)
{
	static const char *const known[] = { "GET", "HEAD", "POST", "PUT",
		"DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT" };

	if (!type_is_token(yaml_text(node))) {
		load_find(load, node, PATTERN, "'%.*s' is not a method",
		    LOAD_QUOTE(node));
		return false;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i], node->text) == 0 ||
		    !span_equal_nocase(span_str(known[i]), yaml_text(node)))
			continue;
		findings_help(load_find(load, node, PATTERN,
		    "no method fits '%.*s'", LOAD_QUOTE(node)),
		    "methods are compared exactly: write %s", known[i]);
		return false;
	}
	return true;
}

static bool
good_host(struct load *load, const struct node *node)
{
	struct span host = yaml_text(node), normal;
	char *buf = mem_alloc(host.len + 1);
	bool good;

	if (span_starts(host, SPAN("*.")))
		host = span_skip(host, 2);
	good = host.len > 0 && http_host_normalise(host, buf, &normal) ==
	    ERR_OK && normal.len == host.len;
	mem_free(buf);
	if (!good)
		findings_help(load_find(load, node, PATTERN,
		    "no host fits '%.*s'", LOAD_QUOTE(node)),
		    "a host without port or final dot, or *.example.com");
	return good;
}

static bool
is_caller(const struct rules *rules, const char *name)
{
	for (unsigned i = 0; i < rules->ncallers; i++)
		if (rules->callers[i].name != NULL &&
		    strcmp(rules->callers[i].name, name) == 0)
			return true;
	return false;
}

static bool
is_route(const struct rules *rules, const char *name)
{
	for (unsigned i = 0; i < rules->nroutes; i++)
		if (rules->routes[i].name != NULL &&
		    strcmp(rules->routes[i].name, name) == 0)
			return true;
	return false;
}

static bool
good_name(struct load *load, const struct node *node, enum match_kind kind)
{
	const struct rules *rules = &load->config->rules;
	const bool known = kind == MATCH_CALLER ?
	    is_caller(rules, node->text) : kind == MATCH_ROUTE ?
	    is_route(rules, node->text) :
	    type_find_plan(load->config, node->text) != NULL;

	if (!known)
		findings_help(load_find(load, node, REFERENCE,
		    "no %s '%.*s'", match_kind_name(kind), LOAD_QUOTE(node)),
		    "define it under %ss", match_kind_name(kind));
	return known;
}

static bool
good_value(struct load *load, const struct node *node, enum match_kind kind)
{
	switch (kind) {
	case MATCH_PATH:
		return good_path(load, node);
	case MATCH_METHOD:
		return good_method(load, node);
	case MATCH_HOST:
		return good_host(load, node);
	case MATCH_CALLER:
	case MATCH_ROUTE:
	case MATCH_PLAN:
		return good_name(load, node, kind);
	default:
		return true;
	}
}

/* ---- reading ---- */

/* One value or a list of them into a new condition. */
static void
read_values(struct load *load, const struct key *key,
    const struct node *node, struct draft *draft, const char *name)
{
	const enum match_kind kind = (enum match_kind)key->arg;
	const unsigned n = schema_items(load, key, node);
	struct condition *c = add_condition(draft, kind, name, n);

	for (unsigned i = 0; i < n; i++) {
		const struct node *item = schema_item(node, i);

		if (yaml_is_null(item))
			load_find(load, item, NULL, "'%s' has no value",
			    key->name);
		else if (kind == MATCH_CLIENT_IP)
			c->n += type_network(load, key, item, &c->cidrs[c->n]);
		else if (type_scalar(load, key, item) != NULL &&
		    good_value(load, item, kind))
			add_value(c, item->text);
	}
	/* Whatever its value: the same as its name alone. */
	if (name != NULL && c->n == 1 && strcmp(c->values[0], "*") == 0)
		mem_free(c->values[--c->n]);
}

static void
read_condition(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	read_values(load, key, node, base, NULL);
}

static bool
good_field_name(struct load *load, const struct key *key,
    const struct node *node)
{
	if (key->arg == MATCH_QUERY ? node->text[0] != '\0' :
	    type_is_token(yaml_text(node)))
		return true;
	load_find(load, node, PATTERN, "'%.*s' is not the name of a %s",
	    LOAD_QUOTE(node), key->name);
	return false;
}

/* A name alone: present. A mapping: names to what they may be. */
static void
read_fields(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	if (node->kind == NODE_SCALAR) {
		if (good_field_name(load, key, node))
			add_condition(base, (enum match_kind)key->arg,
			    node->text, 0);
		return;
	}
	if (node->kind == NODE_LIST || node->n == 0) {
		findings_help(load_find(load, node, KIND,
		    "'%s' takes a name, or a mapping of names to values",
		    key->name), "%s: {name: value}", key->name);
		return;
	}
	for (unsigned i = 0; i < node->n; i++)
		if (good_field_name(load, key, node->pairs[i].key))
			read_values(load, key, node->pairs[i].value, base,
			    node->pairs[i].key->text);
}

static const struct type type_condition = { "value, or a list",
	read_condition, NULL, NULL, "" };
static const struct type type_fields = { "name, or a mapping", read_fields,
	NULL, NULL, "" };

static void
read_not(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	struct draft *draft = base;

	draft->negate = true;
	if (node->kind == NODE_MAP && node->n > 0)
		schema_read(load, key->section, node, draft);
	else
		load_find(load, node, KIND, "'not' takes a mapping");
	draft->negate = false;
}

static const struct type type_not = { "mapping", read_not, NULL, NULL, "" };

#define ROW(k, t, a, h) { .name = k, .type = &t, .arg = a, .help = h }
#define REQUEST_ROWS \
	ROW("path", type_condition, MATCH_PATH, \
	    "exact, /a/*, /a/**, /users/{id}; the normalised path"), \
	ROW("method", type_condition, MATCH_METHOD, "compared exactly"), \
	ROW("host", type_condition, MATCH_HOST, \
	    "without port, or *.example.com"), \
	ROW("header", type_fields, MATCH_HEADER, \
	    "{name: value}, * for any run; a name alone: present"), \
	ROW("query", type_fields, MATCH_QUERY, "as header"), \
	ROW("client_ip", type_condition, MATCH_CLIENT_IP, \
	    "addresses or networks")
#define CALLER_ROWS \
	ROW("caller", type_condition, MATCH_CALLER, "names of callers"), \
	ROW("plan", type_condition, MATCH_PLAN, "names of plans")
#define ROUTE_ROWS \
	ROW("route", type_condition, MATCH_ROUTE, "names of routes")
#define NOT_ROW(s) \
	{ .name = "not", .type = &type_not, .section = &s, \
	    .help = "the same parts: none of them may hold" }

static const struct key not_caller_keys[] = { REQUEST_ROWS };
static const struct section not_caller = { "callers[].match.not",
	not_caller_keys, 6, sizeof(struct draft), NULL, NULL };
static const struct key match_caller_keys[] = { REQUEST_ROWS,
	NOT_ROW(not_caller) };
const struct section type_match_caller = { "callers[].match",
	match_caller_keys, 7, sizeof(struct draft), NULL, NULL };

static const struct key not_route_keys[] = { REQUEST_ROWS, CALLER_ROWS };
static const struct section not_route = { "routes[].match.not",
	not_route_keys, 8, sizeof(struct draft), NULL, NULL };
static const struct key match_route_keys[] = { REQUEST_ROWS, CALLER_ROWS,
	NOT_ROW(not_route) };
const struct section type_match_route = { "routes[].match",
	match_route_keys, 9, sizeof(struct draft), NULL, NULL };

static const struct key not_policy_keys[] = { REQUEST_ROWS, CALLER_ROWS,
	ROUTE_ROWS };
static const struct section not_policy = { "policies[].match.not",
	not_policy_keys, 9, sizeof(struct draft), NULL, NULL };
static const struct key match_policy_keys[] = { REQUEST_ROWS, CALLER_ROWS,
	ROUTE_ROWS, NOT_ROW(not_policy) };
const struct section type_match_policy = { "policies[].match",
	match_policy_keys, 10, sizeof(struct draft), NULL, NULL };

static struct match
read_draft(struct load *load, const struct section *section,
    const struct node *node)
{
	struct draft draft = { 0 };

	schema_read(load, section, node, &draft);
	return draft.match;
}

static void
read_match(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	struct match *at = schema_at(key, base);

	if (node->kind == NODE_MAP && node->n > 0)
		*at = read_draft(load, key->section, node);
	else
		findings_help(load_find(load, node, KIND,
		    "'match' takes a mapping with conditions"),
		    "match: {path: /v1/*}; leave it out for all requests");
}

/* ---- printing ---- */

static void
print_values(struct emit *emit, const struct condition *c)
{
	if (c->name != NULL && c->n == 0) {
		emit_text(emit, SPAN("*"));
		return;
	}
	emit_list(emit);
	for (unsigned i = 0; i < c->n; i++) {
		if (c->kind == MATCH_CLIENT_IP)
			type_print_network(emit, &c->cidrs[i]);
		else
			emit_text(emit, span_str(c->values[i]));
	}
	emit_end(emit);
}

static void
print_condition(struct emit *emit, const struct condition *c,
    const struct condition *last, const struct condition *next)
{
	if (last == NULL || last->kind != c->kind) {
		emit_key(emit, match_kind_name(c->kind));
		if (c->name != NULL)
			emit_map(emit);
	}
	if (c->name != NULL)
		emit_key(emit, c->name);
	print_values(emit, c);
	if (c->name != NULL && (next == NULL || next->kind != c->kind))
		emit_end(emit);
}

/* Conditions stand in the order of the keys, those under `not` last. */
static void
print_conditions(struct emit *emit, const struct match *m, bool negate)
{
	const struct condition *last = NULL;

	for (unsigned i = 0; i < m->n; i++) {
		const struct condition *c = &m->conditions[i], *next = NULL;

		if (c->negate != negate)
			continue;
		if (i + 1 < m->n && m->conditions[i + 1].negate == negate)
			next = &m->conditions[i + 1];
		print_condition(emit, c, last, next);
		last = c;
	}
}

static void
print_parts(struct emit *emit, const struct match *m)
{
	bool negated = false;

	print_conditions(emit, m, false);
	for (unsigned i = 0; i < m->n; i++)
		negated |= m->conditions[i].negate;
	if (!negated)
		return;
	emit_key(emit, "not");
	emit_map(emit);
	print_conditions(emit, m, true);
	emit_end(emit);
}

static void
print_match(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const struct match *m = schema_peek(key, base);

	(void)config;
	if (m->n == 0)
		return;
	emit_key(emit, key->name);
	emit_map(emit);
	print_parts(emit, m);
	emit_end(emit);
}

const struct type type_match = { "match", read_match, NULL, print_match, "" };

/* ---- exempt ---- */

static const struct key *
short_key(struct span kind)
{
	for (unsigned i = 0; i < type_match_policy.n; i++) {
		const struct key *key = &type_match_policy.keys[i];

		if (key->type == &type_condition &&
		    span_equal(kind, span_str(key->name)))
			return key;
	}
	return NULL;
}

/* "caller:internal"; a network may stand alone: "10.0.0.0/8". */
static struct match
read_short(struct load *load, const struct node *node)
{
	const struct span text = yaml_text(node);
	struct cidr cidr;
	const bool network = cidr_parse(text, &cidr) == ERR_OK;
	const ptrdiff_t colon = network ? -1 : span_index(text, ':');
	const struct key *key = network ? short_key(SPAN("client_ip")) :
	    colon < 0 ? NULL : short_key(span_of(text.ptr, (size_t)colon));
	struct draft draft = { 0 };
	struct node value = *node;

	if (key == NULL) {
		findings_help(load_find(load, node, PATTERN,
		    "'%.*s' names nothing to exempt", LOAD_QUOTE(node)),
		    "write caller:NAME, plan:NAME, route:NAME, a network or "
		    "client_ip:NETWORK, method:NAME, host:NAME, "
		    "path:PATTERN, or a mapping as under match");
		return draft.match;
	}
	value.text = node->text + colon + 1;
	read_values(load, key, &value, &draft, NULL);
	return draft.match;
}

static void
read_exempt(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	const unsigned n = schema_items(load, key, node);
	struct match **at = schema_at(key, base);

	*at = mem_zalloc((n + 1) * sizeof(**at));
	for (unsigned i = 0; i < n; i++) {
		const struct node *item = schema_item(node, i);
		struct match *m = &(*at)[*schema_count(key, base)];

		if (item->kind == NODE_MAP && item->n > 0)
			*m = read_draft(load, &type_match_policy, item);
		else if (type_scalar(load, key, item) != NULL)
			*m = read_short(load, item);
		*schema_count(key, base) += m->n > 0;
	}
}

static void
print_exempt(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const struct match *const *at = schema_peek(key, base);
	const unsigned n = schema_length(key, base);

	(void)config;
	if (n == 0)
		return;
	emit_key(emit, key->name);
	emit_list(emit);
	for (unsigned i = 0; i < n; i++) {
		emit_map(emit);
		print_parts(emit, &(*at)[i]);
		emit_end(emit);
	}
	emit_end(emit);
}

const struct type type_exempt = { "list", read_exempt, NULL, print_exempt,
	"caller:NAME, plan:NAME, route:NAME, NETWORK, client_ip:NETWORK, "
	"method:NAME, host:NAME, path:PATTERN, or as match" };
