#ifndef WEIR_CONFIG_SOURCE_H
#define WEIR_CONFIG_SOURCE_H

#include "base/text.h"

/*
 * The text of one file, for showing lines of it. Lines and columns count from
 * 1, columns in characters; lines end where libyaml ends them.
 */
struct source {
	struct source *next;
	char *name;			/* as messages show it */
	unsigned index;			/* order of the files of a run */
	struct text text;		/* without byte order mark */
	struct source_mask *masks;	/* never shown: secrets */
	unsigned nmasks;
};

/* From (line, column) up to, not including, (end_line, end_column). */
struct source_mask {
	unsigned line, column, end_line, end_column;
};

/* Takes text. */
struct source *source_new(const char *name, unsigned index,
    struct text *text);
void source_free(struct source *source);	/* accepts NULL */
void source_add_mask(struct source *source, struct source_mask mask);

/* The octets from (line, column) to (end_line, end_column), on one line or
 * several; columns beyond a line end with it. */
struct span source_slice(const struct source *source, unsigned line,
    unsigned column, unsigned end_line, unsigned end_column);
/* The place of an octet. */
void source_position(const struct source *source, size_t offset,
    unsigned *ret_line, unsigned *ret_column);

/*
 * The line as it can be shown: masked, control octets replaced, cut around
 * the column when it is long. careful: nothing is known about what stands
 * there, so that whatever follows the name of a secret is masked. NULL: no
 * such line. *ret_column: where the column is in what is returned.
 */
char *source_excerpt(const struct source *source, unsigned line,
    unsigned column, bool careful, unsigned *ret_column);

/* Is the value of a key of that name a secret when it is written out? */
bool source_is_secret(struct span key);

#endif
