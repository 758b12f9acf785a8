#include "proxy/proxy.h"

#include <time.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "proxy/conn.h"
#include "proxy/exchange.h"
#include "proxy/relay.h"
#include "proxy/upstream.h"

#define LINGER_SILENCE_US	(5 * CLOCK_SECOND)
#define POOL_IDLE_US		(60 * CLOCK_SECOND)
#define POOL_SURPLUS_US		(3 * CLOCK_SECOND)
#define FRONT_MIN		(72u << 10)	/* of a response's head */
#define HEAD_EXTRA		8192		/* what forwarding may add */

/* ---- end of a turn ---- */

static void
view_free(struct view *view)
{
	for (unsigned i = 0; i < view->config->nupstreams; i++)
		pool_fini(&view->pools[i]);
	mem_free(view->pools);
	config_unref(view->config);
	mem_free(view);
}

static void
view_reap(struct proxy *proxy)
{
	struct list *l;

	while ((l = list_first(&proxy->dead_views)) != NULL) {
		list_remove(l);
		view_free(LIST_ITEM(l, struct view, link));
	}
}

static void
on_reap(struct loop_task *task)
{
	struct proxy *proxy = LIST_ITEM(task, struct proxy, reap_task);

	conn_reap(proxy);
	upstream_reap(proxy);
	exchange_reap(proxy);
	view_reap(proxy);
}

static void
on_flush(struct loop_task *task)
{
	access_flush(LIST_ITEM(task, struct proxy, flush_task)->env.access);
}

static void
on_queue(struct loop_task *task)
{
	upstream_run_queue(LIST_ITEM(task, struct proxy, queue_task));
}

void
proxy_again(struct proxy *proxy, struct work *work)
{
	if (list_empty(&work->link))
		list_push_back(&proxy->again, &work->link);
	loop_defer(proxy->loop, &proxy->again_task);
}

/* What is put back while this runs waits for the next turn. */
static void
on_again(struct loop_task *task)
{
	struct proxy *proxy = LIST_ITEM(task, struct proxy, again_task);
	struct list now, *l;

	list_init(&now);
	while ((l = list_first(&proxy->again)) != NULL) {
		list_remove(l);
		list_push_back(&now, l);
	}
	while ((l = list_first(&now)) != NULL) {
		struct work *work = LIST_ITEM(l, struct work, link);

		list_remove(l);
		work->fn(work);
	}
}

/* Has somebody begun to ask, or not yet got all of his answer? */
static bool
is_busy(const struct proxy *proxy)
{
	if (proxy->nbusy > 0)
		return true;
	LIST_EACH(l, &proxy->conns) {
		const struct conn *conn = LIST_ITEM(l, struct conn, link);

		if (conn->out != NULL || conn->partial)
			return true;
	}
	return false;
}

static void
on_drained(struct loop_task *task)
{
	struct proxy *proxy = LIST_ITEM(task, struct proxy, drained_task);
	void (*fn)(void *) = proxy->on_drained;

	if (fn == NULL || is_busy(proxy))
		return;
	proxy->on_drained = NULL;
	fn(proxy->drained_arg);
}

void
proxy_check_drained(struct proxy *proxy)
{
	if (proxy->on_drained != NULL && proxy->nbusy == 0)
		loop_defer(proxy->loop, &proxy->drained_task);
}

/* ---- time ---- */

static void
read_clock(struct proxy *proxy, int64_t now)
{
	int64_t wall = clock_wall();
	time_t second = (time_t)(wall / CLOCK_SECOND);
	struct tm tm;

	proxy->wall_offset = wall - now;
	proxy->date_until = now + CLOCK_SECOND - wall % CLOCK_SECOND;
	gmtime_r(&second, &tm);
	strftime(proxy->date, sizeof(proxy->date),
	    "%a, %d %b %Y %H:%M:%S GMT", &tm);
}

int64_t
proxy_wall(struct proxy *proxy, int64_t now)
{
	if (now >= proxy->date_until)
		read_clock(proxy, now);
	return now + proxy->wall_offset;
}

