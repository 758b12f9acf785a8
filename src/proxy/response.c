#include "base/log.h"
#include "http/forward.h"
#include "http/parse.h"
#include "limit/advert.h"
#include "proxy/conn.h"
#include "proxy/exchange.h"
#include "proxy/reply.h"
#include "proxy/upstream.h"

/* What an upstream's response head may measure. */
static const struct http_limits limits = {
	.head_bytes = 65536, .target_bytes = 0, .fields = HTTP_FIELDS_MAX
};

/*
 * The upstream has response_timeout of silence, counted while it is its turn:
 * from when it has the whole request, or will not take more of it, until its
 * head has come, and then whenever the client is ready for more.
 */
void
exchange_upstream_timer(struct exchange *ex)
{
	bool its_turn;

	if (ex->state == EXCHANGE_SENDING)
		its_turn = ex->up.done || ex->upstream->out != NULL;
	else
		its_turn = ex->conn->out == NULL;
	if (its_turn)
		deadline_set(&ex->timer, &ex->pool->response,
		    loop_now(ex->proxy->loop));
	else
		deadline_clear(&ex->timer);
}

/* The response cannot become whole. What the client has must not look it. */
static void
fail(struct exchange *ex, int status, const char *error)
{
	struct conn *conn = ex->conn;

	counter_add(ex->proxy->env.counters, status == 504 ?
	    COUNT_UPSTREAM_TIMEOUTS_TOTAL : COUNT_UPSTREAM_ERRORS_TOTAL, 1);
	if (ex->state == EXCHANGE_RESPONDING) {
		exchange_abort(ex, error);
		return;
	}
	if (ex->upstream != NULL)
		upstream_close(ex->upstream);
	ex->upstream = NULL;
	exchange_fail(ex, status, error);
	conn_drive(conn);
}

void
exchange_on_timer(struct deadline *d)
{
	struct exchange *ex = LIST_ITEM(d, struct exchange, timer);

	if (ex->state != EXCHANGE_CONNECTING) {
		fail(ex, 504, "upstream_timeout");
	} else if (ex->upstream == NULL) {
		fail(ex, 503, "upstream_full");
	} else {
		server_failed(ex->upstream->server,
		    loop_now(ex->proxy->loop), CLOCK_SECOND);
		ex->connect_timeout = true;
		exchange_on_no_upstream(ex);
	}
}

/* All of it has been passed on. */
static void
finish(struct exchange *ex, struct span rest)
{
	struct conn *conn = ex->conn;
	struct uconn *u = ex->upstream;

	ex->upstream_us = loop_now(ex->proxy->loop) - ex->sent_at;
	ex->upstream = NULL;
	buf_drop(&ex->proxy->bufs, &u->in);
	/* Octets behind the response are nobody's: not to be used again. */
	if (ex->keep_upstream && ex->up.done && !ex->upload_failed &&
	    u->out == NULL && rest.len == 0 && !u->stream.hup)
		upstream_park(ex->pool, u);
	else
		upstream_close(u);
	if (!ex->up.done) {
		ex->keep = false;
		conn->pending = true;
	}
	exchange_end(ex);
	conn_drive(conn);
}

static bool
send_wire(struct exchange *ex, struct span wire)
{
	return wire.len == 0 || conn_send(ex->conn, wire);
}

/* True: it is over, one way or the other. */
static bool
relay_body(struct exchange *ex, struct span *in, size_t head)
{
	struct proxy *proxy = ex->proxy;
	struct relay_room room = { proxy->out, proxy->out_front, head };
	struct span wire;

	if (relay_pass(&ex->down, in, &room, &wire) != ERR_OK) {
		fail(ex, 502, "upstream_bad_chunk");
		return true;
	}
	if (!send_wire(ex, wire))
		return true;
	if (!ex->down.done)
		return false;
	finish(ex, *in);
	return true;
}

