#include <stdio.h>
#include <string.h>

#include "app/commands.h"
#include "app/options.h"
#include "app/stores.h"
#include "base/clock.h"
#include "base/mem.h"
#include "http/parse.h"
#include "http/target.h"
#include "limit/advert.h"
#include "limit/limiter.h"
#include "net/loop.h"
#include "store/memory.h"

/*
 * weir explain: parse, classify, match and judge a request with the code that
 * serves, and say what each step found. Nothing is spent.
 */

static const char usage[] =
    "usage: weir explain [-c FILE] [--format text|json] [-H 'K: V']...\n"
    "                    [--from IP] METHOD URL\n"
    "Say which caller, route and policies a request meets, and why.\n"
    "Exit 0: would pass, 10: would be refused.\n";

#define EXPLAIN_BYTES	(1 << 20)	/* memory store of a first request */
#define STORE_WAIT_US	CLOCK_SECOND

struct explain {
	struct config *config;
	struct text raw;		/* the request as octets */
	struct http_head head;
	struct http_target target;
	struct request request;
	char *path_buf, *host_buf;
	struct decision decision;
	int status;			/* refused before any policy, else 0 */
	const char *why;		/* status: in words */
	bool preflight;			/* no policy is asked */

	struct loop *loop;		/* only with a shared store */
	struct loop_timer patience;
	struct limiter *limiter;
	struct store *memory, *shared;
	bool store_asked;
};

static const char *const concern_texts[] = {
	[CONCERN_YES] = "applies",
	[CONCERN_OFF] = "mode: off",
	[CONCERN_ROUTE_NONE] = "the route has policies: none",
	[CONCERN_NO_MATCH] = "does not match",
	[CONCERN_EXEMPT] = "exempt",
	[CONCERN_NO_PLAN] = "limit: plan, and the caller has no plan",
	[CONCERN_NO_LIMIT] = "limit: none",
};

static bool
is_named(const char *header, const char *name)
{
	const size_t len = strlen(name);

	return span_equal_nocase(span_of(header, strcspn(header, ":")),
	    span_of(name, len));
}

/* "http://host/path" names the host as well; "/path" leaves it to -H. */
static void
build_raw(struct explain *x, const struct options *o)
{
	const char *method = o->args[0], *url = o->args[1];
	const char *host = strstr(url, "://");
	bool has_host = false;

	text_printf(&x->raw, "%s %s HTTP/1.1\r\n", method, url);
	for (unsigned i = 0; i < o->nheaders; i++) {
		has_host |= is_named(o->headers[i], "host");
		text_printf(&x->raw, "%s\r\n", o->headers[i]);
	}
	if (!has_host && host != NULL)
		text_printf(&x->raw, "Host: %.*s\r\n",
		    (int)strcspn(host + 3, "/?#"), host + 3);
	else if (!has_host)
		text_append_str(&x->raw, "Host: localhost\r\n");
	text_append_str(&x->raw, "\r\n");
}

static int
bad_request(const char *what)
{
	fprintf(stderr, "weir: explain: %s\n", what);
	return EXIT_USAGE_;
}

static void
refuse(struct explain *x, int status, const char *why)
{
	x->status = status;
	x->why = why;
}

/* What the data path refuses, or lets by, without asking any policy. */
static void
judge_request(struct explain *x)
{
	const enum http_method method = x->head.method_id;
	const struct http_field *expect =
	    http_head_find(&x->head, FIELD_EXPECT);
	const struct route *route = x->request.route;

	if (method == HTTP_CONNECT || method == HTTP_TRACE)
		refuse(x, 405, "the method is not served");
	else if (expect != NULL && !span_equal_nocase(expect->value,
	    SPAN("100-continue")))
		refuse(x, 417, "only Expect: 100-continue is known");
	else if ((route == NULL || route->upstream < 0) &&
	    x->config->default_upstream < 0)
		refuse(x, 404, "no route leads to an upstream");
	x->preflight = method == HTTP_OPTIONS &&
	    x->config->cors.skip_preflight &&
	    http_head_find(&x->head, FIELD_ORIGIN) != NULL &&
	    http_head_find(&x->head, FIELD_ACCESS_CONTROL_REQUEST_METHOD) !=
	    NULL;
}

