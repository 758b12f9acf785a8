#ifndef WEIR_PROXY_UPSTREAM_H
#define WEIR_PROXY_UPSTREAM_H

#include "net/stream.h"
#include "proxy/server.h"

/*
 * Connections to upstream servers. A pool is one `upstreams` entry of one view
 * and refers to servers, which know no configuration.
 */
struct member {
	struct server *server;
	unsigned weight;
	int64_t credit;			/* round_robin */
};

struct pool {
	struct view *view;
	const struct upstream_conf *conf;
	struct member *members;
	unsigned n, turn;
	unsigned connections;		/* most a server, for this worker */
	struct deadline_class connect, response;
	struct list waiters;		/* exchanges, by their link */
	struct list waiting_link;	/* proxy->waiting */
};

/* What a request has tried to connect to. */
struct tried {
	uint64_t members;		/* a bit for each, as far as they go */
	unsigned connects;
};

/* A connection to a server. */
struct uconn {
	struct stream stream;
	struct server *server;
	struct exchange *exchange;	/* NULL while idle */
	struct list link;		/* idle or dead */
	struct work again;
	struct deadline timer;		/* while idle */
	struct buf *in, *out;		/* unfinished head; unsent octets */
	size_t scanned;
	bool connecting;
	bool reused;			/* it has served a request before */
	bool answered;			/* octets of this response came */
	bool dead;
};

void pool_init(struct pool *pool, struct view *view,
    const struct upstream_conf *conf);
void pool_fini(struct pool *pool);

/*
 * A connection for the exchange, which is set in it and in turn. fresh: not a
 * kept one. safe: a request that may be sent again; for others a kept
 * connection is looked at before use. ERR_OK: *ret may be used at once.
 * ERR_AGAIN: exchange_on_connected or exchange_on_no_upstream follows (from
 * the loop). ERR_REFUSED: no server that was not tried yet takes connections.
 */
enum err upstream_get(struct pool *pool, struct exchange *ex, bool fresh,
    bool safe, struct tried *tried, struct uconn **ret);
/* Leave the queue of upstream_get; harmless otherwise. */
void upstream_unqueue(struct pool *pool, struct list *link);
/* Room has become free somewhere. */
void upstream_run_queue(struct proxy *proxy);

/* Keep it for another request, as many as the pool is to keep. */
void upstream_park(struct pool *pool, struct uconn *u);
void upstream_close(struct uconn *u);

/* Send, and keep what does not fit at the moment. ERR_SYSTEM: it is broken;
 * *ret_sent tells whether any octet left. */
enum err upstream_send(struct uconn *u, struct span data, bool *ret_sent);

void upstream_reap(struct proxy *proxy);
void upstream_free_all(struct proxy *proxy);	/* idle ones and servers */
void upstream_on_idle_timeout(struct deadline *d);

#endif
