#ifndef WEIR_CONFIG_LOOKUPS_H
#define WEIR_CONFIG_LOOKUPS_H

#include "config/load.h"

/*
 * Read the file of a lookup: "sha256 [plan] [until YYYY-MM-DD]" a line, "#"
 * begins a comment. A key is good to the end (UTC) of its last day. What is
 * wrong is told with the line of that file, which may hold a key by mistake
 * and is never quoted. Returns the lookup in any case.
 */
struct lookup *lookups_read(struct load *load, const struct node *node,
    const char *name, const char *path);

/* The same for the text of such a file. */
struct lookup *lookups_parse(struct load *load, const char *name,
    const char *path, struct span text);

/* "2026-12-31": its last microsecond. ERR_SYNTAX. */
enum err lookups_parse_date(struct span text, int64_t *ret_us);

#endif
