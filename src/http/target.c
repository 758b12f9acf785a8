#include "http/target.h"

#include "base/addr.h"
#include "http/octet.h"

static bool
is_escape(const char *p, const char *end)
{
	return end - p >= 3 && *p == '%' && http_octet_is(p[1], OCTET_HEX) &&
	    http_octet_is(p[2], OCTET_HEX);
}

static unsigned char
escaped(const char *p)
{
	return (unsigned char)(http_octet_hex(p[1]) << 4 |
	    http_octet_hex(p[2]));
}

/* The first octet that is neither of the class nor an escape, or end. */
static const char *
skip_escaped(const char *p, const char *end, unsigned class)
{
	for (;;) {
		p = http_octet_skip(p, end, class);
		if (!is_escape(p, end))
			return p;
		p += 3;
	}
}

/* Split [path] ["?" query], which must be all of s. */
static enum err
path_and_query(struct span s, struct http_target *ret)
{
	const char *end = s.ptr + s.len;
	const char *p = skip_escaped(s.ptr, end, OCTET_PATH);

	ret->path = span_of(s.ptr, (size_t)(p - s.ptr));
	ret->query = span_of(NULL, 0);
	if (p < end && *p == '?') {
		ret->query = span_of(p + 1, (size_t)(end - p - 1));
		p = skip_escaped(p + 1, end, OCTET_QUERY);
	}
	return p == end ? ERR_OK : ERR_SYNTAX;
}

static enum err
absolute_form(struct span target, enum http_method method,
    struct http_target *ret)
{
	struct http_target t = { .form = HTTP_ABSOLUTE };
	size_t n = 0;
	enum err e;

	if (span_starts_nocase(target, SPAN("http://")))
		n = sizeof("http://") - 1;
	else if (span_starts_nocase(target, SPAN("https://")))
		n = sizeof("https://") - 1;
	else
		return ERR_SYNTAX;
	target = span_skip(target, n);
	for (n = 0; n < target.len; n++)
		if (target.ptr[n] == '/' || target.ptr[n] == '?')
			break;
	t.authority = span_of(target.ptr, n);
	if (n == 0 || !http_host_valid(t.authority))
		return ERR_SYNTAX;
	if ((e = path_and_query(span_skip(target, n), &t)) != ERR_OK)
		return e;
	if (t.path.len == 0)
		t.path = method == HTTP_OPTIONS && t.query.ptr == NULL ?
		    SPAN("*") : SPAN("/");
	*ret = t;
	return ERR_OK;
}

/* host ":" port, for CONNECT alone. */
static enum err
authority_form(struct span target, struct http_target *ret)
{
	const char *end = target.ptr + target.len;

	if (target.len == 0 || !http_host_valid(target) ||
	    memrchr(target.ptr, ':', target.len) == NULL ||
	    end[-1] == ':' || end[-1] == ']')
		return ERR_SYNTAX;
	*ret = (struct http_target){ .form = HTTP_AUTHORITY,
	    .authority = target, .path = SPAN_EMPTY };
	return ERR_OK;
}

enum err
http_target_parse(struct span target, enum http_method method,
    struct http_target *ret)
{
	struct http_target t = { .form = HTTP_ORIGIN, .authority = SPAN_EMPTY };
	enum err e;

	if (method == HTTP_CONNECT)
		return authority_form(target, ret);
	if (target.len > 0 && target.ptr[0] == '/') {
		if ((e = path_and_query(target, &t)) != ERR_OK)
			return e;
		*ret = t;
		return ERR_OK;
	}
	if (span_equal(target, SPAN("*"))) {
		if (method != HTTP_OPTIONS)
			return ERR_SYNTAX;
		t.form = HTTP_ASTERISK;
		t.path = target;
		*ret = t;
		return ERR_OK;
	}
	return absolute_form(target, method, ret);
}

/* Nothing in it that http_target_normalise would change. */
static bool
is_normal(struct span path)
{
	for (size_t i = 0; i < path.len; i++) {
		char c = path.ptr[i];

		if (c == '/' ? i + 1 < path.len && (path.ptr[i + 1] == '/' ||
		    path.ptr[i + 1] == '.') : !http_octet_is(c, OCTET_PATH))
			return false;
	}
	return true;
}

/* Does an escape of this octet say the same as the octet itself? Unreserved
 * ones by RFC 3986, 6.2.2.2; the others have no meaning of their own. */
static bool
is_decoded(unsigned char c)
{
	return http_octet_is((char)c, OCTET_UNRESERVED) ||
	    (c != 0 && strchr("[]^`{|}", c) != NULL);
}

/* One octet or escape at *p to out; returns where out goes on, NULL: NUL. */
static char *
normal_octet(const char **p, const char *end, char *out)
{
	static const char digits[] = "0123456789ABCDEF";
	unsigned char c;

	if (!is_escape(*p, end)) {
		*out++ = *(*p)++;
		return out;
	}
	c = escaped(*p);
	*p += 3;
	if (c == 0)
		return NULL;
	if (is_decoded(c)) {
		*out++ = (char)c;
		return out;
	}
	*out++ = '%';
	*out++ = digits[c >> 4];
	*out++ = digits[c & 15];
	return out;
}

/*
 * The segment from..out is complete; what precedes it ends in "/". Returns
 * where the next segment begins, or NULL: above the root.
 */
static char *
end_segment(char *buf, char *from, char *out, bool more)
{
	struct span s = span_of(from, (size_t)(out - from));

	if (s.len == 0 || span_equal(s, SPAN(".")))
		return from;
	if (span_equal(s, SPAN(".."))) {
		if (from == buf + 1)
			return NULL;
		for (from--; from[-1] != '/'; from--)
			continue;
		return from;
	}
	if (more)
		*out++ = '/';
	return out;
}