struct span
proxy_date(struct proxy *proxy, int64_t now)
{
	if (now >= proxy->date_until)
		read_clock(proxy, now);
	return span_of(proxy->date, sizeof("Sun, 06 Nov 1994 08:49:37 GMT") -
	    1);
}

/* xorshift: for jitter, not for secrets. */
uint32_t
proxy_random(struct proxy *proxy)
{
	uint32_t x = proxy->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return proxy->random = x;
}

/* ---- the configuration in force ---- */

static struct view *
view_new(struct proxy *proxy, struct config *config)
{
	struct view *view = mem_zalloc(sizeof(*view));

	list_init(&view->link);
	view->proxy = proxy;
	view->config = config_ref(config);
	view->refs = 1;
	view->pools = mem_zalloc(config->nupstreams * sizeof(*view->pools));
	for (unsigned i = 0; i < config->nupstreams; i++)
		pool_init(&view->pools[i], view, &config->upstreams[i]);
	return view;
}

void
view_unref(struct view *view)
{
	if (view == NULL || --view->refs > 0)
		return;
	list_push_back(&view->proxy->dead_views, &view->link);
	loop_defer(view->proxy->loop, &view->proxy->reap_task);
}

static void
on_accept(struct listener *l, int fd, const struct sockaddr *peer)
{
	conn_accept(l->owner, fd, peer);
}

static void
on_accept_error(struct listener *l, int error)
{
	struct proxy *proxy = l->owner;

	(void)error;
	counter_add(proxy->env.counters, COUNT_ACCEPT_ERRORS_TOTAL, 1);
}

static void
stop_listening(struct proxy *proxy)
{
	for (unsigned i = 0; i < proxy->nlisteners; i++)
		listener_stop(&proxy->listeners[i]);
	mem_free(proxy->listeners);
	proxy->listeners = NULL;
	proxy->nlisteners = 0;
}

static void
listen_to(struct proxy *proxy, const int *fds, unsigned n)
{
	proxy->listeners = mem_zalloc(n * sizeof(*proxy->listeners));
	proxy->nlisteners = n;
	for (unsigned i = 0; i < n; i++) {
		struct listener *l = &proxy->listeners[i];

		l->owner = proxy;
		l->on_accept = on_accept;
		l->on_error = on_accept_error;
		if (listener_start(proxy->loop, l, fds[i]) != ERR_OK)
			log_error("cannot watch a listening socket fd=%d",
			    fds[i]);
	}
}

/* Scratch follows what heads the configuration allows. */
static void
size_scratch(struct proxy *proxy, size_t head_bytes)
{
	size_t front = head_bytes + HEAD_EXTRA;

	if (front < FRONT_MIN)
		front = FRONT_MIN;
	proxy->out_front = front;
	proxy->out = mem_realloc(proxy->out, front + SCRATCH + RELAY_ROOM);
	proxy->names = mem_realloc(proxy->names, 2 * head_bytes);
}

void
proxy_adopt(struct proxy *proxy, struct config *config, const int *fds)
{
	const struct limits_conf *limits = &config->limits;
	struct view *old = proxy->view;

	stop_listening(proxy);
	size_scratch(proxy, limits->head.head_bytes);
	proxy->header.timeout_us = limits->header_timeout_us;
	proxy->idle.timeout_us = limits->idle_timeout_us;
	proxy->body_stall.timeout_us = limits->body_timeout_us;
	proxy->view = view_new(proxy, config);
	view_unref(old);
	if (!proxy->draining)
		listen_to(proxy, fds, config->nlistens);
}

/* ---- life ---- */

