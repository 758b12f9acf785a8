#ifndef WEIR_CONFIG_EMIT_H
#define WEIR_CONFIG_EMIT_H

#include "base/text.h"

/* Writes nested values as YAML or as JSON. Lists hold no lists. */

#define EMIT_DEPTH 16

struct emit {
	struct text *out;
	bool json;
	unsigned depth;
	struct emit_level {
		bool list;
		bool behind_dash;	/* its first key stands behind "- " */
		unsigned indent, n;
	} levels[EMIT_DEPTH];
};

/* Begins with the outermost mapping; emit_end closes it. */
void emit_init(struct emit *e, struct text *out, bool json);
/* In a mapping each value follows its key. */
void emit_key(struct emit *e, const char *key);
void emit_map(struct emit *e);
void emit_list(struct emit *e);
void emit_end(struct emit *e);
/* Quoted as needed. */
void emit_text(struct emit *e, struct span text);
/* A number, true, false or []. */
void emit_plain(struct emit *e, const char *text);
void emit_number(struct emit *e, int64_t n);

#endif
