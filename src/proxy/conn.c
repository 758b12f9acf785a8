#include "proxy/conn.h"

#include <netinet/in.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "proxy/exchange.h"

#define LINGER_OCTETS	(INT64_C(256) << 20)
#define LINGER_US	(30 * CLOCK_SECOND)

static void on_event(struct stream *stream);

static void
on_again(struct work *work)
{
	conn_drive(LIST_ITEM(work, struct conn, again));
}

static void
set_peer(struct conn *conn, const struct sockaddr *sa)
{
	conn->peer = addr_from_sockaddr(sa);
	if (sa->sa_family == AF_INET)
		conn->peer_port = ntohs(
		    ((const struct sockaddr_in *)sa)->sin_port);
	else if (sa->sa_family == AF_INET6)
		conn->peer_port = ntohs(
		    ((const struct sockaddr_in6 *)sa)->sin6_port);
	if (conn->peer.family != 0)
		conn->peer_len = (uint8_t)addr_print(&conn->peer,
		    conn->peer_text);
}

/* Over the ceiling? One that has its answer and only lingers gives way, then
 * one that is idle, the longest idle first. */
static bool
has_room(struct proxy *proxy)
{
	const int64_t most = proxy->view->config->limits.connections;
	struct list *l;

	if (atomic_load_explicit(proxy->env.connections,
	    memory_order_relaxed) < most)
		return true;
	l = list_first(&proxy->linger.items);
	if (l == NULL)
		l = list_first(&proxy->idle.items);
	if (l == NULL) {
		log_warn("limits.connections reached, new clients are "
		    "turned away connections=%lld", (long long)most);
		return false;
	}
	conn_close(LIST_ITEM(LIST_ITEM(l, struct deadline, link),
	    struct conn, timer), false);
	return true;
}

void
conn_accept(struct proxy *proxy, int fd, const struct sockaddr *peer)
{
	struct counters *counters = proxy->env.counters;
	struct conn *conn;

	if (!has_room(proxy)) {
		counter_add(counters, COUNT_CONNECTIONS_REJECTED_TOTAL, 1);
		close(fd);
		return;
	}
	conn = mem_zalloc(sizeof(*conn));
	if (stream_open(proxy->loop, &conn->stream, fd, true, on_event) !=
	    ERR_OK) {
		counter_add(counters, COUNT_ACCEPT_ERRORS_TOTAL, 1);
		mem_free(conn);
		return;
	}
	conn->proxy = proxy;
	conn->data = SPAN_EMPTY;
	set_peer(conn, peer);
	list_init(&conn->again.link);
	conn->again.fn = on_again;
	deadline_init(&conn->timer);
	deadline_set(&conn->timer, &proxy->idle, loop_now(proxy->loop));
	list_push_back(&proxy->conns, &conn->link);
	atomic_fetch_add_explicit(proxy->env.connections, 1,
	    memory_order_relaxed);
	counter_add(counters, COUNT_CONNECTIONS_ACCEPTED_TOTAL, 1);
	counter_add(counters, COUNT_CONNECTIONS, 1);
}

void
conn_close(struct conn *conn, bool reset)
{
	struct proxy *proxy = conn->proxy;

	if (conn->dead)
		return;
	conn->dead = true;
	stream_close(&conn->stream, reset);
	deadline_clear(&conn->timer);
	list_remove(&conn->again.link);
	buf_drop(&proxy->bufs, &conn->in);
	buf_drop(&proxy->bufs, &conn->out);
	list_remove(&conn->link);
	list_push_back(&proxy->dead_conns, &conn->link);
	loop_defer(proxy->loop, &proxy->reap_task);
	atomic_fetch_sub_explicit(proxy->env.connections, 1,
	    memory_order_relaxed);
	counter_add(proxy->env.counters, COUNT_CONNECTIONS, -1);
	proxy_check_drained(proxy);
}

void
conn_reap(struct proxy *proxy)
{
	struct list *l;

	while ((l = list_first(&proxy->dead_conns)) != NULL) {
		list_remove(l);
		mem_free(LIST_ITEM(l, struct conn, link));
	}
}

/* It is broken, in whatever it was doing. */
static void
broken(struct conn *conn)
{
	if (conn->exchange != NULL)
		exchange_abort(conn->exchange, "client_reset");
	else
		conn_close(conn, true);
}

static void
on_event(struct stream *stream)
{
	struct conn *conn = LIST_ITEM(stream, struct conn, stream);

	if (conn->dead)
		return;
	/* While nothing is read, a reset must be looked for: the upstream
	 * need not work for a client that is gone. */
	if (conn->exchange != NULL && stream->can_read &&
	    !exchange_wants_body(conn->exchange) &&
	    stream_error(stream) != 0) {
		broken(conn);
		return;
	}
	conn_drive(conn);
}