/* The same steps as the data path takes. -1: go on. */
static int
read_request(struct explain *x, const struct options *o)
{
	const struct http_field *host;
	struct request *r = &x->request;
	size_t scanned = 0, used;
	struct span authority;

	build_raw(x, o);
	if (http_parse_request(text_span(&x->raw), &x->config->limits.head,
	    &scanned, &x->head, &used) != ERR_OK)
		return bad_request("weir would refuse this request as "
		    "malformed (METHOD, URL or a -H)");
	if (http_target_parse(x->head.target, x->head.method_id,
	    &x->target) != ERR_OK)
		return bad_request("the URL is not a valid request target");
	x->path_buf = mem_alloc(x->target.path.len + 1);
	x->host_buf = mem_alloc(x->raw.len + 1);
	if (http_target_normalise(x->target.path, x->path_buf,
	    &r->path) != ERR_OK) {
		refuse(x, 400, "the path has no normal form");
		r->path = x->target.path;
	}
	host = http_head_find(&x->head, FIELD_HOST);
	authority = x->target.authority.len > 0 ? x->target.authority :
	    host->value;
	if (http_host_normalise(authority, x->host_buf, &r->host) != ERR_OK)
		return bad_request("the host is malformed");
	r->head = &x->head;
	r->method = x->head.method;
	r->query = x->target.query;
	if (addr_parse(span_str(o->from != NULL ? o->from : "127.0.0.1"),
	    false, &r->peer) != ERR_OK)
		return bad_request("--from is not an address");
	r->client = http_client_addr(&x->config->client, &x->head, &r->peer);
	return -1;
}

static void
on_settled(void *arg)
{
	loop_stop(((struct explain *)arg)->loop);
}

static void
on_patience(struct loop_timer *timer)
{
	loop_stop(timer->loop);
}

static void
on_verdict(struct decision *d)
{
	loop_stop(((struct explain *)d->owner)->loop);
}

static int64_t
now_of(void *arg)
{
	return loop_now_fresh(arg);
}

static void
wait_for_store(struct explain *x)
{
	loop_timer_set(&x->patience, STORE_WAIT_US);
	loop_run(x->loop);
	loop_timer_cancel(&x->patience);
}

static void
ask(struct explain *x, struct counters *counters)
{
	const struct store_conf *conf = &x->config->store;

	x->loop = loop_new();
	loop_timer_init(x->loop, &x->patience, on_patience);
	x->memory = memory_store_new(EXPLAIN_BYTES);
	if (conf->kind == STORE_REDIS) {
		x->shared = stores_open_shared(x->loop, conf, counters,
		    on_settled, x);
		wait_for_store(x);
	}
	x->limiter = limiter_new(x->shared != NULL ? x->shared : x->memory,
	    x->memory, counters, now_of, x->loop);
	x->decision.on_verdict = on_verdict;
	x->decision.owner = x;
	if (limiter_peek(x->limiter, &x->config->rules, &x->request,
	    &x->decision, clock_now()) == ANSWER_LATER)
		wait_for_store(x);
	x->store_asked = x->decision.source == SOURCE_REDIS;
}

static const struct row *
row_of(const struct explain *x, const struct policy *p)
{
	const struct question *q = &x->decision.question;

	for (unsigned i = 0; i < q->nrows; i++)
		if (q->rows[i].policy == p)
			return &q->rows[i];
	return NULL;
}

/* The status the caller would get, or 0: the upstream's. */
static int
outcome_status(const struct explain *x)
{
	static const int statuses[] = {
		[OUTCOME_PASS] = 0, [OUTCOME_LIMITED] = 429,
		[OUTCOME_STORE_AWAY] = 503, [OUTCOME_NO_KEY] = 400,
	};

	return x->status != 0 ? x->status :
	    statuses[x->decision.outcome];
}

static const char *
outcome_text(const struct explain *x)
{
	if (x->status != 0)
		return x->why;
	switch (x->decision.outcome) {
	case OUTCOME_LIMITED:
		return "limited";
	case OUTCOME_STORE_AWAY:
		return "the store is away and on_store_error is deny";
	case OUTCOME_NO_KEY:
		return "a part of the key is missing";
	default:
		return x->preflight ? "would pass, a preflight is never "
		    "counted" : "would pass";
	}
}

static bool
would_pass(const struct explain *x)
{
	return outcome_status(x) == 0;
}

/* Where the numbers come from. */
static const char *
counters_text(const struct explain *x)
{
	if (x->status != 0 || x->preflight || x->decision.policy == NULL)
		return "no policy was asked";
	if (x->decision.degraded)
		return "Redis is away: counted here, with this weir's share "
		    "of each limit, as this caller's first request";
	return x->store_asked ? "as they stand in Redis" :
	    "none yet: judged as this caller's first request";
}

static const char *
upstream_text(const struct explain *x)
{
	const struct route *route = x->request.route;
	const int i = route != NULL && route->upstream >= 0 ?
	    route->upstream : x->config->default_upstream;

	return i < 0 ? "none" : x->config->upstreams[i].name;
}

static bool
key_missing(const struct explain *x, const struct policy *p)
{
	struct hash128 identity;
	unsigned part;

	return key_build(&p->key, &x->config->rules.key_rule, &x->request,
	    &identity, &part) != ERR_OK;
}

