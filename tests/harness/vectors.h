#ifndef WEIR_HARNESS_VECTORS_H
#define WEIR_HARNESS_VECTORS_H

#include "limit/store.h"

/*
 * The rows of tests/vectors, for whoever claims to be the algorithm: C and Lua
 * read the same. Fields are separated by tabs; "#" begins a comment.
 *
 *	new RATES [first]	a caller never seen; rates "10/s,3/10s:5", with
 *				":BURST"; first: windows start with the caller
 *	limits RATES		the limits change
 *	ask NOW COST VERDICT...	take and check: one verdict a rate, "yes" or
 *				"no", remaining, pass_in, reset_in
 *	look NOW COST VERDICT...	the same, and nothing is spent
 *
 * Times are sums of durations: "10s", "1h+1us", "10s-1us".
 */
struct vector_player {
	enum algo_kind kind;
	void (*fresh)(void *arg);
	/* Decide about the one row and fill its verdicts. */
	void (*decide)(void *arg, struct row *row, int64_t now, bool spend);
	void *arg;
};

/* Fails the running check test, telling file and line, when one differs.
 * Plays $srcdir/tests/vectors/NAME.tsv. */
void vectors_play(const struct vector_player *player);

/* "10/s,3/10s:5", prepared; fails the test when malformed. */
void vectors_limits(struct span text, struct limits *ret);

#endif