bool
conn_send(struct conn *conn, struct span data)
{
	size_t n = 0;

	if (conn->dead)
		return false;
	if (conn->out == NULL &&
	    stream_write(&conn->stream, data, &n) != ERR_OK) {
		broken(conn);
		return false;
	}
	if (n > 0)
		conn->progress = true;
	if (n < data.len)
		buf_append(&conn->proxy->bufs, &conn->out,
		    span_skip(data, n));
	return true;
}

/* False: nothing more to be done now. */
static bool
flush(struct conn *conn)
{
	size_t n;

	if (!conn->stream.can_write)
		return false;
	if (stream_write(&conn->stream, buf_span(conn->out), &n) != ERR_OK) {
		broken(conn);
		return false;
	}
	if (n == 0)
		return false;
	conn->progress = true;
	buf_skip(&conn->proxy->bufs, &conn->out, n);
	if (conn->out != NULL)
		return true;
	if (conn->exchange != NULL)
		exchange_on_client_drained(conn->exchange);
	else
		proxy_check_drained(conn->proxy);
	return true;
}

static bool
is_kept(const struct conn *conn)
{
	const struct buf *in = conn->in;

	return in != NULL && conn->data.ptr >= in->data &&
	    conn->data.ptr <= in->data + in->cap;
}

void
conn_keep(struct conn *conn)
{
	struct buf_pool *bufs = &conn->proxy->bufs;

	if (conn->data.len == 0) {
		buf_drop(bufs, &conn->in);
		conn->data = SPAN_EMPTY;
	} else if (is_kept(conn)) {
		conn->in->off = (size_t)(conn->data.ptr - conn->in->data);
		conn->in->len = conn->data.len;
	} else {
		buf_drop(bufs, &conn->in);
		buf_append(bufs, &conn->in, conn->data);
		conn->data = buf_span(conn->in);
	}
}

/* The client has finished sending. */
static void
on_eof(struct conn *conn)
{
	conn->eof = true;
	if (conn->exchange != NULL) {
		exchange_on_client_end(conn->exchange);
	} else if (conn->partial && !conn->lingering) {
		counter_add(conn->proxy->env.counters, COUNT_REQUESTS_TOTAL,
		    1);
		exchange_refuse(conn, 400, "client_closed");
	} else {
		conn_close(conn, false);
	}
}

static enum err
read_more(struct conn *conn, size_t *ret_len)
{
	struct proxy *proxy = conn->proxy;
	size_t room;
	enum err e;

	if (conn->data.len == 0) {
		buf_drop(&proxy->bufs, &conn->in);
		e = stream_read(&conn->stream, proxy->in, SCRATCH, ret_len);
		if (e == ERR_OK)
			conn->data = span_of(proxy->in, *ret_len);
		return e;
	}
	conn_keep(conn);
	buf_reserve(&proxy->bufs, &conn->in, BUF_MIN / 2);
	conn->data = buf_span(conn->in);
	/* What follows a head must not be more than the relay has room for. */
	room = conn->in->cap - conn->in->off - conn->in->len;
	e = stream_read(&conn->stream, conn->in->data + conn->in->off +
	    conn->in->len, room < SCRATCH ? room : SCRATCH, ret_len);
	if (e == ERR_OK) {
		conn->in->len += *ret_len;
		conn->data = buf_span(conn->in);
	}
	return e;
}

/* False: nothing more to be done now. */
static bool
fill(struct conn *conn, size_t *moved)
{
	size_t n;

	if (!conn->stream.can_read || conn->eof)
		return false;
	if (*moved >= WORK_CAP) {
		proxy_again(conn->proxy, &conn->again);
		return false;
	}
	switch (read_more(conn, &n)) {
	case ERR_OK:
		*moved += n;
		conn->progress = true;
		return true;
	case ERR_AGAIN:
		return false;
	case ERR_CLOSED:
		on_eof(conn);
		return true;
	default:
		broken(conn);
		return false;
	}
}

/* For the access log, whose words do not change. */
static const char *
refusal(enum err e)
{
	switch (e) {
	case ERR_AMBIGUOUS:
		return "ambiguous_framing";
	case ERR_TARGET_LONG:
		return "target_too_long";
	case ERR_TOO_LARGE:
		return "head_too_large";
	case ERR_VERSION:
		return "bad_version";
	case ERR_METHOD:
	case ERR_CODING:
		return "not_implemented";
	default:
		return "malformed";
	}
}

