#include "http/parse.h"

#include "http/framing.h"
#include "http/octet.h"
#include "http/target.h"

#define EMPTY_LINES_MAX	4	/* before a request line */
#define VERSION_LEN	8	/* HTTP/1.1 */

/*
 * Where an incomplete head was left: the part in the two topmost bits of
 * *scanned, the position below. In the start line it is how far the target or
 * the reason is known to be good; the little before it is read again.
 */
enum part { IN_START, IN_NAME, IN_VALUE };

#define PART_SHIFT	(sizeof(size_t) * 8 - 2)
#define POSITION_MASK	(((size_t)1 << PART_SHIFT) - 1)

struct scan {
	const char *base, *p, *end;	/* p: all before it is good */
	size_t known;			/* of an earlier call */
	enum part part;
	uint64_t twice;			/* HTTP_FIELD_BIT of repeated ids */
};

typedef enum err start_line(struct scan *s, const struct http_limits *limits,
    struct http_head *ret);

static enum err
again(struct scan *s, enum part part, const char *p)
{
	s->part = part;
	s->p = p;
	return ERR_AGAIN;
}

/* A CRLF at p, which may be cut off behind its CR or before it. */
static enum err
crlf(const char *p, const char *end)
{
	if (end - p >= 2)
		return p[0] == '\r' && p[1] == '\n' ? ERR_OK : ERR_SYNTAX;
	return p < end && p[0] != '\r' ? ERR_SYNTAX : ERR_AGAIN;
}

static enum http_method
method_id(struct span m)
{
#define IS(name, id) \
	if (memcmp(m.ptr, name, sizeof(name) - 1) == 0) \
		return id;
	switch (m.len) {
	case 3:
		IS("GET", HTTP_GET)
		IS("PUT", HTTP_PUT)
		break;
	case 4:
		IS("POST", HTTP_POST)
		IS("HEAD", HTTP_HEAD)
		break;
	case 5:
		IS("PATCH", HTTP_PATCH)
		IS("TRACE", HTTP_TRACE)
		break;
	case 6:
		IS("DELETE", HTTP_DELETE)
		break;
	case 7:
		IS("OPTIONS", HTTP_OPTIONS)
		IS("CONNECT", HTTP_CONNECT)
		break;
	}
#undef IS
	return HTTP_METHOD_OTHER;
}

/*
 * "HTTP/D.D" at s->p; another major version is ERR_VERSION. A later minor one
 * is treated as the latest known (RFC 9110, 2.5).
 */
static enum err
version(struct scan *s, unsigned *ret_major, int *ret_minor)
{
	static const char form[VERSION_LEN + 1] = "HTTP/0.0";
	const char *p = s->p;
	size_t i;

	if (s->end - p >= VERSION_LEN && memcmp(p, "HTTP/1.", 7) == 0 &&
	    (p[7] == '1' || p[7] == '0')) {
		*ret_major = 1;
		*ret_minor = p[7] - '0';
		s->p += VERSION_LEN;
		return ERR_OK;
	}
	for (i = 0; i < VERSION_LEN && p + i < s->end; i++) {
		bool digit = form[i] == '0';

		if (digit ? p[i] < '0' || p[i] > '9' : p[i] != form[i])
			return ERR_SYNTAX;
	}
	if (i < VERSION_LEN)
		return ERR_AGAIN;
	*ret_major = (unsigned)(p[5] - '0');
	*ret_minor = p[7] > '0';
	s->p += VERSION_LEN;
	return ERR_OK;
}

static enum err
empty_lines(struct scan *s)
{
	enum err e;

	for (unsigned n = 0; s->p < s->end && *s->p == '\r'; n++) {
		if (n == EMPTY_LINES_MAX)
			return ERR_SYNTAX;
		if ((e = crlf(s->p, s->end)) != ERR_OK)
			return e;
		s->p += 2;
	}
	return ERR_OK;
}

static enum err
method(struct scan *s, struct http_head *ret)
{
	const char *from = s->p;
	const char *stop = s->end - from > HTTP_METHOD_MAX ?
	    from + HTTP_METHOD_MAX + 1 : s->end;
	const char *p = http_octet_skip(from, stop, OCTET_TOKEN);

	if (p - from > HTTP_METHOD_MAX)
		return ERR_METHOD;
	if (p == s->end)
		return ERR_AGAIN;
	if (p == from || *p != ' ')
		return ERR_SYNTAX;
	ret->method = span_of(from, (size_t)(p - from));
	ret->method_id = method_id(ret->method);
	s->p = p + 1;
	return ERR_OK;
}

