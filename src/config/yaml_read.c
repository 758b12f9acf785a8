#include <stdio.h>
#include <yaml.h>

#include "base/mem.h"
#include "config/yaml.h"

/*
 * libyaml's events to nodes. libyaml knows neither duplicate keys nor types;
 * nor does it bound anything.
 */

struct anchor {
	char *name;
	struct node *node;
};

struct frame {
	struct node *node;
	struct node *key;		/* waits for its value */
	char *anchor;			/* to be set when it is complete */
};

struct reader {
	struct yaml *yaml;
	struct source *source;
	yaml_parser_t parser;
	struct frame frames[YAML_DEPTH_MAX];
	unsigned depth;
	struct anchor *anchors;
	unsigned nanchors;
	unsigned unfolded;		/* nodes that aliases brought */
	unsigned documents;
	struct node *root;
	bool stop;
};

/* What is wrong ends the reading. */
static void
fail_at(struct reader *r, enum finding_id id, unsigned line, unsigned column,
    const char *help, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

static void
fail_at(struct reader *r, enum finding_id id, unsigned line, unsigned column,
    const char *help, const char *fmt, ...)
{
	struct finding_place place = { .file = r->source->name,
		.file_index = r->source->index, .line = line,
		.column = column, .length = 1 };
	char *excerpt = source_excerpt(r->source, line, column, true,
	    &place.excerpt_column);
	struct finding *finding;
	va_list ap;

	r->stop = true;
	va_start(ap, fmt);
	finding = findings_add(r->yaml->found, id, &place, NULL, excerpt, fmt,
	    ap);
	va_end(ap);
	if (help != NULL)
		findings_help(finding, "%s", help);
}

static struct node *
node_at(struct reader *r, enum node_kind kind, const yaml_event_t *event)
{
	struct node *node = yaml_node_new(r->yaml, kind, NULL);
	const yaml_mark_t *from = &event->start_mark, *to = &event->end_mark;

	node->source = r->source;
	node->line = (unsigned)from->line + 1;
	node->column = (unsigned)from->column + 1;
	node->length = 1;
	if (kind == NODE_SCALAR && to->line == from->line &&
	    to->column > from->column)
		node->length = (unsigned)(to->column - from->column);
	return node;
}

static void
mask_event(struct reader *r, const yaml_event_t *event)
{
	source_add_mask(r->source, (struct source_mask){
	    (unsigned)event->start_mark.line + 1,
	    (unsigned)event->start_mark.column + 1,
	    (unsigned)event->end_mark.line + 1,
	    (unsigned)event->end_mark.column + 1 });
}

static bool
says_where(const char *key)
{
	return strcmp(key, "file") == 0 || strcmp(key, "env") == 0 ||
	    strcmp(key, "credential") == 0;
}

/* Does it stand below a key for secrets, other than to say where from? A word
 * in the place of a key may be a secret in the wrong place. */
static bool
is_secret(const struct reader *r, const char *text)
{
	for (unsigned i = 0; i < r->depth; i++) {
		const struct node *key = r->frames[i].key;
		const struct frame *below = i + 1 < r->depth ?
		    &r->frames[i + 1] : NULL;

		if (key == NULL || !source_is_secret(yaml_text(key)))
			continue;
		if (below == NULL || below->node->kind != NODE_MAP)
			return true;
		return !says_where(below->key != NULL ? below->key->text :
		    text);
	}
	return false;
}

/* User and password of a URL, and the value of a key for secrets, are never
 * shown, whatever turns out to be wrong with them. */
static void
mask_secret(struct reader *r, const yaml_event_t *event, const char *text)
{
	const char *url = strstr(text, "://");

	if ((url != NULL && strchr(url, '@') != NULL) ||
	    is_secret(r, text))
		mask_event(r, event);
}

/* Messages quote values, so none keeps a control octet. */
static bool
replace_controls(char *text)
{
	bool found = false;

	for (; *text != '\0'; text++) {
		if ((unsigned char)*text >= 0x20 && *text != 0x7f)
			continue;
		*text = '?';
		found = true;
	}
	return found;
}

static struct node *
read_scalar(struct reader *r, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	const size_t len = event->data.scalar.length;
	struct node *node = node_at(r, NODE_SCALAR, event);

	node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	node->text = mem_strndup(text, strnlen(text, len));
	mask_secret(r, event, node->text);
	if (replace_controls(node->text) || strnlen(text, len) < len)
		findings_help(yaml_find(r->yaml, node, FINDING_TEXT,
		    "a control character in a value"),
		    "values are one line without tabs; put a text in quotes");
	return node;
}

static void
refuse_tag(struct reader *r, const struct node *node, const void *tag)
{
	if (tag != NULL)
		findings_help(yaml_find(r->yaml, node, FINDING_TAG,
		    "tags are not used here"),
		    "leave '%.40s' out: the key tells the type",
		    (const char *)tag);
}

/* ---- anchors and merge keys ---- */

static void
set_anchor(struct reader *r, char *name, struct node *node)
{
	for (unsigned i = 0; i < r->nanchors; i++) {
		if (strcmp(r->anchors[i].name, name) != 0)
			continue;
		mem_free(name);
		r->anchors[i].node = node;
		return;
	}
	if (r->nanchors == YAML_ANCHOR_MAX) {
		mem_free(name);
		fail_at(r, FINDING_ALIAS, node->line, node->column, NULL,
		    "more than %d anchors", YAML_ANCHOR_MAX);
		return;
	}
	r->anchors = mem_realloc(r->anchors,
	    (r->nanchors + 1) * sizeof(*r->anchors));
	r->anchors[r->nanchors++] = (struct anchor){ name, node };
}

static struct node *
read_alias(struct reader *r, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	const unsigned line = (unsigned)event->start_mark.line + 1;
	const unsigned column = (unsigned)event->start_mark.column + 1;

	for (unsigned i = 0; i < r->nanchors; i++) {
		struct node *node = r->anchors[i].node;

		if (strcmp(r->anchors[i].name, name) != 0)
			continue;
		r->unfolded += node->weight;
		if (r->unfolded <= YAML_ALIAS_MAX)
			return node;
		fail_at(r, FINDING_ALIAS, line, column, NULL,
		    "the aliases of this file unfold to more than %d nodes",
		    YAML_ALIAS_MAX);
		return NULL;
	}
	fail_at(r, FINDING_ALIAS, line, column,
	    "set it before it is used: \"&name value\", and not inside itself",
	    "no anchor '&%.60s' before this alias", name);
	return NULL;
}

static bool
is_merge(const struct pair *pair)
{
	return pair->key->plain && strcmp(pair->key->text, "<<") == 0;
}

static void
merge_one(struct reader *r, struct node *into, const struct node *from)
{
	if (from->kind != NODE_MAP) {
		findings_help(yaml_find(r->yaml, from, FINDING_KIND,
		    "'<<' takes a mapping, or a list of mappings"),
		    "write <<: *name");
		return;
	}
	for (unsigned i = 0; i < from->n; i++)
		if (yaml_get(into, from->pairs[i].key->text) == NULL)
			yaml_node_append(into, from->pairs[i].key,
			    from->pairs[i].value);
}

/* What the mapping itself says wins, then the earlier one of a list. */
static void
merge(struct reader *r, struct node *map)
{
	struct node *from = NULL;
	unsigned kept = 0;

	for (unsigned i = 0; i < map->n; i++) {
		if (is_merge(&map->pairs[i]))
			from = map->pairs[i].value;
		else
			map->pairs[kept++] = map->pairs[i];
	}
	if (from == NULL)
		return;
	map->n = kept;
	/* The growth of the array goes by its length. */
	map->pairs = mem_realloc(map->pairs,
	    4 * (kept + 1) * sizeof(*map->pairs));
	if (from->kind != NODE_LIST) {
		merge_one(r, map, from);
		return;
	}
	for (unsigned i = 0; i < from->n; i++)
		merge_one(r, map, from->pairs[i].value);
}

/* ---- the tree ---- */

static int
compare_keys(const void *va, const void *vb)
{
	const struct pair *a = *(const struct pair *const *)va;
	const struct pair *b = *(const struct pair *const *)vb;
	const int order = strcmp(a->key->text, b->key->text);

	return order != 0 ? order : a < b ? -1 : a > b;
}

static void
report_duplicate(struct reader *r, const struct node *first,
    const struct node *again)
{
	findings_help(yaml_find(r->yaml, again, FINDING_DUPLICATE,
	    "key '%.60s' twice, first on line %u", again->text, first->line),
	    "keep one of lines %u and %u", first->line, again->line);
}

static void
refuse_duplicates(struct reader *r, struct node *map)
{
	const struct pair **sorted;

	if (map->n < 2)
		return;
	sorted = mem_alloc(map->n * sizeof(const struct pair *));
	for (unsigned i = 0; i < map->n; i++)
		sorted[i] = &map->pairs[i];
	qsort(sorted, map->n, sizeof(const struct pair *), compare_keys);
	for (unsigned i = 1, first = 0; i < map->n; i++) {
		if (strcmp(sorted[first]->key->text,
		    sorted[i]->key->text) == 0)
			report_duplicate(r, sorted[first]->key,
			    sorted[i]->key);
		else
			first = i;
	}
	mem_free(sorted);
}

/* A complete node takes its place. */
static void
place(struct reader *r, struct node *node, bool alias)
{
	struct frame *top;

	if (r->depth == 0) {
		r->root = node;
		return;
	}
	top = &r->frames[r->depth - 1];
	if (top->node->kind == NODE_MAP && top->key == NULL) {
		if (node->kind != NODE_SCALAR) {
			fail_at(r, FINDING_KIND, node->line, node->column,
			    "put braces in a value in quotes",
			    "a key is a word, not a list or mapping");
			return;
		}
		top->key = node;
		if (!alias) {
			node->parent = top->node;
			node->key = node;
		}
		return;
	}
	if (!alias) {
		node->parent = top->node;
		node->key = top->key;
		node->index = top->node->n;
	}
	yaml_node_append(top->node, top->key, node);
	top->key = NULL;
}

static void
open_node(struct reader *r, enum node_kind kind, const yaml_event_t *event,
    const void *anchor)
{
	struct frame *top;

	if (r->depth == YAML_DEPTH_MAX) {
		fail_at(r, FINDING_DEPTH,
		    (unsigned)event->start_mark.line + 1,
		    (unsigned)event->start_mark.column + 1, NULL,
		    "nested more than %d deep", YAML_DEPTH_MAX);
		return;
	}
	top = &r->frames[r->depth++];
	*top = (struct frame){ .node = node_at(r, kind, event) };
	if (anchor != NULL)
		top->anchor = mem_strdup(anchor);
}

static void
close_node(struct reader *r)
{
	const struct frame top = r->frames[--r->depth];

	if (top.node->kind == NODE_MAP) {
		refuse_duplicates(r, top.node);
		merge(r, top.node);
		if (top.node->n > 0)
			top.node->length = top.node->pairs[0].key->length;
	}
	if (top.anchor != NULL)
		set_anchor(r, top.anchor, top.node);
	if (!r->stop)
		place(r, top.node, false);
}

static void
take_scalar(struct reader *r, const yaml_event_t *event)
{
	struct node *node = read_scalar(r, event);
	const char *anchor = (const char *)event->data.scalar.anchor;

	place(r, node, false);
	refuse_tag(r, node, event->data.scalar.tag);
	if (anchor != NULL)
		set_anchor(r, mem_strdup(anchor), node);
}

static void
take(struct reader *r, const yaml_event_t *event)
{
	struct node *node;

	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (r->documents++ > 0)
			fail_at(r, FINDING_DOCUMENTS,
			    (unsigned)event->start_mark.line + 1,
			    (unsigned)event->start_mark.column + 1,
			    "remove the \"---\", or use include",
			    "a second document in the file");
		break;
	case YAML_SCALAR_EVENT:
		take_scalar(r, event);
		break;
	case YAML_ALIAS_EVENT:
		node = read_alias(r, event);
		if (node != NULL)
			place(r, node, true);
		break;
	case YAML_SEQUENCE_START_EVENT:
		open_node(r, NODE_LIST, event,
		    event->data.sequence_start.anchor);
		if (!r->stop)
			refuse_tag(r, r->frames[r->depth - 1].node,
			    event->data.sequence_start.tag);
		break;
	case YAML_MAPPING_START_EVENT:
		open_node(r, NODE_MAP, event,
		    event->data.mapping_start.anchor);
		if (!r->stop)
			refuse_tag(r, r->frames[r->depth - 1].node,
			    event->data.mapping_start.tag);
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		close_node(r);
		break;
	default:
		break;
	}
}

