#ifndef WEIR_TESTS_ASKING_H
#define WEIR_TESTS_ASKING_H

#include "limit/store.h"
#include "net/loop.h"
#include "store/redis.h"

/* Asking a Redis store from a test, and waiting in its loop for what comes. */

struct asking {
	struct loop *loop;
	struct counters counters;
	struct store *store;
	struct policy policy;		/* free to change before the first */
	struct limits limits;		/* 5 an hour, token_bucket, until then */
	bool settled;
};

/* loop NULL: one of its own, which the first asking_end frees. */
void asking_begin(struct asking *a, struct loop *loop,
    const struct redis_conf *conf);
void asking_end(struct asking *a, bool loop_too);
void asking_limit(struct asking *a, enum algo_kind algorithm, int64_t count,
    int64_t period_us);

/* Run the loop until cond(arg), looked at every millisecond; false after `us`
 * without. */
bool asking_until(struct loop *loop, bool (*cond)(void *), void *arg,
    int64_t us);
bool asking_until_up(struct asking *a, int64_t us);
bool asking_until_down(struct asking *a, int64_t us);
void asking_pause(struct loop *loop, int64_t us);

enum said { SAID_NOTHING, SAID_PASS, SAID_DENY, SAID_UNKNOWN };

/* One question on its way, or answered. */
struct asked {
	struct question question;
	struct asking *asking;
	enum said said;
	unsigned times;			/* answered: never more than once */
	bool at_once;			/* ANSWER_NOW */
	int64_t asked_at, took_us;
	void (*then)(struct asked *);	/* called when answered, or NULL */
};

void asked_init(struct asked *q, struct asking *a);
void asked_fini(struct asked *q);
void asked_send(struct asked *q, uint64_t who, int64_t cost);
void asked_cancel(struct asked *q);
/* Wait up to 5 s until all n have been answered. */
bool asked_wait(struct asked *q, size_t n);

/* A whole question: 'P', 'D' or 'U'. */
char asking_one(struct asking *a, uint64_t who, int64_t cost);
/* n of them, one after the other, as a text: "PPPPPDD". Valid until the next
 * call. */
const char *asking_row(struct asking *a, uint64_t who, size_t n);

int64_t asking_count(const struct asking *a, enum counter id);
/* The key under which `who` is counted. Valid until the next. */
const char *asking_key(struct asking *a, const char *prefix, uint64_t who);

#endif