/* Whose x-ratelimit-* does the caller get? One side's, never a mixture. */
static bool
own_limit_fields(const struct exchange *ex, const struct http_head *head)
{
	const struct headers_conf *conf = &ex->view->config->headers;

	if (!ex->decided || ex->decision.policy == NULL ||
	    conf->style == HEADERS_NONE)
		return false;
	return conf->upstream == UPSTREAM_REPLACE ||
	    (http_head_find(head, FIELD_X_RATELIMIT_LIMIT) == NULL &&
	    http_head_find(head, FIELD_X_RATELIMIT_REMAINING) == NULL &&
	    http_head_find(head, FIELD_X_RATELIMIT_RESET) == NULL);
}

/* weir's own lines on an upstream's response. */
static void
put_extra(struct exchange *ex, const struct http_head *head, bool own,
    bool expose, struct http_out *out)
{
	if (own)
		advert_put(&ex->view->config->headers, &ex->decision,
		    ex->wall, out);
	if (expose)
		reply_put_expose(head, out);
}

static bool
begin_response(struct exchange *ex, struct span *in, int64_t length)
{
	struct proxy *proxy = ex->proxy;
	const struct config *config = ex->view->config;
	const struct http_head *head = proxy->response;
	const bool own = own_limit_fields(ex, head);
	struct http_out extra = { .buf = proxy->lines,
	    .cap = PROXY_LINES_MAX };
	struct http_out out = { .buf = proxy->out, .cap = proxy->out_front };
	const bool expose = config->cors.expose &&
	    config->headers.style != HEADERS_NONE &&
	    http_head_find(&ex->head, FIELD_ORIGIN) != NULL;
	struct http_forward_response forward = {
		.head = head, .method = ex->head.method_id,
		.client_minor = ex->head.minor, .length = length,
		.drop_limit_fields = own,
		.drop_cors_expose = expose,
		.date = proxy_date(proxy, loop_now(proxy->loop)),
	};

	/* The rest of its body may never come, so nothing may follow it. */
	if (!ex->up.done)
		ex->keep = false;
	ex->keep_upstream = length != HTTP_UNTIL_CLOSE &&
	    http_is_persistent(head);
	put_extra(ex, head, own, expose, &extra);
	forward.close = !ex->keep || proxy->draining;
	forward.extra = span_of(extra.buf, extra.len);
	if (extra.over || http_forward_response(&forward, &out) != ERR_OK) {
		fail(ex, 502, "upstream_head_too_large");
		return true;
	}
	exchange_enter(ex, EXCHANGE_RESPONDING);
	ex->status = head->status;
	relay_init(&ex->down, length, length < 0 && ex->head.minor > 0);
	return relay_body(ex, in, out.len);
}

/* 1xx: passed on as it comes, but not to those who do not know it. */
static bool
relay_interim(struct exchange *ex)
{
	struct proxy *proxy = ex->proxy;
	struct http_forward_response forward = {
		.head = proxy->response, .method = ex->head.method_id,
		.client_minor = ex->head.minor };
	struct http_out out = { .buf = proxy->out, .cap = proxy->out_front };

	if (ex->head.minor == 0)
		return true;
	if (http_forward_response(&forward, &out) != ERR_OK) {
		fail(ex, 502, "upstream_bad_response");
		return false;
	}
	return conn_send(ex->conn, span_of(out.buf, out.len));
}

/* True: it is over. False with an incomplete head: *in has its octets. */
static bool
take_head(struct exchange *ex, struct span *in)
{
	struct http_head *head = ex->proxy->response;
	struct uconn *u = ex->upstream;
	int64_t length;
	size_t used;
	enum err e;

	while (ex->state == EXCHANGE_SENDING) {
		e = http_parse_response(*in, &limits, &u->scanned, head,
		    &used);
		if (e == ERR_AGAIN)
			return false;
		if (e != ERR_OK || head->status == 101 ||
		    http_response_framing(head, ex->head.method_id,
		    &length) != ERR_OK) {
			fail(ex, 502, "upstream_bad_response");
			return true;
		}
		*in = span_skip(*in, used);
		u->scanned = 0;
		if (head->status >= 200)
			return begin_response(ex, in, length);
		if (!relay_interim(ex))
			return true;
	}
	return false;
}

/* True: it is over. Leaves of *in what has to wait for more. */
static bool
take(struct exchange *ex, struct span *in)
{
	if (ex->state == EXCHANGE_SENDING)
		return take_head(ex, in);
	return relay_body(ex, in, 0);
}

