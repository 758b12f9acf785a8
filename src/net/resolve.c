#include "net/resolve.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* Owned by the thread until it has posted its answer, then by the loop; fn is
 * NULL once cancelled, which the loop's thread alone reads. */
struct resolve {
	pthread_mutex_t lock;		/* of loop */
	struct loop *loop;		/* NULL: cancelled, nobody waits */
	void (*fn)(void *arg, const struct endpoint *list, unsigned n,
	    const char *why);
	void *arg;
	char *host;
	char port[8];
	struct endpoint list[RESOLVE_MAX];
	unsigned n;
	const char *why;
};

static void
resolve_free(struct resolve *r)
{
	pthread_mutex_destroy(&r->lock);
	mem_free(r->host);
	mem_free(r);
}

static void
deliver(void *arg)
{
	struct resolve *r = arg;

	if (r->fn != NULL)
		r->fn(r->arg, r->list, r->n, r->why);
	resolve_free(r);
}

static void
look_up(struct resolve *r)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
	    .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG |
	    AI_NUMERICSERV };
	struct addrinfo *all = NULL;
	int error = getaddrinfo(r->host, r->port, &hints, &all);

	if (error != 0) {
		r->why = gai_strerror(error);
		return;
	}
	for (struct addrinfo *a = all; a != NULL && r->n < RESOLVE_MAX;
	    a = a->ai_next) {
		struct endpoint *e = &r->list[r->n++];

		memset(e, 0, sizeof(*e));
		memcpy(&e->ss, a->ai_addr, a->ai_addrlen);
		e->len = a->ai_addrlen;
	}
	freeaddrinfo(all);
}

static void *
thread_main(void *arg)
{
	struct resolve *r = arg;
	bool wanted;

	look_up(r);
	pthread_mutex_lock(&r->lock);
	wanted = r->loop != NULL;
	if (wanted)
		loop_post(r->loop, deliver, r);
	pthread_mutex_unlock(&r->lock);
	if (!wanted)
		resolve_free(r);
	return NULL;
}

/* Signals are for the main thread. */
static int
start_thread(struct resolve *r)
{
	sigset_t all, old;
	pthread_t thread;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	error = pthread_create(&thread, NULL, thread_main, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error == 0)
		pthread_detach(thread);
	return error;
}

struct resolve *
resolve_start(struct loop *loop, const char *host, unsigned port,
    void (*fn)(void *arg, const struct endpoint *list, unsigned n,
    const char *why), void *arg)
{
	struct resolve *r = mem_zalloc(sizeof(*r));

	pthread_mutex_init(&r->lock, NULL);
	r->loop = loop;
	r->fn = fn;
	r->arg = arg;
	r->host = mem_strdup(host);
	r->why = "no address";
	snprintf(r->port, sizeof(r->port), "%u", port);
	if (start_thread(r) != 0) {
		r->why = "no thread";
		loop_post(loop, deliver, r);
	}
	return r;
}

void
resolve_cancel(struct resolve *r)
{
	if (r == NULL)
		return;
	pthread_mutex_lock(&r->lock);
	r->loop = NULL;
	r->fn = NULL;
	pthread_mutex_unlock(&r->lock);
}