static enum err
target(struct scan *s, size_t max, struct http_head *ret)
{
	const char *from = s->p, *p = from, *stop = s->end;

	if ((size_t)(stop - from) > max)
		stop = from + max + 1;
	if (s->known > (size_t)(from - s->base))
		p = s->base + s->known;
	p = http_octet_skip_visible(p, stop);
	if ((size_t)(p - from) > max)
		return ERR_TARGET_LONG;
	s->p = p;
	if (p == s->end)
		return ERR_AGAIN;
	if (p == from || *p != ' ')
		return ERR_SYNTAX;
	ret->target = span_of(from, (size_t)(p - from));
	return ERR_OK;
}

static enum err
request_line(struct scan *s, const struct http_limits *limits,
    struct http_head *ret)
{
	const char *good;
	unsigned major;
	enum err e;

	if ((e = empty_lines(s)) != ERR_OK)
		return e == ERR_AGAIN ? again(s, IN_START, s->base) : e;
	ret->raw.ptr = s->p;
	if ((e = method(s, ret)) != ERR_OK)
		return e == ERR_AGAIN ? again(s, IN_START, s->base) : e;
	if ((e = target(s, limits->target_bytes, ret)) != ERR_OK)
		return e == ERR_AGAIN ? again(s, IN_START, s->p) : e;
	good = s->p++;
	if ((e = version(s, &major, &ret->minor)) == ERR_OK)
		e = crlf(s->p, s->end);
	if (e != ERR_OK)
		return e == ERR_AGAIN ? again(s, IN_START, good) : e;
	s->p += 2;
	ret->reason = SPAN_EMPTY;
	ret->status = 0;
	return major == 1 ? ERR_OK : ERR_VERSION;
}

/* SP and three digits, 100..599. */
static enum err
status(struct scan *s, struct http_head *ret)
{
	int code = 0;

	for (int i = 0; i < 4; i++) {
		const char *p = s->p + i;

		if (p == s->end)
			return ERR_AGAIN;
		if (i == 0 ? *p != ' ' : *p < '0' || *p > '9')
			return ERR_SYNTAX;
		if (i == 1 && (*p < '1' || *p > '5'))
			return ERR_SYNTAX;
		if (i > 0)
			code = code * 10 + (*p - '0');
	}
	ret->status = code;
	s->p += 4;
	return ERR_OK;
}

/* SP and the reason; the SP before an empty one is often forgotten. */
static enum err
reason(struct scan *s, struct http_head *ret)
{
	const char *from, *p;

	ret->reason = SPAN_EMPTY;
	if (s->p < s->end && *s->p == ' ') {
		from = p = s->p + 1;
		if (s->known > (size_t)(from - s->base))
			p = s->base + s->known;
		s->p = http_octet_skip_value(p, s->end);
		ret->reason = span_of(from, (size_t)(s->p - from));
	}
	return crlf(s->p, s->end);
}

static enum err
status_line(struct scan *s, const struct http_limits *limits,
    struct http_head *ret)
{
	unsigned major;
	enum err e;

	(void)limits;
	ret->raw.ptr = s->p;
	e = version(s, &major, &ret->minor);
	if (e == ERR_OK)
		e = major == 1 ? status(s, ret) : ERR_VERSION;
	if (e != ERR_OK)
		return e == ERR_AGAIN ? again(s, IN_START, s->base) : e;
	if ((e = reason(s, ret)) != ERR_OK)
		return e == ERR_AGAIN ? again(s, IN_START, s->p) : e;
	s->p += 2;
	ret->method = ret->target = SPAN_EMPTY;
	ret->method_id = HTTP_METHOD_OTHER;
	return ERR_OK;
}

static inline void
store(struct http_field *f, const char *name, const char *colon,
    const char *value, const char *end)
{
	while (value < end && (*value == ' ' || *value == '\t'))
		value++;
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	f->name = span_of(name, (size_t)(colon - name));
	f->value = span_of(value, (size_t)(end - value));
	f->id = http_field_lookup(f->name);
}

/* The field lines at s->p, with the empty line. */
static enum err
fields(struct scan *s, unsigned max, struct http_head *ret)
{
	const char *name = s->p, *end = s->end, *colon, *p;
	uint64_t seen = 0, twice = 0;
	unsigned n = 0;
	enum err e;

	for (; name < end && *name != '\r'; name = p + 2, n++) {
		colon = http_octet_skip_token(name, end);
		if (colon == end)
			return again(s, IN_NAME, end);
		if (colon == name || *colon != ':')
			return ERR_SYNTAX;
		p = http_octet_skip_value(colon + 1, end);
		if ((e = crlf(p, end)) != ERR_OK)
			return e == ERR_AGAIN ? again(s, IN_VALUE, p) : e;
		if (n >= max)
			continue;
		store(&ret->fields[n], name, colon, colon + 1, p);
		twice |= seen & HTTP_FIELD_BIT(ret->fields[n].id);
		seen |= HTTP_FIELD_BIT(ret->fields[n].id);
	}
	if ((e = crlf(name, end)) != ERR_OK)
		return e == ERR_AGAIN ? again(s, IN_NAME, name) : e;
	s->p = name + 2;
	s->twice = twice;
	ret->seen = seen;
	ret->nfields = n < max ? n : max;
	return n > max ? ERR_TOO_LARGE : ERR_OK;
}

