#ifndef WEIR_STORE_SHARD_H
#define WEIR_STORE_SHARD_H

#include <pthread.h>

#include "base/hash.h"
#include "limit/algo.h"

/*
 * One part of the memory store: a table of states under one lock, within a
 * share of octets it never exceeds. Every call but init and fini wants the
 * lock held.
 *
 * Slots stand in the order of their fingerprint, each at or after the place
 * its value points to, so a look-up ends at the first greater one, a removal
 * leaves no mark, and growth takes place within the same memory, in two
 * passes over one shard.
 */

#define SHARD_INLINE	16	/* octets of state that fit in a slot */
#define SHARD_STATE_MAX	24576	/* octets of the greatest state */
#define SHARD_SHARE_MIN	245760	/* octets; an eighth holds any state */

/* The numbers a state was written with. One for all slots that share them. */
struct shape {
	struct shape *next;
	const struct algo *algo;
	size_t size;		/* octets of state */
	size_t slots;		/* that refer to it; at 0 it is freed */
	struct limits limits;
};

struct slot {
	struct hash128 print;
	union {
		int64_t here[SHARD_INLINE / sizeof(int64_t)];
		int64_t *block;		/* of a greater state */
	} state;
	struct shape *shape;		/* NULL: empty */
};

struct shard {
	_Alignas(64) pthread_mutex_t lock;
	int64_t now;		/* latest time anybody asked here */
	struct slot *slots;	/* homes, and the spill after them */
	size_t homes, homes_max;
	size_t count;
	uint64_t moves;		/* slots may have moved when it changed */
	size_t hand;		/* where samples are taken from */
	size_t bytes, share;	/* in use, bound */
	size_t blocks;		/* octets of bytes in blocks */
	struct shape *shapes;
	int64_t evictions;	/* dropped before they were fresh */
};

/* Fingerprints that must stay while room is made. */
struct keep {
	const struct hash128 *prints;
	unsigned n;
};

/* Octets of address space that shard_init wants for that share. */
size_t shard_space(size_t share);
/*
 * space: shard_space(share) octets, page-aligned, all 0, borrowed until
 * shard_fini. share: SHARD_SHARE_MIN or more.
 */
void shard_init(struct shard *shard, void *space, size_t share);
void shard_fini(struct shard *shard);

/* Valid until shard->moves changes. NULL: unseen. */
struct slot *shard_find(const struct shard *shard, struct hash128 print);

/*
 * A zeroed state for these limits under that fingerprint, whose former state
 * (if any) is gone. Takes the room of others when the share is used up: fresh
 * ones first, then those nearest to it, counted; those in keep last.
 */
int64_t *shard_put(struct shard *shard, struct hash128 print,
    const struct algo *algo, const struct limits *limits,
    const struct keep *keep);

/* Octets that a state of that size costs beside its slot. */
size_t shard_block_octets(size_t size);

static inline int64_t *
slot_state(struct slot *slot)
{
	return slot->shape->size > SHARD_INLINE ? slot->state.block :
	    slot->state.here;
}

/* Was it written with these numbers? */
static inline bool
slot_fits(const struct slot *slot, const struct algo *algo,
    const struct limits *limits)
{
	return slot->shape->algo == algo &&
	    limits_equal(&slot->shape->limits, limits);
}

#endif
