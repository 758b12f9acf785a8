#include "app/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "app/stores.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/loop.h"
#include "proxy/proxy.h"

/* How long the listeners wait for the shared store at start. */
#define STORE_WAIT_US	CLOCK_SECOND

struct worker {
	struct worker_env env;
	unsigned number;
	pthread_t thread;
	struct loop *loop;
	struct counters counters;
	struct store *shared;		/* NULL: the memory store decides */
	struct limiter *limiter;
	struct access_log *access;
	struct proxy *proxy;
	struct config *config;		/* in force, or waiting for the store */
	int *fds;
	bool serving;
	struct loop_timer store_wait;
	unsigned asked;			/* adoptions and the drain, as come */
	_Atomic unsigned adopted;	/* as done */
};

/* A configuration on its way to the worker's thread. */
struct adoption {
	struct worker *worker;
	struct config *config;
	int *fds;
};

static int64_t
worker_now(void *arg)
{
	return loop_now_fresh(arg);
}

/* What had been borrowed before is let go: all that was asked is done. */
static void
tell_adopted(struct worker *w)
{
	atomic_store(&w->adopted, w->asked);
	w->env.on_adopted(w->env.arg);
}

static void
serve(struct worker *w)
{
	loop_timer_cancel(&w->store_wait);
	w->serving = true;
	proxy_adopt(w->proxy, w->config, w->fds);
	tell_adopted(w);
}

static void
on_store_wait(struct loop_timer *timer)
{
	struct worker *w = LIST_ITEM(timer, struct worker, store_wait);

	if (!w->serving)
		serve(w);
}

static void
on_store_settled(void *arg)
{
	struct worker *w = arg;

	if (!w->serving && w->config != NULL)
		serve(w);
}

/* Redis may have moved: a new link, counters of the old one stay there. */
static void
adopt_store(struct worker *w, const struct config *was)
{
	struct store *old = w->shared;

	if (was != NULL && stores_equal(&was->store, &w->config->store)) {
		limiter_reloaded(w->limiter);
		return;
	}
	w->shared = stores_open_shared(w->loop, &w->config->store,
	    &w->counters, on_store_settled, w);
	limiter_set_store(w->limiter,
	    w->shared != NULL ? w->shared : w->env.memory);
	limiter_reloaded(w->limiter);
	if (old != NULL)
		old->ops->free(old);
}

static void
adopt(void *arg)
{
	struct adoption *a = arg;
	struct worker *w = a->worker;
	struct config *was = w->config;
	int *old_fds = w->fds;

	w->asked++;
	w->config = a->config;
	w->fds = a->fds;
	mem_free(a);
	adopt_store(w, was);
	if (w->serving || w->shared == NULL || stores_settled(w->shared))
		serve(w);
	else if (was == NULL)
		loop_timer_set(&w->store_wait, STORE_WAIT_US);
	config_unref(was);
	mem_free(old_fds);
}

void
worker_adopt(struct worker *w, struct config *config, const int *fds)
{
	struct adoption *a = mem_alloc(sizeof(*a));

	a->worker = w;
	a->config = config_ref(config);
	a->fds = mem_dup(fds, config->nlistens * sizeof(*fds));
	loop_post(w->loop, adopt, a);
}

static void
drained(void *arg)
{
	struct worker *w = arg;

	w->env.on_drained(w->env.arg);
}

static void
drain(void *arg)
{
	struct worker *w = arg;

	w->asked++;
	proxy_drain(w->proxy, drained, w);
	tell_adopted(w);
}

void
worker_drain(struct worker *w)
{
	loop_post(w->loop, drain, w);
}

static void *
thread_main(void *arg)
{
	struct worker *w = arg;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	loop_run(w->loop);
	return NULL;
}

struct worker *
worker_start(const struct worker_env *env, unsigned number,
    const struct config *config)
{
	struct worker *w = mem_zalloc(sizeof(*w));
	struct proxy_env proxy_env;

	w->env = *env;
	w->number = number;
	w->loop = loop_new();
	w->limiter = limiter_new(env->memory, env->memory, &w->counters,
	    worker_now, w->loop);
	if (env->access_fd >= 0)
		w->access = access_new(env->access_fd, &config->log);
	proxy_env = (struct proxy_env){ .loop = w->loop,
	    .limiter = w->limiter, .counters = &w->counters,
	    .access = w->access, .connections = env->connections,
	    .workers = env->workers };
	w->proxy = proxy_new(&proxy_env);
	loop_timer_init(w->loop, &w->store_wait, on_store_wait);
	if (pthread_create(&w->thread, NULL, thread_main, w) != 0) {
		log_error("cannot start a thread worker=%u", number);
		abort();
	}
	return w;
}

unsigned
worker_adopted(const struct worker *w)
{
	return atomic_load(&w->adopted);
}

const struct counters *
worker_counters(const struct worker *w)
{
	return &w->counters;
}

void
worker_stop(struct worker *w)
{
	loop_stop(w->loop);
	pthread_join(w->thread, NULL);
	loop_timer_cancel(&w->store_wait);
	proxy_free(w->proxy);
	limiter_free(w->limiter);
	if (w->shared != NULL)
		w->shared->ops->free(w->shared);
	if (w->access != NULL)
		access_free(w->access);
	config_unref(w->config);
	mem_free(w->fds);
	loop_free(w->loop);
	mem_free(w);
}
