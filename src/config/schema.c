#include "config/schema.h"

#include "base/mem.h"
#include "config/nearest.h"
#include "config/types.h"

void
schema_store(const struct key *key, void *base, int64_t value)
{
	void *at = schema_at(key, base);

	switch (key->width) {
	case 1:
		*(uint8_t *)at = (uint8_t)value;
		break;
	case 4:
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		*(int64_t *)at = value;
	}
}

int64_t
schema_fetch(const struct key *key, const void *base)
{
	const void *at = schema_peek(key, base);

	switch (key->width) {
	case 1:
		return *(const uint8_t *)at;
	case 4:
		return *(const uint32_t *)at;
	default:
		return *(const int64_t *)at;
	}
}

unsigned
schema_items(struct load *load, const struct key *key,
    const struct node *node)
{
	if (node->kind != NODE_LIST)
		return 1;
	if (node->n == 0 && !key->empty_ok)
		findings_help(load_find(load, node, EMPTY,
		    "'%s' is an empty list", key->name),
		    "leave the key out, or say what belongs there");
	if (node->n > SCHEMA_ITEMS_MAX) {
		load_find(load, node, MANY, "more than %d entries",
		    SCHEMA_ITEMS_MAX);
		return 0;
	}
	return node->n;
}

const struct node *
schema_item(const struct node *node, unsigned i)
{
	return node->kind == NODE_LIST ? node->pairs[i].value : node;
}

/* ---- unknown keys ---- */

static const struct key *
find_key(const struct section *section, const char *name)
{
	for (unsigned i = 0; i < section->n; i++)
		if (strcmp(section->keys[i].name, name) == 0)
			return &section->keys[i];
	return NULL;
}

/* Where else a key of that name stands. */
static void
find_elsewhere(const struct section *section, const char *name,
    const struct section *here, struct text *out)
{
	if (section != here && find_key(section, name) != NULL) {
		if (out->len > 0)
			text_append_str(out, ", ");
		text_append_str(out, section->path[0] != '\0' ?
		    section->path : "the top of the file");
	}
	for (unsigned i = 0; i < section->n; i++)
		if (section->keys[i].section != NULL)
			find_elsewhere(section->keys[i].section, name, here,
			    out);
}

static const char *
nearest_key(const struct section *section, const struct node *node)
{
	const char *words[64];

	for (unsigned i = 0; i < section->n; i++)
		words[i] = section->keys[i].name;
	return nearest_word(yaml_text(node), words, section->n);
}

static void
list_keys(const struct section *section, struct text *out)
{
	for (unsigned i = 0; i < section->n; i++)
		text_printf(out, "%s%s", i > 0 ? ", " : "",
		    section->keys[i].name);
}

static void
report_unknown(struct load *load, const struct section *section,
    const struct node *node)
{
	const char *near = nearest_key(section, node);
	struct finding *finding = load_find(load, node, UNKNOWN,
	    "unknown key '%.*s' %s%s", LOAD_QUOTE(node),
	    section->path[0] != '\0' ? "in " : "at the top level",
	    section->path);
	struct text places = { 0 }, help = { 0 };

	find_elsewhere(&keys_root, node->text, section, &places);
	if (near != NULL)
		text_printf(&help, "did you mean '%s'?", near);
	if (places.len > 0)
		text_printf(&help, "%s'%.*s' belongs in %s",
		    help.len > 0 ? " Or: " : "", LOAD_QUOTE(node),
		    text_cstr(&places));
	if (help.len == 0) {
		text_append_str(&help, "keys here: ");
		list_keys(section, &help);
	}
	findings_help(finding, "%s", text_cstr(&help));
	text_fini(&places);
	text_fini(&help);
}

static bool
is_unknown(const struct section *section, const struct node *key)
{
	return find_key(section, key->text) == NULL &&
	    !(section == &keys_root && load_is_free(yaml_text(key)));
}

static void
refuse_unknown(struct load *load, const struct section *section,
    const struct node *map)
{
	for (unsigned i = 0; i < map->n; i++)
		if (is_unknown(section, map->pairs[i].key))
			report_unknown(load, section, map->pairs[i].key);
}

