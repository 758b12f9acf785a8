#include "proxy/access.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#define CLIP		256		/* of what clients say of themselves */
#define HELD_MAX	(4u << 20)	/* while the file takes nothing */

struct access_log {
	int fd;
	enum log_format format;
	unsigned sample_ppm;
	unsigned sampled;		/* parts of a million, carried over */
	struct text lines;
	struct text key;
	size_t sent;			/* of lines: a write was cut short */
	uint64_t lost;			/* lines there was no room for */
	bool failed;			/* said so already */
	int64_t second;			/* that iso and clf are for */
	char iso[24], clf[32];
};

struct access_log *
access_new(int fd, const struct log_conf *conf)
{
	struct access_log *log = mem_zalloc(sizeof(*log));

	log->fd = fd;
	log->format = conf->access_format;
	log->sample_ppm = conf->sample_ppm;
	log->second = -1;
	return log;
}

void
access_free(struct access_log *log)
{
	if (log == NULL)
		return;
	access_flush(log);
	if (log->lost > 0)
		log_warn("access log lines lost n=%llu",
		    (unsigned long long)log->lost);
	text_fini(&log->lines);
	text_fini(&log->key);
	mem_free(log);
}

/* ---- pieces ---- */

static void
put_ms(struct text *t, int64_t us)
{
	char frac[4] = { '.', (char)('0' + us / 100 % 10),
	    (char)('0' + us / 10 % 10), (char)('0' + us % 10) };

	text_append_u64(t, (uint64_t)(us / 1000));
	text_append(t, span_of(frac, sizeof(frac)));
}

static void
put_digits(struct text *t, int64_t value, unsigned digits)
{
	char buf[20];

	for (unsigned i = digits; i-- > 0; value /= 10)
		buf[i] = (char)('0' + value % 10);
	text_append(t, span_of(buf, digits));
}

static void
name(struct text *t, const char *key)
{
	text_append(t, SPAN(",\""));
	text_append_str(t, key);
	text_append(t, SPAN("\":"));
}

static void
put_str(struct text *t, const char *key, struct span value)
{
	if (value.len == 0)
		return;
	name(t, key);
	text_append_char(t, '"');
	text_append_json(t, value);
	text_append_char(t, '"');
}

static void
put_cstr(struct text *t, const char *key, const char *value)
{
	if (value != NULL)
		put_str(t, key, span_str(value));
}

static void
put_int(struct text *t, const char *key, int64_t value)
{
	name(t, key);
	text_append_u64(t, (uint64_t)value);
}

static void
put_addr(struct text *t, const char *key, const struct addr *addr)
{
	char buf[ADDR_TEXT_MAX];

	put_str(t, key, span_of(buf, addr_print(addr, buf)));
}

static struct span
clip(struct span s)
{
	return s.len > CLIP ? span_of(s.ptr, CLIP) : s;
}

/* Queries hold what nobody may read: they are left out. */
static struct span
path_of(const struct access_entry *e)
{
	ptrdiff_t at = span_index(e->target, '?');

	return at < 0 ? e->target : span_of(e->target.ptr, (size_t)at);
}

static void
set_second(struct access_log *log, int64_t wall)
{
	time_t second = (time_t)(wall / CLOCK_SECOND);
	struct tm tm;

	if (log->second == second)
		return;
	log->second = second;
	gmtime_r(&second, &tm);
	strftime(log->iso, sizeof(log->iso), "%Y-%m-%dT%H:%M:%S", &tm);
	strftime(log->clf, sizeof(log->clf), "%d/%b/%Y:%H:%M:%S +0000", &tm);
}

/* ---- the decision ---- */

/* NULL: nobody asked, because the request was refused before. */
static const char *
decision_name(const struct access_entry *e)
{
	const struct decision *d = e->decision;

	if (e->preflight)
		return "bypassed";
	if (d == NULL)
		return NULL;
	switch (d->outcome) {
	case OUTCOME_LIMITED:
		return "limited";
	case OUTCOME_STORE_AWAY:
	case OUTCOME_NO_KEY:
		return "error_denied";
	case OUTCOME_PASS:
		break;
	}
	if (d->degraded && d->source != SOURCE_LOCAL)
		return "error_allowed";
	if (d->shadow_limited)
		return "shadow_limited";
	return d->policy == NULL ? "bypassed" : "allowed";
}

