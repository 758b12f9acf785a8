#ifndef WEIR_APP_DEMO_UPSTREAM_H
#define WEIR_APP_DEMO_UPSTREAM_H

/*
 * The API of `weir demo`: answers every request with a JSON echo of it; /slow
 * takes two seconds, /status/503 answers with that code. One blocking thread a
 * connection: it is no example of how weir serves.
 */

/* Listen on 127.0.0.1, at port or the next free one; the port, or -1. */
int demo_upstream_start(int port);

/* The first port from `port` on that nobody listens on at 127.0.0.1, or -1. */
int demo_free_port(int port);

#endif
