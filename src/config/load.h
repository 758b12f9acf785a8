#ifndef WEIR_CONFIG_LOAD_H
#define WEIR_CONFIG_LOAD_H

#include "config/env.h"
#include "config/yaml.h"

/* One loading in progress. */
struct load {
	const struct env *env;
	struct findings *found;
	struct config *config;
	struct yaml yaml;
	struct node *root;		/* includes merged */
	const struct node *map;		/* what is being read; may be NULL */
	char *folder;			/* relative names begin here */
};

/* The most of a value that a message quotes: "%.*s", LOAD_QUOTE(node). */
#define LOAD_QUOTED	60
#define LOAD_QUOTE(node) \
	(int)(strlen((node)->text) < LOAD_QUOTED ? strlen((node)->text) : \
	LOAD_QUOTED), (node)->text

#define load_find(load, node, id, ...) \
	yaml_find(&(load)->yaml, node, FINDING_##id, __VA_ARGS__)

/* The path a file names, relative to the folder of that file; absolute. The
 * caller frees it. */
char *load_path(const struct load *load, const struct node *node,
    const char *path);
/* The same for messages: relative to where weir was started. */
char *load_sibling(const char *file, const char *path);

/* A key at the top whose value nobody reads: a place for anchors. */
bool load_is_free(struct span key);

/* As config_load_text, in that surrounding. */
enum err load_text(struct span yaml, const char *name, const struct env *env,
    struct findings *found, struct config **ret);

#endif
