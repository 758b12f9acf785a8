#include "proxy/server.h"

#include "base/log.h"
#include "base/mem.h"
#include "proxy/upstream.h"

#define REFRESH_US	(10 * CLOCK_SECOND)	/* of a name in use */
#define RETRY_US	CLOCK_SECOND	/* of a name that has no address */

static bool
is_same(const struct server *s, const struct server_conf *conf)
{
	if (s->host == NULL || conf->host == NULL)
		return s->host == NULL && conf->host == NULL &&
		    endpoint_equal(&s->list[0], &conf->endpoint);
	return s->port == conf->port &&
	    span_equal_nocase(span_str(s->host), span_str(conf->host));
}

static char *
server_text(const struct server_conf *conf)
{
	char buf[ENDPOINT_TEXT_MAX];

	if (conf->host != NULL)
		return mem_strdup(conf->text);
	endpoint_print(&conf->endpoint, buf, sizeof(buf));
	return mem_strdup(buf);
}

static struct server *
server_new(struct proxy *proxy, const struct server_conf *conf)
{
	struct server *s = mem_zalloc(sizeof(*s));

	s->proxy = proxy;
	s->text = server_text(conf);
	s->port = conf->port;
	if (conf->host != NULL) {
		s->host = mem_strdup(conf->host);
	} else {
		s->list[0] = conf->endpoint;
		s->n = 1;
	}
	list_init(&s->idle);
	list_push_back(&proxy->servers, &s->link);
	return s;
}

struct server *
server_get(struct proxy *proxy, const struct server_conf *conf)
{
	struct server *s = NULL;

	LIST_EACH(l, &proxy->servers) {
		s = LIST_ITEM(l, struct server, link);
		if (is_same(s, conf))
			break;
		s = NULL;
	}
	if (s == NULL)
		s = server_new(proxy, conf);
	s->refs++;
	s->pools++;
	server_look_up(s, loop_now(proxy->loop));
	return s;
}

void
server_unref(struct server *s)
{
	if (--s->refs > 0)
		return;
	resolve_cancel(s->resolve);
	list_remove(&s->link);
	mem_free(s->host);
	mem_free(s->text);
	mem_free(s);
}

static void
close_idle(struct server *s)
{
	struct list *l;

	while ((l = list_first(&s->idle)) != NULL)
		upstream_close(LIST_ITEM(l, struct uconn, link));
}

void
server_leave(struct server *s)
{
	if (--s->pools == 0)
		close_idle(s);
	server_unref(s);
}

/* Is the address in use among the new ones? */
static bool
is_listed(const struct server *s, const struct endpoint *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (endpoint_equal(&list[i], &s->list[s->next]))
			return true;
	return false;
}

static void
on_resolved(void *arg, const struct endpoint *list, unsigned n,
    const char *why)
{
	struct server *s = arg;
	int64_t now = loop_now(s->proxy->loop);

	s->resolve = NULL;
	if (n == 0) {
		log_warn("cannot resolve the name of an upstream name=%s: %s",
		    s->host, why);
		s->refused_at = now;
	} else if (s->n == 0 || !is_listed(s, list, n)) {
		/* It has moved, and its kept connections are the old place. */
		close_idle(s);
		memcpy(s->list, list, n * sizeof(*list));
		s->n = n;
		s->next = 0;
		s->down_until = 0;
	}
	s->resolved_at = now;
	loop_defer(s->proxy->loop, &s->proxy->queue_task);
}

enum server_state
server_look_up(struct server *s, int64_t now)
{
	bool due;

	if (s->host == NULL)
		return SERVER_READY;
	due = s->n > 0 ? now - s->resolved_at >= REFRESH_US :
	    s->refused_at == 0 || now - s->refused_at >= RETRY_US;
	if (due && s->resolve == NULL)
		s->resolve = resolve_start(s->proxy->loop, s->host, s->port,
		    on_resolved, s);
	if (s->n > 0)
		return SERVER_READY;
	return s->resolve != NULL ? SERVER_RESOLVING : SERVER_UNKNOWN;
}

const struct endpoint *
server_address(const struct server *s)
{
	return &s->list[s->next];
}

void
server_failed(struct server *s, int64_t now, int64_t rest_us)
{
	s->down_until = now + rest_us;
	if (s->n > 1)
		s->next = (s->next + 1) % s->n;
	s->resolved_at = now - REFRESH_US;
}
