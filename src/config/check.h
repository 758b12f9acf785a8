#ifndef WEIR_CONFIG_CHECK_H
#define WEIR_CONFIG_CHECK_H

#include "config/load.h"

/* The warnings: what a file cannot do that it seems to say. Only for a
 * configuration without errors; nodes and structs agree entry by entry. */
void check_all(struct load *load);

#endif
