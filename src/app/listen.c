#include "app/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

#define BACKLOG		4096
#define DEFER_SECONDS	1	/* TCP_DEFER_ACCEPT: wake with the first data; a
				   silent client comes into view after that */

/* One address: a socket for each worker. */
struct bound {
	struct endpoint endpoint;
	int *fds;
};

struct listeners {
	unsigned workers;
	struct bound *bound, *old;
	unsigned nbound, nold;
	int *by_worker;			/* [worker][listen] */
};

struct listeners *
listeners_new(unsigned workers)
{
	struct listeners *l = mem_zalloc(sizeof(*l));

	l->workers = workers;
	return l;
}

static void
unlink_unix(const struct endpoint *e)
{
	const struct sockaddr_un *sun = (const void *)&e->ss;

	if (e->ss.ss_family == AF_UNIX && sun->sun_path[0] != '\0')
		unlink(sun->sun_path);
}

static void
bound_close(struct bound *b, unsigned workers, bool gone)
{
	for (unsigned i = 0; b->fds != NULL && i < workers; i++)
		if (b->fds[i] >= 0)
			close(b->fds[i]);
	if (gone && b->fds != NULL)
		unlink_unix(&b->endpoint);
	mem_free(b->fds);
	b->fds = NULL;
}

void
listeners_sweep(struct listeners *l)
{
	for (unsigned i = 0; i < l->nold; i++)
		bound_close(&l->old[i], l->workers, true);
	mem_free(l->old);
	l->old = NULL;
	l->nold = 0;
}

void
listeners_close(struct listeners *l)
{
	listeners_sweep(l);
	for (unsigned i = 0; i < l->nbound; i++)
		bound_close(&l->bound[i], l->workers, true);
	l->nbound = 0;
}

void
listeners_free(struct listeners *l)
{
	if (l == NULL)
		return;
	listeners_close(l);
	mem_free(l->bound);
	mem_free(l->by_worker);
	mem_free(l);
}

/*
 * A stale socket file is removed when nobody answers behind it; a live one is
 * left, and bind tells.
 */
static void
remove_stale(const struct endpoint *e)
{
	const struct sockaddr_un *sun = (const void *)&e->ss;
	struct stat st;
	int fd;

	if (stat(sun->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&e->ss, e->len) != 0 &&
	    errno == ECONNREFUSED)
		unlink(sun->sun_path);
	close(fd);
}

static int
set_options(int fd, const struct endpoint *e, bool shared)
{
	const int one = 1, defer = DEFER_SECONDS, zero = 0;

	if (e->ss.ss_family == AF_UNIX)
		return 0;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0)
		return -1;
	if (shared &&
	    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)) != 0)
		return -1;
	/* [::] also takes IPv4; such clients count as IPv4 (base/addr). */
	if (e->ss.ss_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero,
	    sizeof(zero)) != 0)
		return -1;
	/* Accepted sockets inherit both; neither is worth failing for. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof(defer));
	return 0;
}

/* A bound socket, or -1 with errno. */
static int
bind_one(const struct endpoint *e, bool shared)
{
	const int fd = socket(e->ss.ss_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int saved;

	if (fd < 0)
		return -1;
	if (set_options(fd, e, shared) == 0 &&
	    bind(fd, (const struct sockaddr *)&e->ss, e->len) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

/*
 * SO_REUSEPORT would also join the sockets of another process of this user;
 * a first bind without it tells that the port is taken.
 */
static int
probe(const struct endpoint *e)
{
	const int fd = bind_one(e, false);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int
fill_unix(struct bound *b, unsigned workers)
{
	remove_stale(&b->endpoint);
	b->fds[0] = bind_one(&b->endpoint, false);
	if (b->fds[0] < 0 || listen(b->fds[0], BACKLOG) != 0)
		return -1;
	for (unsigned i = 1; i < workers; i++)
		if ((b->fds[i] = fcntl(b->fds[0], F_DUPFD_CLOEXEC, 0)) < 0)
			return -1;
	return 0;
}

static int
fill_inet(struct bound *b, unsigned workers)
{
	const bool shared = workers > 1;

	if (shared && probe(&b->endpoint) != 0)
		return -1;
	for (unsigned i = 0; i < workers; i++) {
		b->fds[i] = bind_one(&b->endpoint, shared);
		if (b->fds[i] < 0 || listen(b->fds[i], BACKLOG) != 0)
			return -1;
	}
	return 0;
}

static enum err
bound_open(struct bound *b, const struct listen_conf *conf, unsigned workers,
    char **why)
{
	struct text text = { 0 };
	int result;

	b->endpoint = conf->endpoint;
	b->fds = mem_alloc(workers * sizeof(*b->fds));
	for (unsigned i = 0; i < workers; i++)
		b->fds[i] = -1;
	result = b->endpoint.ss.ss_family == AF_UNIX ?
	    fill_unix(b, workers) : fill_inet(b, workers);
	if (result == 0)
		return ERR_OK;
	text_printf(&text, "cannot listen on %s: %s", conf->text,
	    strerror(errno));
	*why = text_take(&text);
	bound_close(b, workers, false);
	return ERR_SYSTEM;
}

static struct bound *
find(const struct listeners *l, const struct endpoint *e)
{
	for (unsigned i = 0; i < l->nbound; i++)
		if (endpoint_equal(&l->bound[i].endpoint, e))
			return &l->bound[i];
	return NULL;
}

static bool
named(const struct config *conf, const struct endpoint *e)
{
	for (unsigned i = 0; i < conf->nlistens; i++)
		if (endpoint_equal(&conf->listens[i].endpoint, e))
			return true;
	return false;
}

static void
index_by_worker(struct listeners *l)
{
	l->by_worker = mem_realloc(l->by_worker,
	    (l->workers * l->nbound + 1) * sizeof(*l->by_worker));
	for (unsigned w = 0; w < l->workers; w++)
		for (unsigned i = 0; i < l->nbound; i++)
			l->by_worker[w * l->nbound + i] = l->bound[i].fds[w];
}

/* Set aside for sweeping what conf does not name; the rest lives on in the
 * new array. */
static void
set_aside(struct listeners *l, const struct config *conf)
{
	l->old = mem_realloc(l->old,
	    (l->nold + l->nbound + 1) * sizeof(*l->old));
	for (unsigned i = 0; i < l->nbound; i++)
		if (!named(conf, &l->bound[i].endpoint))
			l->old[l->nold++] = l->bound[i];
}

enum err
listeners_open(struct listeners *l, const struct config *conf, char **why)
{
	struct bound *bound = mem_zalloc((conf->nlistens + 1) *
	    sizeof(*bound));

	for (unsigned i = 0; i < conf->nlistens; i++) {
		const struct bound *kept =
		    find(l, &conf->listens[i].endpoint);

		if (kept != NULL) {
			bound[i] = *kept;
			continue;
		}
		if (bound_open(&bound[i], &conf->listens[i], l->workers,
		    why) == ERR_OK)
			continue;
		while (i-- > 0)
			if (find(l, &bound[i].endpoint) == NULL)
				bound_close(&bound[i], l->workers, true);
		mem_free(bound);
		return ERR_SYSTEM;
	}
	set_aside(l, conf);
	mem_free(l->bound);
	l->bound = bound;
	l->nbound = conf->nlistens;
	index_by_worker(l);
	return ERR_OK;
}

const int *
listeners_fds(const struct listeners *l, unsigned worker)
{
	return l->by_worker + worker * l->nbound;
}
