#ifndef WEIR_LIMIT_LIMITER_H
#define WEIR_LIMIT_LIMITER_H

#include "base/counters.h"
#include "limit/request.h"
#include "limit/store.h"

/* Asks all policies of a request in one step. One a worker thread. */
struct limiter;

enum outcome {
	OUTCOME_PASS,		/* forward */
	OUTCOME_LIMITED,	/* 429 */
	OUTCOME_STORE_AWAY,	/* 503: on_store_error: deny */
	OUTCOME_NO_KEY		/* 400: on_missing_key: deny */
};

/*
 * Lives in the exchange. The owner zeroes it once with decision_init, may use
 * it for any number of requests, one at a time, and ends with decision_fini.
 */
struct decision {
	struct question question;
	const struct rules *rules;

	enum outcome outcome;
	const struct policy *policy;	/* the binding one; NULL: none applied.
					   NO_KEY: the one that missed a part;
					   STORE_AWAY: the one that denies */
	const struct rate *rate;	/* PASS, LIMITED: the binding rate of
					   that policy */
	struct verdict verdict;		/* of that rate */
	unsigned missing_part;		/* NO_KEY: which part of its key */
	bool shadow_limited;		/* a shadow policy would have denied */
	const struct policy *shadow_policy;	/* the first of those */
	bool degraded;			/* decided by on_store_error */
	enum store_source source;
	int64_t asked_at, decided_at;	/* loop clock: decide_us is the
					   difference */
	int64_t store_now;		/* deciding clock at the decision; 0:
					   no store decided */

	void (*on_verdict)(struct decision *);	/* set by the owner */
	void *owner;

	struct limiter *limiter;	/* private from here */
	bool peeking;			/* nothing is spent or counted */
	bool open;			/* ANSWER_LATER, and not yet answered */
};

void decision_init(struct decision *d);
void decision_fini(struct decision *d);

/*
 * store: where counters live (shared or memory). local: a memory store for
 * on_store_error: local, may be NULL when store is itself memory. Borrows all.
 * clock_fn(clock_arg) gives the time when a late answer arrives.
 */
struct limiter *limiter_new(struct store *store, struct store *local,
    struct counters *counters, int64_t (*clock_fn)(void *), void *clock_arg);
void limiter_free(struct limiter *limiter);

/* Ask another store from now on. Whoever frees the old one afterwards has it
 * answer what is still open first. */
void limiter_set_store(struct limiter *limiter, struct store *store);

/*
 * Decide about a classified request. rules and req are borrowed until the
 * answer. ANSWER_NOW: d is filled. ANSWER_LATER: d->on_verdict follows, once,
 * unless limiter_cancel comes first.
 */
enum answer limiter_ask(struct limiter *limiter, const struct rules *rules,
    struct request *req, struct decision *d, int64_t now);
void limiter_cancel(struct decision *d);

/* As limiter_ask, but nothing is spent (explain). */
enum answer limiter_peek(struct limiter *limiter, const struct rules *rules,
    struct request *req, struct decision *d, int64_t now);

/* The configuration changed. */
void limiter_reloaded(struct limiter *limiter);

#endif