static void
parse(struct conn *conn)
{
	struct proxy *proxy = conn->proxy;
	struct exchange *ex = exchange_spare(proxy);
	size_t used;
	enum err e;

	e = http_parse_request(conn->data, &proxy->view->config->limits.head,
	    &conn->scanned, &ex->head, &used);
	conn->partial = e == ERR_AGAIN;
	if (e == ERR_AGAIN)
		return;
	conn->scanned = 0;
	deadline_clear(&conn->timer);
	if (e != ERR_OK) {
		counter_add(proxy->env.counters, COUNT_REQUESTS_TOTAL, 1);
		exchange_refuse(conn, http_err_status(e), refusal(e));
		return;
	}
	conn->data = span_skip(conn->data, used);
	exchange_begin(conn, ex);
}

static void
use(struct conn *conn)
{
	if (conn->lingering) {
		conn->lingered += (int64_t)conn->data.len;
		conn->data = SPAN_EMPTY;
		if (conn->lingered > LINGER_OCTETS ||
		    loop_now(conn->proxy->loop) > conn->linger_until)
			conn_close(conn, false);
	} else if (conn->skip > 0) {
		size_t n = conn->data.len;

		if ((int64_t)n > conn->skip)
			n = (size_t)conn->skip;
		conn->skip -= (int64_t)n;
		conn->data = span_skip(conn->data, n);
	} else if (conn->exchange != NULL) {
		exchange_on_body(conn->exchange);
	} else {
		parse(conn);
	}
}

/*
 * The last reply has left. A close with octets unread would reset the
 * connection, and the client might lose the reply: so say that nothing more
 * comes, and read on for a while.
 */
static void
finish(struct conn *conn)
{
	if (conn->eof || (!conn->pending && conn->data.len == 0 &&
	    !conn->stream.can_read)) {
		conn_close(conn, false);
		return;
	}
	conn->lingering = true;
	conn->partial = false;
	conn->data = SPAN_EMPTY;
	conn->linger_until = loop_now(conn->proxy->loop) + LINGER_US;
	stream_shutdown(&conn->stream);
}

/* One thing that can be done now. False: there is none. */
static bool
step(struct conn *conn, size_t *moved)
{
	struct exchange *ex;

	if (conn->out != NULL && flush(conn))
		return true;
	if (conn->dead)
		return false;
	ex = conn->exchange;
	if (ex != NULL && !exchange_wants_body(ex))
		return false;
	if (ex == NULL && conn->out != NULL)
		return false;
	if (ex == NULL && conn->last && !conn->lingering) {
		finish(conn);
		return true;
	}
	if ((conn->data.len == 0 || conn->partial) && !fill(conn, moved))
		return false;
	if (!conn->dead && conn->data.len > 0 &&
	    !(conn->last && !conn->lingering && conn->exchange == NULL))
		use(conn);
	return true;
}

static void
set_timer(struct conn *conn)
{
	struct proxy *proxy = conn->proxy;
	struct deadline_class *class = &proxy->idle;
	bool progress = conn->progress;

	conn->progress = false;
	if (conn->lingering) {
		class = &proxy->linger;
	} else if (conn->out != NULL || conn->skip > 0) {
		class = &proxy->body_stall;
	} else if (conn->exchange != NULL) {
		if (!exchange_wants_body(conn->exchange)) {
			deadline_clear(&conn->timer);
			return;
		}
		class = &proxy->body_stall;
	} else if (conn->partial) {
		/* Counted from the first octet, whatever comes later. */
		class = &proxy->header;
		progress = false;
	}
	if (conn->timer.class != class || progress)
		deadline_set(&conn->timer, class, loop_now(proxy->loop));
}

void
conn_drive(struct conn *conn)
{
	size_t moved = 0;

	if (conn->driving || conn->dead)
		return;
	conn->driving = true;
	while (!conn->dead && step(conn, &moved))
		;
	conn->driving = false;
	if (conn->dead)
		return;
	conn_keep(conn);
	set_timer(conn);
}

void
conn_on_idle(struct deadline *d)
{
	conn_close(LIST_ITEM(d, struct conn, timer), false);
}

void
conn_on_header(struct deadline *d)
{
	struct conn *conn = LIST_ITEM(d, struct conn, timer);

	counter_add(conn->proxy->env.counters, COUNT_REQUESTS_TOTAL, 1);
	exchange_refuse(conn, 408, "header_timeout");
	conn_drive(conn);
}

void
conn_on_stall(struct deadline *d)
{
	struct conn *conn = LIST_ITEM(d, struct conn, timer);

	if (conn->exchange == NULL) {
		conn_close(conn, conn->out != NULL);
	} else if (conn->out != NULL) {
		exchange_abort(conn->exchange, "client_stalled");
	} else {
		exchange_on_client_stall(conn->exchange);
		conn_drive(conn);
	}
}

void
conn_on_linger(struct deadline *d)
{
	conn_close(LIST_ITEM(d, struct conn, timer), false);
}
