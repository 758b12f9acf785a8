#include "proxy/upstream.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/dial.h"
#include "proxy/exchange.h"

#define DOWN_US		(2 * CLOCK_SECOND)
#define TRIED_MAX	64		/* bits of tried.members */
#define CONNECTS_MAX	64		/* of one request */

void
pool_init(struct pool *pool, struct view *view,
    const struct upstream_conf *conf)
{
	struct proxy *proxy = view->proxy;
	unsigned share = conf->connections / proxy->env.workers;

	pool->view = view;
	pool->conf = conf;
	pool->n = conf->nservers;
	pool->turn = 0;
	pool->connections = share > 0 ? share : 1;
	pool->members = mem_zalloc(pool->n * sizeof(*pool->members));
	for (unsigned i = 0; i < pool->n; i++) {
		pool->members[i].server = server_get(proxy,
		    &conf->servers[i]);
		pool->members[i].weight = conf->servers[i].weight;
	}
	deadline_class_init(&proxy->deadlines, &pool->connect,
	    conf->connect_timeout_us, exchange_on_timer);
	deadline_class_init(&proxy->deadlines, &pool->response,
	    conf->response_timeout_us, exchange_on_timer);
	list_init(&pool->waiters);
	list_init(&pool->waiting_link);
}

void
pool_fini(struct pool *pool)
{
	for (unsigned i = 0; i < pool->n; i++)
		server_leave(pool->members[i].server);
	mem_free(pool->members);
	deadline_class_fini(&pool->connect);
	deadline_class_fini(&pool->response);
	list_remove(&pool->waiting_link);
}

static void
release(struct uconn *u)
{
	struct server *s = u->server;

	s->nactive--;
	u->exchange = NULL;
	if (!list_empty(&s->proxy->waiting))
		loop_defer(s->proxy->loop, &s->proxy->queue_task);
}

void
upstream_close(struct uconn *u)
{
	struct server *s = u->server;
	struct proxy *proxy = s->proxy;

	if (u->dead)
		return;
	u->dead = true;
	stream_close(&u->stream, false);
	deadline_clear(&u->timer);
	list_remove(&u->again.link);
	buf_drop(&proxy->bufs, &u->in);
	buf_drop(&proxy->bufs, &u->out);
	if (u->exchange != NULL)
		release(u);
	else
		s->nidle--;
	list_remove(&u->link);
	list_push_back(&proxy->dead_uconns, &u->link);
	loop_defer(proxy->loop, &proxy->reap_task);
}

void
upstream_reap(struct proxy *proxy)
{
	struct list *l;

	while ((l = list_first(&proxy->dead_uconns)) != NULL) {
		struct uconn *u = LIST_ITEM(l, struct uconn, link);

		list_remove(l);
		server_unref(u->server);
		mem_free(u);
	}
}

void
upstream_free_all(struct proxy *proxy)
{
	LIST_EACH_SAFE(l, &proxy->servers) {
		struct server *s = LIST_ITEM(l, struct server, link);
		struct list *idle;

		while ((idle = list_first(&s->idle)) != NULL)
			upstream_close(LIST_ITEM(idle, struct uconn, link));
	}
	upstream_reap(proxy);
}

void
upstream_on_idle_timeout(struct deadline *d)
{
	upstream_close(LIST_ITEM(d, struct uconn, timer));
}

void
upstream_park(struct pool *pool, struct uconn *u)
{
	struct server *s = u->server;
	struct proxy *proxy = s->proxy;

	if (pool->conf->keepalive == 0 || s->pools == 0 || proxy->draining) {
		upstream_close(u);
		return;
	}
	release(u);
	u->reused = true;
	u->scanned = 0;
	list_push_front(&s->idle, &u->link);
	/*
	 * More than are to be kept were in use a moment ago: they may be again
	 * at once, so they get a short while. The last used is taken first,
	 * hence those that are too many run out of it.
	 */
	deadline_set(&u->timer, s->nidle++ < pool->conf->keepalive ?
	    &proxy->pool_idle : &proxy->pool_surplus, loop_now(proxy->loop));
}

