#include "base/mem.h"
#include "config/nearest.h"
#include "config/types.h"

/* Callers, routes, and what is counted by. */

/* ---- keys ---- */

static void
append_source(struct text *out, const char *name)
{
	const bool named = strcmp(name, key_source_name(KEY_HEADER)) == 0 ||
	    strcmp(name, key_source_name(KEY_QUERY)) == 0 ||
	    strcmp(name, key_source_name(KEY_COOKIE)) == 0;

	text_printf(out, "%s%s", name, named ? ":NAME" : "");
}

/* "client-ip", or the name of a field without the word before it. */
static void
append_meant(struct text *out, const struct node *node,
    const char *const *names)
{
	const struct span text = yaml_text(node);
	const bool extended = span_starts_nocase(text, SPAN("x-"));
	const char *near = extended ? NULL :
	    nearest_word(text, names, KEY_SOURCES);

	if (near == NULL && (!type_is_token(text) ||
	    span_index(text, '-') < 0))
		return;
	text_append_str(out, "did you mean '");
	if (near != NULL)
		append_source(out, near);
	else
		text_printf(out, "header:%.*s", LOAD_QUOTE(node));
	text_append_str(out, "'? ");
}

static void
report_key(struct load *load, const struct node *node, enum err e)
{
	const char *names[KEY_SOURCES];
	struct text help = { 0 };

	for (int i = 0; i < KEY_SOURCES; i++)
		names[i] = key_source_name((enum key_source)i);
	if (e != ERR_SYNTAX)
		append_meant(&help, node, names);
	text_append_str(&help, "one of: ");
	for (int i = 0; i < KEY_SOURCES; i++) {
		append_source(&help, names[i]);
		text_append_str(&help, i + 1 < KEY_SOURCES ? ", " :
		    "; or a list of them");
	}
	findings_help(load_find(load, node, KEY, e == ERR_SYNTAX ?
	    "'%.*s': a name is missing, malformed or not wanted" :
	    "'%.*s' is not a key to count by", LOAD_QUOTE(node)), "%s",
	    text_cstr(&help));
	text_fini(&help);
}

static bool
is_twice(const struct key_spec *spec, const struct key_part *part)
{
	for (unsigned i = 0; i < spec->n; i++) {
		const struct key_part *p = &spec->parts[i];

		if (p->source == part->source && (p->name == NULL ||
		    strcmp(p->name, part->name) == 0))
			return true;
	}
	return false;
}

/* In a caller's key: the caller and the route follow from it. */
static const char *
why_not_here(const struct key *key, const struct key_spec *spec,
    const struct key_part *part)
{
	if (key->arg && part->source == KEY_CALLER)
		return "a caller's key cannot be the caller itself";
	if (key->arg && part->source == KEY_ROUTE)
		return "routes are found after callers";
	if (is_twice(spec, part))
		return "is in this key already";
	if (spec->n == KEY_PARTS_MAX)
		return "is one part too many";
	return NULL;
}

static void
read_part(struct load *load, const struct key *key, const struct node *node,
    struct key_spec *spec)
{
	struct key_part part = { .name = NULL };
	const char *why;
	enum err e;

	if (type_scalar(load, key, node) == NULL)
		return;
	e = key_part_parse(yaml_text(node), &part);
	if (e != ERR_OK) {
		report_key(load, node, e);
		return;
	}
	why = why_not_here(key, spec, &part);
	if (why == NULL) {
		spec->parts[spec->n++] = part;
		return;
	}
	mem_free(part.name);
	load_find(load, node, KEY, "'%.*s': %s", LOAD_QUOTE(node), why);
}

static void
read_key(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	struct key_spec *spec = schema_at(key, base);
	const unsigned n = schema_items(load, key, node);

	key_spec_fini(spec);
	*spec = (struct key_spec){ .n = 0 };
	for (unsigned i = 0; i < n; i++)
		read_part(load, key, schema_item(node, i), spec);
	for (unsigned i = 0; i < spec->n; i++)
		if (spec->n > 1 && spec->parts[i].source == KEY_ALL)
			findings_help(load_find(load, node, KEY,
			    "'all' beside other parts says nothing"),
			    "leave it out of the list");
}

static void
print_key(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const struct key_spec *spec = schema_peek(key, base);

	(void)config;
	if (spec->n == 0)
		return;
	emit_key(emit, key->name);
	emit_list(emit);
	for (unsigned i = 0; i < spec->n; i++) {
		struct text part = { 0 };

		key_part_print(&spec->parts[i], &part);
		emit_text(emit, text_span(&part));
		text_fini(&part);
	}
	emit_end(emit);
}

const struct type type_key = { "key, or a list", read_key, NULL, print_key,
	"caller, client_ip, header:NAME, query:NAME, cookie:NAME, host, "
	"method, path, route, all" };

/* ---- references ---- */

const struct plan *
type_find_plan(const struct config *config, const char *name)
{
	for (unsigned i = 0; i < config->rules.nplans; i++)
		if (config->rules.plans[i].name != NULL &&
		    strcmp(config->rules.plans[i].name, name) == 0)
			return &config->rules.plans[i];
	return NULL;
}

static const struct plan *
want_plan(struct load *load, const struct node *node, const char *or)
{
	const struct plan *plan = type_find_plan(load->config, node->text);

	if (plan == NULL)
		findings_help(load_find(load, node, REFERENCE,
		    "no plan '%.*s'", LOAD_QUOTE(node)),
		    "define it under plans%s", or);
	return plan;
}

