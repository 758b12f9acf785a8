#include "limit/match.h"

#include "base/mem.h"
#include "http/octet.h"
#include "http/target.h"
#include "limit/rules.h"
#include "limit/scratch.h"

bool
match_glob(struct span pattern, struct span text)
{
	size_t p = 0, t = 0, star = SIZE_MAX, mark = 0;

	/* A later star makes up for whatever an earlier one left, so only the
	 * last one need be tried with more. */
	while (t < text.len) {
		if (p < pattern.len && pattern.ptr[p] == '*') {
			star = p++;
			mark = t;
		} else if (p < pattern.len && pattern.ptr[p] == text.ptr[t]) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			t = ++mark;
		} else {
			return false;
		}
	}
	while (p < pattern.len && pattern.ptr[p] == '*')
		p++;
	return p == pattern.len;
}

static bool
is_name(struct span segment)
{
	return segment.len > 2 && segment.ptr[0] == '{' &&
	    span_index(segment, '}') == (ptrdiff_t)segment.len - 1;
}

static bool
match_segment(struct span pattern, struct span segment)
{
	if (is_name(pattern))
		return segment.len > 0;
	return match_glob(pattern, segment);
}

bool
match_path(struct span pattern, struct span path)
{
	struct span want, have;

	if (!span_starts(pattern, SPAN("/")) || !span_starts(path, SPAN("/")))
		return false;
	pattern = span_skip(pattern, 1);
	path = span_skip(path, 1);
	while (span_split(&pattern, '/', &want)) {
		if (span_equal(want, SPAN("**")))
			return true;
		if (!span_split(&path, '/', &have) ||
		    !match_segment(want, have))
			return false;
	}
	return path.ptr == NULL;
}

static bool
match_host(struct span pattern, struct span host)
{
	if (!span_starts(pattern, SPAN("*.")))
		return span_equal_nocase(pattern, host);
	pattern = span_skip(pattern, 1);
	return host.len > pattern.len && span_equal_nocase(pattern,
	    span_skip(host, host.len - pattern.len));
}

/* ---- conditions ---- */

typedef bool fits_fn(struct span pattern, struct span text);

static bool
any_value(const struct condition *c, struct span text, fits_fn *fits)
{
	for (unsigned i = 0; i < c->n; i++)
		if (fits(span_str(c->values[i]), text))
			return true;
	return false;
}

static bool
test_header(const struct condition *c, const struct http_head *head)
{
	struct span name = span_str(c->name);

	for (unsigned i = 0; i < head->nfields; i++) {
		if (!span_equal_nocase(head->fields[i].name, name))
			continue;
		if (c->n == 0 ||
		    any_value(c, head->fields[i].value, match_glob))
			return true;
	}
	return false;
}

/* Every parameter of that name is looked at: which of them an application
 * takes is not known here. */
static bool
test_query(const struct condition *c, struct span query)
{
	struct scratch scratch;
	struct span pair, value;
	bool fits = false;
	char *buf;

	scratch_init(&scratch);
	buf = scratch_room(&scratch, query.len);
	while (!fits && span_split(&query, '&', &pair))
		fits = http_query_find(pair, span_str(c->name), buf,
		    &value) && (c->n == 0 || any_value(c, value, match_glob));
	scratch_fini(&scratch);
	return fits;
}

static bool
test_name(const struct condition *c, const char *name)
{
	return name != NULL && any_value(c, span_str(name), span_equal);
}

/* Does one of the values fit? */
static bool
test_values(const struct condition *c, const struct request *req)
{
	switch (c->kind) {
	case MATCH_PATH:
		return any_value(c, req->path, match_path);
	case MATCH_METHOD:
		return any_value(c, req->method, span_equal);
	case MATCH_HOST:
		return any_value(c, req->host, match_host);
	case MATCH_HEADER:
		return test_header(c, req->head);
	case MATCH_QUERY:
		return req->query.ptr != NULL && test_query(c, req->query);
	case MATCH_CLIENT_IP:
		return req->client.family != 0 &&
		    cidr_any_contains(c->cidrs, c->n, &req->client);
	case MATCH_CALLER:
		return test_name(c, req->caller ? req->caller->name : NULL);
	case MATCH_ROUTE:
		return test_name(c, req->route ? req->route->name : NULL);
	case MATCH_PLAN:
		return test_name(c, req->plan ? req->plan->name : NULL);
	}
	return false;
}

