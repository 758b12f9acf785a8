#ifndef WEIR_CONFIG_NEAREST_H
#define WEIR_CONFIG_NEAREST_H

#include "base/span.h"

/* Which of n words was meant: the nearest, if it is near at all, or NULL.
 * Case and punctuation do not count. */
const char *nearest_word(struct span word, const char *const *words,
    unsigned n);

#endif