/*
 * Follow the field lines from where an earlier call stopped, storing nothing.
 * ERR_OK: the empty line is there. Must agree with fields() on every octet.
 */
static enum err
resume(struct scan *s)
{
	const char *p = s->base + s->known, *end = s->end;
	enum err e;

	for (;;) {
		if (s->part == IN_NAME) {
			bool first = p[-1] == '\n';

			if (first && (p == end || *p == '\r'))
				break;
			p = http_octet_skip_token(p, end);
			if (p == end)
				return again(s, IN_NAME, p);
			if (*p != ':' || p[-1] == '\n')
				return ERR_SYNTAX;
			p++;
		}
		p = http_octet_skip_value(p, end);
		if ((e = crlf(p, end)) != ERR_OK)
			return e == ERR_AGAIN ? again(s, IN_VALUE, p) : e;
		p += 2;
		s->part = IN_NAME;
	}
	if ((e = crlf(p, end)) != ERR_OK)
		return e == ERR_AGAIN ? again(s, IN_NAME, p) : e;
	return ERR_OK;
}

static enum err
whole(struct scan *s, const struct http_limits *limits, start_line *line,
    struct http_head *ret)
{
	unsigned max = limits->fields < HTTP_FIELDS_MAX ? limits->fields :
	    HTTP_FIELDS_MAX;
	enum err e;

	s->p = s->base;
	if ((e = line(s, limits, ret)) != ERR_OK)
		return e;
	if ((e = fields(s, max, ret)) != ERR_OK)
		return e;
	ret->raw.len = (size_t)(s->p - ret->raw.ptr);
	return ERR_OK;
}

static enum err
parse(struct span data, const struct http_limits *limits, start_line *line,
    size_t *scanned, struct http_head *ret, size_t *ret_used,
    uint64_t *ret_twice)
{
	size_t room = data.len < limits->head_bytes ? data.len :
	    limits->head_bytes;
	struct scan s = {
		.base = data.ptr, .end = data.ptr + room,
		.known = *scanned & POSITION_MASK,
		.part = (enum part)(*scanned >> PART_SHIFT),
	};
	enum err e = ERR_OK;

	if (data.len == 0)
		return ERR_AGAIN;
	if (s.part != IN_START) {
		e = resume(&s);
		s.known = 0;
	}
	if (e == ERR_OK)
		e = whole(&s, limits, line, ret);
	if (e == ERR_AGAIN) {
		*scanned = (size_t)s.part << PART_SHIFT |
		    (size_t)(s.p - s.base);
		return room == limits->head_bytes ? ERR_TOO_LARGE : ERR_AGAIN;
	}
	if (e != ERR_OK)
		return e;
	*ret_used = (size_t)(s.p - s.base);
	*ret_twice = s.twice;
	return ERR_OK;
}

/* Known fields by flag, as bits. */
#define FIELD(id, name, flags) \
	| ((flags) & WANTED ? HTTP_FIELD_BIT(FIELD_##id) : 0)
static const uint64_t once_fields = 0
#define WANTED FIELD_ONCE
#include "http/field.def"
#undef WANTED
;
static const uint64_t framing_fields = 0
#define WANTED FIELD_FRAMING
#include "http/field.def"
#undef WANTED
;
#undef FIELD

/* What a request needs besides its syntax. */
static enum err
check_request(const struct http_head *head, uint64_t twice)
{
	const struct http_field *host = http_head_find(head, FIELD_HOST);
	int64_t length;

	if (twice & once_fields)
		return ERR_SYNTAX;
	if (host == NULL ? head->minor > 0 : !http_host_valid(host->value))
		return ERR_SYNTAX;
	return head->seen & framing_fields ?
	    http_request_framing(head, &length) : ERR_OK;
}

enum err
http_parse_request(struct span data, const struct http_limits *limits,
    size_t *scanned, struct http_head *ret, size_t *ret_used)
{
	uint64_t twice;
	enum err e = parse(data, limits, request_line, scanned, ret, ret_used,
	    &twice);

	return e == ERR_OK ? check_request(ret, twice) : e;
}

enum err
http_parse_response(struct span data, const struct http_limits *limits,
    size_t *scanned, struct http_head *ret, size_t *ret_used)
{
	uint64_t twice;

	return parse(data, limits, status_line, scanned, ret, ret_used,
	    &twice);
}

int
http_err_status(enum err e)
{
	switch (e) {
	case ERR_TARGET_LONG:
		return 414;
	case ERR_EXPECT:
		return 417;
	case ERR_TOO_LARGE:
		return 431;
	case ERR_CODING:
	case ERR_METHOD:
		return 501;
	case ERR_VERSION:
		return 505;
	case ERR_LOOP:
		return 508;
	default:
		return 400;
	}
}
