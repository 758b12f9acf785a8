#ifndef WEIR_APP_DEMO_CLIENT_H
#define WEIR_APP_DEMO_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A synthetic caller of `weir demo`: `burst` requests back to back, then a
 * pause, over one keep-alive connection, from its own loopback address.
 */
struct demo_client {
	const char *name, *habit;
	const char *from;		/* 127.0.0.2 ... */
	int burst, pause_ms;
	int port;

	_Atomic int64_t sent, passed, limited, failed;
	_Atomic int64_t retry_after;	/* of the last 429, seconds */
	_Atomic bool stop;
};

/* Start its thread; it ends when the process does, or after stop. */
int demo_client_start(struct demo_client *client);

#endif
