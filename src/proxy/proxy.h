#ifndef WEIR_PROXY_PROXY_H
#define WEIR_PROXY_PROXY_H

#include "base/counters.h"
#include "config/config.h"
#include "limit/limiter.h"
#include "net/loop.h"
#include "proxy/access.h"

/*
 * The data path of one worker: listeners, client connections, exchanges and
 * upstream pools. All in the loop's thread.
 */
struct proxy;

struct proxy_env {
	struct loop *loop;
	struct limiter *limiter;
	struct counters *counters;
	struct access_log *access;	/* NULL: no access log */
	_Atomic int64_t *connections;	/* open client connections of all
					   workers, for limits.connections */
	unsigned workers;		/* how many share upstream caps */
};

struct proxy *proxy_new(const struct proxy_env *env);
/* At once; connections are closed. */
void proxy_free(struct proxy *proxy);

/*
 * Let a configuration be in force from the next request on. Takes a reference.
 * Upstream pools whose servers are the same by value are kept; an exchange
 * ends with the configuration it began with. fds: the listening sockets of
 * this worker, one for each config->listens, borrowed (the proxy watches, the
 * owner closes after the next adopt or free). Old listeners are let go first.
 */
void proxy_adopt(struct proxy *proxy, struct config *config, const int *fds);

/*
 * Stop accepting, close idle connections, say "Connection: close" on the next
 * responses; on_drained(arg) once the last exchange has ended (perhaps before
 * this returns to the loop, never before this returns).
 */
void proxy_drain(struct proxy *proxy, void (*on_drained)(void *), void *arg);

/* Exchanges in progress. */
unsigned proxy_busy(const struct proxy *proxy);

#endif
