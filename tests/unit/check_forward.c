#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "http/forward.h"
#include "http/status.h"
#include "http_feed.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define LINE		"GET /a HTTP/1.1\r\n"
#define H		"Host: a.test\r\n"
#define VIA		"Via: 1.1 weir\r\n"
#define PROTO		"X-Forwarded-Proto: http\r\n"
#define XHOST		"X-Forwarded-Host: a.test\r\n"
#define XFF(a)		"X-Forwarded-For: " a "\r\n"
#define REAL(a)		"X-Real-IP: " a "\r\n"
/* What follows the fields of a request of 192.0.2.1. */
#define OWN		VIA XFF("192.0.2.1") PROTO XHOST \
			REAL("192.0.2.1") "\r\n"

static const struct http_limits limits = {
	.head_bytes = 4096, .target_bytes = 1000, .fields = 100
};
static struct fed fed, back;
static char written[8192];

static struct addr
addr(const char *text)
{
	struct addr a;

	ck_assert_int_eq(addr_parse(span_str(text), false, &a), ERR_OK);
	return a;
}

/* 10.0.0.0/8 and 2001:db8::/32 are trusted. */
static struct http_client_rule
rule_from(enum http_client_source from, const char *header)
{
	static struct cidr trusted[2];

	ck_assert_int_eq(cidr_parse(SPAN("10.0.0.0/8"), &trusted[0]), ERR_OK);
	ck_assert_int_eq(cidr_parse(SPAN("2001:db8::/32"), &trusted[1]),
	    ERR_OK);
	return (struct http_client_rule){ .from = from,
	    .header = span_str(header), .trusted = trusted, .ntrusted = 2 };
}

/* A request as it is forwarded into `written`; its parsed form is in `fed`. */
static enum err
forward(const char *text, const char *peer,
    const struct http_client_rule *rule, size_t cap, struct span *ret)
{
	struct http_out out = { .buf = written, .cap = cap };
	struct addr from = addr(peer);
	struct http_forward_request req = { .head = &fed.head, .peer = &from,
	    .rule = rule, .peer_trusted = http_peer_trusted(rule, &from) };
	struct http_target target;
	enum err e;

	feed_cut(http_parse_request, span_str(text), 0, &limits, &fed);
	ck_assert_int_eq(fed.e, ERR_OK);
	ck_assert_int_eq(http_target_parse(fed.head.target,
	    fed.head.method_id, &target), ERR_OK);
	ck_assert_int_eq(http_request_framing(&fed.head, &req.length),
	    ERR_OK);
	req.target = &target;
	e = http_forward_request(&req, &out);
	*ret = span_of(written, out.len);
	return e;
}

static void
check_read_back(struct span text)
{
	int64_t before, after;

	feed_cut(http_parse_request, text, 0, &limits, &back);
	ck_assert_int_eq(back.e, ERR_OK);
	ck_assert_uint_eq(back.used, text.len);
	ck_assert(span_equal(back.head.method, fed.head.method));
	ck_assert_int_eq(http_request_framing(&fed.head, &before), ERR_OK);
	ck_assert_int_eq(http_request_framing(&back.head, &after), ERR_OK);
	ck_assert_int_eq(before, after);
}

