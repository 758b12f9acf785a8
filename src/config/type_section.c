#include "base/mem.h"
#include "config/types.h"

/* Mappings below a key. The struct of a named or listed item begins with its
 * name. */

static char **
name_of(void *item)
{
	return item;
}

/* ---- one mapping, at the same struct ---- */

static void
read_section(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	const bool word = key->word != NULL && yaml_is(node, key->word);

	if (node->kind == NODE_SCALAR && !word) {
		findings_help(load_find(load, node, KIND,
		    "a value where '%s' takes a mapping%s%s", key->name,
		    key->word != NULL ? " or " : "",
		    key->word != NULL ? key->word : ""),
		    "%s: %s", key->name, key->help);
		node = NULL;
	}
	if (node != NULL && node->kind == NODE_MAP && node->n == 0)
		load_find(load, node, EMPTY, "'%s' is empty", key->name);
	schema_read(load, key->section, node, base);
}

static void
absent_section(struct load *load, const struct key *key, void *base)
{
	schema_read(load, key->section, NULL, base);
}

static void
print_section(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	emit_key(emit, key->name);
	emit_map(emit);
	schema_print(config, emit, key->section, base);
	emit_end(emit);
}

const struct type type_section = { "mapping", read_section, absent_section,
	print_section, "" };

/* log.access: "none" instead of the mapping. */
static void
print_access(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	if (config->log.access_path != NULL) {
		print_section(config, emit, key, base);
		return;
	}
	emit_key(emit, key->name);
	emit_text(emit, SPAN("none"));
}

const struct type type_access = { "mapping", read_section, absent_section,
	print_access, "" };

/* ---- several ---- */

static void *
new_items(const struct key *key, unsigned n, void *base)
{
	void **at = schema_at(key, base);

	/* One more: the built-in caller. */
	*at = mem_zalloc((n + 1) * key->section->size);
	*schema_count(key, base) = n;
	return *at;
}

static const struct node *
name_node(const struct node *item)
{
	const struct node *name = yaml_get(item, "name");

	return name != NULL ? name : item;
}

static void
refuse_taken(struct load *load, const struct key *key, char *items,
    unsigned i, const struct node *node)
{
	const char *name = *name_of(items + i * key->section->size);

	for (unsigned j = 0; name != NULL && j < i; j++) {
		const char *other =
		    *name_of(items + j * key->section->size);
		const struct node *first;

		if (other == NULL || strcmp(name, other) != 0)
			continue;
		first = name_node(schema_item(node, j));
		findings_help(load_find(load,
		    name_node(schema_item(node, i)), NAME_TAKEN,
		    "the name '%s' is taken, see %s, line %u", name,
		    first->source->name, first->line),
		    "every name in %s is given once", key->name);
		return;
	}
}

static void
read_sections(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	const unsigned n = schema_items(load, key, node);
	char *items;

	if (node->kind != NODE_LIST) {
		findings_help(load_find(load, node, KIND,
		    "'%s' is a list of mappings", key->name),
		    "begin each with \"- name: ...\"");
		return;
	}
	items = new_items(key, n, base);
	for (unsigned i = 0; i < n; i++) {
		const struct node *item = schema_item(node, i);

		if (item->kind == NODE_SCALAR) {
			findings_help(load_find(load, item, KIND,
			    "'%s' is a list of mappings", key->name),
			    "begin each with \"- name: ...\"");
			item = NULL;
		}
		schema_read(load, key->section, item,
		    items + i * key->section->size);
		if (item != NULL)
			refuse_taken(load, key, items, i, node);
	}
}

static void
print_sections(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const char *const *at = schema_peek(key, base);
	unsigned n = schema_length(key, base);

	/* The built-in caller is not in the file. */
	if (*at == (const char *)config->rules.callers)
		n -= config->builtin_caller;
	if (n == 0)
		return;
	emit_key(emit, key->name);
	emit_list(emit);
	for (unsigned i = 0; i < n; i++) {
		emit_map(emit);
		schema_print(config, emit, key->section,
		    *at + i * key->section->size);
		emit_end(emit);
	}
	emit_end(emit);
}

const struct type type_sections = { "list of mappings", read_sections, NULL,
	print_sections, "" };

/* ---- several by name ---- */

static const struct key named = { .name = "name", .type = &type_name,
	.width = sizeof(char *) };

static void
read_named(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	char *items;

	if (node->kind != NODE_MAP || node->n > SCHEMA_ITEMS_MAX) {
		findings_help(load_find(load, node, KIND,
		    "'%s' is a mapping from names to mappings", key->name),
		    "%s: {some-name: {...}}", key->name);
		return;
	}
	if (node->n == 0)
		load_find(load, node, EMPTY, "'%s' is empty", key->name);
	items = new_items(key, node->n, base);
	for (unsigned i = 0; i < node->n; i++) {
		const struct node *item = node->pairs[i].value;
		void *at = items + i * key->section->size;

		named.type->read(load, &named, node->pairs[i].key, at);
		if (item->kind == NODE_SCALAR) {
			findings_help(load_find(load, item, KIND,
			    "'%.*s' needs a mapping",
			    LOAD_QUOTE(node->pairs[i].key)),
			    "%s: {%.*s: {...}}", key->name,
			    LOAD_QUOTE(node->pairs[i].key));
			item = NULL;
		}
		schema_read(load, key->section, item, at);
	}
}

static void
print_named(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const unsigned n = schema_length(key, base);
	char *const *at = schema_peek(key, base);

	if (n == 0)
		return;
	emit_key(emit, key->name);
	emit_map(emit);
	for (unsigned i = 0; i < n; i++) {
		const char *item = *at + i * key->section->size;

		emit_key(emit, *(char *const *)(const void *)item);
		emit_map(emit);
		schema_print(config, emit, key->section, item);
		emit_end(emit);
	}
	emit_end(emit);
}

const struct type type_named = { "mapping of mappings", read_named, NULL,
	print_named, "" };
