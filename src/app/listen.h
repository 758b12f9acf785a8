#ifndef WEIR_APP_LISTEN_H
#define WEIR_APP_LISTEN_H

#include "config/config.h"

/*
 * The listening sockets of all workers. TCP: one each a worker, joined by
 * SO_REUSEPORT; closing one resets what is queued on it, so those whose
 * address stays in the configuration are kept over a reload. Unix: one socket,
 * duplicated for each worker.
 */
struct listeners;

struct listeners *listeners_new(unsigned workers);
void listeners_free(struct listeners *l);	/* closes all; accepts NULL */

/*
 * Open what conf names and is not open yet. ERR_SYSTEM: nothing changed, and
 * *why (to be freed) says which address failed and how. On success, what conf
 * does not name any more is closed by the next listeners_sweep.
 */
enum err listeners_open(struct listeners *l, const struct config *conf,
    char **why);
void listeners_sweep(struct listeners *l);

/* Close all, so that the kernel refuses what nobody would accept. */
void listeners_close(struct listeners *l);

/* The sockets of that worker in the order of conf->listens, as far as the
 * last successful open; valid until the next. */
const int *listeners_fds(const struct listeners *l, unsigned worker);

#endif
