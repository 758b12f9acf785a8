#include "proxy/exchange.h"

#include <assert.h>

#include "base/log.h"
#include "base/mem.h"
#include "http/forward.h"
#include "proxy/conn.h"
#include "proxy/reply.h"
#include "proxy/upstream.h"

#define KEEP_EXCHANGES	1024	/* unused ones kept */
#define DRAIN_MAX	65536	/* of a refused body, to keep a connection */

#define BIT(id)	(1u << EXCHANGE_##id)
static const struct {
	const char *name;
	unsigned after;
} states[] = {
#define STATE(id, text, after) { text, after },
#include "proxy/exchange.def"
#undef STATE
};
#undef BIT

void
exchange_enter(struct exchange *ex, enum exchange_state state)
{
	log_debug("exchange %p: %s -> %s", (void *)ex,
	    states[ex->state].name, states[state].name);
	assert(states[state].after & 1u << ex->state);
	ex->state = state;
}

static struct exchange *
exchange_new(struct proxy *proxy)
{
	struct exchange *ex = mem_zalloc(sizeof(*ex));

	ex->proxy = proxy;
	decision_init(&ex->decision);
	ex->decision.owner = ex;
	ex->decision.on_verdict = exchange_on_verdict;
	return ex;
}

static void
exchange_free(struct exchange *ex)
{
	decision_fini(&ex->decision);
	mem_free(ex);
}

static void
free_down_to(struct proxy *proxy, unsigned n)
{
	while (proxy->nfree_exchanges > n) {
		struct exchange *ex = proxy->free_exchanges;

		proxy->free_exchanges = ex->next;
		proxy->nfree_exchanges--;
		exchange_free(ex);
	}
}

void
exchange_reap(struct proxy *proxy)
{
	free_down_to(proxy, KEEP_EXCHANGES);
}

void
exchange_pool_fini(struct proxy *proxy)
{
	if (proxy->spare != NULL)
		exchange_free(proxy->spare);
	proxy->spare = NULL;
	free_down_to(proxy, 0);
}

struct exchange *
exchange_spare(struct proxy *proxy)
{
	if (proxy->spare == NULL && proxy->free_exchanges != NULL) {
		proxy->spare = proxy->free_exchanges;
		proxy->free_exchanges = proxy->spare->next;
		proxy->nfree_exchanges--;
	}
	if (proxy->spare == NULL)
		proxy->spare = exchange_new(proxy);
	return proxy->spare;
}

void
exchange_attach(struct conn *conn, struct exchange *ex)
{
	const size_t from = offsetof(struct exchange, state);
	struct proxy *proxy = conn->proxy;

	memset((char *)ex + from, 0, sizeof(*ex) - from);
	list_init(&ex->link);
	deadline_init(&ex->timer);
	proxy->spare = NULL;
	proxy->nbusy++;
	ex->conn = conn;
	conn->exchange = ex;
	ex->view = proxy->view;
	ex->view->refs++;
	ex->began = loop_now(proxy->loop);
	ex->wall = proxy_wall(proxy, ex->began);
	ex->upstream_us = -1;
	ex->up.done = true;
}

struct span
exchange_field(const struct exchange *ex, enum http_field_id id)
{
	const struct http_field *f = NULL;

	if (ex->head_known)
		f = http_head_find(&ex->head, id);
	return f == NULL ? SPAN_EMPTY : f->value;
}

static void
write_access(struct exchange *ex)
{
	struct proxy *proxy = ex->proxy;
	struct conn *conn = ex->conn;
	struct access_entry entry = {
		.wall_us = ex->wall,
		.duration_us = loop_now(proxy->loop) - ex->began,
		.upstream_us = ex->upstream_us,
		.client = ex->request.client, .peer = conn->peer,
		.peer_port = conn->peer_port,
		.host = ex->request.host, .status = ex->status,
		.user_agent = exchange_field(ex, FIELD_USER_AGENT),
		.referer = exchange_field(ex, FIELD_REFERER),
		.bytes_in = ex->up.octets,
		.bytes_out = ex->reply_octets + ex->down.octets,
		.request = ex->classified ? &ex->request : NULL,
		.decision = ex->decided ? &ex->decision : NULL,
		.upstream = ex->pool != NULL ? ex->pool->conf->name : NULL,
		.server = ex->server, .error = ex->error,
		.preflight = ex->preflight,
	};

	if (ex->head_known) {
		entry.method = ex->head.method;
		entry.target = ex->head.target;
		entry.minor = ex->head.minor;
	}
	access_write(proxy->env.access, &entry);
	loop_defer(proxy->loop, &proxy->flush_task);
}

