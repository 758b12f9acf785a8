#ifndef WEIR_NET_STREAM_H
#define WEIR_NET_STREAM_H

#include "base/span.h"
#include "net/loop.h"

/*
 * A connected byte stream. Everything above knows only the five operations
 * open, read, write, shutdown, close, so that what is below can be exchanged.
 *
 * Events are edges: on_event tells that a flag below has become true; it stays
 * true until a read or write finds the end of it. Who stops reading keeps the
 * flag and comes back on its own accord.
 */
struct stream {
	struct loop_io io;		/* private */
	void (*on_event)(struct stream *stream);
	bool can_read, can_write;
	bool hup;			/* the peer has finished sending */
};

/* Takes fd: also on failure, when it is closed. connected: false while a
 * connect() is in progress; can_write becomes true at its end. */
enum err stream_open(struct loop *loop, struct stream *stream, int fd,
    bool connected, void (*on_event)(struct stream *stream));

/*
 * Read up to cap > 0 octets. ERR_AGAIN: nothing now; ERR_CLOSED: the peer has
 * finished sending; ERR_SYSTEM: the stream is broken.
 */
enum err stream_read(struct stream *stream, char *buf, size_t cap,
    size_t *ret_len);

/*
 * Write what fits; *ret_len may be less than data.len, even 0: can_write is
 * false then and an event follows. ERR_SYSTEM: the stream is broken.
 */
enum err stream_write(struct stream *stream, struct span data,
    size_t *ret_len);

/* Say that nothing more will be sent. */
void stream_shutdown(struct stream *stream);

/* reset: make the peer see that what it has is not whole. */
void stream_close(struct stream *stream, bool reset);	/* twice is harmless */

/* The error pending on the descriptor, as errno; 0: none. Also tells how a
 * connect() went. */
int stream_error(struct stream *stream);

/* True when the peer has sent anything unread, or has closed: an idle
 * connection of which this is true is no longer fit for use. */
bool stream_is_stale(struct stream *stream);

#endif
