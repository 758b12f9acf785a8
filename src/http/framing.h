#ifndef WEIR_HTTP_FRAMING_H
#define WEIR_HTTP_FRAMING_H

#include "http/head.h"

#define HTTP_CHUNKED	 INT64_C(-1)
#define HTTP_UNTIL_CLOSE INT64_C(-2)	/* responses only */

/*
 * How the body of a request is delimited (RFC 9112, section 6.3).
 * *ret_length: octets 0..INT64_MAX, or HTTP_CHUNKED. ERR_AMBIGUOUS (400): both
 * Content-Length and Transfer-Encoding, several or malformed lengths, chunked
 * not last or twice, Transfer-Encoding in HTTP/1.0. ERR_CODING (501): a coding
 * besides chunked.
 */
enum err http_request_framing(const struct http_head *head,
    int64_t *ret_length);

/*
 * The same for a response to a request of that method; 0 for HEAD, 1xx, 204
 * and 304 whatever the fields say; HTTP_UNTIL_CLOSE when nothing delimits it.
 * Two equal Content-Lengths may fold into one. ERR_AMBIGUOUS, ERR_CODING: 502.
 */
enum err http_response_framing(const struct http_head *head,
    enum http_method method, int64_t *ret_length);

/* The one length that all Content-Length lines of a response and all elements
 * of them state (RFC 9110, 8.6). ERR_NOT_FOUND: there is no line;
 * ERR_AMBIGUOUS: they differ or are malformed. */
enum err http_content_length(const struct http_head *head,
    int64_t *ret_length);

/* May the connection be used for another message after this one, as far as
 * its sender says (RFC 9112, 9.3)? HTTP/1.0 persists only with keep-alive. */
bool http_is_persistent(const struct http_head *head);

#endif
