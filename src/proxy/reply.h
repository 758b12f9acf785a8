#ifndef WEIR_PROXY_REPLY_H
#define WEIR_PROXY_REPLY_H

#include "config/config.h"
#include "http/forward.h"

/*
 * Every response that weir makes itself leaves through reply_put, so that all
 * of them have Date, Server, no-store, their length, and what browsers need.
 */
struct reply {
	int status;
	bool close;		/* this connection takes no further request */
	bool no_body;		/* to HEAD: the length, but not the octets */
	struct span type;	/* of the body */
	struct span body;
	struct span lines;	/* further whole lines, CRLF included */
	struct span date;
	const struct cors_conf *cors;
	struct span origin;	/* of the request; empty: not cross-origin */
};

void reply_put(const struct reply *reply, struct http_out *out);

/* The problem+json body for a status that needs no further detail. */
void reply_put_problem(int status, struct http_out *out);
#define REPLY_PROBLEM	SPAN("application/problem+json")

/*
 * The line that lets scripts of other origins read weir's fields on an
 * upstream's response: the upstream's own list, then the names weir sends.
 */
void reply_put_expose(const struct http_head *head, struct http_out *out);

#endif