static void
headers_text(const struct explain *x, struct text *out)
{
	char buf[1024];
	struct http_out http = { .buf = buf, .cap = sizeof(buf) };

	if (x->status == 401)
		http_out_field(&http, SPAN("WWW-Authenticate"),
		    SPAN("ApiKey"));
	if (x->status == 0 && !would_pass(x) &&
	    x->decision.outcome != OUTCOME_NO_KEY)
		http_out_field_u64(&http, SPAN("Retry-After"),
		    (uint64_t)advert_retry_after(&x->config->headers,
		    &x->decision, 0));
	if (x->status == 0)
		advert_put(&x->config->headers, &x->decision, clock_wall(),
		    &http);
	text_append(out, span_of(buf, http.len));
}

static bool
asks_policies(const struct explain *x)
{
	return x->status == 0 && !x->preflight;
}

static void
print_policy(const struct explain *x, const struct policy *p,
    struct text *out)
{
	const enum policy_concern concern =
	    policy_concerns(p, &x->request);
	const struct row *row = row_of(x, p);
	int failing;

	text_printf(out, "  %-16s %s", p->name, concern_texts[concern]);
	if (concern == CONCERN_NO_MATCH &&
	    (failing = match_first_failing(&p->match, &x->request)) >= 0)
		text_printf(out, ": %s%s",
		    p->match.conditions[failing].negate ? "not " : "",
		    match_kind_name(p->match.conditions[failing].kind));
	if (concern == CONCERN_YES) {
		text_append_str(out, "  key ");
		key_print(&p->key, &x->config->rules.key_rule, &x->request,
		    out);
		if (p->mode == MODE_SHADOW)
			text_append_str(out, "  shadow");
	}
	if (concern == CONCERN_YES && key_missing(x, p))
		text_append_str(out, "  a part of the key is missing");
	for (unsigned i = 0; row != NULL && i < row->limits->n; i++) {
		text_append_str(out, "  ");
		rate_print(&row->limits->rate[i], out);
		text_printf(out, " %s, %lld left",
		    row->verdicts[i].passed ? "passes" : "denies",
		    (long long)row->verdicts[i].remaining);
	}
	text_append_char(out, '\n');
}

static void
print_text(const struct explain *x, struct text *out)
{
	const struct request *r = &x->request;
	char client[ADDR_TEXT_MAX], peer[ADDR_TEXT_MAX];

	addr_print(&r->client, client);
	addr_print(&r->peer, peer);
	text_printf(out, "request   %.*s %.*s (host %.*s)\n",
	    SPAN_ARG(r->method), SPAN_ARG(r->path), SPAN_ARG(r->host));
	text_printf(out, "client    %s (peer %s)\n", client, peer);
	if (r->caller != NULL)
		text_printf(out, "caller    %s, plan %s\n", r->caller->name,
		    r->plan != NULL ? r->plan->name : "none");
	text_printf(out, "route     %s, upstream %s\n",
	    r->route != NULL ? r->route->name : "none", upstream_text(x));
	text_append_str(out, "policies\n");
	for (unsigned i = 0; asks_policies(x) &&
	    i < x->config->rules.npolicies; i++)
		print_policy(x, &x->config->rules.policies[i], out);
	text_append_str(out, "verdict   ");
	if (!would_pass(x))
		text_printf(out, "%d: ", outcome_status(x));
	text_printf(out, "%s%s%s\n", outcome_text(x),
	    x->decision.policy != NULL ? " by policy " : "",
	    x->decision.policy != NULL ? x->decision.policy->name : "");
	text_printf(out, "counters  %s\nheaders\n", counters_text(x));
	headers_text(x, out);
}

static void
json_string(struct text *out, const char *name, struct span value)
{
	text_printf(out, "\"%s\":\"", name);
	text_append_json(out, value);
	text_append_str(out, "\",");
}

static void
json_policy(const struct explain *x, const struct policy *p,
    struct text *out)
{
	const enum policy_concern concern =
	    policy_concerns(p, &x->request);
	const struct row *row = row_of(x, p);
	struct text key = { 0 };
	int failing;

