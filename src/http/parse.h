#ifndef WEIR_HTTP_PARSE_H
#define WEIR_HTTP_PARSE_H

#include "http/head.h"

#define HTTP_METHOD_MAX	64	/* a longer method is refused */

struct http_limits {
	size_t head_bytes;	/* whole head, request line included */
	size_t target_bytes;
	unsigned fields;	/* at most HTTP_FIELDS_MAX */
};

/*
 * Parse the head that data begins with: strictly (RFC 9112: CRLF only, no
 * obs-fold, no space before the colon, no control octets, one Host in
 * HTTP/1.1 requests, no framing fields that disagree), in one pass once its
 * empty line is there. For requests, empty lines before the request line are
 * skipped (RFC 9112, 2.2: at least one CRLF).
 *
 * *scanned: 0 for a new head, else as the last call left it: how far earlier
 * calls looked and in which part of the head that was (opaque), so that a head
 * that comes octet by octet costs linear time. *ret_used: octets of data that
 * belong to the head. *ret holds nothing of use unless ERR_OK is returned.
 *
 * ERR_AGAIN: incomplete, come back with more behind the same octets. Whatever
 * is already hopeless is refused without waiting for the end; how the octets
 * are divided among calls never changes what comes out.
 * Requests: ERR_SYNTAX and ERR_AMBIGUOUS 400, ERR_TARGET_LONG 414,
 * ERR_TOO_LARGE 431, ERR_VERSION 505, ERR_CODING 501, ERR_METHOD 501 (see
 * http_err_status); the connection cannot be used afterwards. Responses:
 * anything else than OK or AGAIN makes a 502.
 */
enum err http_parse_request(struct span data, const struct http_limits *limits,
    size_t *scanned, struct http_head *ret, size_t *ret_used);
enum err http_parse_response(struct span data,
    const struct http_limits *limits, size_t *scanned, struct http_head *ret,
    size_t *ret_used);

/* The status code that answers a refused request. */
int http_err_status(enum err e);

#endif