static const struct {
	const char *text, *forwarded;
} untrusted[] = {
	{ LINE H "\r\n", LINE H OWN },
	{ "GET /%2f/../x?%7e&\\ HTTP/1.1\r\n" H "\r\n",
	    "GET /%2f/../x?%7e&\\ HTTP/1.1\r\n" H OWN },
	{ LINE "A: 1\r\n" H "b:\t2 \r\nA: 3\r\n\r\n",
	    LINE "A: 1\r\n" H "b:\t2 \r\nA: 3\r\n" OWN },
	/* start line and Host */
	{ "GET /a HTTP/1.2\r\n" H "\r\n", LINE H OWN },
	{ "GET /a HTTP/1.0\r\n" H "\r\n", LINE H "Via: 1.0 weir\r\n"
	    XFF("192.0.2.1") PROTO XHOST REAL("192.0.2.1") "\r\n" },
	{ "GET /a HTTP/1.0\r\nA: 1\r\n\r\n", LINE "Host: \r\nA: 1\r\n"
	    "Via: 1.0 weir\r\n" XFF("192.0.2.1") PROTO REAL("192.0.2.1")
	    "\r\n" },
	{ "GET /a HTTP/1.0\r\n\r\n", LINE "Host: \r\nVia: 1.0 weir\r\n"
	    XFF("192.0.2.1") PROTO REAL("192.0.2.1") "\r\n" },
	{ "GET http://a.test/a HTTP/1.1\r\nA: 1\r\nHost: b.test\r\n\r\n",
	    LINE H "A: 1\r\n" OWN },
	{ "GET http://a.test?q HTTP/1.1\r\nHost: b\r\n\r\n",
	    "GET /?q HTTP/1.1\r\n" H OWN },
	{ "OPTIONS http://a.test HTTP/1.1\r\nHost: b\r\n\r\n",
	    "OPTIONS * HTTP/1.1\r\n" H OWN },
	{ "OPTIONS * HTTP/1.1\r\n" H "\r\n", "OPTIONS * HTTP/1.1\r\n" H OWN },
	/* hop-by-hop fields and what Connection names */
	{ LINE "Connection: close\r\n" H "\r\n", LINE H OWN },
	{ LINE H "X-Hop: 1\r\nA: 1\r\nx-hop: 2\r\n"
	    "Connection: keep-alive , x-HOP,\tMissing\r\nB: 1\r\n"
	    "Connection: Cookie\r\nCookie: c\r\n\r\n",
	    LINE H "A: 1\r\nB: 1\r\n" OWN },
	{ LINE "Keep-Alive: 5\r\nProxy-Connection: close\r\nTE: trailers\r\n"
	    "Trailer: X\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n" H
	    "Proxy: http://b\r\nContent_Length: 5\r\nX_Real_IP: 1.2.3.4\r\n"
	    "X_Own: kept\r\n\r\n", LINE H "X_Own: kept\r\n" OWN },
	/* framing */
	{ LINE "Content-Length: 007\r\n" H "\r\n",
	    LINE H "Content-Length: 7\r\n" OWN },
	{ LINE "Content-Length: 0\r\n" H "\r\n",
	    LINE H "Content-Length: 0\r\n" OWN },
	{ LINE H "Transfer-Encoding: ,\r\nTransfer-Encoding: CHUNKED\r\n\r\n",
	    LINE H "Transfer-Encoding: chunked\r\n" OWN },
	/* forwarding fields */
	{ LINE H XFF("1.2.3.4") "Forwarded: for=1.2.3.4\r\n" REAL("1.2.3.4")
	    "X-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\n"
	    "X-Forwarded-Port: 1\r\nX-Forwarded-Prefix: /\r\n"
	    "True-Client-IP: 1.2.3.4\r\ncf-connecting-ip: 1.2.3.4\r\n"
	    "Client-Cert: :AA==:\r\nX-Mine: 1.2.3.4\r\n\r\n", LINE H OWN },
	{ LINE H "Via: 1.0 fred (weir), 1.1 weird\r\n\r\n",
	    LINE H "Via: 1.0 fred (weir), 1.1 weird\r\n" OWN },
	/* Expect, Max-Forwards */
	{ LINE H "Expect: 100-Continue\r\n\r\n",
	    LINE H "Expect: 100-Continue\r\n" OWN },
	{ "GET /a HTTP/1.0\r\n" H "Expect: 100-continue\r\n\r\n",
	    LINE H "Via: 1.0 weir\r\n" XFF("192.0.2.1") PROTO XHOST
	    REAL("192.0.2.1") "\r\n" },
	{ LINE H "Max-Forwards: 0\r\n\r\n", LINE H "Max-Forwards: 0\r\n" OWN },
	{ "OPTIONS /a HTTP/1.1\r\nMax-Forwards: 5\r\n" H "\r\n",
	    "OPTIONS /a HTTP/1.1\r\n" H "Max-Forwards: 4\r\n" OWN },
	{ "TRACE /a HTTP/1.1\r\nMax-Forwards: 99999999999999999999\r\n" H
	    "\r\n", "TRACE /a HTTP/1.1\r\n" H
	    "Max-Forwards: 9223372036854775807\r\n" OWN },
	/* credentials and content pass */
	{ LINE H "Authorization: Basic x\r\nCookie: a\r\nOrigin: o\r\n"
	    "Content-Type: t\r\nX-Request-Id: 1\r\n\r\n",
	    LINE H "Authorization: Basic x\r\nCookie: a\r\nOrigin: o\r\n"
	    "Content-Type: t\r\nX-Request-Id: 1\r\n" OWN },
};

