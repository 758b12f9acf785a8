#ifndef WEIR_BASE_COUNTERS_H
#define WEIR_BASE_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

enum counter {
#define COUNTER(name, kind, help) COUNT_##name,
#include "base/counters.def"
#undef COUNTER
	COUNT_END
};

/* One block a worker: written by its thread alone, read by any. */
struct counters {
	_Atomic int64_t value[COUNT_END];
};

/* A plain add, made visible to readers of other threads without a locked
 * instruction: only the owner writes. */
static inline void
counter_add(struct counters *c, enum counter id, int64_t n)
{
	atomic_store_explicit(&c->value[id],
	    atomic_load_explicit(&c->value[id], memory_order_relaxed) + n,
	    memory_order_relaxed);
}

static inline int64_t
counter_get(const struct counters *c, enum counter id)
{
	return atomic_load_explicit(&c->value[id], memory_order_relaxed);
}

/* "requests_total"; never NULL. */
const char *counter_name(enum counter id);
const char *counter_help(enum counter id);

#endif