static const char *
source_name(enum store_source source)
{
	switch (source) {
	case SOURCE_MEMORY:
		return "memory";
	case SOURCE_REDIS:
		return "redis";
	case SOURCE_REMEMBERED:
		return "remembered";
	case SOURCE_LOCAL:
		return "local";
	default:
		return NULL;
	}
}

static void
put_key(struct access_log *log, const struct access_entry *e,
    const struct policy *policy)
{
	text_clear(&log->key);
	key_print(&policy->key, &e->decision->rules->key_rule, e->request,
	    &log->key);
	put_str(&log->lines, "key", text_span(&log->key));
}

static void
put_verdict(struct text *t, const struct decision *d)
{
	put_int(t, "limit", d->verdict.limit);
	put_int(t, "remaining", d->verdict.remaining);
	put_int(t, "reset_s", verdict_seconds(d->verdict.reset_in));
	if (d->outcome == OUTCOME_LIMITED)
		put_int(t, "retry_after_s",
		    verdict_seconds(d->verdict.pass_in));
}

static void
put_decision(struct access_log *log, const struct access_entry *e)
{
	const struct decision *d = e->decision;
	const struct policy *policy;
	struct text *t = &log->lines;

	put_cstr(t, "decision", decision_name(e));
	if (d == NULL)
		return;
	put_int(t, "decide_us", d->decided_at - d->asked_at);
	if (d->store_now > 0) {
		name(t, "decided_at");
		text_append_u64(t, (uint64_t)(d->store_now / CLOCK_SECOND));
		text_append_char(t, '.');
		put_digits(t, d->store_now % CLOCK_SECOND, 6);
	}
	policy = d->policy != NULL ? d->policy : d->shadow_policy;
	if (policy != NULL) {
		put_cstr(t, "policy", policy->name);
		if (e->request != NULL && d->rules != NULL)
			put_key(log, e, policy);
	}
	if (d->policy != NULL && (d->outcome == OUTCOME_PASS ||
	    d->outcome == OUTCOME_LIMITED))
		put_verdict(t, d);
	if (d->shadow_limited && d->shadow_policy != NULL)
		put_cstr(t, "shadow_policy", d->shadow_policy->name);
	put_cstr(t, "source", source_name(d->source));
}

/* ---- lines ---- */

static void
put_json(struct access_log *log, const struct access_entry *e)
{
	struct text *t = &log->lines;
	const struct request *r = e->request;

	text_append(t, SPAN("{\"ts\":\""));
	text_append_str(t, log->iso);
	text_append_char(t, '.');
	put_digits(t, e->wall_us / 1000 % 1000, 3);
	text_append(t, SPAN("Z\",\"level\":\"info\",\"msg\":\"request\""));
	put_addr(t, "client_ip", &e->client);
	put_addr(t, "peer_ip", &e->peer);
	put_int(t, "peer_port", e->peer_port);
	put_str(t, "method", e->method);
	put_str(t, "host", e->host);
	put_str(t, "path", path_of(e));
	if (e->method.len > 0)
		put_str(t, "protocol", e->minor > 0 ? SPAN("1.1") :
		    SPAN("1.0"));
	put_int(t, "status", e->status);
	put_int(t, "bytes_in", e->bytes_in);
	put_int(t, "bytes_out", e->bytes_out);
	name(t, "duration_ms");
	put_ms(t, e->duration_us);
	if (e->upstream_us >= 0) {
		name(t, "upstream_ms");
		put_ms(t, e->upstream_us);
	}
	if (r != NULL && r->route != NULL)
		put_cstr(t, "route", r->route->name);
	put_cstr(t, "upstream", e->upstream);
	put_cstr(t, "endpoint", e->server);
	put_str(t, "user_agent", clip(e->user_agent));
	put_str(t, "referer", clip(e->referer));
	if (r != NULL && r->caller != NULL)
		put_cstr(t, "caller", r->caller->name);
	put_decision(log, e);
	put_cstr(t, "error", e->error);
	text_append(t, SPAN("}\n"));
}

