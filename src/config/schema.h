#ifndef WEIR_CONFIG_SCHEMA_H
#define WEIR_CONFIG_SCHEMA_H

#include "config/emit.h"
#include "config/load.h"

/*
 * The language as tables: a section is a mapping with known keys, a key has a
 * type and a place in the struct that the section fills. Reading, dumping and
 * the list of keys all walk these tables.
 */

struct key;

struct type {
	const char *name;		/* in the manual */
	/* base: the struct of the section. node is not null. On an error the
	 * member stays as it is. */
	void (*read)(struct load *load, const struct key *key,
	    const struct node *node, void *base);
	/* The key is absent and has no default text. May be NULL. */
	void (*absent)(struct load *load, const struct key *key, void *base);
	/* Key and value; nothing when it is not set. */
	void (*print)(const struct config *config, struct emit *emit,
	    const struct key *key, const void *base);
	/* What it may be, for the manual; NULL: out of min and max. */
	const char *range;
};

struct key {
	const char *name;
	const struct type *type;
	size_t offset, width;		/* where it is stored */
	size_t count;			/* lists: where their length is */
	const struct section *section;	/* what is below */
	const char *const *words;	/* of an enum, in order of its values */
	const char *const *later;	/* values that are not served yet */
	int64_t min, max;
	const char *word;		/* stands for word_value */
	int64_t word_value;
	const char *def;		/* as it would be written */
	bool required;
	bool empty_ok;
	int arg;			/* the type's own */
	bool (*shown)(const struct config *config, const void *base);
	const char *help;
};

struct section {
	const char *path;		/* "policies[]" */
	const struct key *keys;
	unsigned n;
	size_t size;			/* of the struct of an item */
	/* Before its keys are read, and after. node: NULL when absent, a scalar
	 * when the key's word stands there. */
	void (*begin)(struct load *load, void *base);
	void (*end)(struct load *load, const struct node *node, void *base);
};

#define SCHEMA_AT(type, member) \
	.offset = offsetof(struct type, member), \
	.width = sizeof(((struct type *)0)->member)
#define SCHEMA_LIST(type, member, number) \
	SCHEMA_AT(type, member), .count = offsetof(struct type, number)

#define SCHEMA_ITEMS_MAX 10000		/* of a list or mapping of sections */

/* node NULL: defaults everywhere. */
void schema_read(struct load *load, const struct section *section,
    const struct node *node, void *base);
void schema_print(const struct config *config, struct emit *emit,
    const struct section *section, const void *base);
/* One line a key: path, type, range, default, help. */
void schema_print_keys(const struct section *section, struct text *out);

/* Where the key stores. */
static inline void *
schema_at(const struct key *key, void *base)
{
	return (char *)base + key->offset;
}

static inline const void *
schema_peek(const struct key *key, const void *base)
{
	return (const char *)base + key->offset;
}

static inline unsigned *
schema_count(const struct key *key, void *base)
{
	return (unsigned *)(void *)((char *)base + key->count);
}

static inline unsigned
schema_length(const struct key *key, const void *base)
{
	return *(const unsigned *)(const void *)
	    ((const char *)base + key->count);
}

void schema_store(const struct key *key, void *base, int64_t value);
int64_t schema_fetch(const struct key *key, const void *base);

/* One, or a list that is not empty (unless the key allows it): the number of
 * nodes, 0 after an error. schema_item gives each. */
unsigned schema_items(struct load *load, const struct key *key,
    const struct node *node);
const struct node *schema_item(const struct node *node, unsigned i);

/* The whole language (keys.c). */
extern const struct section keys_root;
/* What an upstream has. */
extern const struct section keys_upstream;

#endif
