#ifndef WEIR_APP_SERVER_H
#define WEIR_APP_SERVER_H

#include "base/counters.h"
#include "config/config.h"

/*
 * The running weir: workers, listeners, signals. Lives in the main thread,
 * which waits for signals and leaves the requests to the workers.
 */
struct server;

/*
 * Leave the signals weir handles to the main thread. Called by server_start;
 * whoever starts threads earlier calls it before.
 */
void server_block_signals(void);

/*
 * Open the listeners and start the workers. Takes a reference on config.
 * ERR_SYSTEM: it was logged (a port taken, the access log not writable);
 * nothing runs.
 */
enum err server_start(struct config *config, struct server **ret);

/*
 * Serve until TERM or INT have drained it; returns the exit code. HUP
 * reloads config->path.
 * tick(arg), when not NULL, is called about every second; a result other than
 * 0 ends the server as TERM would.
 */
int server_run(struct server *server, int (*tick)(void *), void *arg);

/* Sum over the workers. */
int64_t server_count(const struct server *server, enum counter id);

void server_free(struct server *server);

#endif
