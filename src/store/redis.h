#ifndef WEIR_STORE_REDIS_H
#define WEIR_STORE_REDIS_H

#include "base/counters.h"
#include "limit/store.h"
#include "net/loop.h"
#include "store/redis_conf.h"

/*
 * Counters in one Redis server, shared by all who use it with the same prefix
 * and secret. One store and one connection a worker thread.
 *
 * Every question is one script call. The calls of a loop turn leave in one
 * write. A question is answered within timeout_us by the loop's clock, with
 * STORE_UNKNOWN if need be, and at once while the server is known to be away;
 * connecting happens in the background only. A late reply is dropped.
 */

/*
 * Begins to connect. Copies conf; borrows loop and counters. Freed by
 * ops->free, which answers what is still asked with STORE_UNKNOWN first and
 * may be called from anywhere but a done callback. SIGPIPE must be ignored.
 */
struct store *redis_store_new(struct loop *loop, const struct redis_conf *conf,
    struct counters *counters);

/* Has the first connect worked, or failed? At most connect_timeout_us plus
 * three timeout_us after redis_store_new. */
bool redis_store_settled(const struct store *store);
/* fn(arg) once, from the loop, when that happens. It must not have yet. */
void redis_store_on_settled(struct store *store, void (*fn)(void *arg),
    void *arg);

/* Are decisions being asked at this moment? */
bool redis_store_up(const struct store *store);

#endif