/* The only way out. The connection stays, without an exchange. */
void
exchange_end(struct exchange *ex)
{
	struct proxy *proxy = ex->proxy;
	struct conn *conn = ex->conn;

	if (ex->state == EXCHANGE_DECIDING)
		limiter_cancel(&ex->decision);
	if (ex->pool != NULL)
		upstream_unqueue(ex->pool, &ex->link);
	if (ex->upstream != NULL)
		upstream_close(ex->upstream);
	ex->upstream = NULL;
	exchange_enter(ex, EXCHANGE_ENDED);
	if (proxy->env.access != NULL)
		write_access(ex);
	deadline_clear(&ex->timer);
	buf_drop(&proxy->bufs, &ex->hold);
	if (!ex->keep || proxy->draining)
		conn->last = true;
	conn->exchange = NULL;
	view_unref(ex->view);
	proxy->nbusy--;
	ex->next = proxy->free_exchanges;
	proxy->free_exchanges = ex;
	if (++proxy->nfree_exchanges > KEEP_EXCHANGES)
		loop_defer(proxy->loop, &proxy->reap_task);
	proxy_check_drained(proxy);
}

void
exchange_abort(struct exchange *ex, const char *error)
{
	struct conn *conn = ex->conn;

	if (ex->error == NULL)
		ex->error = error;
	ex->keep = false;
	exchange_end(ex);
	conn_close(conn, true);
}

/* ---- answers of our own ---- */

/*
 * What becomes of a body that nobody will read: what is there is dropped; of
 * the rest a little is waited for, otherwise the connection ends with it.
 */
static void
dispose_body(struct exchange *ex)
{
	struct conn *conn = ex->conn;

	if (relay_discard(&ex->up, &conn->data) != ERR_OK) {
		ex->keep = false;
		conn->pending = true;
		return;
	}
	if (ex->up.done)
		return;
	if (ex->keep && !ex->expect && ex->up.left >= 0 &&
	    ex->up.left <= DRAIN_MAX) {
		conn->skip = ex->up.left;
		return;
	}
	ex->keep = false;
	conn->pending = true;
}

static struct http_out
scratch_out(struct proxy *proxy)
{
	return (struct http_out){ .buf = proxy->out,
	    .cap = proxy->out_front + SCRATCH };
}

void
exchange_answer(struct exchange *ex, int status, struct span lines,
    struct span body)
{
	struct proxy *proxy = ex->proxy;
	struct conn *conn = ex->conn;
	struct http_out problem = { .buf = proxy->body,
	    .cap = PROXY_BODY_MAX }, out = scratch_out(proxy);
	struct reply reply = { .status = status, .lines = lines,
	    .body = body, .type = REPLY_PROBLEM,
	    .date = proxy_date(proxy, loop_now(proxy->loop)),
	    .cors = &ex->view->config->cors,
	    .origin = exchange_field(ex, FIELD_ORIGIN) };

	dispose_body(ex);
	if (body.len == 0 && status >= 400) {
		reply_put_problem(status, &problem);
		reply.body = span_of(problem.buf, problem.len);
	}
	reply.no_body = ex->head_known && ex->head.method_id == HTTP_HEAD;
	reply.close = !ex->keep || proxy->draining;
	reply_put(&reply, &out);
	ex->status = status;
	ex->reply_octets = reply.no_body ? 0 : (int64_t)reply.body.len;
	if (!conn_send(conn, span_of(out.buf, out.len)))
		return;
	exchange_end(ex);
	conn_drive(conn);
}

void
exchange_fail(struct exchange *ex, int status, const char *error)
{
	struct span lines = SPAN_EMPTY;

	ex->error = error;
	if (status == 405)
		lines = SPAN("Allow: " EXCHANGE_ALLOW "\r\n");
	else if (status == 401)
		lines = SPAN("WWW-Authenticate: ApiKey\r\n");
	else if (status == 503)
		lines = SPAN("Retry-After: 1\r\n");
	exchange_answer(ex, status, lines, SPAN_EMPTY);
}

void
exchange_refuse(struct conn *conn, int status, const char *error)
{
	struct exchange *ex = exchange_spare(conn->proxy);

	exchange_attach(conn, ex);
	counter_add(conn->proxy->env.counters, COUNT_HTTP_REJECTS_TOTAL, 1);
	ex->request.client = conn->peer;
	conn->pending = true;
	conn->partial = false;
	conn->data = SPAN_EMPTY;
	exchange_fail(ex, status, error);
}

/* A request whose head was read but that is not to be forwarded. */
void
exchange_reject(struct exchange *ex, int status, const char *error)
{
	counter_add(ex->proxy->env.counters, COUNT_HTTP_REJECTS_TOTAL, 1);
	ex->keep = false;
	ex->conn->pending = true;
	exchange_fail(ex, status, error);
}
