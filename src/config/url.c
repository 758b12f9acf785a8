#include "config/url.h"

#include "base/mem.h"
#include "base/text.h"
#include "http/octet.h"

#define HTTP_PORT	80
#define REDIS_PORT	6379
#define DATABASE_MAX	65535
#define HOST_MAX	253

void
url_fini(struct url *url)
{
	mem_free(url->host);
	mem_free(url->authority);
	mem_free(url->user);
	if (url->password != NULL)
		explicit_bzero(url->password, strlen(url->password));
	mem_free(url->password);
	*url = (struct url){ 0 };
}

static enum err
parse_unix(struct span text, struct url *ret, const char **why)
{
	const enum err e = endpoint_parse(text, &ret->endpoint);

	if (e != ERR_OK) {
		*why = e == ERR_RANGE ? "the path is too long for a socket" :
		    "unix: is followed by an absolute path";
		return ERR_SYNTAX;
	}
	ret->authority = mem_strdup("localhost");
	ret->database = -1;
	return ERR_OK;
}

/* Up to the first of "/?#". */
static struct span
cut_authority(struct span *rest)
{
	size_t n = 0;
	struct span authority;

	while (n < rest->len && strchr("/?#", rest->ptr[n]) == NULL)
		n++;
	authority = span_of(rest->ptr, n);
	*rest = span_skip(*rest, n);
	return authority;
}

/* Host and port apart; brackets stay with the host. */
static bool
cut_port(struct span *host, struct span *port)
{
	size_t n = host->len;

	while (n > 0 && host->ptr[n - 1] >= '0' && host->ptr[n - 1] <= '9')
		n--;
	*port = SPAN_EMPTY;
	if (n == 0 || host->ptr[n - 1] != ':')
		return span_index(*host, ':') < 0 || span_ends(*host,
		    SPAN("]"));
	*port = span_skip(*host, n);
	*host = span_of(host->ptr, n - 1);
	return port->len > 0;
}

static bool
is_host_name(struct span host)
{
	if (host.len == 0 || host.len > HOST_MAX)
		return false;
	for (size_t i = 0; i < host.len; i++)
		if (!http_octet_is(host.ptr[i], OCTET_UNRESERVED) ||
		    host.ptr[i] == '~')
			return false;
	return host.ptr[0] != '-' && host.ptr[0] != '.';
}

/* "1.2.3", "127.0.0.256": meant as an address, and getaddrinfo would make
 * something of some. */
static bool
looks_numeric(struct span host)
{
	for (size_t i = 0; i < host.len; i++)
		if (strchr("0123456789.", host.ptr[i]) == NULL)
			return false;
	return true;
}

static enum err
parse_host(struct span text, unsigned default_port, struct url *ret,
    const char **why)
{
	struct span host = text, port;
	int64_t number = default_port;
	struct addr addr;
	struct text with_port = { 0 };

	*why = "the host is missing or malformed";
	if (!cut_port(&host, &port) || host.len == 0)
		return ERR_SYNTAX;
	if (port.len > 0 && span_to_i64(port, 1, 65535, &number) != ERR_OK) {
		*why = "the port is 1 to 65535";
		return ERR_SYNTAX;
	}
	ret->port = (unsigned)number;
	ret->authority = mem_strndup(text.ptr, text.len);
	if (addr_parse(host, false, &addr) != ERR_OK) {
		if (!is_host_name(host) || looks_numeric(host))
			return ERR_SYNTAX;
		ret->host = mem_strndup(host.ptr, host.len);
		return ERR_OK;
	}
	if (addr.family == 6 && host.ptr[0] != '[') {
		*why = "an IPv6 address stands in brackets";
		return ERR_SYNTAX;
	}
	text_printf(&with_port, "%.*s:%u", SPAN_ARG(host), ret->port);
	if (endpoint_parse(text_span(&with_port), &ret->endpoint) != ERR_OK)
		ret->endpoint.len = 0;
	text_fini(&with_port);
	return ret->endpoint.len > 0 ? ERR_OK : ERR_SYNTAX;
}

static enum err
finish(enum err e, struct url *ret)
{
	if (e != ERR_OK)
		url_fini(ret);
	return e;
}

