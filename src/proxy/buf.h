#ifndef WEIR_PROXY_BUF_H
#define WEIR_PROXY_BUF_H

#include "base/span.h"

/*
 * Buffers for octets that have to wait, in sizes of powers of two, kept for
 * reuse by their pool: a connection has one only while it holds something.
 */
#define BUF_MIN		1024
#define BUF_CLASSES	10		/* 1 KiB to 512 KiB are kept */

struct buf {
	struct buf *next;		/* in the pool */
	size_t off, len, cap;		/* len octets from data + off */
	char data[];
};

struct buf_pool {
	struct buf *free[BUF_CLASSES];
	unsigned nfree[BUF_CLASSES];
};

void buf_pool_fini(struct buf_pool *pool);

/* Empty, with room for at least that many octets. */
struct buf *buf_new(struct buf_pool *pool, size_t room);
/* Give back and set to NULL; accepts NULL. */
void buf_drop(struct buf_pool *pool, struct buf **buf);

/* Put s behind what is there; *buf may be NULL or may move. s is not in it. */
void buf_append(struct buf_pool *pool, struct buf **buf, struct span s);
/* At least that much room behind what is there; *buf is not NULL, may move. */
void buf_reserve(struct buf_pool *pool, struct buf **buf, size_t room);
/* Let the first n octets go; an empty buffer is dropped. */
void buf_skip(struct buf_pool *pool, struct buf **buf, size_t n);

static inline struct span
buf_span(const struct buf *buf)
{
	return span_of(buf->data + buf->off, buf->len);
}

#endif
