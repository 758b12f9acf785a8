#ifndef WEIR_TESTS_HTTP_FEED_H
#define WEIR_TESTS_HTTP_FEED_H

#include <stdlib.h>

#include "http/chunk.h"
#include "http/parse.h"

/* What unit tests and fuzz targets of the message layer share: giving octets in
 * pieces, and comparing what comes out. */

typedef enum err feed_parser(struct span data,
    const struct http_limits *limits, size_t *scanned, struct http_head *ret,
    size_t *ret_used);

struct fed {
	enum err e;
	size_t used;
	struct http_head head;
};

/* Give data with one cut, which may be at either end: none. */
static inline void
feed_cut(feed_parser *parser, struct span data, size_t cut,
    const struct http_limits *limits, struct fed *ret)
{
	size_t scanned = 0;

	ret->used = 0;
	ret->e = ERR_AGAIN;
	if (cut > 0 && cut < data.len)
		ret->e = parser(span_of(data.ptr, cut), limits, &scanned,
		    &ret->head, &ret->used);
	if (ret->e == ERR_AGAIN)
		ret->e = parser(data, limits, &scanned, &ret->head,
		    &ret->used);
}

/* Give one octet more at a time. */
static inline void
feed_octets(feed_parser *parser, struct span data,
    const struct http_limits *limits, struct fed *ret)
{
	size_t scanned = 0;

	ret->used = 0;
	ret->e = ERR_AGAIN;
	for (size_t n = 1; n <= data.len && ret->e == ERR_AGAIN; n++)
		ret->e = parser(span_of(data.ptr, n), limits, &scanned,
		    &ret->head, &ret->used);
}

static inline bool
feed_same_head(const struct http_head *a, const struct http_head *b)
{
	if (a->status != b->status || a->minor != b->minor ||
	    a->method_id != b->method_id || a->nfields != b->nfields ||
	    !span_equal(a->method, b->method) ||
	    !span_equal(a->target, b->target) ||
	    !span_equal(a->reason, b->reason) || !span_equal(a->raw, b->raw))
		return false;
	for (unsigned i = 0; i < a->nfields; i++)
		if (a->fields[i].id != b->fields[i].id ||
		    !span_equal(a->fields[i].name, b->fields[i].name) ||
		    !span_equal(a->fields[i].value, b->fields[i].value))
			return false;
	return true;
}

static inline bool
feed_same(const struct fed *a, const struct fed *b)
{
	return a->e == b->e && (a->e != ERR_OK || (a->used == b->used &&
	    feed_same_head(&a->head, &b->head)));
}

/* A chunked body, decoded from pieces that end at `cut` and each `step`. */
struct fed_body {
	enum err e;
	bool done;
	size_t used, len;
	char body[4096];
};

static inline void
feed_chunks(struct span data, size_t cut, size_t step, struct fed_body *ret)
{
	struct http_chunk c = { 0 };
	size_t at = 0;

	ret->e = ERR_OK;
	ret->done = false;
	ret->len = 0;
	while (at < data.len && ret->e == ERR_OK && !ret->done) {
		size_t end = at < cut ? cut : at + step;
		struct span in, body;

		if (end > data.len)
			end = data.len;
		in = span_of(data.ptr + at, end - at);
		while (in.len > 0 && ret->e == ERR_OK && !ret->done) {
			ret->e = http_chunk_next(&c, &in, &body, &ret->done);
			if (ret->e != ERR_OK)
				break;
			if (body.len > sizeof(ret->body) - ret->len)
				abort();
			memcpy(ret->body + ret->len, body.ptr, body.len);
			ret->len += body.len;
		}
		at = end - in.len;
	}
	ret->used = at;
}

static inline bool
feed_same_body(const struct fed_body *a, const struct fed_body *b)
{
	return a->e == b->e && a->done == b->done && a->len == b->len &&
	    memcmp(a->body, b->body, a->len) == 0 &&
	    (a->e != ERR_OK || a->used == b->used);
}

#endif