static void
on_eof(struct exchange *ex)
{
	struct conn *conn = ex->conn;

	if (ex->state == EXCHANGE_RESPONDING &&
	    ex->down.left == HTTP_UNTIL_CLOSE) {
		if (send_wire(ex, relay_close(&ex->down)))
			finish(ex, SPAN_EMPTY);
		return;
	}
	if (ex->state == EXCHANGE_SENDING && exchange_retry(ex)) {
		conn_drive(conn);
		return;
	}
	fail(ex, 502, "upstream_closed");
}

/* Read once: behind an unfinished head, or into the scratch. */
static enum err
fill(struct exchange *ex, struct span *ret_in)
{
	struct proxy *proxy = ex->proxy;
	struct uconn *u = ex->upstream;
	size_t n;
	enum err e;

	if (u->in == NULL) {
		conn_keep(ex->conn);
		e = stream_read(&u->stream, proxy->in, SCRATCH, &n);
		if (e == ERR_OK)
			*ret_in = span_of(proxy->in, n);
		return e;
	}
	buf_reserve(&proxy->bufs, &u->in, BUF_MIN);
	e = stream_read(&u->stream, u->in->data + u->in->off + u->in->len,
	    u->in->cap - u->in->off - u->in->len, &n);
	if (e != ERR_OK)
		return e;
	u->in->len += n;
	*ret_in = buf_span(u->in);
	return e;
}

/* Keep what is left of in for the next read. */
static void
keep(struct uconn *u, struct span in)
{
	struct buf_pool *bufs = &u->server->proxy->bufs;

	if (u->in != NULL)
		buf_skip(bufs, &u->in, u->in->len - in.len);
	else
		buf_append(bufs, &u->in, in);
}

/* False: the exchange is over, or has to wait. */
static bool
read_once(struct exchange *ex, size_t *moved)
{
	struct uconn *u = ex->upstream;
	struct span in;

	switch (fill(ex, &in)) {
	case ERR_OK:
		break;
	case ERR_AGAIN:
		return false;
	case ERR_CLOSED:
		on_eof(ex);
		return false;
	default:
		if (ex->state == EXCHANGE_SENDING) {
			on_eof(ex);
			return false;
		}
		fail(ex, 502, "upstream_reset");
		return false;
	}
	*moved += in.len;
	u->answered = true;
	if (take(ex, &in))
		return false;
	keep(u, in);
	exchange_upstream_timer(ex);
	return true;
}

/* It takes no more of the body; perhaps it has answered, the read tells. */
void
exchange_on_upload_failed(struct exchange *ex)
{
	ex->upload_failed = true;
	ex->up.done = true;
	ex->keep = false;
	ex->conn->pending = true;
	ex->upstream->stream.can_read = true;
}

/* False: there is room for more of the body. */
static bool
flush(struct exchange *ex)
{
	struct uconn *u = ex->upstream;
	size_t n;

	if (u->out == NULL || !u->stream.can_write)
		return true;
	if (stream_write(&u->stream, buf_span(u->out), &n) != ERR_OK) {
		buf_drop(&ex->proxy->bufs, &u->out);
		exchange_on_upload_failed(ex);
		return true;
	}
	if (n == 0)
		return true;
	buf_skip(&ex->proxy->bufs, &u->out, n);
	exchange_upstream_timer(ex);
	return u->out != NULL;
}

void
exchange_on_upstream(struct exchange *ex)
{
	struct uconn *u = ex->upstream;
	struct conn *conn = ex->conn;
	size_t moved = 0;

	if (!flush(ex))
		conn_drive(conn);
	while (!u->dead && u->exchange == ex && u->stream.can_read &&
	    conn->out == NULL) {
		if (moved >= WORK_CAP) {
			proxy_again(ex->proxy, &u->again);
			return;
		}
		if (!read_once(ex, &moved))
			return;
	}
}

void
exchange_on_client_drained(struct exchange *ex)
{
	if (ex->state != EXCHANGE_SENDING && ex->state != EXCHANGE_RESPONDING)
		return;
	exchange_upstream_timer(ex);
	exchange_on_upstream(ex);
}
