#ifndef WEIR_TESTS_LIMIT_REQUEST_H
#define WEIR_TESTS_LIMIT_REQUEST_H

#include <check.h>
#include <stdio.h>

#include "http/forward.h"
#include "http/parse.h"
#include "http/target.h"
#include "limit/match.h"
#include "limit/request.h"

/* A request for unit tests of the deciding part, read from a head as a client
 * sends it. */
struct asked_request {
	struct request req;
	struct http_head head;
	char text[32768], path[4096], host[256];
};

/* "192.0.2.1"; "": a Unix socket. */
static inline struct addr
asked_addr(const char *text)
{
	struct addr a = { .family = 0 };

	if (text[0] != '\0')
		ck_assert_int_eq(addr_parse(span_str(text), false, &a),
		    ERR_OK);
	return a;
}

/*
 * line: "GET /path?query". fields: whole lines with CRLF, Host left out (it is
 * "example.com"). peer is also the client, unless rule says otherwise.
 */
static inline struct request *
asked_read(struct asked_request *r, const char *line, const char *fields,
    const char *peer, const struct http_client_rule *rule)
{
	const struct http_limits limits = { .head_bytes = sizeof(r->text),
	    .target_bytes = sizeof(r->text), .fields = HTTP_FIELDS_MAX };
	struct http_target target;
	size_t scanned = 0, used;
	int n;

	n = snprintf(r->text, sizeof(r->text),
	    "%s HTTP/1.1\r\nHost: example.com\r\n%s\r\n", line, fields);
	ck_assert_int_lt(n, (int)sizeof(r->text));
	ck_assert_int_eq(http_parse_request(span_of(r->text, (size_t)n),
	    &limits, &scanned, &r->head, &used), ERR_OK);
	ck_assert_int_eq(http_target_parse(r->head.target,
	    r->head.method_id, &target), ERR_OK);
	memset(&r->req, 0, sizeof(r->req));
	r->req.head = &r->head;
	r->req.method = r->head.method;
	r->req.query = target.query;
	ck_assert_uint_le(target.path.len, sizeof(r->path));
	ck_assert_int_eq(http_target_normalise(target.path, r->path,
	    &r->req.path), ERR_OK);
	ck_assert_int_eq(http_host_normalise(SPAN("example.com"), r->host,
	    &r->req.host), ERR_OK);
	r->req.peer = r->req.client = asked_addr(peer);
	if (rule != NULL)
		r->req.client = http_client_addr(rule, &r->head,
		    &r->req.peer);
	return &r->req;
}

/* One condition with up to three values; nothing is owned. */
struct asked_match {
	struct match match;
	struct condition condition;
	char *values[3];
	struct cidr cidr;
};

static inline const struct match *
asked_match(struct asked_match *m, enum match_kind kind, const char *name,
    const char *a, const char *b)
{
	memset(m, 0, sizeof(*m));
	m->values[0] = (char *)a;
	m->values[1] = (char *)b;
	m->condition = (struct condition){ .kind = kind, .name = (char *)name,
	    .values = m->values, .n = (a != NULL) + (b != NULL) };
	if (kind == MATCH_CLIENT_IP) {
		ck_assert_int_eq(cidr_parse(span_str(a), &m->cidr), ERR_OK);
		m->condition.cidrs = &m->cidr;
	}
	m->match = (struct match){ .conditions = &m->condition, .n = 1 };
	return &m->match;
}

#endif
