#ifndef WEIR_STORE_CALLS_H
#define WEIR_STORE_CALLS_H

#include "limit/script.h"
#include "net/loop.h"
#include "store/link.h"

/*
 * The commands a store has on their way, with their deadlines: one timer for
 * all, as all wait equally long. A record outlives the question it was sent
 * for, because hiredis holds it until its reply has come or the connection has
 * gone; it is then kept for the next command.
 */

/* Who is this many deadlines late will not be answered at all. */
#define CALLS_HOPELESS	4

enum call_kind { CALL_QUESTION, CALL_PING };

struct call {
	struct link_call link;
	struct list place;		/* private */
	void *owner;
	struct question *question;	/* NULL: nobody waits (any more) */
	enum call_kind kind;
	enum script script;
	bool spend;
	bool late;			/* missed its deadline */
	bool healed;			/* sent again after NOSCRIPT */
	unsigned epoch;			/* of the remembered denials */
	int64_t asked_at;
};

struct calls {
	struct loop *loop;
	int64_t timeout_us;
	void (*on_reply)(struct link_call *call, const redisReply *reply);
	/* The deadline has passed: the call stays, now late. */
	void (*on_miss)(struct call *call);
	/* The oldest one will never be answered. */
	void (*on_hopeless)(void *owner);
	void *owner;
	unsigned in_flight;		/* records in use */

	struct list waiting, overdue;	/* private from here */
	struct list lost, spare;
	struct loop_timer timer;
	int64_t timer_at;		/* INT64_MAX: not set */
};

/* The members up to owner are set before. Works in place. */
void calls_init(struct calls *calls);
/* None may be in use by a link. */
void calls_fini(struct calls *calls);

/* A record, asked at now, with everything else at rest. */
struct call *calls_get(struct calls *calls, enum call_kind kind, int64_t now);
void calls_put(struct calls *calls, struct call *call);

/* It has been sent: its deadline runs. In the order of asked_at. */
void calls_wait(struct calls *calls, struct call *call);

/* Its connection is gone: set it aside, to be taken out and answered. */
void calls_lost(struct calls *calls, struct call *call);
struct call *calls_next_lost(struct calls *calls);	/* NULL: none */

/* No deadline counts any more. */
void calls_stop(struct calls *calls);

#endif
