#ifndef WEIR_HTTP_FORWARD_H
#define WEIR_HTTP_FORWARD_H

#include "base/addr.h"
#include "base/span.h"
#include "http/framing.h"
#include "http/head.h"
#include "http/target.h"

/* Where the address of the client is taken from (client_ip.from). */
enum http_client_source {
	HTTP_CLIENT_PEER, HTTP_CLIENT_XFF, HTTP_CLIENT_FORWARDED,
	HTTP_CLIENT_HEADER
};

struct http_client_rule {
	enum http_client_source from;
	struct span header;		/* HTTP_CLIENT_HEADER */
	const struct cidr *trusted;
	size_t ntrusted;
};

/* True when forwarding fields of this peer may be believed. */
bool http_peer_trusted(const struct http_client_rule *rule,
    const struct addr *peer);

/*
 * The client's address: the peer's unless the peer is trusted; then the field
 * named by the rule, all its lines joined, walked right to left past trusted
 * addresses to the first other one (at most 32 elements); an element that is
 * no address stops the walk at the last good one; all trusted: the leftmost.
 * Ports and brackets are dropped. One source, no fallback chain.
 */
struct addr http_client_addr(const struct http_client_rule *rule,
    const struct http_head *head, const struct addr *peer);

/* A fixed room to write into; over is set, and nothing more written, when it
 * does not fit (cap is len then). */
struct http_out {
	char *buf;
	size_t len, cap;
	bool over;
};

/* Here, so that what is constant is copied without a call. */
static inline void
http_out_put(struct http_out *out, struct span s)
{
	if (s.len == 0)
		return;		/* it may have no pointer */
	if (s.len > out->cap - out->len) {
		out->over = true;
		out->cap = out->len;
		return;
	}
	memcpy(out->buf + out->len, s.ptr, s.len);
	out->len += s.len;
}

void http_out_put_u64(struct http_out *out, uint64_t value);
void http_out_field(struct http_out *out, struct span name, struct span value);
void http_out_field_u64(struct http_out *out, struct span name,
    uint64_t value);

struct http_forward_request {
	const struct http_head *head;
	const struct http_target *target;
	const struct addr *peer;
	bool peer_trusted;
	bool tls;			/* the client came by TLS */
	int64_t length;			/* of http_request_framing */
	struct http_client_rule const *rule;
	const struct addr *client;	/* of http_client_addr; NULL: by rule */
	struct span peer_text;		/* addr_print of peer, printed once per
					   connection; empty: done here */
};

/*
 * Write the head that goes upstream: request line with the path and query byte
 * for byte as received (absolute-form becomes origin-form, and Host comes from
 * it), HTTP/1.1; hop-by-hop fields and those that Connection names removed, and
 * so Trailer, because trailers are dropped; forwarding fields of untrusted
 * peers, and the header the rule names, removed; framing written anew from
 * `length`; Via added as a line of its own; X-Forwarded-For (a trusted peer's
 * lines joined, the peer appended), X-Forwarded-Proto and -Host (a trusted
 * peer's are passed), X-Real-IP (always the client) written. A peer without an
 * address (Unix) is in none of them. "Connection: keep-alive" is not needed in
 * HTTP/1.1. Expect is kept, but not that of HTTP/1.0, which means nothing (RFC
 * 9110, 10.1.1). A request of HTTP/1.0 without Host gets an empty one.
 * Max-Forwards of OPTIONS and TRACE is decremented.
 * ERR_TOO_LARGE: out is too small. ERR_LOOP: weir's own Via is there (508).
 * ERR_SYNTAX: Connection names a protected field or the rule's header, or
 * Max-Forwards is no number (400). ERR_EXPECT: an expectation other than
 * 100-continue (417). ERR_RANGE: Max-Forwards is used up, the caller answers
 * in place of the origin (RFC 9110, 7.6.2).
 */
enum err http_forward_request(const struct http_forward_request *req,
    struct http_out *out);

struct http_forward_response {
	const struct http_head *head;
	enum http_method method;	/* of the request */
	int client_minor;		/* of the request: 1.0 gets no chunks */
	int64_t length;			/* of http_response_framing */
	bool close;			/* add "Connection: close" */
	bool drop_limit_fields;		/* upstream's x-ratelimit-* */
	bool drop_cors_expose;		/* it is written anew by the caller */
	struct span date;		/* added when the response lacks one */
	struct span extra;		/* whole lines to add, CRLF included */
};

/*
 * Write the head that goes to the client, "HTTP/1.1" whatever the upstream
 * said; hop-by-hop fields removed, framing anew: HTTP_CHUNKED as chunked (to a
 * 1.0 client: until close), HTTP_UNTIL_CLOSE as chunked to a 1.1 client. For
 * HEAD and 304 the Content-Length of the upstream is passed on as it stands,
 * unless it is invalid. 204 has none. An interim head (1xx) gets neither
 * framing, Date, Connection nor extra. What Connection names is removed, but
 * no protected field.
 * ERR_TOO_LARGE: out is too small.
 */
enum err http_forward_response(const struct http_forward_response *res,
    struct http_out *out);

#endif
