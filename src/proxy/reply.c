#include "proxy/reply.h"

#include "http/status.h"

/* What weir sends, or will when asked to (conventions of the manual). */
#define EXPOSED "Retry-After, RateLimit, RateLimit-Policy, " \
	"X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, " \
	"X-RateLimit-Policy, X-Request-Id"

/* The value of Access-Control-Allow-Origin; empty: not allowed. */
static struct span
allowed_origin(const struct cors_conf *cors, struct span origin)
{
	for (unsigned i = 0; i < cors->nallow_origins; i++) {
		struct span allowed = span_str(cors->allow_origins[i]);

		if (span_equal(allowed, SPAN("*")) ||
		    span_equal(allowed, origin))
			return allowed;
	}
	return SPAN_EMPTY;
}

static void
put_cors(const struct reply *r, struct http_out *out)
{
	struct span allowed;

	if (r->origin.len == 0 || r->cors == NULL)
		return;
	allowed = allowed_origin(r->cors, r->origin);
	if (r->cors->nallow_origins > 0)
		http_out_put(out, SPAN("Vary: Origin\r\n"));
	if (allowed.len == 0)
		return;
	http_out_field(out, SPAN("Access-Control-Allow-Origin"), allowed);
	if (r->cors->expose)
		http_out_put(out,
		    SPAN("Access-Control-Expose-Headers: " EXPOSED "\r\n"));
}

void
reply_put(const struct reply *r, struct http_out *out)
{
	http_out_put(out, http_status_line(r->status));
	http_out_put(out, SPAN("Date: "));
	http_out_put(out, r->date);
	http_out_put(out, SPAN("\r\nServer: weir\r\n"));
	if (r->body.len > 0)
		http_out_field(out, SPAN("Content-Type"), r->type);
	http_out_put(out, SPAN("Content-Length: "));
	http_out_put_u64(out, r->body.len);
	http_out_put(out, SPAN("\r\nCache-Control: no-store\r\n"));
	http_out_put(out, r->lines);
	put_cors(r, out);
	if (r->close)
		http_out_put(out, SPAN("Connection: close\r\n"));
	http_out_put(out, SPAN("\r\n"));
	if (!r->no_body)
		http_out_put(out, r->body);
}

void
reply_put_problem(int status, struct http_out *out)
{
	http_out_put(out, SPAN("{\"type\":\"about:blank\",\"title\":\""));
	http_out_put(out, http_status_phrase(status));
	http_out_put(out, SPAN("\",\"status\":"));
	http_out_put_u64(out, (uint64_t)status);
	http_out_put(out, SPAN(",\"detail\":\""));
	http_out_put(out, http_status_detail(status));
	http_out_put(out, SPAN("\"}"));
}

void
reply_put_expose(const struct http_head *head, struct http_out *out)
{
	http_out_put(out, SPAN("Access-Control-Expose-Headers: "));
	for (unsigned i = 0; i < head->nfields; i++) {
		const struct http_field *f = &head->fields[i];

		if (f->id != FIELD_ACCESS_CONTROL_EXPOSE_HEADERS ||
		    f->value.len == 0)
			continue;
		http_out_put(out, f->value);
		http_out_put(out, SPAN(", "));
	}
	http_out_put(out, SPAN(EXPOSED "\r\n"));
}
