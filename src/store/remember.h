#ifndef WEIR_STORE_REMEMBER_H
#define WEIR_STORE_REMEMBER_H

#include "limit/store.h"

/*
 * Denials that are known to last, so that a flood from one caller costs the
 * shared store next to nothing. A table of fixed size for one thread; what
 * finds no room replaces what ends first.
 *
 * Why it is true: what a caller has spent only comes back with time, so before
 * the moment the question was asked plus its wait, no question that costs as
 * much can pass. Flushing the store, failover or another weir's reset may break
 * that, so nothing is remembered for longer than REMEMBER_MAX.
 */
struct remember;

#define REMEMBER_MAX	INT64_C(1000000)	/* microseconds */

struct remember *remember_new(void);
void remember_free(struct remember *r);		/* accepts NULL */

/* Forget all. Questions asked before that are not remembered any more: see
 * remember_epoch. */
void remember_drop(struct remember *r);
/* To be taken when a question is asked and given back with its answer. */
unsigned remember_epoch(const struct remember *r);

/*
 * Keep what a decided question denied: each enforcing row that did not pass.
 * asked_at: when it was asked; now: the clock read after its answer came. The
 * first ends the memory early enough, the second makes the waits that are
 * told from it long enough. No effect when epoch is not of today.
 */
void remember_put(struct remember *r, const struct question *q,
    unsigned epoch, int64_t asked_at, int64_t now);

/*
 * Is a denial of one of the question's enforcing rows still known? Then q is
 * decided: result, source and now are set, rows known to be denied are filled
 * with the waits that remain, and all others say passed.
 * An entry serves rows of its policy, identity and limits at its own cost; a
 * greater cost only where the wait for it follows from the entry (a single
 * rate of token_bucket or fixed_window): a wait that is told must be enough.
 */
bool remember_find(struct remember *r, struct question *q, int64_t now);

#endif
