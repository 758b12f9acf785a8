#ifndef WEIR_PROXY_SHARED_H
#define WEIR_PROXY_SHARED_H

#include "base/clock.h"
#include "net/deadline.h"
#include "net/listener.h"
#include "proxy/buf.h"
#include "proxy/proxy.h"

/*
 * What the files of this folder share: the worker's data path and its view of
 * the configuration. Everything here belongs to one thread.
 */
struct pool;
struct exchange;

/* A configuration in use by this worker: at most one is the newest, older
 * ones stay until the last exchange that began with them has ended. */
struct view {
	struct list link;		/* proxy->dead_views */
	struct proxy *proxy;
	struct config *config;
	unsigned refs;
	struct pool *pools;		/* one for each config->upstreams */
};

#define SCRATCH		(128u << 10)	/* read at once */
#define WORK_CAP	(256 << 10)	/* octets moved for one connection
					   before others have their turn */

struct proxy {
	struct proxy_env env;
	struct loop *loop;
	struct view *view;		/* NULL before the first adopt */
	struct listener *listeners;
	unsigned nlisteners;

	struct list conns;
	struct list again;		/* struct work: more to do next turn */
	struct loop_task again_task;
	struct list dead_conns, dead_uconns;	/* freed at the end of a turn */
	struct list dead_views;		/* likewise: a timeout of one of their
					   classes may be what ended them */
	struct loop_task reap_task;
	struct loop_task flush_task;	/* of the access log */

	/* Scratch: valid within one callback. */
	char *in;			/* SCRATCH octets */
	char *out;			/* out_front + SCRATCH + RELAY_ROOM */
	size_t out_front;
	char *names;			/* normalised path and host */
	char *body;			/* of weir's own replies */
	char *lines;			/* their further lines */
	struct http_head *response;	/* head of an upstream's response */
	struct buf_pool bufs;

	struct exchange *spare;		/* to parse the next head into */
	struct exchange *free_exchanges;
	unsigned nfree_exchanges;
	unsigned nbusy;			/* exchanges in progress */

	struct deadlines deadlines;
	struct deadline_class header, idle, body_stall, linger;
	struct deadline_class pool_idle, pool_surplus;

	struct list servers;
	struct list waiting;		/* pools with exchanges that queue */
	struct loop_task queue_task;

	char date[32];			/* IMF-fixdate of this second */
	int64_t date_until;		/* loop clock */
	int64_t wall_offset;		/* wall clock minus loop clock */
	uint32_t random;

	bool draining;
	void (*on_drained)(void *);
	void *drained_arg;
	struct loop_task drained_task;
};

#define PROXY_BODY_MAX	8192
#define PROXY_LINES_MAX	16384

/* Something that has used up its share of a turn. */
struct work {
	struct list link;
	void (*fn)(struct work *work);
};
/* Run it in the next turn, after everything that is ready then. */
void proxy_again(struct proxy *proxy, struct work *work);

/* Accepts NULL. It is freed at the end of the turn only. */
void view_unref(struct view *view);

/* Bring date and wall_offset up to date; returns the wall clock. */
int64_t proxy_wall(struct proxy *proxy, int64_t now);
struct span proxy_date(struct proxy *proxy, int64_t now);
uint32_t proxy_random(struct proxy *proxy);

/* An exchange or a connection has ended: perhaps the last one. */
void proxy_check_drained(struct proxy *proxy);

#endif