int
match_first_failing(const struct match *m, const struct request *req)
{
	for (unsigned i = 0; i < m->n; i++)
		if (test_values(&m->conditions[i], req) ==
		    m->conditions[i].negate)
			return (int)i;
	return -1;
}

bool
match_test(const struct match *m, const struct request *req)
{
	return match_first_failing(m, req) < 0;
}

const char *
match_kind_name(enum match_kind kind)
{
	static const char *const names[] = {
		[MATCH_PATH] = "path", [MATCH_METHOD] = "method",
		[MATCH_HOST] = "host", [MATCH_HEADER] = "header",
		[MATCH_QUERY] = "query", [MATCH_CLIENT_IP] = "client_ip",
		[MATCH_CALLER] = "caller", [MATCH_ROUTE] = "route",
		[MATCH_PLAN] = "plan",
	};

	return names[kind];
}

/* ---- patterns that could never match ---- */

/* What is wrong with one segment; NULL: nothing. */
static const char *
check_segment(struct span s, bool last)
{
	if (s.len == 0 && !last)
		return "slashes are merged before matching, so \"//\" never "
		    "matches";
	if (span_equal(s, SPAN(".")) || span_equal(s, SPAN("..")))
		return "\".\" and \"..\" are resolved before matching";
	if (span_equal(s, SPAN("**")) ? !last :
	    memmem(s.ptr, s.len, "**", 2) != NULL)
		return "\"**\" is the whole last segment or nothing";
	if (span_index(s, '{') >= 0 && !is_name(s))
		return "\"{name}\" is a whole segment, with its \"}\"";
	return NULL;
}

static const char *
check_segments(struct span path)
{
	struct span rest = span_skip(path, 1), segment;
	const char *why = NULL;

	while (why == NULL && span_split(&rest, '/', &segment))
		why = check_segment(segment, rest.ptr == NULL);
	return why;
}

/* What is wrong with one octet or escape; NULL: nothing. */
static const char *
check_octet(struct span s)
{
	if (s.ptr[0] == '?')
		return "the query is not part of the path: match it by query";
	if (s.ptr[0] == '#')
		return "a fragment never reaches a server";
	if (s.ptr[0] == '%') {
		if (s.len < 3 || !http_octet_is(s.ptr[1], OCTET_HEX) ||
		    !http_octet_is(s.ptr[2], OCTET_HEX))
			return "\"%\" is followed by two hexadecimal digits";
		return NULL;
	}
	if (!http_octet_is(s.ptr[0], OCTET_PATH))
		return "no path has this octet unescaped: write it as %XX";
	return NULL;
}

/* Escapes as http_target_normalise leaves them. */
static const char *
check_normal(struct span path)
{
	const char *why = NULL;
	char *buf = mem_alloc(path.len);
	struct span normal;

	if (http_target_normalise(path, buf, &normal) != ERR_OK)
		why = "no path that is served has this form";
	else if (!span_equal(normal, path))
		why = "escapes of ordinary octets are decoded before matching, "
		    "others are in upper case";
	mem_free(buf);
	return why;
}

enum err
match_check_path(struct span pattern, const char **ret_why)
{
	const char *why = NULL;

	if (!span_starts(pattern, SPAN("/")))
		why = "a path begins with \"/\"";
	for (size_t i = 0; why == NULL && i < pattern.len; i++)
		why = check_octet(span_skip(pattern, i));
	if (why == NULL)
		why = check_segments(pattern);
	if (why == NULL)
		why = check_normal(pattern);
	if (why == NULL)
		return ERR_OK;
	*ret_why = why;
	return ERR_SYNTAX;
}

static void
condition_fini(struct condition *c)
{
	if (c->values != NULL)
		for (unsigned i = 0; i < c->n; i++)
			mem_free(c->values[i]);
	mem_free(c->values);
	mem_free(c->cidrs);
	mem_free(c->name);
}

void
match_fini(struct match *m)
{
	for (unsigned i = 0; i < m->n; i++)
		condition_fini(&m->conditions[i]);
	mem_free(m->conditions);
	*m = (struct match){ .n = 0 };
}
