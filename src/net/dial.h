#ifndef WEIR_NET_DIAL_H
#define WEIR_NET_DIAL_H

#include "base/addr.h"
#include "net/stream.h"

/*
 * Begin to connect stream to that place; on_event tells when can_write has
 * become true, and stream_error whether it worked. The deadline is the
 * caller's. ERR_REFUSED: nobody is there; ERR_SYSTEM: errno tells. Nothing is
 * open then.
 */
enum err dial(struct loop *loop, struct stream *stream,
    const struct endpoint *to, void (*on_event)(struct stream *stream));

#endif
