#ifndef WEIR_PROXY_ACCESS_H
#define WEIR_PROXY_ACCESS_H

#include "base/addr.h"
#include "config/config.h"
#include "limit/limiter.h"

/*
 * The access log: one line a request, written after the response. One a
 * worker; lines are collected in memory and written by access_flush at the
 * end of a loop turn in one write of whole lines, so that the lines of several
 * workers never mix.
 */
struct access_log;

struct access_entry {
	int64_t wall_us;		/* when the request began */
	int64_t duration_us, upstream_us;	/* upstream_us -1: none */
	struct addr client, peer;
	unsigned peer_port;
	struct span method, target, host;	/* target as received */
	struct span user_agent, referer;
	int minor;
	int status;			/* sent to the client; 0: none */
	int64_t bytes_in, bytes_out;	/* body octets */
	const struct request *request;	/* classified, or NULL */
	const struct decision *decision;	/* NULL: never asked */
	const char *upstream;		/* configuration name, or NULL */
	const char *server;		/* address that answered, or NULL */
	const char *error;		/* "upstream_timeout", or NULL */
	bool preflight;
};

/* fd is borrowed: stdout or an opened file. */
struct access_log *access_new(int fd, const struct log_conf *conf);
void access_free(struct access_log *log);	/* flushes */
void access_write(struct access_log *log, const struct access_entry *entry);
void access_flush(struct access_log *log);

#endif