static void
log_refused(const struct server *s, const struct exchange *ex, int error)
{
	log_warn("cannot connect to a server upstream=%s server=%s "
	    "error=\"%s\"", ex->pool->conf->name, s->text, strerror(error));
}

static void
connect_done(struct uconn *u)
{
	struct exchange *ex = u->exchange;
	int error = stream_error(&u->stream);

	u->connecting = false;
	if (error == 0) {
		u->server->down_until = 0;
		exchange_on_connected(ex);
		/* What came together with the connection is told but once. */
		if (u->exchange != NULL && u->stream.can_read)
			exchange_on_upstream(u->exchange);
		return;
	}
	log_refused(u->server, ex, error);
	server_failed(u->server, loop_now(u->server->proxy->loop), DOWN_US);
	exchange_on_no_upstream(ex);
}

static void
on_event(struct stream *stream)
{
	struct uconn *u = LIST_ITEM(stream, struct uconn, stream);

	if (u->dead)
		return;
	if (u->connecting) {
		if (stream->can_write || stream->can_read)
			connect_done(u);
	} else if (u->exchange != NULL) {
		exchange_on_upstream(u->exchange);
	} else if (stream->can_read) {
		/* Closed by the server, or it speaks without being asked. */
		upstream_close(u);
	}
}

static void
on_again(struct work *work)
{
	struct uconn *u = LIST_ITEM(work, struct uconn, again);

	if (!u->dead && u->exchange != NULL)
		exchange_on_upstream(u->exchange);
}

static struct uconn *
take_idle(struct server *s, struct exchange *ex, bool safe)
{
	struct list *l;

	while ((l = list_first(&s->idle)) != NULL) {
		struct uconn *u = LIST_ITEM(l, struct uconn, link);

		if (u->stream.can_read ||
		    (!safe && stream_is_stale(&u->stream))) {
			upstream_close(u);
			continue;
		}
		list_remove(l);
		s->nidle--;
		s->nactive++;
		deadline_clear(&u->timer);
		u->exchange = ex;
		u->answered = false;
		return u;
	}
	return NULL;
}

/* A new connection on its way. NULL: refused at once. */
static struct uconn *
start_connect(struct server *s, struct exchange *ex)
{
	struct proxy *proxy = s->proxy;
	struct uconn *u = mem_zalloc(sizeof(*u));
	enum err e;

	e = dial(proxy->loop, &u->stream, server_address(s), on_event);
	if (e != ERR_OK) {
		log_refused(s, ex, errno);
		/* Otherwise it is not its fault: no descriptors, no route. */
		if (e == ERR_REFUSED)
			server_failed(s, loop_now(proxy->loop), DOWN_US);
		mem_free(u);
		return NULL;
	}
	u->server = s;
	s->refs++;
	s->nactive++;
	u->exchange = ex;
	u->connecting = true;
	list_init(&u->link);
	list_init(&u->again.link);
	u->again.fn = on_again;
	deadline_init(&u->timer);
	counter_add(proxy->env.counters, COUNT_UPSTREAM_CONNECTS_TOTAL, 1);
	return u;
}

static bool
was_tried(unsigned i, uint64_t tried)
{
	return i < TRIED_MAX && tried >> i & 1;
}

static bool
is_better(const struct pool *pool, const struct member *a,
    const struct member *b)
{
	if (pool->conf->balance == BALANCE_ROUND_ROBIN)
		return a->credit + a->weight > b->credit + b->weight;
	return (uint64_t)a->server->nactive * b->weight <
	    (uint64_t)b->server->nactive * a->weight;
}

/*
 * The best server: not tried by this request, with room, not one that refused
 * a moment ago unless all have. -1: none; *ret_wait: some had no room, or no
 * address yet.
 */
static int
choose(struct pool *pool, uint64_t tried, int64_t now, bool *ret_wait)
{
	int best = -1, down = -1;

	*ret_wait = false;
	for (unsigned k = 0; k < pool->n; k++) {
		unsigned i = (pool->turn + k) % pool->n;
		struct member *m = &pool->members[i];

		enum server_state state;

		if (was_tried(i, tried))
			continue;
		state = server_look_up(m->server, now);
		if (state == SERVER_UNKNOWN)
			continue;
		if (state == SERVER_RESOLVING ||
		    m->server->nactive >= pool->connections) {
			*ret_wait = true;
		} else if (m->server->down_until > now) {
			if (down < 0)
				down = (int)i;
		} else if (best < 0 ||
		    is_better(pool, m, &pool->members[best])) {
			best = (int)i;
		}
	}
	return best >= 0 ? best : down;
}