enum err
url_parse_server(struct span text, struct url *ret, const char **why)
{
	struct span authority;

	*ret = (struct url){ .database = -1 };
	if (span_starts(text, SPAN("unix:")))
		return finish(parse_unix(text, ret, why), ret);
	if (span_starts_nocase(text, SPAN("https://"))) {
		*why = "https://";
		return ERR_UNSUPPORTED;
	}
	if (!span_starts_nocase(text, SPAN("http://"))) {
		*why = "a URL begins with http:// or unix:";
		return ERR_SYNTAX;
	}
	text = span_skip(text, 7);
	authority = cut_authority(&text);
	if (text.len > 0 && !span_equal(text, SPAN("/"))) {
		*why = "nothing may follow the host: requests keep their own "
		    "path";
		return ERR_SYNTAX;
	}
	if (span_index(authority, '@') >= 0) {
		*why = "a user has no place in it";
		return ERR_SYNTAX;
	}
	return finish(parse_host(authority, HTTP_PORT, ret, why), ret);
}

/* ---- redis ---- */

/* Percent-decoded; NULL: malformed, or an octet 0. */
static char *
decode(struct span s)
{
	char *out = mem_alloc(s.len + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];

		if (c == '%') {
			if (i + 2 >= s.len ||
			    !http_octet_is(s.ptr[i + 1], OCTET_HEX) ||
			    !http_octet_is(s.ptr[i + 2], OCTET_HEX))
				break;
			c = (char)(http_octet_hex(s.ptr[i + 1]) << 4 |
			    http_octet_hex(s.ptr[i + 2]));
			i += 2;
		}
		if (c == '\0')
			break;
		out[n++] = c;
		if (i + 1 >= s.len) {
			out[n] = '\0';
			return out;
		}
	}
	if (s.len == 0) {
		out[0] = '\0';
		return out;
	}
	mem_free(out);
	return NULL;
}

static enum err
parse_user(struct span info, struct url *ret, const char **why)
{
	const ptrdiff_t colon = span_index(info, ':');
	const struct span user = colon < 0 ? info :
	    span_of(info.ptr, (size_t)colon);

	*why = "user or password: write other octets than letters and digits "
	    "as %XX, or use store.password";
	if (span_index(info, '@') >= 0)
		return ERR_SYNTAX;
	if (user.len > 0 && (ret->user = decode(user)) == NULL)
		return ERR_SYNTAX;
	if (colon >= 0 && (ret->password = decode(span_skip(info,
	    (size_t)colon + 1))) == NULL)
		return ERR_SYNTAX;
	return ERR_OK;
}

static enum err
parse_database(struct span rest, struct url *ret, const char **why)
{
	int64_t number;

	ret->database = -1;
	if (rest.len == 0 || span_equal(rest, SPAN("/")))
		return ERR_OK;
	*why = "behind the host only /DATABASE may follow, a number";
	if (rest.ptr[0] != '/' || span_to_i64(span_skip(rest, 1), 0,
	    DATABASE_MAX, &number) != ERR_OK)
		return ERR_SYNTAX;
	ret->database = (int)number;
	return ERR_OK;
}

/* The authority ends at the first slash, so a host is what follows its last
 * "@". */
static enum err
parse_redis(struct span text, struct url *ret, const char **why)
{
	struct span authority = cut_authority(&text);
	size_t at = authority.len;
	enum err e = ERR_OK;

	while (at > 0 && authority.ptr[at - 1] != '@')
		at--;
	if (at > 0)
		e = parse_user(span_of(authority.ptr, at - 1), ret, why);
	if (e == ERR_OK)
		e = parse_host(span_skip(authority, at), REDIS_PORT, ret,
		    why);
	if (e == ERR_OK)
		e = parse_database(text, ret, why);
	return e;
}

enum err
url_parse_redis(struct span text, struct url *ret, const char **why)
{
	static const char *const later[] = { "rediss://", "sentinel://",
	    "cluster://" };

	*ret = (struct url){ .database = -1 };
	if (span_starts(text, SPAN("unix:")))
		return finish(parse_unix(text, ret, why), ret);
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		if (!span_starts_nocase(text, span_str(later[i])))
			continue;
		*why = later[i];
		return ERR_UNSUPPORTED;
	}
	if (!span_starts_nocase(text, SPAN("redis://"))) {
		*why = "a URL begins with redis:// or unix:";
		return ERR_SYNTAX;
	}
	return finish(parse_redis(span_skip(text, 8), ret, why), ret);
}