/* Is an unknown key there that was meant to be this one? Said is said. */
static bool
is_misspelt(const struct section *section, const struct key *key,
    const struct node *map)
{
	for (unsigned i = 0; i < map->n; i++) {
		const struct node *name = map->pairs[i].key;
		const char *near = is_unknown(section, name) ?
		    nearest_key(section, name) : NULL;

		if (near != NULL && strcmp(near, key->name) == 0)
			return true;
	}
	return false;
}

/* ---- reading ---- */

static void
read_default(struct load *load, const struct key *key, void *base)
{
	struct node node = { .kind = NODE_SCALAR, .line = 1, .column = 1,
		.source = load->root->source };

	if (key->def == NULL) {
		if (key->type->absent != NULL)
			key->type->absent(load, key, base);
		return;
	}
	node.text = mem_strdup(key->def);
	key->type->read(load, key, &node, base);
	mem_free(node.text);
}

/* A key that replaces a required one but is not served yet says enough. */
static bool
has_later(const struct section *section, const struct node *map)
{
	for (unsigned i = 0; i < section->n; i++)
		if (section->keys[i].type == &type_later &&
		    yaml_get(map, section->keys[i].name) != NULL)
			return true;
	return false;
}

static void
read_missing(struct load *load, const struct section *section,
    const struct key *key, const struct node *map, void *base)
{
	read_default(load, key, base);
	if (!key->required || map == NULL || map->kind != NODE_MAP ||
	    has_later(section, map) || is_misspelt(section, key, map))
		return;
	findings_help(load_find(load, map, MISSING, "'%s' is missing%s%s",
	    key->name, section->path[0] != '\0' ? " in " : "",
	    section->path), "%s: %s", key->name, key->help);
}

static void
read_key(struct load *load, const struct section *section,
    const struct key *key, const struct node *map, void *base)
{
	const struct node *node = yaml_get(map, key->name);

	if (node == NULL) {
		read_missing(load, section, key, map, base);
	} else if (yaml_is_null(node)) {
		read_default(load, key, base);
		findings_help(load_find(load, node, NULL,
		    "'%s' has no value", key->name),
		    "give it one, or leave the key out");
	} else {
		if (key->def != NULL)
			read_default(load, key, base);
		key->type->read(load, key, node, base);
	}
}

void
schema_read(struct load *load, const struct section *section,
    const struct node *node, void *base)
{
	const struct node *outer = load->map;

	load->map = node;
	if (section->begin != NULL)
		section->begin(load, base);
	if (node != NULL && node->kind == NODE_LIST)
		load_find(load, node, KIND,
		    "a list where a mapping with keys is needed");
	if (node != NULL && node->kind == NODE_MAP)
		refuse_unknown(load, section, node);
	for (unsigned i = 0; i < section->n; i++)
		read_key(load, section, &section->keys[i], node, base);
	if (section->end != NULL)
		section->end(load, node, base);
	load->map = outer;
}

/* ---- printing ---- */

void
schema_print(const struct config *config, struct emit *emit,
    const struct section *section, const void *base)
{
	for (unsigned i = 0; i < section->n; i++) {
		const struct key *key = &section->keys[i];

		if (key->type->print != NULL &&
		    (key->shown == NULL || key->shown(config, base)))
			key->type->print(config, emit, key, base);
	}
}

static void
print_words(const struct key *key, struct text *out)
{
	for (unsigned i = 0; key->words[i] != NULL; i++)
		text_printf(out, "%s%s", i > 0 ? "|" : "", key->words[i]);
}

static void
print_range(const struct key *key, struct text *out)
{
	if (key->words != NULL)
		print_words(key, out);
	else if (key->type->range != NULL)
		text_append_str(out, key->type->range);
	else if (key->min != key->max)
		type_print_range(key, out);
	if (key->word != NULL)
		text_printf(out, "%s%s", out->len > 0 ? ", " : "", key->word);
}

void
schema_print_keys(const struct section *section, struct text *out)
{
	for (unsigned i = 0; i < section->n; i++) {
		const struct key *key = &section->keys[i];
		struct text range = { 0 };

		print_range(key, &range);
		text_printf(out, "%s%s%s\t%s\t%s\t%s\t%s\n", section->path,
		    section->path[0] != '\0' ? "." : "", key->name,
		    key->type->name, text_cstr(&range),
		    key->def != NULL ? key->def :
		    key->required ? "required" : "-", key->help);
		text_fini(&range);
		if (key->section != NULL)
			schema_print_keys(key->section, out);
	}
}