/* Smooth weighted round robin: all gain their weight, the chosen pays. */
static void
take_turn(struct pool *pool, int chosen)
{
	int64_t total = 0;

	pool->turn = (unsigned)(chosen + 1) % pool->n;
	if (pool->conf->balance != BALANCE_ROUND_ROBIN)
		return;
	for (unsigned i = 0; i < pool->n; i++) {
		pool->members[i].credit += pool->members[i].weight;
		total += pool->members[i].weight;
	}
	pool->members[chosen].credit -= total;
}

static enum err
queue(struct pool *pool, struct exchange *ex)
{
	struct proxy *proxy = pool->view->proxy;

	list_push_back(&pool->waiters, &ex->link);
	if (list_empty(&pool->waiting_link))
		list_push_back(&proxy->waiting, &pool->waiting_link);
	return ERR_AGAIN;
}

enum err
upstream_get(struct pool *pool, struct exchange *ex, bool fresh, bool safe,
    struct tried *tried, struct uconn **ret)
{
	int64_t now = loop_now(pool->view->proxy->loop);
	bool wait = false;
	int i;

	while (tried->connects < CONNECTS_MAX &&
	    (i = choose(pool, tried->members, now, &wait)) >= 0) {
		struct server *s = pool->members[i].server;
		struct uconn *u = NULL;

		if (pool->n > 1)
			take_turn(pool, i);
		if (!fresh)
			u = take_idle(s, ex, safe);
		if (u != NULL) {
			ex->upstream = *ret = u;
			return ERR_OK;
		}
		/* A name with several addresses is tried with each. */
		if (++tried->connects >= s->n && i < TRIED_MAX)
			tried->members |= UINT64_C(1) << i;
		if ((u = start_connect(s, ex)) != NULL) {
			ex->upstream = u;
			return ERR_AGAIN;
		}
	}
	return wait ? queue(pool, ex) : ERR_REFUSED;
}

static void
run_pool_queue(struct pool *pool)
{
	int64_t now = loop_now(pool->view->proxy->loop);
	struct list *l;
	bool wait;

	while ((l = list_first(&pool->waiters)) != NULL) {
		struct exchange *ex = LIST_ITEM(l, struct exchange, link);

		if (choose(pool, ex->tried.members, now, &wait) < 0 && wait)
			return;
		list_remove(l);
		exchange_on_slot(ex);
	}
}

void
upstream_run_queue(struct proxy *proxy)
{
	struct list now, *l;

	list_init(&now);
	while ((l = list_first(&proxy->waiting)) != NULL) {
		list_remove(l);
		list_push_back(&now, l);
	}
	while ((l = list_first(&now)) != NULL) {
		struct pool *pool = LIST_ITEM(l, struct pool, waiting_link);
		struct view *view = pool->view;

		list_remove(l);
		view->refs++;	/* its last exchange may end here */
		run_pool_queue(pool);
		if (!list_empty(&pool->waiters) &&
		    list_empty(&pool->waiting_link))
			list_push_back(&proxy->waiting, &pool->waiting_link);
		view_unref(view);
	}
}

void
upstream_unqueue(struct pool *pool, struct list *link)
{
	list_remove(link);
	if (list_empty(&pool->waiters))
		list_remove(&pool->waiting_link);
}

enum err
upstream_send(struct uconn *u, struct span data, bool *ret_sent)
{
	size_t n = 0;
	enum err e = ERR_OK;

	*ret_sent = false;
	if (u->out == NULL)
		e = stream_write(&u->stream, data, &n);
	*ret_sent = n > 0;
	if (e == ERR_OK && n < data.len)
		buf_append(&u->server->proxy->bufs, &u->out,
		    span_skip(data, n));
	return e;
}