/* Inside quotes of the combined format, as Apache escapes it. */
static void
put_quoted(struct text *t, struct span s)
{
	static const char hex[] = "0123456789abcdef";

	text_append_char(t, '"');
	if (s.len == 0)
		text_append_char(t, '-');
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];

		if (c == '"' || c == '\\')
			text_append_char(t, '\\');
		if (c >= ' ' && c < 127) {
			text_append_char(t, (char)c);
			continue;
		}
		text_append(t, SPAN("\\x"));
		text_append_char(t, hex[c >> 4]);
		text_append_char(t, hex[c & 15]);
	}
	text_append_char(t, '"');
}

static void
put_request_line(struct access_log *log, const struct access_entry *e)
{
	struct text *line = &log->key;

	text_clear(line);
	if (e->method.len > 0) {
		text_append(line, e->method);
		text_append_char(line, ' ');
		text_append(line, path_of(e));
		text_append(line, e->minor > 0 ? SPAN(" HTTP/1.1") :
		    SPAN(" HTTP/1.0"));
	}
	put_quoted(&log->lines, text_span(line));
}

static void
put_combined(struct access_log *log, const struct access_entry *e)
{
	struct text *t = &log->lines;
	char buf[ADDR_TEXT_MAX];

	text_append(t, span_of(buf, addr_print(&e->client, buf)));
	text_append(t, SPAN(" - - ["));
	text_append_str(t, log->clf);
	text_append(t, SPAN("] "));
	put_request_line(log, e);
	text_append_char(t, ' ');
	text_append_u64(t, (uint64_t)e->status);
	text_append_char(t, ' ');
	text_append_u64(t, (uint64_t)e->bytes_out);
	text_append_char(t, ' ');
	put_quoted(t, clip(e->referer));
	text_append_char(t, ' ');
	put_quoted(t, clip(e->user_agent));
	text_append_char(t, '\n');
}

/* Of what passed and went well, the part that is wanted; of everything else,
 * all. */
static bool
is_wanted(struct access_log *log, const struct access_entry *e)
{
	if (log->sample_ppm >= 1000000 || e->decision == NULL ||
	    e->decision->outcome != OUTCOME_PASS || e->error != NULL ||
	    e->status >= 500)
		return true;
	log->sampled += log->sample_ppm;
	if (log->sampled < 1000000)
		return false;
	log->sampled -= 1000000;
	return true;
}

void
access_write(struct access_log *log, const struct access_entry *e)
{
	if (!is_wanted(log, e))
		return;
	if (log->lines.len - log->sent > HELD_MAX) {
		log->lost++;
		return;
	}
	set_second(log, e->wall_us);
	if (log->format == LOG_JSON)
		put_json(log, e);
	else
		put_combined(log, e);
}

static void
forget_sent(struct access_log *log)
{
	struct text *t = &log->lines;

	t->len -= log->sent;
	memmove(t->data, t->data + log->sent, t->len + 1);
	log->sent = 0;
}

/* What could not be written stays, from the octet on that was not. */
void
access_flush(struct access_log *log)
{
	struct span rest = span_skip(text_span(&log->lines), log->sent);
	ssize_t n;

	if (rest.len == 0)
		return;
	do
		n = write(log->fd, rest.ptr, rest.len);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN && !log->failed) {
		log->failed = true;
		log_error("cannot write the access log error=\"%s\"",
		    strerror(errno));
	}
	if (n < 0)
		return;
	log->failed = false;
	log->sent += (size_t)n;
	if (log->sent == log->lines.len) {
		text_clear(&log->lines);
		log->sent = 0;
	} else if (log->sent > HELD_MAX) {
		forget_sent(log);
	}
}
