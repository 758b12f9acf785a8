#ifndef WEIR_CONFIG_FINDINGS_H
#define WEIR_CONFIG_FINDINGS_H

#include "config/config.h"

/* Making findings; reading and printing them is in config.h. */

enum finding_id {
#define FINDING(id, code, about) FINDING_##id,
#include "config/findings.def"
#undef FINDING
	FINDING_COUNT
};

/* At most this many are kept, all are counted. */
#define FINDINGS_KEPT	500

struct finding_place {
	const char *file;
	unsigned file_index;		/* orders the files of a run */
	unsigned line, column, length;
	unsigned excerpt_column;	/* as in struct finding */
};

/*
 * Add one. path and excerpt are taken (mem_free) and may be NULL. Returns the
 * finding until the next call, or NULL when the same is there already or no
 * more are kept.
 */
struct finding *findings_add(struct findings *f, enum finding_id id,
    const struct finding_place *place, char *path, char *excerpt,
    const char *fmt, va_list ap);
/* Say the cure; accepts NULL. */
void findings_help(struct finding *finding, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* By file, line and column. */
void findings_sort(struct findings *f);

/* "E008", and one line about it. */
const char *findings_code(enum finding_id id);
const char *findings_about(enum finding_id id);

#endif
