#ifndef WEIR_APP_STORES_H
#define WEIR_APP_STORES_H

#include "base/counters.h"
#include "config/config.h"
#include "limit/store.h"
#include "net/loop.h"

/*
 * A worker's link to the shared store that conf names, or NULL for memory.
 * on_settled(arg) once, from the loop, when its first connect has worked or
 * failed. Borrows loop and counters; copies conf. Freed by its ops->free.
 */
struct store *stores_open_shared(struct loop *loop,
    const struct store_conf *conf, struct counters *counters,
    void (*on_settled)(void *), void *arg);

/* Has that happened? */
bool stores_settled(const struct store *shared);

/* Would both give the same link? */
bool stores_equal(const struct store_conf *a, const struct store_conf *b);

#endif