enum err
http_target_normalise(struct span path, char *buf, struct span *ret)
{
	const char *p = path.ptr, *end = p + path.len;
	char *from = buf, *out = buf;

	if (span_equal(path, SPAN("*"))) {
		*ret = path;
		return ERR_OK;
	}
	if (path.len == 0 || *p != '/')
		return ERR_SYNTAX;
	if (is_normal(path)) {
		*ret = path;
		return ERR_OK;
	}
	if (skip_escaped(p, end, OCTET_PATH) != end)
		return ERR_SYNTAX;
	*out++ = *p++;
	for (from = out; p < end;) {
		if (*p != '/') {
			if ((out = normal_octet(&p, end, out)) == NULL)
				return ERR_SYNTAX;
			continue;
		}
		p++;
		if ((out = end_segment(buf, from, out, true)) == NULL)
			return ERR_SYNTAX;
		from = out;
	}
	if ((out = end_segment(buf, from, out, false)) == NULL)
		return ERR_SYNTAX;
	*ret = span_of(buf, (size_t)(out - buf));
	return ERR_OK;
}

static bool
is_port(struct span s)
{
	int64_t port;

	return s.len == 0 || (s.len <= 5 &&
	    span_to_i64(s, 0, 65535, &port) == ERR_OK);
}

/* Length of the host that s begins with; what follows is a port or nothing. */
static size_t
host_len(struct span s)
{
	const char *end = s.ptr + s.len, *p;

	if (s.len > 0 && s.ptr[0] == '[') {
		p = memchr(s.ptr, ']', s.len);
		return p == NULL ? 0 : (size_t)(p + 1 - s.ptr);
	}
	return (size_t)(skip_escaped(s.ptr, end, OCTET_HOST) - s.ptr);
}

bool
http_host_valid(struct span host)
{
	size_t n = host_len(host);
	struct addr a;

	if (host.len == 0)
		return true;
	if (n == 0)
		return false;
	if (n < host.len && (host.ptr[n] != ':' ||
	    !is_port(span_skip(host, n + 1))))
		return false;
	return host.ptr[0] != '[' ||
	    addr_parse(span_of(host.ptr, n), false, &a) == ERR_OK;
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* The common case, in one pass: a name or address as it stands, and perhaps a
 * port. False: another look is needed. */
static bool
normalise_plain(struct span host, char *buf, size_t *ret_len)
{
	size_t n = 0;

	for (; n < host.len && http_octet_is(host.ptr[n], OCTET_HOST); n++)
		buf[n] = lower(host.ptr[n]);
	*ret_len = n;
	return n > 0 && (n == host.len || (host.ptr[n] == ':' &&
	    is_port(span_skip(host, n + 1))));
}

static size_t
without_dot(const char *buf, size_t len)
{
	return len > 0 && buf[len - 1] == '.' ? len - 1 : len;
}

enum err
http_host_normalise(struct span host, char *buf, struct span *ret)
{
	size_t n, out;

	if (normalise_plain(host, buf, &out)) {
		*ret = span_of(buf, without_dot(buf, out));
		return ERR_OK;
	}
	if (!http_host_valid(host))
		return ERR_SYNTAX;
	n = host_len(host);
	out = 0;
	for (size_t i = 0; i < n; i++) {
		char c = host.ptr[i];

		if (is_escape(host.ptr + i, host.ptr + n) && http_octet_is(
		    (char)escaped(host.ptr + i), OCTET_UNRESERVED)) {
			c = (char)escaped(host.ptr + i);
			i += 2;
		}
		buf[out++] = lower(c);
	}
	*ret = span_of(buf, without_dot(buf, out));
	return ERR_OK;
}

/* Form decoding; a "%" that begins no escape stands for itself. */
static size_t
query_decode(struct span s, char *buf)
{
	const char *p = s.ptr, *end = p + s.len;
	size_t n = 0;

	while (p < end) {
		if (is_escape(p, end)) {
			buf[n++] = (char)escaped(p);
			p += 3;
			continue;
		}
		buf[n++] = *p == '+' ? ' ' : *p;
		p++;
	}
	return n;
}

bool
http_query_find(struct span query, struct span name, char *buf,
    struct span *ret_value)
{
	struct span pair, key;

	while (span_split(&query, '&', &pair)) {
		struct span value = pair;

		if (!span_split(&value, '=', &key))
			continue;
		if (!span_equal(span_of(buf, query_decode(key, buf)), name))
			continue;
		if (value.ptr == NULL)
			value = SPAN_EMPTY;
		*ret_value = span_of(buf, query_decode(value, buf));
		return true;
	}
	return false;
}

static bool
cookie_in(struct span line, struct span name, struct span *ret_value)
{
	struct span pair, key;

	while (span_split(&line, ';', &pair)) {
		if (!span_split(&pair, '=', &key) || pair.ptr == NULL ||
		    !span_equal(span_trim(key), name))
			continue;
		pair = span_trim(pair);
		if (pair.len >= 2 && pair.ptr[0] == '"' &&
		    pair.ptr[pair.len - 1] == '"')
			pair = span_of(pair.ptr + 1, pair.len - 2);
		*ret_value = pair;
		return true;
	}
	return false;
}

bool
http_cookie_find(const struct http_head *head, struct span name,
    struct span *ret_value)
{
	for (unsigned i = 0; i < head->nfields; i++)
		if (head->fields[i].id == FIELD_COOKIE &&
		    cookie_in(head->fields[i].value, name, ret_value))
			return true;
	return false;
}
