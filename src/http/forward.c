#include "http/forward.h"

#define BIT(id)	HTTP_FIELD_BIT(id)

/* Known fields by flag, as bits. Trailers are dropped, and so is the field
 * that announces them. */
static const uint64_t never_forwarded = BIT(FIELD_ALIAS) | BIT(FIELD_TRAILER)
#define FIELD(id, name, flags) \
	| ((flags) & (FIELD_HOP | FIELD_FRAMING) ? BIT(FIELD_##id) : 0)
#include "http/field.def"
#undef FIELD
;
static const uint64_t from_peers = 0
#define FIELD(id, name, flags) | ((flags) & FIELD_PEER ? BIT(FIELD_##id) : 0)
#include "http/field.def"
#undef FIELD
;
static const uint64_t limit_fields = 0
#define FIELD(id, name, flags) | ((flags) & FIELD_LIMIT ? BIT(FIELD_##id) : 0)
#include "http/field.def"
#undef FIELD
;

/* What is left out: known fields by bit, lines of any name by index. */
struct omit {
	uint64_t ids;
	bool any_line;
	uint64_t lines[HTTP_FIELDS_MAX / 64];
};

void
http_out_put_u64(struct http_out *out, uint64_t value)
{
	char digits[20];

	if (out->cap - out->len >= sizeof(digits))
		out->len += span_put_u64(out->buf + out->len, value);
	else
		http_out_put(out, span_of(digits, span_put_u64(digits,
		    value)));
}

void
http_out_field(struct http_out *out, struct span name, struct span value)
{
	http_out_put(out, name);
	http_out_put(out, SPAN(": "));
	http_out_put(out, value);
	http_out_put(out, SPAN("\r\n"));
}

void
http_out_field_u64(struct http_out *out, struct span name, uint64_t value)
{
	http_out_put(out, name);
	http_out_put(out, SPAN(": "));
	http_out_put_u64(out, value);
	http_out_put(out, SPAN("\r\n"));
}

static void
omit_line(struct omit *omit, unsigned i)
{
	omit->any_line = true;
	omit->lines[i / 64] |= UINT64_C(1) << i % 64;
}

static void
omit_name(struct omit *omit, const struct http_head *head, struct span name)
{
	for (unsigned i = 0; i < head->nfields; i++)
		if (span_equal_nocase(head->fields[i].name, name))
			omit_line(omit, i);
}

static bool
is_omitted(const struct omit *omit, const struct http_head *head, unsigned i)
{
	if (omit->ids >> head->fields[i].id & 1)
		return true;
	return omit->any_line && (omit->lines[i / 64] >> i % 64 & 1);
}

/* The header in which clients are named, when it is none of field.def's. */
static struct span
client_header(const struct http_client_rule *rule)
{
	if (rule == NULL || rule->from != HTTP_CLIENT_HEADER)
		return SPAN_EMPTY;
	return rule->header;
}

/* The two values that nearly all messages have, which name no field. */
static bool
names_nothing(struct span connection)
{
	return span_equal_nocase(connection, SPAN("keep-alive")) ||
	    span_equal_nocase(connection, SPAN("close"));
}

/*
 * Leave out the fields that Connection names (RFC 9110, 7.6.1). False: it names
 * one that is not the sender's to remove; that one stays.
 */
static bool
omit_named(struct omit *omit, const struct http_head *head,
    struct span protected_name)
{
	bool fine = true;

	for (unsigned i = 0; i < head->nfields; i++) {
		struct span list = head->fields[i].value, name;

		if (head->fields[i].id != FIELD_CONNECTION ||
		    names_nothing(list))
			continue;
		while (span_next_element(&list, &name)) {
			enum http_field_id id = http_field_lookup(name);

			if (http_field_flags(id) & FIELD_PROTECTED ||
			    span_equal_nocase(name, protected_name))
				fine = false;
			else if (id != FIELD_OTHER)
				omit->ids |= BIT(id);
			else
				omit_name(omit, head, name);
		}
	}
	return fine;
}

/*
 * Copy what is not left out, runs of lines at once, beginning at `from`, which
 * is the first line or the start line before it.
 */
static void
put_lines(struct http_out *out, const struct http_head *head,
    const struct omit *omit, const char *from)
{
	const char *end = head->raw.ptr + head->raw.len - 2;

	for (unsigned i = 0; i < head->nfields; i++) {
		const char *line = head->fields[i].name.ptr;

		if (!is_omitted(omit, head, i))
			continue;
		if (line > from)
			http_out_put(out, span_of(from, (size_t)(line - from)));
		from = i + 1 < head->nfields ? head->fields[i + 1].name.ptr :
		    end;
	}
	http_out_put(out, span_of(from, (size_t)(end - from)));
}

static const char *
first_line(const struct http_head *head)
{
	if (head->nfields > 0)
		return head->fields[0].name.ptr;
	return head->raw.ptr + head->raw.len - 2;
}

/* "1.0 fred (comment)": the second word is who received it. */
static bool
is_own_via(struct span element)
{
	struct span rest = element, word;

	if (!span_split(&rest, ' ', &word) || rest.ptr == NULL)
		return false;
	rest = span_trim(rest);
	span_split(&rest, ' ', &word);
	return span_equal_nocase(word, SPAN("weir"));
}

static bool
is_loop(const struct http_head *head)
{
	for (unsigned i = 0; i < head->nfields; i++) {
		struct span list = head->fields[i].value, element;

		if (head->fields[i].id != FIELD_VIA)
			continue;
		while (span_next_element(&list, &element))
			if (is_own_via(element))
				return true;
	}
	return false;
}

static bool
is_expectable(const struct http_head *head)
{
	for (unsigned i = 0; i < head->nfields; i++) {
		struct span list = head->fields[i].value, element;

		if (head->fields[i].id != FIELD_EXPECT)
			continue;
		while (span_next_element(&list, &element))
			if (!span_equal_nocase(element,
			    SPAN("100-continue")))
				return false;
	}
	return true;
}

/* A number too large for us becomes the largest we know (RFC 9110, 7.6.2). */
static enum err
max_forwards(const struct http_head *head, int64_t *ret_left)
{
	const struct http_field *f = http_head_find(head, FIELD_MAX_FORWARDS);
	int64_t n;
	enum err e = span_to_i64(f->value, 0, INT64_MAX, &n);

	if (e == ERR_SYNTAX)
		return ERR_SYNTAX;
	if (e == ERR_OK && n == 0)
		return ERR_RANGE;
	*ret_left = e == ERR_OK ? n - 1 : INT64_MAX;
	return ERR_OK;
}

/* Fields of a request that are refused or need a look; all are rare. */
static enum err
check_request(const struct http_forward_request *req, uint64_t seen,
    struct omit *omit, int64_t *ret_forwards)
{
	const struct http_head *head = req->head;
	bool traced = head->method_id == HTTP_OPTIONS ||
	    head->method_id == HTTP_TRACE;

	*ret_forwards = -1;
	if (seen & BIT(FIELD_CONNECTION) &&
	    !omit_named(omit, head, client_header(req->rule)))
		return ERR_SYNTAX;
	if (seen & BIT(FIELD_VIA) && is_loop(head))
		return ERR_LOOP;
	if (seen & BIT(FIELD_EXPECT) && !is_expectable(head))
		return ERR_EXPECT;
	if (head->minor == 0)
		omit->ids |= BIT(FIELD_EXPECT);
	if (!traced || !(seen & BIT(FIELD_MAX_FORWARDS)))
		return ERR_OK;
	omit->ids |= BIT(FIELD_MAX_FORWARDS);
	return max_forwards(head, ret_forwards);
}

/* Which forwarding fields give way, to weir's own or to nothing. */
static void
omit_forwarding(struct omit *omit, const struct http_forward_request *req)
{
	struct span named = client_header(req->rule);

	if (req->peer_trusted) {
		omit->ids |= BIT(FIELD_X_FORWARDED_FOR) | BIT(FIELD_X_REAL_IP);
		return;
	}
	omit->ids |= from_peers;
	if (named.len > 0)
		omit_name(omit, req->head, named);
}

static bool
is_verbatim(const struct http_forward_request *req)
{
	struct span raw = req->head->raw;
	size_t before = req->head->method.len + 1 + req->head->target.len;

	return (req->target->form == HTTP_ORIGIN ||
	    req->target->form == HTTP_ASTERISK) && req->head->minor == 1 &&
	    raw.ptr[before + sizeof(" HTTP/1.1") - 2] == '1';
}

/* Request line and Host, when they are not those that were received. */
static void
put_request_line(struct http_out *out, const struct http_forward_request *req,
    bool has_host)
{
	const struct http_target *t = req->target;

	http_out_put(out, req->head->method);
	http_out_put(out, SPAN(" "));
	if (t->form == HTTP_ABSOLUTE) {
		http_out_put(out, t->path);
		if (t->query.ptr != NULL) {
			http_out_put(out, SPAN("?"));
			http_out_put(out, t->query);
		}
	} else {
		http_out_put(out, req->head->target);
	}
	http_out_put(out, SPAN(" HTTP/1.1\r\n"));
	if (t->form == HTTP_ABSOLUTE)
		http_out_field(out, SPAN("Host"), t->authority);
	else if (!has_host)
		http_out_field(out, SPAN("Host"), SPAN_EMPTY);
}

static void
put_framing(struct http_out *out, int64_t length)
{
	if (length >= 0)
		http_out_field_u64(out, SPAN("Content-Length"),
		    (uint64_t)length);
	else
		http_out_put(out, SPAN("Transfer-Encoding: chunked\r\n"));
}

/* X-Forwarded-For: what a trusted peer said, and that peer. */
static void
put_forwarded_for(struct http_out *out, const struct http_forward_request *req,
    uint64_t seen, struct span peer)
{
	const struct http_head *head = req->head;
	struct span sep = SPAN("X-Forwarded-For: ");

	if (req->peer_trusted && seen & BIT(FIELD_X_FORWARDED_FOR)) {
		for (unsigned i = 0; i < head->nfields; i++) {
			const struct http_field *f = &head->fields[i];

			if (f->id != FIELD_X_FORWARDED_FOR ||
			    f->value.len == 0)
				continue;
			http_out_put(out, sep);
			http_out_put(out, f->value);
			sep = SPAN(", ");
		}
	}
	if (peer.len > 0) {
		http_out_put(out, sep);
		http_out_put(out, peer);
	} else if (sep.len > 2) {
		return;
	}
	http_out_put(out, SPAN("\r\n"));
}

static void
put_real_ip(struct http_out *out, const struct http_forward_request *req,
    struct span peer)
{
	struct addr client = *req->peer;
	char buf[ADDR_TEXT_MAX];
	struct span text = peer;

	if (req->client != NULL)
		client = *req->client;
	else if (req->rule != NULL)
		client = http_client_addr(req->rule, req->head, req->peer);
	if (client.family == 0)
		return;
	if (!addr_equal(&client, req->peer))
		text = span_of(buf, addr_print(&client, buf));
	http_out_field(out, SPAN("X-Real-IP"), text);
}

/* The Host the client meant; empty when it sent none. */
static struct span
client_host(const struct http_forward_request *req)
{
	const struct http_field *f;

	if (req->target->form == HTTP_ABSOLUTE)
		return req->target->authority;
	f = http_head_find(req->head, FIELD_HOST);
	return f == NULL ? SPAN_EMPTY : f->value;
}

static void
put_forwarding(struct http_out *out, const struct http_forward_request *req,
    uint64_t seen)
{
	uint64_t passed = req->peer_trusted ? seen : 0;
	char buf[ADDR_TEXT_MAX];
	struct span peer = req->peer_text, host;

	if (req->peer->family == 0)
		peer = SPAN_EMPTY;
	else if (peer.len == 0)
		peer = span_of(buf, addr_print(req->peer, buf));
	http_out_put(out, req->head->minor > 0 ? SPAN("Via: 1.1 weir\r\n") :
	    SPAN("Via: 1.0 weir\r\n"));
	put_forwarded_for(out, req, seen, peer);
	if (!(passed & BIT(FIELD_X_FORWARDED_PROTO)))
		http_out_put(out, req->tls ?
		    SPAN("X-Forwarded-Proto: https\r\n") :
		    SPAN("X-Forwarded-Proto: http\r\n"));
	host = client_host(req);
	if (!(passed & BIT(FIELD_X_FORWARDED_HOST)) && host.len > 0)
		http_out_field(out, SPAN("X-Forwarded-Host"), host);
	put_real_ip(out, req, peer);
}

enum err
http_forward_request(const struct http_forward_request *req,
    struct http_out *out)
{
	const struct http_head *head = req->head;
	const uint64_t seen = head->seen;
	struct omit omit = { .ids = never_forwarded };
	const char *from = head->raw.ptr;
	int64_t forwards;
	enum err e;

	if ((e = check_request(req, seen, &omit, &forwards)) != ERR_OK)
		return e;
	omit_forwarding(&omit, req);
	if (!is_verbatim(req)) {
		if (req->target->form == HTTP_ABSOLUTE)
			omit.ids |= BIT(FIELD_HOST);
		put_request_line(out, req, seen & BIT(FIELD_HOST));
		from = first_line(head);
	}
	put_lines(out, head, &omit, from);
	if (forwards >= 0)
		http_out_field_u64(out, SPAN("Max-Forwards"),
		    (uint64_t)forwards);
	if (req->length != 0 || seen & BIT(FIELD_CONTENT_LENGTH))
		put_framing(out, req->length);
	put_forwarding(out, req, seen);
	http_out_put(out, SPAN("\r\n"));
	return out->over ? ERR_TOO_LARGE : ERR_OK;
}

/* Framing as weir will do it towards this client (RFC 9112, 6). */
static void
put_response_framing(struct http_out *out,
    const struct http_forward_response *res)
{
	int64_t length;

	if (res->head->status == 204)
		return;
	if (res->method == HTTP_HEAD || res->head->status == 304) {
		if (http_content_length(res->head, &length) == ERR_OK)
			put_framing(out, length);
		return;
	}
	if (res->length >= 0 || res->client_minor > 0)
		put_framing(out, res->length);
}

static void
put_status_line(struct http_out *out, const struct http_head *head)
{
	char code[3] = {
		(char)('0' + head->status / 100),
		(char)('0' + head->status / 10 % 10),
		(char)('0' + head->status % 10)
	};

	http_out_put(out, SPAN("HTTP/1.1 "));
	http_out_put(out, span_of(code, sizeof(code)));
	http_out_put(out, SPAN(" "));
	http_out_put(out, head->reason);
	http_out_put(out, SPAN("\r\n"));
}

enum err
http_forward_response(const struct http_forward_response *res,
    struct http_out *out)
{
	const struct http_head *head = res->head;
	const uint64_t seen = head->seen;
	/* Aliases deceive servers only. */
	struct omit omit = { .ids = never_forwarded & ~BIT(FIELD_ALIAS) };

	if (seen & BIT(FIELD_CONNECTION))
		omit_named(&omit, head, SPAN_EMPTY);
	if (res->drop_limit_fields)
		omit.ids |= limit_fields;
	if (res->drop_cors_expose)
		omit.ids |= BIT(FIELD_ACCESS_CONTROL_EXPOSE_HEADERS);
	put_status_line(out, head);
	put_lines(out, head, &omit, first_line(head));
	if (head->status >= 200) {
		put_response_framing(out, res);
		if (!(seen & BIT(FIELD_DATE)) && res->date.len > 0)
			http_out_field(out, SPAN("Date"), res->date);
		if (res->close)
			http_out_put(out, SPAN("Connection: close\r\n"));
		http_out_put(out, res->extra);
	}
	http_out_put(out, SPAN("\r\n"));
	return out->over ? ERR_TOO_LARGE : ERR_OK;
}
