#ifndef WEIR_LIMIT_STORE_H
#define WEIR_LIMIT_STORE_H

#include "base/hash.h"
#include "limit/rules.h"

/*
 * What a store must do (interface only). A question holds all policies of one
 * request and is answered as one: peek at every row, spend only when every
 * enforcing row passes; shadow rows spend only then too, and only if they pass
 * themselves. A denied question has written nothing but repairs.
 */

struct row {
	const struct policy *policy;
	const struct limits *limits;	/* the policy's or the plan's, n > 0 */
	struct hash128 identity;	/* key_build */
	int64_t cost;			/* 1.. */
	bool enforcing;			/* false: shadow */

	bool passed;			/* all of its rates pass */
	struct verdict verdicts[RATES_MAX];	/* limits->n of them */
};

enum store_source {
	SOURCE_NONE,		/* no policy concerned the request */
	SOURCE_MEMORY, SOURCE_REDIS,
	SOURCE_REMEMBERED,	/* a denial still known to hold; only the rows
				   with passed == false are filled */
	SOURCE_LOCAL		/* counted here while the store is away */
};

enum store_result { STORE_DECIDED, STORE_UNKNOWN };

struct question {
	struct row *rows;		/* owned by the question, kept for reuse */
	unsigned nrows, cap;

	enum store_result result;
	enum store_source source;
	int64_t now;			/* the deciding clock, when decided */
	void (*done)(struct question *);	/* only after ANSWER_LATER */

	void *pending;			/* the store's own, NULL at rest */
};

enum answer { ANSWER_NOW, ANSWER_LATER };

struct store {
	const struct store_ops *ops;
};

struct store_ops {
	const char *name;		/* "memory", "redis" */
	/*
	 * Decide. now: loop_now() of the asking thread. ANSWER_NOW: result is
	 * set. ANSWER_LATER: done(question) follows, once, from the loop, never
	 * before this returns, and never after cancel. rows are borrowed until
	 * then. STORE_UNKNOWN: away or too late; no row was filled (rows may
	 * have been spent all the same).
	 */
	enum answer (*take)(struct store *store, struct question *question,
	    int64_t now);
	/* Forget a question asked with ANSWER_LATER. */
	void (*cancel)(struct store *store, struct question *question);
	/* A new configuration is in force: drop what rests on old numbers. */
	void (*reloaded)(struct store *store);
	/* Judge without spending, for explain. Same answers as take. */
	enum answer (*peek)(struct store *store, struct question *question,
	    int64_t now);
	void (*free)(struct store *store);
};

void question_init(struct question *question);
void question_fini(struct question *question);
/* Room for n rows; keeps nothing. */
void question_reserve(struct question *question, unsigned n);

#endif
