#include "http/forward.h"

#define ELEMENTS_MAX 32		/* of a forwarding field, looked at */

bool
http_peer_trusted(const struct http_client_rule *rule,
    const struct addr *peer)
{
	return rule->ntrusted > 0 && peer->family != 0 &&
	    cidr_any_contains(rule->trusted, rule->ntrusted, peer);
}

/* Is the quote at s.ptr[i] part of an escape? */
static bool
is_escaped(struct span s, size_t i)
{
	size_t slashes = 0;

	while (slashes < i && s.ptr[i - 1 - slashes] == '\\')
		slashes++;
	return slashes % 2 == 1;
}

/*
 * Take the last element of a comma-separated list. From its right end, because
 * only that part is the trusted proxies': an open quote on the left must not
 * swallow what they appended. False: nothing is left.
 */
static bool
last_element(struct span *list, bool quotes, struct span *ret)
{
	bool quoted = false;
	size_t i = list->len;

	if (list->ptr == NULL)
		return false;
	for (; i > 0; i--) {
		char c = list->ptr[i - 1];

		if (quotes && c == '"' && !is_escaped(*list, i - 1))
			quoted = !quoted;
		else if (c == ',' && !quoted)
			break;
	}
	*ret = span_trim(span_skip(*list, i));
	*list = i > 0 ? span_of(list->ptr, i - 1) : span_of(NULL, 0);
	return true;
}

/* The end of the parameter that s begins with: a ";" outside quotes. */
static size_t
parameter_len(struct span s)
{
	bool quoted = false;
	size_t i;

	for (i = 0; i < s.len; i++) {
		if (s.ptr[i] == '"' && !is_escaped(s, i))
			quoted = !quoted;
		else if (s.ptr[i] == ';' && !quoted)
			break;
	}
	return i;
}

/* "for=192.0.2.43;proto=http", "For=\"[2001:db8::17]:4711\"" (RFC 7239, 4). */
static enum err
forwarded_for(struct span element, struct addr *ret)
{
	bool found = false;
	struct span value = SPAN_EMPTY;

	while (element.len > 0) {
		size_t n = parameter_len(element);
		struct span pair = span_trim(span_of(element.ptr, n));

		element = span_skip(element, n < element.len ? n + 1 : n);
		if (!span_starts_nocase(pair, SPAN("for=")))
			continue;
		if (found)
			return ERR_SYNTAX;
		found = true;
		value = span_skip(pair, sizeof("for=") - 1);
	}
	if (value.len >= 2 && value.ptr[0] == '"' &&
	    value.ptr[value.len - 1] == '"')
		value = span_of(value.ptr + 1, value.len - 2);
	return addr_parse(value, true, ret);
}

static bool
is_source(const struct http_client_rule *rule, const struct http_field *f)
{
	switch (rule->from) {
	case HTTP_CLIENT_XFF:
		return f->id == FIELD_X_FORWARDED_FOR;
	case HTTP_CLIENT_FORWARDED:
		return f->id == FIELD_FORWARDED;
	case HTTP_CLIENT_HEADER:
		return span_equal_nocase(f->name, rule->header);
	default:
		return false;
	}
}

struct addr
http_client_addr(const struct http_client_rule *rule,
    const struct http_head *head, const struct addr *peer)
{
	bool forwarded = rule->from == HTTP_CLIENT_FORWARDED;
	struct addr good = *peer, a;
	struct span element;
	unsigned looked = 0;

	if (rule->from == HTTP_CLIENT_PEER || !http_peer_trusted(rule, peer))
		return good;
	for (unsigned i = head->nfields; i-- > 0;) {
		struct span list = head->fields[i].value;

		if (!is_source(rule, &head->fields[i]))
			continue;
		while (last_element(&list, forwarded, &element)) {
			if (element.len == 0)
				continue;
			if (looked++ == ELEMENTS_MAX || (forwarded ?
			    forwarded_for(element, &a) :
			    addr_parse(element, true, &a)) != ERR_OK)
				return good;
			good = a;
			if (!http_peer_trusted(rule, &good))
				return good;
		}
	}
	return good;
}