START_TEST(untrusted_rows)
{
	struct http_client_rule rule = rule_from(HTTP_CLIENT_HEADER,
	    "x-mine");
	struct span got;

	ck_assert_int_eq(forward(untrusted[_i].text, "192.0.2.1", &rule,
	    sizeof(written), &got), ERR_OK);
	ck_assert_msg(span_equal(got, span_str(untrusted[_i].forwarded)),
	    "%.*s", SPAN_ARG(got));
	check_read_back(got);
}
END_TEST

static const struct {
	const char *text, *forwarded;
} trusted[] = {
	{ LINE H "\r\n", LINE H VIA XFF("10.0.0.1") PROTO XHOST
	    REAL("10.0.0.1") "\r\n" },
	{ LINE XFF("1.2.3.4, 5.6.7.8") REAL("9.9.9.9") H XFF("") XFF("10.1.1.1")
	    "X-Forwarded-Proto: https\r\nX-Forwarded-Host: pub\r\n"
	    "Forwarded: for=x\r\nCF-Connecting-IP: 7.7.7.7\r\n\r\n",
	    LINE H "X-Forwarded-Proto: https\r\nX-Forwarded-Host: pub\r\n"
	    "Forwarded: for=x\r\nCF-Connecting-IP: 7.7.7.7\r\n" VIA
	    XFF("1.2.3.4, 5.6.7.8, 10.1.1.1, 10.0.0.1") REAL("5.6.7.8")
	    "\r\n" },
};

START_TEST(trusted_rows)
{
	struct http_client_rule rule = rule_from(HTTP_CLIENT_XFF, "");
	struct span got;

	ck_assert_int_eq(forward(trusted[_i].text, "10.0.0.1", &rule,
	    sizeof(written), &got), ERR_OK);
	ck_assert_msg(span_equal(got, span_str(trusted[_i].forwarded)),
	    "%.*s", SPAN_ARG(got));
	check_read_back(got);
}
END_TEST

static const struct {
	enum err e;
	const char *text;
} refused[] = {
	{ ERR_LOOP, LINE H "Via: 1.1 weir\r\n\r\n" },
	{ ERR_LOOP, LINE H "Via: 1.0 a, HTTP/1.1  WEIR (x)\r\n\r\n" },
	{ ERR_LOOP, LINE H "Via: 1.1 b\r\nVia: 1.0 weir\r\n\r\n" },
	{ ERR_EXPECT, LINE H "Expect: 100-continue, x\r\n\r\n" },
	{ ERR_EXPECT, LINE H "Expect: y 100-continue\r\n\r\n" },
	{ ERR_RANGE, "TRACE /a HTTP/1.1\r\n" H "Max-Forwards: 0\r\n\r\n" },
	{ ERR_RANGE, "OPTIONS * HTTP/1.1\r\n" H "Max-Forwards: 00\r\n\r\n" },
	{ ERR_SYNTAX, "OPTIONS * HTTP/1.1\r\n" H "Max-Forwards: -1\r\n\r\n" },
	{ ERR_SYNTAX, "OPTIONS * HTTP/1.1\r\n" H "Max-Forwards:\r\n\r\n" },
	{ ERR_SYNTAX, LINE H "Connection: close, host\r\n\r\n" },
	{ ERR_SYNTAX, LINE H "Connection: Content-Length\r\n\r\n" },
	{ ERR_SYNTAX, LINE H "Connection: Transfer-Encoding\r\n\r\n" },
	{ ERR_SYNTAX, LINE H "Connection: X-Forwarded-For\r\n\r\n" },
	{ ERR_SYNTAX, LINE H "Connection: Authorization\r\n\r\n" },
	{ ERR_SYNTAX, LINE H "Connection: Via\r\n\r\n" },
	{ ERR_SYNTAX, LINE H "Connection: a\r\nConnection: X-MINE\r\n\r\n" },
};

