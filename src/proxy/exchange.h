#ifndef WEIR_PROXY_EXCHANGE_H
#define WEIR_PROXY_EXCHANGE_H

#include "http/head.h"
#include "http/target.h"
#include "limit/limiter.h"
#include "proxy/relay.h"
#include "proxy/upstream.h"

struct conn;

enum exchange_state {
#define STATE(id, text, after) EXCHANGE_##id,
#include "proxy/exchange.def"
#undef STATE
};

/* One request and its response. Pooled: large, and never allocated on the
 * path of a request once as many were in progress before. */
struct exchange {
	/* Kept from one use to the next. */
	struct exchange *next;		/* in the pool */
	struct proxy *proxy;
	struct http_head head;		/* of the request */
	struct decision decision;

	/* Zeroed at the start of each use, from here. */
	enum exchange_state state;
	struct view *view;
	struct conn *conn;
	struct pool *pool;
	struct uconn *upstream;
	struct list link;		/* in the pool's queue */
	struct deadline timer;		/* the upstream's: connect, response */
	struct buf *hold;		/* the head, once the scratch is gone */
	struct http_target target;
	struct request request;
	int64_t length;			/* of the request's body, as framed */
	struct relay up, down;
	int64_t began, wall, sent_at, upstream_us;
	struct tried tried;
	int64_t reply_octets;		/* body of weir's own reply */
	int status;			/* sent to the client */
	const char *error;
	const char *server;
	bool head_known;		/* parsed, and target split */
	bool classified, decided;
	bool preflight, trusted, expect;
	bool keep;			/* the client connection, afterwards */
	bool keep_upstream;
	bool retried, sent_any, upload_failed;
	bool connect_timeout;		/* a server tried was silent */
};

void exchange_pool_fini(struct proxy *proxy);
void exchange_reap(struct proxy *proxy);	/* at the end of a turn */
/* The exchange to parse the next head into; stays the proxy's. */
struct exchange *exchange_spare(struct proxy *proxy);

/*
 * Begin with the head just parsed into the spare one, which is the
 * connection's now. May answer and end before it returns; look at
 * conn->exchange and conn->dead.
 */
void exchange_begin(struct conn *conn, struct exchange *ex);

/* The same for a head that could not be parsed: answer and end. */
void exchange_refuse(struct conn *conn, int status, const char *error);

/* May the client's octets be taken: those of a body that is on its way? */
bool exchange_wants_body(const struct exchange *ex);
/* Take them from conn->data. */
void exchange_on_body(struct exchange *ex);

/* The client's octets have all left: go on with the response. */
void exchange_on_client_drained(struct exchange *ex);
/* The client has ended in the middle of its body. */
void exchange_on_client_end(struct exchange *ex);
/* The client sends its body, or takes its response, too slowly. */
void exchange_on_client_stall(struct exchange *ex);
/* The client is gone: the one way out that answers nothing. */
void exchange_abort(struct exchange *ex, const char *error);

/* Called by upstream.c. */
void exchange_on_connected(struct exchange *ex);
void exchange_on_no_upstream(struct exchange *ex);
void exchange_on_slot(struct exchange *ex);	/* it may ask again */
void exchange_on_upstream(struct exchange *ex);

/*
 * Answer instead of the upstream, and end. lines: further whole lines; body
 * empty: the problem document of that status.
 */
void exchange_answer(struct exchange *ex, int status, struct span lines,
    struct span body);
/* The same with nothing further, and a word for the access log. */
void exchange_fail(struct exchange *ex, int status, const char *error);

/* Between exchange.c, request.c, send.c and response.c alone. */
#define EXCHANGE_ALLOW	"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
void exchange_attach(struct conn *conn, struct exchange *ex);
struct span exchange_field(const struct exchange *ex, enum http_field_id id);
void exchange_on_verdict(struct decision *d);
void exchange_pass(struct exchange *ex);
/* A head that was read but is not to be forwarded: answer, and close. */
void exchange_reject(struct exchange *ex, int status, const char *error);
/* The scratch will be written over: keep the head, and all views into it. */
void exchange_hold(struct exchange *ex);
void exchange_enter(struct exchange *ex, enum exchange_state state);
void exchange_end(struct exchange *ex);
void exchange_upstream_timer(struct exchange *ex);
bool exchange_retry(struct exchange *ex);
void exchange_on_upload_failed(struct exchange *ex);
void exchange_on_timer(struct deadline *d);

#endif
