#include "proxy/relay.h"

#define SIZE_MAX_LEN	18	/* of http_chunk_put_size */

void
relay_init(struct relay *r, int64_t length, bool chunked_out)
{
	memset(r, 0, sizeof(*r));
	r->left = length;
	r->chunked_out = chunked_out;
	r->done = length == 0;
}

/* The next run of body octets. */
static enum err
next_run(struct relay *r, struct span *in, struct span *ret_run)
{
	enum err e;

	if (r->left == HTTP_CHUNKED) {
		if ((e = http_chunk_next(&r->chunk, in, ret_run, &r->done)) !=
		    ERR_OK)
			return e;
	} else {
		size_t n = in->len;

		if (r->left >= 0 && (int64_t)n > r->left)
			n = (size_t)r->left;
		*ret_run = span_of(in->ptr, n);
		*in = span_skip(*in, n);
		if (r->left >= 0)
			r->done = (r->left -= (int64_t)n) == 0;
	}
	r->octets += (int64_t)ret_run->len;
	return ERR_OK;
}

/* Copy all runs behind one another. */
static enum err
gather(struct relay *r, struct span *in, char *to, size_t *ret_len)
{
	size_t len = 0;

	while (!r->done && in->len > 0) {
		struct span run;
		enum err e = next_run(r, in, &run);

		if (e != ERR_OK)
			return e;
		memcpy(to + len, run.ptr, run.len);
		len += run.len;
	}
	*ret_len = len;
	return ERR_OK;
}

static size_t
put(char *to, const char *s, size_t len)
{
	memcpy(to, s, len);
	return len;
}

/* One chunk of all that is there. Its size is known only afterwards, so it is
 * put before it, and the head before that. */
static enum err
pass_chunked(struct relay *r, struct span *in, const struct relay_room *room,
    struct span *ret_wire)
{
	char *body = room->buf + room->front + SIZE_MAX_LEN, *start = body;
	char size[SIZE_MAX_LEN];
	size_t len, end;
	enum err e;

	if ((e = gather(r, in, body, &len)) != ERR_OK)
		return e;
	end = len;
	if (len > 0) {
		size_t n = http_chunk_put_size(size, len);

		start -= n;
		memcpy(start, size, n);
		end += put(body + end, "\r\n", 2);
	}
	if (r->done)
		end += put(body + end, "0\r\n\r\n", 5);
	start -= room->head;
	memmove(start, room->buf, room->head);
	*ret_wire = span_of(start, (size_t)(body + end - start));
	return ERR_OK;
}

enum err
relay_pass(struct relay *r, struct span *in, const struct relay_room *room,
    struct span *ret_wire)
{
	struct span run;
	size_t len;
	enum err e;

	/* A body of no octets has no chunks either: it has a length of 0. */
	if (r->done) {
		*ret_wire = span_of(room->buf, room->head);
		return ERR_OK;
	}
	if (r->chunked_out)
		return pass_chunked(r, in, room, ret_wire);
	if (room->head == 0 && r->left != HTTP_CHUNKED)
		return next_run(r, in, ret_wire);
	if (r->left == HTTP_CHUNKED) {
		if ((e = gather(r, in, room->buf + room->head, &len)) !=
		    ERR_OK)
			return e;
	} else {
		next_run(r, in, &run);
		len = run.len;
		memcpy(room->buf + room->head, run.ptr, len);
	}
	*ret_wire = span_of(room->buf, room->head + len);
	return ERR_OK;
}

struct span
relay_close(struct relay *r)
{
	r->done = true;
	return r->chunked_out ? SPAN("0\r\n\r\n") : SPAN_EMPTY;
}

enum err
relay_discard(struct relay *r, struct span *in)
{
	struct span run;
	enum err e = ERR_OK;

	while (e == ERR_OK && !r->done && in->len > 0)
		e = next_run(r, in, &run);
	return e;
}