START_TEST(refused_rows)
{
	struct http_client_rule rule = rule_from(HTTP_CLIENT_HEADER,
	    "x-mine");
	struct span got;

	ck_assert_int_eq(forward(refused[_i].text, "192.0.2.1", &rule,
	    sizeof(written), &got), refused[_i].e);
}
END_TEST

/* Into no room but the exact one does it fit; nothing is written behind. */
START_TEST(request_room)
{
	struct http_client_rule rule = rule_from(HTTP_CLIENT_PEER, "");
	const char *text = LINE H "Connection: x\r\nContent-Length: 3\r\n\r\n";
	struct span got;
	size_t len;

	ck_assert_int_eq(forward(text, "::1", &rule, sizeof(written), &got),
	    ERR_OK);
	len = got.len;
	ck_assert_int_eq(forward(text, "::1", &rule, len, &got), ERR_OK);
	for (size_t cap = 0; cap < len; cap++) {
		memset(written, '#', sizeof(written));
		ck_assert_int_eq(forward(text, "::1", &rule, cap, &got),
		    ERR_TOO_LARGE);
		ck_assert_uint_le(got.len, cap);
		ck_assert_int_eq(written[cap], '#');
	}
}
END_TEST

START_TEST(peer_without_address)
{
	struct http_client_rule rule = { .from = HTTP_CLIENT_PEER };
	struct addr peer = { .family = 0 }, client = addr("192.0.2.9");
	struct http_target target = { .form = HTTP_ORIGIN };
	struct http_out out = { .buf = written, .cap = sizeof(written) };
	struct http_forward_request req = { .head = &fed.head,
	    .target = &target, .peer = &peer, .rule = &rule, .tls = true };

	feed_cut(http_parse_request, SPAN(LINE H XFF("1.2.3.4") "\r\n"), 0,
	    &limits, &fed);
	ck_assert(!http_peer_trusted(&rule, &peer));
	ck_assert_int_eq(http_forward_request(&req, &out), ERR_OK);
	ck_assert(span_equal(span_of(written, out.len), SPAN(LINE H VIA
	    "X-Forwarded-Proto: https\r\n" XHOST "\r\n")));
	out.len = 0;
	peer = addr("10.0.0.1");
	req.peer_trusted = true;
	req.client = &client;
	req.peer_text = SPAN("10.0.0.1");
	ck_assert_int_eq(http_forward_request(&req, &out), ERR_OK);
	ck_assert(span_equal(span_of(written, out.len), SPAN(LINE H VIA
	    XFF("1.2.3.4, 10.0.0.1") "X-Forwarded-Proto: https\r\n" XHOST
	    REAL("192.0.2.9") "\r\n")));
}
END_TEST

#define MANY(s)	s s s s s s s s s s s s s s s s

