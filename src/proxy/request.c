#include "http/forward.h"
#include "http/framing.h"
#include "limit/advert.h"
#include "proxy/conn.h"
#include "proxy/exchange.h"
#include "proxy/upstream.h"

/*
 * The way of a request to its verdict.
 */
static void answer_verdict(struct exchange *ex);

static struct span
moved(struct span s, struct span from, const char *to)
{
	if (s.ptr >= from.ptr && s.ptr <= from.ptr + from.len)
		s.ptr = to + (s.ptr - from.ptr);
	return s;
}

static struct span
append(struct buf *buf, struct span s)
{
	char *to = buf->data + buf->len;

	memcpy(to, s.ptr, s.len);
	buf->len += s.len;
	return span_of(to, s.len);
}

/* The scratch will be written over: keep the head, and all views into it. */
void
exchange_hold(struct exchange *ex)
{
	struct request *r = &ex->request;
	struct http_target *t = &ex->target;
	struct span raw = ex->head.raw;
	struct buf *buf;
	const char *to;

	if (ex->hold != NULL)
		return;
	ex->hold = buf = buf_new(&ex->proxy->bufs,
	    raw.len + r->path.len + r->host.len);
	to = append(buf, raw).ptr;
	http_head_rebase(&ex->head, raw.ptr, to);
	t->authority = moved(t->authority, raw, to);
	t->path = moved(t->path, raw, to);
	t->query = moved(t->query, raw, to);
	r->method = ex->head.method;
	r->query = t->query;
	r->path = append(buf, r->path);
	r->host = append(buf, r->host);
}

static bool
is_preflight(const struct exchange *ex)
{
	return ex->head.method_id == HTTP_OPTIONS &&
	    ex->view->config->cors.skip_preflight &&
	    http_head_find(&ex->head, FIELD_ORIGIN) != NULL &&
	    http_head_find(&ex->head, FIELD_ACCESS_CONTROL_REQUEST_METHOD) !=
	    NULL;
}

/* Max-Forwards: 0 makes weir the one who answers (RFC 9110, 7.6.2). */
static bool
is_for_us(const struct exchange *ex)
{
	const struct http_field *f;
	int64_t hops;

	if (ex->head.method_id != HTTP_OPTIONS)
		return false;
	f = http_head_find(&ex->head, FIELD_MAX_FORWARDS);
	return f != NULL && span_to_i64(f->value, 0, 0, &hops) == ERR_OK;
}

/* Fill the first part of ex->request. */
static enum err
normalise(struct exchange *ex)
{
	struct proxy *proxy = ex->proxy;
	struct request *r = &ex->request;
	const struct http_head *head = &ex->head;
	struct span host = ex->target.authority;
	enum err e;

	r->head = head;
	r->method = head->method;
	r->query = ex->target.query;
	if (ex->target.form != HTTP_ABSOLUTE)
		host = exchange_field(ex, FIELD_HOST);
	e = http_target_normalise(ex->target.path, proxy->names, &r->path);
	if (e != ERR_OK || host.len == 0) {
		r->host = SPAN_EMPTY;
		return e;
	}
	return http_host_normalise(host, proxy->names + ex->target.path.len,
	    &r->host);
}

/* What is refused before anybody is asked; 0: nothing. */
static int
check(struct exchange *ex)
{
	const struct http_head *head = &ex->head;
	const struct config *config = ex->view->config;

	if (http_request_framing(head, &ex->length) != ERR_OK)
		return 400;
	relay_init(&ex->up, ex->length, ex->length == HTTP_CHUNKED);
	if (head->method_id == HTTP_CONNECT || head->method_id == HTTP_TRACE)
		return 405;
	if (http_target_parse(head->target, head->method_id, &ex->target) !=
	    ERR_OK || normalise(ex) != ERR_OK)
		return 400;
	if (ex->length > config->limits.body_bytes)
		return 413;
	return 0;
}

static void
ask(struct exchange *ex)
{
	struct proxy *proxy = ex->proxy;
	const struct config *config = ex->view->config;

	if (rules_classify(&config->rules, &ex->request, ex->began) !=
	    ERR_OK) {
		exchange_fail(ex, 401, "unknown_key");
		return;
	}
	ex->classified = true;
	ex->preflight = is_preflight(ex);
	if (ex->preflight) {
		exchange_pass(ex);
		return;
	}
	if (limiter_ask(proxy->env.limiter, &config->rules, &ex->request,
	    &ex->decision, ex->began) == ANSWER_NOW) {
		answer_verdict(ex);
		return;
	}
	exchange_enter(ex, EXCHANGE_DECIDING);
	exchange_hold(ex);
}

void
exchange_begin(struct conn *conn, struct exchange *ex)
{
	const struct http_client_rule *rule;
	int status;

	exchange_attach(conn, ex);
	counter_add(ex->proxy->env.counters, COUNT_REQUESTS_TOTAL, 1);
	ex->head_known = true;
	ex->keep = ex->head.minor > 0 && http_is_persistent(&ex->head);
	rule = &ex->view->config->client;
	ex->trusted = http_peer_trusted(rule, &conn->peer);
	ex->request.peer = ex->request.client = conn->peer;
	if (ex->trusted)
		ex->request.client = http_client_addr(rule, &ex->head,
		    &conn->peer);
	status = check(ex);
	ex->expect = !ex->up.done && ex->head.minor > 0 &&
	    http_head_find(&ex->head, FIELD_EXPECT) != NULL;
	if (status != 0)
		exchange_reject(ex, status, "refused");
	else if (is_for_us(ex))
		exchange_answer(ex, 200, SPAN("Allow: " EXCHANGE_ALLOW "\r\n"),
		    SPAN_EMPTY);
	else
		ask(ex);
}

static void
put_retry_after(struct exchange *ex, int64_t seconds, struct http_out *out)
{
	http_out_field_u64(out, SPAN("Retry-After"), (uint64_t)seconds);
	advert_put(&ex->view->config->headers, &ex->decision, ex->wall, out);
}

/* Says no, in the words of limit/advert. */
static void
deny(struct exchange *ex, int status)
{
	struct proxy *proxy = ex->proxy;
	struct http_out lines = { .buf = proxy->lines,
	    .cap = PROXY_LINES_MAX };
	struct http_out body = { .buf = proxy->body, .cap = PROXY_BODY_MAX };
	int64_t retry = 0;

	if (status != 400) {
		retry = advert_retry_after(&ex->view->config->headers,
		    &ex->decision, proxy_random(proxy));
		put_retry_after(ex, retry, &lines);
	}
	advert_put_body(&ex->decision, retry, &body);
	exchange_answer(ex, status, span_of(lines.buf, lines.len),
	    span_of(body.buf, body.len));
}

static void
answer_verdict(struct exchange *ex)
{
	ex->decided = true;
	switch (ex->decision.outcome) {
	case OUTCOME_PASS:
		exchange_pass(ex);
		break;
	case OUTCOME_LIMITED:
		deny(ex, 429);
		break;
	case OUTCOME_STORE_AWAY:
		ex->error = "store_away";
		deny(ex, 503);
		break;
	case OUTCOME_NO_KEY:
		ex->error = "missing_key";
		deny(ex, 400);
		break;
	}
}

void
exchange_on_verdict(struct decision *d)
{
	struct exchange *ex = d->owner;
	struct conn *conn = ex->conn;

	exchange_enter(ex, EXCHANGE_DECIDED);
	answer_verdict(ex);
	conn_drive(conn);
}
