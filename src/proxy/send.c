#include "http/forward.h"
#include "proxy/conn.h"
#include "proxy/exchange.h"
#include "proxy/upstream.h"

/*
 * The way of an allowed request to its upstream, head and body.
 */

/* GET and its like may be sent twice (RFC 9110, 9.2.2). */
static bool
is_idempotent(const struct exchange *ex)
{
	switch (ex->head.method_id) {
	case HTTP_GET:
	case HTTP_HEAD:
	case HTTP_PUT:
	case HTTP_DELETE:
	case HTTP_OPTIONS:
		return true;
	default:
		return false;
	}
}

static void send_head(struct exchange *ex);

static void
find_upstream(struct exchange *ex, bool fresh)
{
	struct uconn *u = NULL;

	switch (upstream_get(ex->pool, ex, fresh, is_idempotent(ex),
	    &ex->tried, &u)) {
	case ERR_OK:
		send_head(ex);
		break;
	case ERR_AGAIN:
		exchange_enter(ex, EXCHANGE_CONNECTING);
		exchange_hold(ex);
		deadline_set(&ex->timer, &ex->pool->connect,
		    loop_now(ex->proxy->loop));
		break;
	default:
		if (ex->connect_timeout)
			exchange_fail(ex, 504, "upstream_connect_timeout");
		else
			exchange_fail(ex, 502, "upstream_refused");
	}
}

void
exchange_pass(struct exchange *ex)
{
	const struct config *config = ex->view->config;
	int i = config->default_upstream;

	if (ex->request.route != NULL && ex->request.route->upstream >= 0)
		i = ex->request.route->upstream;
	if (i < 0) {
		exchange_fail(ex, 404, "no_route");
		return;
	}
	ex->pool = &ex->view->pools[i];
	find_upstream(ex, false);
}

void
exchange_on_connected(struct exchange *ex)
{
	struct conn *conn = ex->conn;

	deadline_clear(&ex->timer);
	send_head(ex);
	conn_drive(conn);
}

void
exchange_on_no_upstream(struct exchange *ex)
{
	struct conn *conn = ex->conn;

	counter_add(ex->proxy->env.counters, COUNT_UPSTREAM_ERRORS_TOTAL, 1);
	upstream_close(ex->upstream);
	ex->upstream = NULL;
	find_upstream(ex, ex->retried);
	conn_drive(conn);
}

void
exchange_on_slot(struct exchange *ex)
{
	struct conn *conn = ex->conn;

	find_upstream(ex, ex->retried);
	conn_drive(conn);
}

/*
 * After a kept connection has turned out to be dead: once more, on a new one,
 * if the request may be sent again and is still whole. Closes the upstream.
 */
bool
exchange_retry(struct exchange *ex)
{
	struct uconn *u = ex->upstream;
	bool whole = ex->up.octets == 0 &&
	    (ex->length == 0 || !ex->up.done);
	bool may = u->reused && !u->answered && !ex->retried && whole &&
	    (is_idempotent(ex) || !ex->sent_any);

	if (!may)
		return false;
	upstream_close(u);
	ex->upstream = NULL;
	ex->retried = true;
	ex->sent_any = false;
	find_upstream(ex, true);
	return true;
}

static int
forward_status(enum err e)
{
	switch (e) {
	case ERR_LOOP:
		return 508;
	case ERR_EXPECT:
		return 417;
	case ERR_TOO_LARGE:
		return 431;
	default:
		return 400;
	}
}

static enum err
put_request(struct exchange *ex, struct http_out *out)
{
	const struct conn *conn = ex->conn;
	struct http_forward_request forward = {
		.head = &ex->head, .target = &ex->target,
		.peer = &conn->peer, .peer_trusted = ex->trusted,
		.length = ex->length, .rule = &ex->view->config->client,
		.client = &ex->request.client,
		.peer_text = span_of(conn->peer_text, conn->peer_len),
	};

	return http_forward_request(&forward, out);
}

/* The connection came from the pool unused, or has just been made. */
static void
give_back(struct exchange *ex)
{
	upstream_park(ex->pool, ex->upstream);
	ex->upstream = NULL;
}

/* A chunked body tells its length only by arriving. */
static bool
body_too_large(const struct exchange *ex)
{
	return ex->up.octets > ex->view->config->limits.body_bytes;
}

static void
send_head(struct exchange *ex)
{
	struct proxy *proxy = ex->proxy;
	struct uconn *u = ex->upstream;
	struct http_out out = { .buf = proxy->out, .cap = proxy->out_front };
	struct relay_room room = { proxy->out, proxy->out_front, 0 };
	struct span wire;
	enum err e;

	if ((e = put_request(ex, &out)) != ERR_OK) {
		give_back(ex);
		exchange_reject(ex, forward_status(e), "refused");
		return;
	}
	room.head = out.len;
	if (relay_pass(&ex->up, &ex->conn->data, &room, &wire) != ERR_OK) {
		give_back(ex);
		exchange_reject(ex, 400, "bad_chunk");
		return;
	}
	if (body_too_large(ex)) {
		give_back(ex);
		exchange_reject(ex, 413, "body_too_large");
		return;
	}
	exchange_hold(ex);
	exchange_enter(ex, EXCHANGE_SENDING);
	ex->server = u->server->text;
	ex->sent_at = loop_now(proxy->loop);
	counter_add(proxy->env.counters, COUNT_UPSTREAM_REQUESTS_TOTAL, 1);
	if (upstream_send(u, wire, &ex->sent_any) != ERR_OK) {
		if (!exchange_retry(ex))
			exchange_fail(ex, 502, "upstream_reset");
		return;
	}
	exchange_upstream_timer(ex);
}

bool
exchange_wants_body(const struct exchange *ex)
{
	return (ex->state == EXCHANGE_SENDING ||
	    ex->state == EXCHANGE_RESPONDING) && !ex->up.done &&
	    ex->upstream->out == NULL;
}

/* The body cannot go on; the upstream must not take it for whole. */
static void
fail_body(struct exchange *ex, int status, const char *error)
{
	if (ex->state == EXCHANGE_RESPONDING)
		exchange_abort(ex, error);
	else
		exchange_reject(ex, status, error);
}

void
exchange_on_body(struct exchange *ex)
{
	struct proxy *proxy = ex->proxy;
	struct relay_room room = { proxy->out, proxy->out_front, 0 };
	struct span wire;
	bool sent;

	if (relay_pass(&ex->up, &ex->conn->data, &room, &wire) != ERR_OK) {
		fail_body(ex, 400, "bad_chunk");
		return;
	}
	if (body_too_large(ex)) {
		fail_body(ex, 413, "body_too_large");
		return;
	}
	if (wire.len == 0)
		return;
	if (upstream_send(ex->upstream, wire, &sent) != ERR_OK) {
		exchange_on_upload_failed(ex);
		exchange_on_upstream(ex);
		return;
	}
	exchange_upstream_timer(ex);
}

void
exchange_on_client_end(struct exchange *ex)
{
	fail_body(ex, 400, "client_closed");
}

void
exchange_on_client_stall(struct exchange *ex)
{
	fail_body(ex, 408, "client_stalled");
}