static const struct {
	enum http_client_source from;
	const char *peer, *fields, *client;
} clients[] = {
	{ HTTP_CLIENT_PEER, "10.0.0.1", XFF("1.2.3.4"), "10.0.0.1" },
	{ HTTP_CLIENT_XFF, "192.0.2.1", XFF("1.2.3.4"), "192.0.2.1" },
	{ HTTP_CLIENT_XFF, "10.0.0.1", "", "10.0.0.1" },
	{ HTTP_CLIENT_XFF, "10.0.0.1", XFF("1.2.3.4"), "1.2.3.4" },
	{ HTTP_CLIENT_XFF, "10.0.0.1", XFF("6.6.6.6, 1.2.3.4 ,10.2.0.1"),
	    "1.2.3.4" },
	{ HTTP_CLIENT_XFF, "10.0.0.1", XFF("6.6.6.6, 1.2.3.4")
	    XFF("10.2.0.1,, ,"), "1.2.3.4" },
	{ HTTP_CLIENT_XFF, "10.0.0.1", XFF("10.3.0.1, 10.2.0.1"),
	    "10.3.0.1" },
	{ HTTP_CLIENT_XFF, "10.0.0.1", XFF("1.2.3.4, unknown, 10.2.0.1"),
	    "10.2.0.1" },
	{ HTTP_CLIENT_XFF, "10.0.0.1", XFF("1.2.3.4, nonsense"),
	    "10.0.0.1" },
	{ HTTP_CLIENT_XFF, "10.0.0.1", XFF("\", 1.2.3.4"), "1.2.3.4" },
	{ HTTP_CLIENT_XFF, "10.0.0.1", XFF("1.2.3.4:50001"), "1.2.3.4" },
	{ HTTP_CLIENT_XFF, "10.0.0.1", XFF("[2001:db9::7]:443"),
	    "2001:db9::7" },
	{ HTTP_CLIENT_XFF, "10.0.0.1", XFF("::ffff:1.2.3.4"), "1.2.3.4" },
	{ HTTP_CLIENT_XFF, "2001:db8::1", XFF("1.2.3.4"), "1.2.3.4" },
	{ HTTP_CLIENT_XFF, "10.0.0.1", REAL("1.2.3.4"), "10.0.0.1" },
	{ HTTP_CLIENT_XFF, "10.0.0.1", XFF("1.2.3.4," MANY("10.0.0.2,")
	    MANY("10.0.0.2,")), "10.0.0.2" },
	{ HTTP_CLIENT_XFF, "10.0.0.1", XFF("1.2.3.4," MANY("10.0.0.2,")
	    MANY(",")), "1.2.3.4" },
	{ HTTP_CLIENT_HEADER, "10.0.0.1", "X-MINE: 1.2.3.4\r\n", "1.2.3.4" },
	{ HTTP_CLIENT_HEADER, "10.0.0.1", "X-Mine2: 1.2.3.4\r\n"
	    XFF("1.2.3.4"), "10.0.0.1" },
	{ HTTP_CLIENT_HEADER, "192.0.2.1", "X-Mine: 1.2.3.4\r\n",
	    "192.0.2.1" },
	{ HTTP_CLIENT_FORWARDED, "10.0.0.1", "Forwarded: for=1.2.3.4\r\n",
	    "1.2.3.4" },
	{ HTTP_CLIENT_FORWARDED, "10.0.0.1",
	    "Forwarded: by=x; For=\"1.2.3.4:99\" ;proto=http\r\n",
	    "1.2.3.4" },
	{ HTTP_CLIENT_FORWARDED, "10.0.0.1",
	    "Forwarded: for=6.6.6.6, for=\"[2001:db9::1]:4711\"\r\n"
	    "Forwarded: for=10.0.0.2;host=\"a,b;for=5.5.5.5\"\r\n",
	    "2001:db9::1" },
	{ HTTP_CLIENT_FORWARDED, "10.0.0.1",
	    "Forwarded: for=\"1, for=1.2.3.4\r\n", "1.2.3.4" },
	{ HTTP_CLIENT_FORWARDED, "10.0.0.1",
	    "Forwarded: for=1.2.3.4, for=_hidden, for=10.0.0.2\r\n",
	    "10.0.0.2" },
	{ HTTP_CLIENT_FORWARDED, "10.0.0.1",
	    "Forwarded: for=1.2.3.4, for=unknown\r\n", "10.0.0.1" },
	{ HTTP_CLIENT_FORWARDED, "10.0.0.1",
	    "Forwarded: for=1.2.3.4, proto=http\r\n", "10.0.0.1" },
	{ HTTP_CLIENT_FORWARDED, "10.0.0.1",
	    "Forwarded: for=1.2.3.4;for=5.6.7.8\r\n", "10.0.0.1" },
	{ HTTP_CLIENT_FORWARDED, "10.0.0.1",
	    "Forwarded: for=6.6.6.6, for=1.2.3.4;y=\"a\\\",\"\r\n",
	    "1.2.3.4" },
	{ HTTP_CLIENT_FORWARDED, "10.0.0.1",
	    "Forwarded: x=\"\\\"\\\\\";for=1.2.3.4;y=\"a\\\",\"\r\n",
	    "1.2.3.4" },
};

