#ifndef WEIR_STORE_LINK_H
#define WEIR_STORE_LINK_H

#include <hiredis/hiredis.h>

#include "base/span.h"
#include "net/loop.h"
#include "store/redis_conf.h"

/*
 * One connection to a Redis server, on hiredis: connecting, credentials,
 * loading the scripts, sending and reading. It never blocks, and never
 * connects again by itself: its owner decides when.
 */
struct link;

/* What an error reply, or the end of a link, means. */
enum link_error {
	LINK_NOSCRIPT,	/* not run; send the script whole */
	LINK_DOWN,	/* not run; the server cannot serve anybody now */
	LINK_REPLICA,	/* not run; the address leads to a read-only server */
	LINK_REFUSED,	/* credentials, rights, number of database */
	LINK_CALL,	/* this one call failed */
	LINK_LOST	/* no connection, or not Redis at its end */
};

/* The class of an error reply's text; also when a script wraps it. */
enum link_error link_classify(struct span text);

struct link_owner {
	/* Connected, admitted, scripts loaded. */
	void (*on_ready)(void *arg);
	/*
	 * It ended other than by link_close; from the loop, not from inside a
	 * send or a reply. text: why, for the log, borrowed, free of secrets.
	 * Every send has had its reply (NULL) by then.
	 */
	void (*on_end)(void *arg, enum link_error why, const char *text);
	void *arg;
};

/* Lives in the caller's record of a command until its reply. */
struct link_call {
	/* reply: borrowed for the call; NULL: the connection is gone. Must not
	 * close the link or free it. */
	void (*on_reply)(struct link_call *call, const redisReply *reply);
};

/* Borrows all three. */
struct link *link_new(struct loop *loop, const struct redis_conf *conf,
    const struct link_owner *owner);
void link_free(struct link *link);	/* closes */

/* Begin to connect; one of the owner's two functions follows. Only when it is
 * new, closed or ended. */
void link_open(struct link *link);

/* Drop the connection, if any: replies outstanding come as NULL before this
 * returns, on_end does not follow. Not from inside a reply. */
void link_close(struct link *link);

/*
 * Append a command in wire format; it leaves at the end of the turn. Borrows
 * call until its reply. False: not connected, and no reply will come.
 */
bool link_send(struct link *link, struct span command, struct link_call *call);

/* How Redis names a script since it was loaded: 40 hexadecimal digits.
 * Only once ready. */
struct span link_script(const struct link *link, unsigned script);

#endif
