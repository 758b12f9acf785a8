#ifndef WEIR_PROXY_CONN_H
#define WEIR_PROXY_CONN_H

#include "net/stream.h"
#include "proxy/shared.h"

/*
 * A connection of a client: reads heads, one exchange at a time, in order.
 * Small, because most are idle: buffers hang on it only while they hold
 * something.
 */
struct conn {
	struct stream stream;
	struct proxy *proxy;
	struct exchange *exchange;	/* NULL between requests */
	struct list link;		/* proxy->conns or dead_conns */
	struct work again;
	struct deadline timer;
	struct span data;		/* received, not yet used: in `in` or,
					   within a callback, in the scratch */
	struct buf *in, *out;		/* out: not yet taken by the client */
	size_t scanned;			/* of an incomplete head in data */
	int64_t skip;			/* octets of a refused body to drop */
	int64_t lingered;		/* octets dropped while lingering */
	int64_t linger_until;
	struct addr peer;
	uint16_t peer_port;
	uint8_t peer_len;
	bool partial;			/* data is an incomplete head */
	bool last;			/* no further request on it */
	bool pending;			/* the client may still be sending */
	bool lingering;			/* reply sent, dropping what comes */
	bool eof;			/* the client has finished sending */
	bool progress;			/* octets moved since the last timer */
	bool driving, dead;
	char peer_text[ADDR_TEXT_MAX];
};

void conn_accept(struct proxy *proxy, int fd, const struct sockaddr *peer);
/* Do whatever can be done now. May close the connection; it is freed at the
 * end of the turn only. */
void conn_drive(struct conn *conn);
/*
 * Send to the client; what it does not take now waits in conn->out. False: it
 * is gone, and the exchange, if there was one, aborted.
 */
bool conn_send(struct conn *conn, struct span data);
/* The scratch is needed for something else: keep what is in it. */
void conn_keep(struct conn *conn);
/* reset: what the client has is not whole. */
void conn_close(struct conn *conn, bool reset);
void conn_reap(struct proxy *proxy);
void conn_on_idle(struct deadline *d);
void conn_on_header(struct deadline *d);
void conn_on_stall(struct deadline *d);
void conn_on_linger(struct deadline *d);

#endif