START_TEST(client_rows)
{
	struct http_client_rule rule = rule_from(clients[_i].from, "x-mine");
	struct addr peer = addr(clients[_i].peer);
	struct addr want = addr(clients[_i].client), got;
	char text[2048];
	int n = snprintf(text, sizeof(text), LINE H "%s\r\n",
	    clients[_i].fields);
	size_t len;

	feed_cut(http_parse_request, span_of(text, (size_t)n), 0, &limits,
	    &fed);
	ck_assert_int_eq(fed.e, ERR_OK);
	got = http_client_addr(&rule, &fed.head, &peer);
	len = addr_print(&got, text);
	ck_assert_msg(addr_equal(&got, &want), "%.*s", (int)len, text);
}
END_TEST

#define DATE	"Date: now\r\n"
#define OK	"HTTP/1.1 200 OK\r\n"
#define CHUNKED	"Transfer-Encoding: chunked\r\n"

static const struct {
	enum http_method method;
	int client_minor;
	bool close;
	const char *text, *forwarded;
} responses[] = {
	{ HTTP_GET, 1, false, OK DATE "Content-Length: 2\r\nA: 1\r\n\r\n",
	    OK DATE "A: 1\r\nContent-Length: 2\r\n\r\n" },
	{ HTTP_GET, 1, false, "HTTP/1.0 404 No \xe9\r\nContent-Length: 0\r\n"
	    "\r\n", "HTTP/1.1 404 No \xe9\r\nContent-Length: 0\r\n"
	    "Date: today\r\n\r\n" },
	{ HTTP_GET, 1, false, "HTTP/1.1 299\r\n" DATE "\r\n",
	    "HTTP/1.1 299 \r\n" DATE CHUNKED "\r\n" },
	{ HTTP_GET, 1, true, OK DATE "\r\n",
	    OK DATE CHUNKED "Connection: close\r\n\r\n" },
	{ HTTP_GET, 0, true, OK DATE "\r\n",
	    OK DATE "Connection: close\r\n\r\n" },
	{ HTTP_GET, 1, false, OK DATE CHUNKED "\r\n", OK DATE CHUNKED "\r\n" },
	{ HTTP_GET, 0, true, OK CHUNKED DATE "\r\n",
	    OK DATE "Connection: close\r\n\r\n" },
	{ HTTP_GET, 1, false, OK DATE "Content-Length: 5\r\n"
	    "Content-Length: 5, 5\r\n\r\n", OK DATE "Content-Length: 5\r\n"
	    "\r\n" },
	{ HTTP_HEAD, 1, false, OK DATE "Content-Length: 5\r\n\r\n",
	    OK DATE "Content-Length: 5\r\n\r\n" },
	{ HTTP_HEAD, 1, false, OK DATE "Content-Length: 5\r\n"
	    "Content-Length: 6\r\n\r\n", OK DATE "\r\n" },
	{ HTTP_HEAD, 1, false, OK DATE CHUNKED "\r\n", OK DATE "\r\n" },
	{ HTTP_HEAD, 1, false, OK DATE "\r\n", OK DATE "\r\n" },
	{ HTTP_GET, 1, false, "HTTP/1.1 304 N\r\n" DATE
	    "Content-Length: 5\r\n\r\n", "HTTP/1.1 304 N\r\n" DATE
	    "Content-Length: 5\r\n\r\n" },
	{ HTTP_GET, 1, false, "HTTP/1.1 204 N\r\n" DATE
	    "Content-Length: 5\r\n" CHUNKED "\r\n",
	    "HTTP/1.1 204 N\r\n" DATE "\r\n" },
	{ HTTP_HEAD, 1, false, "HTTP/1.1 204 N\r\n" DATE
	    "Content-Length: 5\r\n\r\n", "HTTP/1.1 204 N\r\n" DATE "\r\n" },
	{ HTTP_GET, 1, true, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n"
	    "Connection: x\r\nX: 1\r\nContent-Length: 3\r\n\r\n",
	    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" },
	{ HTTP_GET, 1, false, OK "Connection: close, X-Hop, Content-Type\r\n"
	    DATE "x-hop: 1\r\nKeep-Alive: 1\r\nProxy-Connection: close\r\n"
	    "Upgrade: h2c\r\nTrailer: X\r\nContent-Type: t\r\n"
	    "Content-Length: 1\r\n\r\n",
	    OK DATE "Content-Type: t\r\nContent-Length: 1\r\n\r\n" },
	{ HTTP_GET, 1, false, OK DATE "Content_Type: t\r\nContent-Length: 1"
	    "\r\n\r\n", OK DATE "Content_Type: t\r\nContent-Length: 1\r\n"
	    "\r\n" },
	{ HTTP_GET, 1, false, OK DATE "Set-Cookie: a\r\nSet-Cookie: b\r\n"
	    "X-RateLimit-Limit: 1\r\nx-ratelimit-policy: p\r\n"
	    "Access-Control-Expose-Headers: A\r\nRetry-After: 3\r\n"
	    "Content-Length: 1\r\n\r\n", OK DATE "Set-Cookie: a\r\n"
	    "Set-Cookie: b\r\nX-RateLimit-Limit: 1\r\n"
	    "x-ratelimit-policy: p\r\nAccess-Control-Expose-Headers: A\r\n"
	    "Retry-After: 3\r\nContent-Length: 1\r\n\r\n" },
};

static struct span
respond(const char *text, struct http_forward_response *res)
{
	struct http_out out = { .buf = written, .cap = sizeof(written) };

	feed_cut(http_parse_response, span_str(text), 0, &limits, &fed);
	ck_assert_int_eq(fed.e, ERR_OK);
	res->head = &fed.head;
	ck_assert_int_eq(http_response_framing(&fed.head, res->method,
	    &res->length), ERR_OK);
	ck_assert_int_eq(http_forward_response(res, &out), ERR_OK);
	return span_of(written, out.len);
}

START_TEST(response_rows)
{
	struct http_forward_response res = {
		.method = responses[_i].method,
		.client_minor = responses[_i].client_minor,
		.close = responses[_i].close, .date = SPAN("today"),
	};
	struct span got = respond(responses[_i].text, &res);
	int64_t length;

	ck_assert_msg(span_equal(got, span_str(responses[_i].forwarded)),
	    "%.*s", SPAN_ARG(got));
	feed_cut(http_parse_response, got, 0, &limits, &back);
	ck_assert_int_eq(back.e, ERR_OK);
	ck_assert_uint_eq(back.used, got.len);
	ck_assert_int_eq(back.head.status, fed.head.status);
	ck_assert(span_equal(back.head.reason, fed.head.reason));
	ck_assert_int_eq(http_response_framing(&back.head, res.method,
	    &length), ERR_OK);
	if (res.client_minor == 1 && res.length == HTTP_UNTIL_CLOSE)
		ck_assert_int_eq(length, HTTP_CHUNKED);
	else if (res.client_minor == 1)
		ck_assert_int_eq(length, res.length);
}
END_TEST

START_TEST(response_options)
{
	struct http_forward_response res = {
		.client_minor = 1, .drop_limit_fields = true,
		.drop_cors_expose = true, .extra = SPAN("E: 1\r\nF: 2\r\n"),
	};
	struct span got = respond(OK "X-RateLimit-Limit: 1\r\nA: 1\r\n"
	    "x-ratelimit-policy: p\r\nX-RateLimit-Other: 1\r\n"
	    "Access-Control-Expose-Headers: A\r\nContent-Length: 1\r\n\r\n",
	    &res);

	ck_assert_msg(span_equal(got, SPAN(OK "A: 1\r\nX-RateLimit-Other: 1"
	    "\r\nContent-Length: 1\r\nE: 1\r\nF: 2\r\n\r\n")), "%.*s",
	    SPAN_ARG(got));
	got = respond("HTTP/1.1 100 Continue\r\n\r\n", &res);
	ck_assert(span_equal(got, SPAN("HTTP/1.1 100 Continue\r\n\r\n")));
}
END_TEST

START_TEST(response_room)
{
	struct http_forward_response res = { .client_minor = 1,
	    .extra = SPAN("E: 1\r\n") };
	size_t len = respond(OK "Content-Length: 1\r\n\r\n", &res).len;

	for (size_t cap = 0; cap <= len; cap++) {
		struct http_out out = { .buf = written, .cap = cap };

		memset(written, '#', sizeof(written));
		ck_assert_int_eq(http_forward_response(&res, &out),
		    cap == len ? ERR_OK : ERR_TOO_LARGE);
		ck_assert_int_eq(written[cap], '#');
	}
}
END_TEST

START_TEST(out_functions)
{
	char buf[16];
	struct http_out out = { .buf = buf, .cap = 16 };

	http_out_field(&out, SPAN("A"), SPAN("b"));
	http_out_field_u64(&out, SPAN("N"), 1090);
	ck_assert(!out.over);
	http_out_put(&out, SPAN_EMPTY);
	ck_assert(!out.over);
	http_out_put(&out, SPAN("xy"));
	ck_assert(out.over);
	http_out_put(&out, SPAN_EMPTY);
	http_out_put(&out, SPAN("x"));		/* would fit */
	http_out_put_u64(&out, 1);
	ck_assert(span_equal(span_of(buf, out.len),
	    SPAN("A: b\r\nN: 1090\r\n")));
}
END_TEST

START_TEST(phrases)
{
	ck_assert(span_equal(http_status_phrase(429),
	    SPAN("Too Many Requests")));
	ck_assert(span_equal(http_status_phrase(299), SPAN("Unknown")));
	ck_assert(span_equal(http_status_line(429),
	    SPAN("HTTP/1.1 429 Too Many Requests\r\n")));
	ck_assert(span_equal(http_status_line(299),
	    SPAN("HTTP/1.1 500 Internal Server Error\r\n")));
	ck_assert_uint_gt(http_status_detail(504).len, 0);
	ck_assert_uint_eq(http_status_detail(200).len, 0);
	ck_assert_uint_eq(http_status_detail(299).len, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("forward");
	TCase *tc = tcase_create("forward");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, untrusted_rows, 0, COUNT(untrusted));
	tcase_add_loop_test(tc, trusted_rows, 0, COUNT(trusted));
	tcase_add_loop_test(tc, refused_rows, 0, COUNT(refused));
	tcase_add_test(tc, request_room);
	tcase_add_test(tc, peer_without_address);
	tcase_add_loop_test(tc, client_rows, 0, COUNT(clients));
	tcase_add_loop_test(tc, response_rows, 0, COUNT(responses));
	tcase_add_test(tc, response_options);
	tcase_add_test(tc, response_room);
	tcase_add_test(tc, out_functions);
	tcase_add_test(tc, phrases);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
