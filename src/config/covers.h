#ifndef WEIR_CONFIG_COVERS_H
#define WEIR_CONFIG_COVERS_H

#include "limit/match.h"

/*
 * Does every request that fits `narrow` fit `wide` as well? False when that is
 * not plain from the text: good enough for warnings.
 */
bool covers_match(const struct match *wide, const struct match *narrow);

/* Is there a request that fits both? False when that is not plain. */
bool covers_overlap(const struct match *a, const struct match *b);

/* The condition of that kind and name (NULL: any) that is not negated, or
 * NULL. */
const struct condition *covers_find(const struct match *m,
    enum match_kind kind, const char *name);
bool covers_has_value(const struct condition *c, const char *value);

#endif
