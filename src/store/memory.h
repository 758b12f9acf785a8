#ifndef WEIR_STORE_MEMORY_H
#define WEIR_STORE_MEMORY_H

#include "limit/store.h"

/*
 * Counters in this process, shared by all its workers: any thread may ask.
 * Every question is decided at once (ANSWER_NOW), under the locks of the
 * shards its keys fall into.
 *
 * States are found by policy->tag and identity, whatever the numbers in force;
 * a state written under other numbers is converted when it is next spent from.
 * Time never runs backwards within a shard: question->now is the latest time
 * seen there, so that a state dropped as fresh was so for everybody.
 *
 * bytes bounds all that the store allocates: slots, states, and the numbers
 * they were written with. When it is reached, entries leave by a sample: fresh
 * ones first, then those that would be so soonest (least used), exhausted ones
 * last. No request fails for lack of room.
 */

/* bytes: memory_store_min_bytes() or more. */
struct store *memory_store_new(size_t bytes);
size_t memory_store_min_bytes(void);

/*
 * The most that a key costs with a state of that many octets, once there are
 * some thousand in each MiB: 64 up to 16 octets of state (any single-rate
 * token_bucket). bytes / this is how many a store holds before it drops one,
 * within a tenth for the least one.
 */
size_t memory_store_key_bytes(size_t state_octets);

/* Of a store made by memory_store_new; any thread. */
size_t memory_store_bytes(const struct store *store);	/* in use */
size_t memory_store_limit(const struct store *store);	/* the bound */
size_t memory_store_keys(const struct store *store);
/* Entries dropped for lack of room before they were fresh, so far. */
int64_t memory_store_evictions(const struct store *store);

#endif
