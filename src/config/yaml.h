#ifndef WEIR_CONFIG_YAML_H
#define WEIR_CONFIG_YAML_H

#include "config/findings.h"
#include "config/source.h"

/* YAML as a tree of nodes that know where they stand. */

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
	enum node_kind kind;
	bool plain;			/* a scalar without quotes */
	struct source *source;
	unsigned line, column;		/* from 1, in characters */
	unsigned length;		/* of it on that line, at least 1 */

	/* Where it was written: aliases share a node. */
	const struct node *parent;	/* NULL: the root */
	const struct node *key;		/* in a mapping; of a key: itself */
	unsigned index;			/* in a list */

	char *text;			/* scalars: no NUL inside */
	struct pair *pairs;		/* lists (key NULL) and mappings */
	unsigned n;
	unsigned weight;		/* nodes in it, aliases unfolded */

	struct node *next_owned;	/* private */
};

struct pair {
	struct node *key, *value;
};

/* All that was read in one run: files and nodes. */
struct yaml {
	struct source *sources;
	unsigned nsources;
	struct node *nodes;
	struct findings *found;
};

#define YAML_FILE_MAX	(4 << 20)	/* octets */
#define YAML_DEPTH_MAX	32
#define YAML_ALIAS_MAX	10000		/* nodes that aliases unfold to */
#define YAML_ANCHOR_MAX	1000

void yaml_init(struct yaml *yaml, struct findings *found);
void yaml_fini(struct yaml *yaml);

/*
 * Read one document. text is taken; name is how messages call it. What is
 * wrong goes to the findings. Returns its root, or NULL when there is no tree:
 * not YAML, or empty. Merge keys are resolved, duplicates dropped.
 */
struct node *yaml_read(struct yaml *yaml, const char *name,
    struct text *text);

/* A node that stands at the place of another (its kind may differ). */
struct node *yaml_node_new(struct yaml *yaml, enum node_kind kind,
    const struct node *at);
void yaml_node_append(struct node *node, struct node *key,
    struct node *value);

/* The value of a key; NULL: none, or no mapping. Accepts NULL. */
const struct node *yaml_get(const struct node *map, const char *key);
struct span yaml_text(const struct node *scalar);
/* "", ~ and null, unquoted. */
bool yaml_is_null(const struct node *node);
bool yaml_is(const struct node *node, const char *text);
/* "policies[0].burst"; of the root: "". */
char *yaml_path(const struct node *node);

/* A finding at that node; at its key when it is null. */
struct finding *yaml_find(struct yaml *yaml, const struct node *node,
    enum finding_id id, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
