#include "config/yaml.h"

#include <stdlib.h>

#include "base/mem.h"

void
yaml_init(struct yaml *yaml, struct findings *found)
{
	*yaml = (struct yaml){ .found = found };
}

void
yaml_fini(struct yaml *yaml)
{
	for (struct node *n = yaml->nodes, *next; n != NULL; n = next) {
		next = n->next_owned;
		/* It may have been a password. */
		if (n->text != NULL)
			explicit_bzero(n->text, strlen(n->text));
		mem_free(n->text);
		mem_free(n->pairs);
		mem_free(n);
	}
	for (struct source *s = yaml->sources, *next; s != NULL; s = next) {
		next = s->next;
		source_free(s);
	}
	*yaml = (struct yaml){ 0 };
}

struct node *
yaml_node_new(struct yaml *yaml, enum node_kind kind, const struct node *at)
{
	struct node *node = mem_zalloc(sizeof(*node));

	if (at != NULL)
		*node = (struct node){ .source = at->source,
		    .line = at->line, .column = at->column,
		    .length = at->length };
	node->kind = kind;
	node->weight = 1;
	node->next_owned = yaml->nodes;
	yaml->nodes = node;
	return node;
}

void
yaml_node_append(struct node *node, struct node *key, struct node *value)
{
	if ((node->n & (node->n + 1)) == 0)
		node->pairs = mem_realloc(node->pairs,
		    2 * (node->n + 1) * sizeof(*node->pairs));
	node->pairs[node->n++] = (struct pair){ key, value };
	if (node->weight <= YAML_ALIAS_MAX)
		node->weight += value->weight;
}

const struct node *
yaml_get(const struct node *map, const char *key)
{
	if (map == NULL || map->kind != NODE_MAP)
		return NULL;
	for (unsigned i = 0; i < map->n; i++)
		if (strcmp(map->pairs[i].key->text, key) == 0)
			return map->pairs[i].value;
	return NULL;
}

struct span
yaml_text(const struct node *scalar)
{
	return span_str(scalar->text);
}

bool
yaml_is(const struct node *node, const char *text)
{
	return node != NULL && node->kind == NODE_SCALAR &&
	    strcmp(node->text, text) == 0;
}

bool
yaml_is_null(const struct node *node)
{
	return node->kind == NODE_SCALAR && node->plain &&
	    (yaml_is(node, "") || yaml_is(node, "~") ||
	    yaml_is(node, "null") || yaml_is(node, "Null") ||
	    yaml_is(node, "NULL"));
}

static void
append_path(const struct node *node, struct text *out)
{
	if (node->parent == NULL)
		return;
	append_path(node->parent, out);
	if (node->key == NULL) {
		text_printf(out, "[%u]", node->index);
		return;
	}
	if (out->len > 0)
		text_append_char(out, '.');
	text_append_str(out, node->key->text);
}

char *
yaml_path(const struct node *node)
{
	struct text path = { 0 };

	append_path(node, &path);
	return text_take(&path);
}

struct finding *
yaml_find(struct yaml *yaml, const struct node *node, enum finding_id id,
    const char *fmt, ...)
{
	const struct node *at = yaml_is_null(node) && node->key != NULL ?
	    node->key : node;
	struct finding_place place = { .file = at->source->name,
		.file_index = at->source->index, .line = at->line,
		.column = at->column, .length = at->length };
	char *excerpt = source_excerpt(at->source, at->line, at->column,
	    false, &place.excerpt_column);
	struct finding *finding;
	va_list ap;

	va_start(ap, fmt);
	finding = findings_add(yaml->found, id, &place, yaml_path(node),
	    excerpt, fmt, ap);
	va_end(ap);
	return finding;
}