	text_append_char(out, '{');
	json_string(out, "policy", span_str(p->name));
	json_string(out, "why", span_str(concern_texts[concern]));
	failing = match_first_failing(&p->match, &x->request);
	if (concern == CONCERN_NO_MATCH && failing >= 0) {
		json_string(out, "failing", span_str(match_kind_name(
		    p->match.conditions[failing].kind)));
		text_printf(out, "\"negated\":%s,",
		    p->match.conditions[failing].negate ? "true" : "false");
	}
	json_string(out, "mode", span_str(p->mode == MODE_SHADOW ?
	    "shadow" : p->mode == MODE_OFF ? "off" : "enforce"));
	text_printf(out, "\"key_missing\":%s,",
	    concern == CONCERN_YES && key_missing(x, p) ? "true" : "false");
	if (concern == CONCERN_YES) {
		key_print(&p->key, &x->config->rules.key_rule, &x->request,
		    &key);
		json_string(out, "key", text_span(&key));
	}
	text_append_str(out, "\"rates\":[");
	for (unsigned i = 0; row != NULL && i < row->limits->n; i++) {
		text_append_str(out, i > 0 ? ",{\"rate\":\"" :
		    "{\"rate\":\"");
		rate_print(&row->limits->rate[i], out);
		text_printf(out, "\",\"passes\":%s,\"remaining\":%lld}",
		    row->verdicts[i].passed ? "true" : "false",
		    (long long)row->verdicts[i].remaining);
	}
	text_printf(out, "],\"applies\":%s}",
	    concern == CONCERN_YES ? "true" : "false");
	text_fini(&key);
}

/* "headers":["x-ratelimit-limit: 10",...] */
static void
json_headers(const struct explain *x, struct text *out)
{
	struct text headers = { 0 };
	struct span rest, line;
	bool first = true;

	headers_text(x, &headers);
	rest = text_span(&headers);
	text_append_str(out, "\"headers\":[");
	while (span_split(&rest, '\n', &line)) {
		if (line.len == 0)
			continue;
		line.len--;			/* its CR */
		text_append_str(out, first ? "\"" : ",\"");
		text_append_json(out, line);
		text_append_char(out, '"');
		first = false;
	}
	text_append_char(out, ']');
	text_fini(&headers);
}

static void
print_json(const struct explain *x, struct text *out)
{
	const struct request *r = &x->request;
	char client[ADDR_TEXT_MAX], peer[ADDR_TEXT_MAX];

	addr_print(&r->client, client);
	addr_print(&r->peer, peer);
	text_append_char(out, '{');
	json_string(out, "method", r->method);
	json_string(out, "path", r->path);
	json_string(out, "host", r->host);
	json_string(out, "client", span_str(client));
	json_string(out, "peer", span_str(peer));
	json_string(out, "upstream", span_str(upstream_text(x)));
	if (r->caller != NULL)
		json_string(out, "caller", span_str(r->caller->name));
	if (r->plan != NULL)
		json_string(out, "plan", span_str(r->plan->name));
	if (r->route != NULL)
		json_string(out, "route", span_str(r->route->name));
	text_append_str(out, "\"policies\":[");
	for (unsigned i = 0; asks_policies(x) &&
	    i < x->config->rules.npolicies; i++) {
		if (i > 0)
			text_append_char(out, ',');
		json_policy(x, &x->config->rules.policies[i], out);
	}
	text_append_str(out, "],");
	json_string(out, "verdict", span_str(outcome_text(x)));
	if (x->decision.policy != NULL)
		json_string(out, "binding",
		    span_str(x->decision.policy->name));
	json_string(out, "counters", span_str(counters_text(x)));
	json_headers(x, out);
	text_printf(out, ",\"status\":%d,\"passes\":%s}\n",
	    outcome_status(x), would_pass(x) ? "true" : "false");
}

static void
explain_fini(struct explain *x)
{
	if (x->limiter != NULL) {
		limiter_cancel(&x->decision);
		decision_fini(&x->decision);
		limiter_free(x->limiter);
	}
	if (x->shared != NULL)
		x->shared->ops->free(x->shared);
	if (x->memory != NULL)
		x->memory->ops->free(x->memory);
	if (x->loop != NULL)
		loop_free(x->loop);
	mem_free(x->path_buf);
	mem_free(x->host_buf);
	text_fini(&x->raw);
	config_unref(x->config);
	mem_free(x);
}

int
command_explain(int argc, char **argv)
{
	struct options o;
	struct counters counters = { 0 };
	struct explain *x;
	struct text out = { 0 };
	int code = options_read(argc, argv, "cfHFv", usage, &o);

	if (code != -1)
		return code;
	if (o.nargs != 2)
		return bad_request("METHOD and URL are needed");
	x = mem_zalloc(sizeof(*x));
	x->config = command_load(o.config, true);
	code = x->config == NULL ? EXIT_CONFIG_ : read_request(x, &o);
	if (code == -1) {
		decision_init(&x->decision);
		if (x->status == 0 && rules_classify(&x->config->rules,
		    &x->request, clock_wall()) != ERR_OK)
			refuse(x, 401, "the key is not listed");
		if (x->status == 0)
			judge_request(x);
		if (asks_policies(x))
			ask(x, &counters);
		if (o.json)
			print_json(x, &out);
		else
			print_text(x, &out);
		fputs(text_cstr(&out), stdout);
		code = would_pass(x) ? EXIT_FINE : EXIT_LIMITED;
	}
	text_fini(&out);
	explain_fini(x);
	return code;
}
