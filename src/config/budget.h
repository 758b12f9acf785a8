#ifndef WEIR_CONFIG_BUDGET_H
#define WEIR_CONFIG_BUDGET_H

#include "config/load.h"

/* Warnings about numbers and keys of policies: costs above their limit, keys
 * that callers invent, requests that lack the key. */
void budget_check(struct load *load);

/* May the policy concern requests of that caller? */
bool budget_concerns(const struct policy *policy,
    const struct caller *caller);

#endif
