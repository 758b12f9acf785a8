#include "proxy/buf.h"

#include "base/mem.h"

#define KEEP_OCTETS	(4u << 20)	/* of each class */

static unsigned
class_of(size_t room)
{
	unsigned i = 0;

	while (i < BUF_CLASSES && (size_t)BUF_MIN << i < room)
		i++;
	return i;
}

void
buf_pool_fini(struct buf_pool *pool)
{
	for (unsigned i = 0; i < BUF_CLASSES; i++) {
		while (pool->free[i] != NULL) {
			struct buf *buf = pool->free[i];

			pool->free[i] = buf->next;
			mem_free(buf);
		}
		pool->nfree[i] = 0;
	}
}

struct buf *
buf_new(struct buf_pool *pool, size_t room)
{
	unsigned i = class_of(room);
	struct buf *buf;

	if (i < BUF_CLASSES && pool->free[i] != NULL) {
		buf = pool->free[i];
		pool->free[i] = buf->next;
		pool->nfree[i]--;
	} else {
		size_t cap = i < BUF_CLASSES ? (size_t)BUF_MIN << i : room;

		buf = mem_alloc(sizeof(*buf) + cap);
		buf->cap = cap;
	}
	buf->next = NULL;
	buf->off = buf->len = 0;
	return buf;
}

void
buf_drop(struct buf_pool *pool, struct buf **bufp)
{
	struct buf *buf = *bufp;
	unsigned i;

	if (buf == NULL)
		return;
	*bufp = NULL;
	i = class_of(buf->cap);
	if (i >= BUF_CLASSES || pool->nfree[i] >= KEEP_OCTETS / buf->cap) {
		mem_free(buf);
		return;
	}
	buf->next = pool->free[i];
	pool->free[i] = buf;
	pool->nfree[i]++;
}

void
buf_reserve(struct buf_pool *pool, struct buf **bufp, size_t room)
{
	struct buf *buf = *bufp, *larger;

	if (buf->cap - buf->off - buf->len >= room)
		return;
	if (buf->cap - buf->len >= room && buf->off >= buf->cap / 2) {
		memmove(buf->data, buf->data + buf->off, buf->len);
		buf->off = 0;
		return;
	}
	larger = buf_new(pool, buf->len + room);
	memcpy(larger->data, buf->data + buf->off, buf->len);
	larger->len = buf->len;
	buf_drop(pool, bufp);
	*bufp = larger;
}

void
buf_append(struct buf_pool *pool, struct buf **bufp, struct span s)
{
	struct buf *buf;

	if (s.len == 0)
		return;
	if (*bufp == NULL)
		*bufp = buf_new(pool, s.len);
	buf_reserve(pool, bufp, s.len);
	buf = *bufp;
	memcpy(buf->data + buf->off + buf->len, s.ptr, s.len);
	buf->len += s.len;
}

void
buf_skip(struct buf_pool *pool, struct buf **bufp, size_t n)
{
	struct buf *buf = *bufp;

	buf->off += n;
	buf->len -= n;
	if (buf->len == 0)
		buf_drop(pool, bufp);
}