static void
read_plan_name(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	const struct plan **at = schema_at(key, base);

	if (type_scalar(load, key, node) != NULL)
		*at = want_plan(load, node, "");
}

static void
print_plan_name(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const struct plan *const *at = schema_peek(key, base);

	(void)config;
	if (*at == NULL)
		return;
	emit_key(emit, key->name);
	emit_text(emit, span_str((*at)->name));
}

const struct type type_plan_name = { "name of a plan", read_plan_name, NULL,
	print_plan_name, "" };

static void
read_lookup_name(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	const struct config *c = load->config;
	struct lookup **at = schema_at(key, base);

	if (type_scalar(load, key, node) == NULL)
		return;
	for (unsigned i = 0; i < c->nlookups; i++) {
		if (c->lookups[i].name == NULL ||
		    strcmp(c->lookups[i].name, node->text) != 0)
			continue;
		*at = c->lookups[i].lookup;
		return;
	}
	findings_help(load_find(load, node, REFERENCE, "no lookup '%.*s'",
	    LOAD_QUOTE(node)), "define it under lookups, with its file");
}

static void
print_lookup_name(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const struct lookup *const *at = schema_peek(key, base);

	(void)config;
	if (*at == NULL)
		return;
	emit_key(emit, key->name);
	emit_text(emit, span_str(lookup_name(*at)));
}

const struct type type_lookup_name = { "name of a lookup", read_lookup_name,
	NULL, print_lookup_name, "" };

/* next, deny, or the plan of keys that are not listed. */
static void
read_unknown(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	struct caller *caller = base;

	if (type_scalar(load, key, node) == NULL)
		return;
	if (yaml_is(node, "next") || yaml_is(node, "deny")) {
		caller->unknown = yaml_is(node, "next") ? UNKNOWN_NEXT :
		    UNKNOWN_DENY;
		return;
	}
	caller->unknown = UNKNOWN_PLAN;
	caller->unknown_plan = want_plan(load, node, ", or say next or deny");
}

static void
print_unknown(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const struct caller *caller = base;
	const char *text = caller->unknown == UNKNOWN_NEXT ? "next" :
	    caller->unknown == UNKNOWN_DENY ? "deny" :
	    caller->unknown_plan->name;

	(void)config;
	if (caller->lookup == NULL)
		return;
	emit_key(emit, key->name);
	emit_text(emit, span_str(text));
}

const struct type type_unknown = { "word", read_unknown, NULL, print_unknown,
	"next|deny, or a plan" };

/* ---- callers ---- */

#define ANONYMOUS "anonymous"

static bool
takes_all(const struct caller *c)
{
	return c->match.n == 0 && c->lookup == NULL;
}

/* The class of everybody else comes last, unless the file has one. */
static void
add_anonymous(struct load *load, const struct node *node)
{
	struct rules *rules = &load->config->rules;
	struct caller *c;

	if (rules->callers == NULL)
		rules->callers = mem_zalloc(sizeof(*rules->callers));
	if (rules->ncallers > 0 &&
	    takes_all(&rules->callers[rules->ncallers - 1]))
		return;
	for (unsigned i = 0; i < rules->ncallers; i++)
		if (rules->callers[i].name != NULL &&
		    strcmp(rules->callers[i].name, ANONYMOUS) == 0)
			findings_help(load_find(load, schema_item(node, i),
			    NAME_TAKEN, "the built-in class of everybody else "
			    "has the name '" ANONYMOUS "'"), "put this caller "
			    "last and leave out match and lookup, or give it "
			    "another name");
	c = &rules->callers[rules->ncallers++];
	c->name = mem_strdup(ANONYMOUS);
	c->priority = PRIORITY_NORMAL;
	c->key = (struct key_spec){ .n = 1,
		.parts = { { .source = KEY_CLIENT_IP } } };
	load->config->builtin_caller = 1;
}

static void
read_callers(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	type_sections.read(load, key, node, base);
	add_anonymous(load, node);
}

static void
absent_callers(struct load *load, const struct key *key, void *base)
{
	(void)key;
	(void)base;
	add_anonymous(load, load->root);
}

static void
print_callers(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	type_sections.print(config, emit, key, base);
}

const struct type type_callers = { "list of mappings", read_callers,
	absent_callers, print_callers, "" };

/* ---- routes ---- */

static void
read_route_policies(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	if (yaml_is(node, "none"))
		schema_store(key, base, true);
	else
		findings_help(load_find(load, node, WORD,
		    "'policies' of a route is none, or left out"),
		    "say in the policy which routes it is for: "
		    "match: {route: NAME}");
}

static void
print_route_policies(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	(void)config;
	if (!schema_fetch(key, base))
		return;
	emit_key(emit, key->name);
	emit_text(emit, SPAN("none"));
}

const struct type type_route_policies = { "word", read_route_policies, NULL,
	print_route_policies, "none" };

static void
read_route_cost(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	struct route *route = base;

	type_cost.read(load, key, node, base);
	route->has_cost = true;
}

static void
print_route_cost(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const struct route *route = base;

	if (route->has_cost)
		type_integer.print(config, emit, key, base);
}

const struct type type_route_cost = { "integer", read_route_cost, NULL,
	print_route_cost, NULL };
