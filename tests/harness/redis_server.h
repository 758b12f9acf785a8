#ifndef WEIR_TESTS_REDIS_SERVER_H
#define WEIR_TESTS_REDIS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/addr.h"

/* A real redis-server of a test's own: a Unix socket (and, if asked for, a port
 * of 127.0.0.1) in a temporary folder, nothing saved, gone with the test. */
struct redis_server {
	char folder[64], path[96];
	pid_t pid;
	struct endpoint address;	/* of the socket */
	unsigned port;			/* 0: none */
};

/* extra: further words of its command line, NULL at the end; or NULL. */
void redis_server_begin(struct redis_server *r, bool tcp,
    const char *const *extra);
void redis_server_end(struct redis_server *r);

/* Start again at the same address, as empty as at first. */
void redis_server_start(struct redis_server *r, const char *const *extra);
void redis_server_kill(struct redis_server *r);
void redis_server_signal(struct redis_server *r, int number);

/*
 * A command over a connection of its own; the reply printed: integers and
 * strings as they are, errors as "-ERR ...", nil "(nil)", elements of an array
 * with a space between. Valid until the next call.
 */
const char *redis_server_do(struct redis_server *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Microseconds of processor time it has used. */
long redis_server_cpu_us(const struct redis_server *r);

#endif