/* ---- what libyaml complains about ---- */

static bool
is_tab(struct reader *r, unsigned line, unsigned column)
{
	const struct span at = source_slice(r->source, line, column, line,
	    column + 1);

	return span_equal(at, SPAN("\t"));
}

static void
report_broken(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	unsigned line = (unsigned)p->problem_mark.line + 1;
	unsigned column = (unsigned)p->problem_mark.column + 1;
	char help[160] = "";

	if (p->error == YAML_READER_ERROR)
		source_position(r->source, p->problem_offset, &line, &column);
	if (p->error == YAML_SCANNER_ERROR && is_tab(r, line, column)) {
		fail_at(r, FINDING_TAB, line, column,
		    "indent with spaces; a tab inside a value needs quotes",
		    "tabs are not allowed for indentation");
		return;
	}
	if (p->context != NULL && p->error != YAML_READER_ERROR)
		snprintf(help, sizeof(help), "%s that began on line %zu, "
		    "column %zu", p->context, p->context_mark.line + 1,
		    p->context_mark.column + 1);
	fail_at(r, FINDING_SYNTAX, line, column, help[0] != '\0' ? help :
	    NULL, "not YAML: %s", p->problem != NULL ? p->problem :
	    "out of memory");
}

static void
read_events(struct reader *r)
{
	yaml_event_t event;
	bool end = false;

	while (!r->stop && !end) {
		if (!yaml_parser_parse(&r->parser, &event)) {
			report_broken(r);
			return;
		}
		end = event.type == YAML_STREAM_END_EVENT;
		take(r, &event);
		yaml_event_delete(&event);
	}
}

static void
reader_fini(struct reader *r)
{
	for (unsigned i = 0; i < r->nanchors; i++)
		mem_free(r->anchors[i].name);
	mem_free(r->anchors);
	for (unsigned i = 0; i < r->depth; i++)
		mem_free(r->frames[i].anchor);
	yaml_parser_delete(&r->parser);
}

struct node *
yaml_read(struct yaml *yaml, const char *name, struct text *text)
{
	struct reader r = { .yaml = yaml };
	struct source **last = &yaml->sources;

	while (*last != NULL)
		last = &(*last)->next;
	*last = r.source = source_new(name, yaml->nsources++, text);
	if (!yaml_parser_initialize(&r.parser))
		abort();
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser,
	    (const unsigned char *)text_cstr(&r.source->text),
	    r.source->text.len);
	read_events(&r);
	if (!r.stop && r.root == NULL)
		fail_at(&r, FINDING_FILE, 0, 0,
		    "the least is a listen address and an upstream",
		    "the file is empty");
	reader_fini(&r);
	return r.stop ? NULL : r.root;
}
