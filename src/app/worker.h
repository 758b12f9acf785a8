#ifndef WEIR_APP_WORKER_H
#define WEIR_APP_WORKER_H

#include "base/counters.h"
#include "config/config.h"
#include "limit/store.h"

/*
 * One thread: a loop, a limiter with its stores, the data path, and its view
 * of the configuration. All functions here are called from the main thread.
 */
struct worker;

/* What the workers share. */
struct worker_env {
	struct store *memory;		/* counters of the memory store, and of
					   on_store_error: local */
	_Atomic int64_t *connections;	/* open over all workers */
	unsigned workers;
	int access_fd;			/* -1: no access log */
	/* Called in the worker's thread. */
	void (*on_adopted)(void *arg);	/* worker_adopted has grown */
	void (*on_drained)(void *arg);
	void *arg;
};

/* Starts the thread; it serves from the first worker_adopt on. */
struct worker *worker_start(const struct worker_env *env, unsigned number,
    const struct config *config);

/*
 * Post a configuration; takes a reference for as long as it needs it. fds are
 * copied. The listeners of the first one open once the shared store has
 * answered or failed, at most one second later.
 */
void worker_adopt(struct worker *worker, struct config *config,
    const int *fds);

/* Post: no more connections; on_drained follows. */
void worker_drain(struct worker *worker);

/*
 * How many adopts and drains were carried out, all of them in order: sockets
 * that only earlier ones named are not in use any more.
 */
unsigned worker_adopted(const struct worker *worker);
const struct counters *worker_counters(const struct worker *worker);

/* Stop the loop, join the thread, free everything. */
void worker_stop(struct worker *worker);

#endif
