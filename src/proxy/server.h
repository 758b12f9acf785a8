#ifndef WEIR_PROXY_SERVER_H
#define WEIR_PROXY_SERVER_H

#include "net/resolve.h"
#include "proxy/shared.h"

/*
 * A server that requests are sent to: known by its address or name, with its
 * idle connections, over all reloads that keep it.
 */
struct server {
	struct list link;		/* proxy->servers */
	struct proxy *proxy;
	unsigned refs;			/* pools and connections */
	unsigned pools;
	char *host;			/* a name; NULL: an address */
	unsigned port;
	struct endpoint list[RESOLVE_MAX];	/* what the name stands for */
	unsigned n, next;		/* addresses; the one to try */
	struct resolve *resolve;	/* in progress, or NULL */
	int64_t resolved_at, refused_at;	/* the name */
	char *text;
	struct list idle;		/* connections, the last used first */
	unsigned nidle, nactive;	/* nactive: connecting or in use */
	int64_t down_until;		/* it refused: others are asked first */
};

enum server_state {
	SERVER_READY,
	SERVER_RESOLVING,		/* its address comes soon */
	SERVER_UNKNOWN			/* its name has no address */
};

/* For one more pool. */
struct server *server_get(struct proxy *proxy, const struct server_conf *conf);
/* One pool less; without any, nobody will ask for its idle connections. */
void server_leave(struct server *server);
void server_unref(struct server *server);

/* Starts to look its name up when that is due; a known address stays in use
 * meanwhile. */
enum server_state server_look_up(struct server *server, int64_t now);
/* The address to connect to; SERVER_READY only. */
const struct endpoint *server_address(const struct server *server);
/* That address does not answer: another one next time, and a fresh look. */
void server_failed(struct server *server, int64_t now, int64_t rest_us);

#endif