static void
init_classes(struct proxy *proxy)
{
	struct deadlines *all = &proxy->deadlines;

	deadlines_init(all, proxy->loop);
	deadline_class_init(all, &proxy->header, 10 * CLOCK_SECOND,
	    conn_on_header);
	deadline_class_init(all, &proxy->idle, 75 * CLOCK_SECOND,
	    conn_on_idle);
	deadline_class_init(all, &proxy->body_stall, 30 * CLOCK_SECOND,
	    conn_on_stall);
	deadline_class_init(all, &proxy->linger, LINGER_SILENCE_US,
	    conn_on_linger);
	deadline_class_init(all, &proxy->pool_idle, POOL_IDLE_US,
	    upstream_on_idle_timeout);
	deadline_class_init(all, &proxy->pool_surplus, POOL_SURPLUS_US,
	    upstream_on_idle_timeout);
}

struct proxy *
proxy_new(const struct proxy_env *env)
{
	struct proxy *proxy = mem_zalloc(sizeof(*proxy));

	proxy->env = *env;
	if (proxy->env.workers == 0)
		proxy->env.workers = 1;
	proxy->loop = env->loop;
	list_init(&proxy->conns);
	list_init(&proxy->again);
	list_init(&proxy->dead_conns);
	list_init(&proxy->dead_uconns);
	list_init(&proxy->dead_views);
	list_init(&proxy->servers);
	list_init(&proxy->waiting);
	loop_task_init(&proxy->again_task, on_again);
	loop_task_init(&proxy->reap_task, on_reap);
	loop_task_init(&proxy->flush_task, on_flush);
	loop_task_init(&proxy->queue_task, on_queue);
	loop_task_init(&proxy->drained_task, on_drained);
	proxy->in = mem_alloc(SCRATCH);
	proxy->body = mem_alloc(PROXY_BODY_MAX);
	proxy->lines = mem_alloc(PROXY_LINES_MAX);
	proxy->response = mem_alloc(sizeof(*proxy->response));
	hash_random(&proxy->random, sizeof(proxy->random));
	proxy->random |= 1;
	init_classes(proxy);
	return proxy;
}

static void
close_conns(struct proxy *proxy)
{
	struct list *l;

	while ((l = list_first(&proxy->conns)) != NULL) {
		struct conn *conn = LIST_ITEM(l, struct conn, link);

		if (conn->exchange != NULL)
			exchange_abort(conn->exchange, "stopped");
		else
			conn_close(conn, false);
	}
}

void
proxy_free(struct proxy *proxy)
{
	if (proxy == NULL)
		return;
	stop_listening(proxy);
	proxy->on_drained = NULL;
	close_conns(proxy);
	conn_reap(proxy);
	upstream_free_all(proxy);
	view_unref(proxy->view);
	view_reap(proxy);
	exchange_pool_fini(proxy);
	if (proxy->env.access != NULL)
		access_flush(proxy->env.access);
	loop_task_cancel(&proxy->again_task);
	loop_task_cancel(&proxy->reap_task);
	loop_task_cancel(&proxy->flush_task);
	loop_task_cancel(&proxy->queue_task);
	loop_task_cancel(&proxy->drained_task);
	deadlines_fini(&proxy->deadlines);
	buf_pool_fini(&proxy->bufs);
	mem_free(proxy->in);
	mem_free(proxy->out);
	mem_free(proxy->names);
	mem_free(proxy->body);
	mem_free(proxy->lines);
	mem_free(proxy->response);
	mem_free(proxy);
}

void
proxy_drain(struct proxy *proxy, void (*fn)(void *), void *arg)
{
	proxy->draining = true;
	proxy->on_drained = fn;
	proxy->drained_arg = arg;
	stop_listening(proxy);
	LIST_EACH_SAFE(l, &proxy->conns) {
		struct conn *conn = LIST_ITEM(l, struct conn, link);

		/* One that has begun to ask gets its answer, and all of it. */
		if (conn->exchange != NULL || conn->partial || conn->lingering)
			continue;
		conn->last = true;
		if (conn->out == NULL)
			conn_close(conn, false);
	}
	loop_defer(proxy->loop, &proxy->drained_task);
}

unsigned
proxy_busy(const struct proxy *proxy)
{
	return proxy->nbusy;
}
