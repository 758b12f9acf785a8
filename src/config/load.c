#include "config/load.h"

#include "base/mem.h"
#include "config/check.h"
#include "config/schema.h"

/* Text to nodes to snapshot, with includes on the way. */

/* ---- paths ---- */

static struct span
folder_of(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash == NULL ? SPAN_EMPTY :
	    span_of(file, (size_t)(slash - file) + 1);
}

char *
load_sibling(const char *file, const char *path)
{
	struct text out = { 0 };

	if (path[0] != '/')
		text_append(&out, folder_of(file));
	text_append_str(&out, path);
	return text_take(&out);
}

char *
load_path(const struct load *load, const struct node *node, const char *path)
{
	char *sibling = load_sibling(node->source->name, path);
	struct text out = { 0 };

	if (sibling[0] != '/')
		text_printf(&out, "%s/", load->folder);
	text_append_str(&out, sibling);
	mem_free(sibling);
	return text_take(&out);
}

/* ---- includes ---- */

/* The sections that several files may fill. */
static bool
is_shared(const char *key)
{
	static const char *const names[] = { "upstreams", "plans", "lookups",
		"callers", "routes", "policies" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(key, names[i]) == 0)
			return true;
	return false;
}

bool
load_is_free(struct span key)
{
	return span_starts(key, SPAN("x-"));
}

static struct pair *
find_pair(const struct node *map, const char *key)
{
	for (unsigned i = 0; i < map->n; i++)
		if (strcmp(map->pairs[i].key->text, key) == 0)
			return &map->pairs[i];
	return NULL;
}

static void
report_twice(struct load *load, const struct node *again,
    const struct node *first)
{
	findings_help(load_find(load, again, DUPLICATE,
	    "key '%.*s' twice, first in %s on line %u", LOAD_QUOTE(again),
	    first->source->name, first->line), "keep one of them");
}

/* Join two sections into a new node, so that no alias sees it. */
static struct node *
join(struct load *load, const struct node *a, const struct node *b)
{
	struct node *both = yaml_node_new(&load->yaml, a->kind, a);
	const struct pair *taken;

	both->parent = a->parent;
	both->key = a->key;
	for (unsigned i = 0; i < a->n; i++)
		yaml_node_append(both, a->pairs[i].key, a->pairs[i].value);
	for (unsigned i = 0; i < b->n; i++) {
		taken = a->kind == NODE_MAP ?
		    find_pair(a, b->pairs[i].key->text) : NULL;
		if (taken != NULL)
			report_twice(load, b->pairs[i].key, taken->key);
		else
			yaml_node_append(both, b->pairs[i].key,
			    b->pairs[i].value);
	}
	return both;
}

static void
merge_root(struct load *load, struct node *root, const struct node *more)
{
	for (unsigned i = 0; i < more->n; i++) {
		const struct pair *from = &more->pairs[i];
		struct pair *into = find_pair(root, from->key->text);

		if (yaml_is(from->key, "include"))
			findings_help(load_find(load, from->key, INCLUDE,
			    "an included file cannot include"),
			    "name it in the first file");
		else if (load_is_free(yaml_text(from->key)))
			continue;
		else if (into == NULL)
			yaml_node_append(root, from->key, from->value);
		else if (is_shared(from->key->text) &&
		    into->value->kind == from->value->kind &&
		    into->value->kind != NODE_SCALAR)
			into->value = join(load, into->value, from->value);
		else
			report_twice(load, from->key, into->key);
	}
}

static void
include_file(struct load *load, const struct node *node, struct node *root,
    const char *path)
{
	struct text text = { 0 };
	const char *why = "";
	struct node *more;

	if (load->env->read(path, YAML_FILE_MAX, &text, &why) != ERR_OK) {
		text_fini(&text);
		load_find(load, node, INCLUDE, "'%.200s': %s", path, why);
		return;
	}
	more = yaml_read(&load->yaml, path, &text);
	if (more == NULL)
		return;
	if (more->kind == NODE_MAP)
		merge_root(load, root, more);
	else
		load_find(load, more, KIND,
		    "a file is a mapping of keys to values");
}

static void
include_pattern(struct load *load, const struct node *node,
    struct node *root)
{
	char *pattern, **paths;
	unsigned n = 0;

	if (node->kind != NODE_SCALAR || node->text[0] == '\0') {
		load_find(load, node, KIND,
		    "'include' takes a path, or a list of paths");
		return;
	}
	pattern = load_sibling(node->source->name, node->text);
	paths = load->env->expand(pattern, &n);
	if (n == 0 && strpbrk(node->text, "*?[") == NULL)
		load_find(load, node, INCLUDE, "no file '%.*s'",
		    LOAD_QUOTE(node));
	for (unsigned i = 0; i < n; i++) {
		include_file(load, node, root, paths[i]);
		mem_free(paths[i]);
	}
	mem_free(paths);
	mem_free(pattern);
}

static void
include_all(struct load *load, struct node *root)
{
	const struct node *node = yaml_get(root, "include");

	if (node == NULL || yaml_is_null(node))
		return;
	if (node->kind != NODE_LIST) {
		include_pattern(load, node, root);
		return;
	}
	for (unsigned i = 0; i < node->n; i++)
		include_pattern(load, node->pairs[i].value, root);
}

/* ---- the snapshot ---- */

static void
build(struct load *load)
{
	struct config *config = load->config;

	include_all(load, load->root);
	schema_read(load, &keys_root, load->root, config);
	if (load->found->errors > 0)
		return;
	/* Each rate was prepared where it stands; the shares of instances fit
	 * because they are smaller. */
	if (rules_finish(&config->rules) != ERR_OK)
		load_find(load, load->root, RATE_FIT,
		    "a rate cannot be counted exactly");
	else
		check_all(load);
}

enum err
load_text(struct span yaml, const char *name, const struct env *env,
    struct findings *found, struct config **ret)
{
	struct load load = { .env = env, .found = found };
	struct text copy = { 0 };

	yaml_init(&load.yaml, found);
	load.folder = env->folder();
	load.config = mem_zalloc(sizeof(*load.config));
	atomic_init(&load.config->refs, 1);
	load.config->path = mem_strdup(name);
	text_append(&copy, yaml);
	load.root = yaml_read(&load.yaml, name, &copy);
	if (load.root != NULL && load.root->kind == NODE_MAP)
		build(&load);
	else if (load.root != NULL)
		findings_help(load_find(&load, load.root, KIND,
		    "a file is a mapping of keys to values"),
		    "begin with listen: ADDRESS");
	findings_sort(found);
	yaml_fini(&load.yaml);
	mem_free(load.folder);
	if (found->errors > 0) {
		config_unref(load.config);
		return ERR_CONFIG;
	}
	*ret = load.config;
	return ERR_OK;
}
