#ifndef WEIR_PROXY_RELAY_H
#define WEIR_PROXY_RELAY_H

#include "base/span.h"
#include "http/chunk.h"
#include "http/framing.h"

/*
 * One body in one direction: takes it as its sender framed it, gives it as the
 * receiver is to have it. No sockets here: octets in, octets out.
 */
struct relay {
	int64_t left;		/* to come; HTTP_CHUNKED, HTTP_UNTIL_CLOSE */
	bool chunked_out;
	bool done;		/* the whole body has passed */
	int64_t octets;		/* of the body, passed so far */
	struct http_chunk chunk;
};

/*
 * Where what goes out is put together: a head of `head` octets stands at the
 * beginning (0: none), the body follows it. size must be at least
 * head + the longest input + RELAY_ROOM, and head at most front.
 */
struct relay_room {
	char *buf;
	size_t front;		/* where chunked bodies are gathered */
	size_t head;
};
#define RELAY_ROOM	64	/* chunk size, its end, and the last chunk */

void relay_init(struct relay *relay, int64_t length, bool chunked_out);

/*
 * Pass on what *in begins with of the body, all that is there; *in is what
 * belongs to the next message then. *ret_wire: head and body to send, in room
 * or, when nothing has to be changed, in *in itself; empty when there is
 * nothing. Errors are those of http_chunk_next; nothing is to be sent then.
 */
enum err relay_pass(struct relay *relay, struct span *in,
    const struct relay_room *room, struct span *ret_wire);

/* The sender has closed, which ends an HTTP_UNTIL_CLOSE body; the last chunk,
 * if there has to be one. */
struct span relay_close(struct relay *relay);

/* Take the body and give it to nobody. */
enum err relay_discard(struct relay *relay, struct span *in);

#endif
