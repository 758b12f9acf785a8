#ifndef WEIR_HTTP_CHUNK_H
#define WEIR_HTTP_CHUNK_H

#include "base/span.h"

#define HTTP_CHUNK_LINE_MAX	256	/* size and extensions of one chunk */
#define HTTP_TRAILER_MAX	8192	/* whole trailer section */

/* Decoder of the chunked coding (RFC 9112, section 7.1), resumable at any
 * octet, strict. Plain data; zero bytes is a decoder at its start. */
struct http_chunk {
	uint8_t state;
	uint16_t line;		/* octets of the current line */
	uint32_t trailer;	/* octets of the trailer section so far */
	int64_t left;		/* of the current chunk's data */
};

/*
 * Consume the front of *in up to the next run of body octets, which *ret_body
 * views (empty: none in what was consumed). *ret_done: the final empty line
 * was consumed; what is left in *in is the next message. Trailer fields are
 * checked and dropped (RFC 9110, 6.5.1 allows it).
 * ERR_SYNTAX: malformed; ERR_RANGE: a size beyond INT64_MAX; ERR_TOO_LARGE: a
 * line or the trailers beyond the bounds above. All are final.
 */
enum err http_chunk_next(struct http_chunk *c, struct span *in,
    struct span *ret_body, bool *ret_done);

/* Write "SIZE CRLF" for a chunk of len > 0; returns octets, at most 18. The
 * data and one CRLF follow it; the last chunk is "0\r\n\r\n". */
size_t http_chunk_put_size(char *buf, size_t len);

#endif
