#include "base/addr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/un.h>

static const unsigned char mapped_prefix[12] = {
	[10] = 0xff, [11] = 0xff
};

static unsigned
width(const struct addr *a)
{
	return a->family == 4 ? 32 : a->family == 6 ? 128 : 0;
}

static struct addr
from_v4(const void *bytes)
{
	struct addr a = { .family = 4 };

	memcpy(a.bytes, bytes, 4);
	return a;
}

static struct addr
from_v6(const void *bytes)
{
	struct addr a = { .family = 6 };

	if (memcmp(bytes, mapped_prefix, sizeof(mapped_prefix)) == 0)
		return from_v4((const char *)bytes + sizeof(mapped_prefix));
	memcpy(a.bytes, bytes, 16);
	return a;
}

/* An address without brackets or port, of the family asked for. */
static enum err
parse_bare(struct span text, int af, struct addr *ret)
{
	char str[INET6_ADDRSTRLEN];
	unsigned char bytes[16];

	if (text.len >= sizeof(str) || span_index(text, '\0') >= 0)
		return ERR_SYNTAX;
	memcpy(str, text.ptr, text.len);
	str[text.len] = '\0';
	if (inet_pton(af, str, bytes) != 1)
		return ERR_SYNTAX;
	*ret = af == AF_INET ? from_v4(bytes) : from_v6(bytes);
	return ERR_OK;
}

/*
 * Cut text into the address, without brackets, and what follows it from the
 * colon of a port on. False: an opening bracket is never closed.
 */
static bool
cut_port(struct span text, int *ret_af, struct span *ret_host,
    struct span *ret_port)
{
	bool bracket = text.len > 0 && text.ptr[0] == '[';
	ptrdiff_t at = span_index(text, bracket ? ']' : ':');

	if (bracket && at < 0)
		return false;
	*ret_af = bracket ? AF_INET6 : AF_INET;
	if (at < 0)
		at = (ptrdiff_t)text.len;
	*ret_host = bracket ? span_of(text.ptr + 1, (size_t)at - 1) :
	    span_of(text.ptr, (size_t)at);
	*ret_port = span_skip(text, (size_t)at + (bracket ? 1 : 0));
	return true;
}

static enum err
parse_port(struct span text, int64_t *ret)
{
	if (text.len == 0 || text.ptr[0] != ':')
		return ERR_SYNTAX;
	return span_to_i64(span_skip(text, 1), 0, 65535, ret);
}

enum err
addr_parse(struct span text, bool with_port, struct addr *ret)
{
	struct span host, port;
	int64_t number;
	int af;

	if (text.len == 0)
		return ERR_SYNTAX;
	if (parse_bare(text, AF_INET6, ret) == ERR_OK)
		return ERR_OK;
	if (!cut_port(text, &af, &host, &port))
		return ERR_SYNTAX;
	if (port.len > 0 && (!with_port || parse_port(port, &number) != ERR_OK))
		return ERR_SYNTAX;
	return parse_bare(host, af, ret);
}

struct addr
addr_from_sockaddr(const struct sockaddr *sa)
{
	const void *any = sa;

	if (sa->sa_family == AF_INET)
		return from_v4(&((const struct sockaddr_in *)any)->sin_addr);
	if (sa->sa_family == AF_INET6)
		return from_v6(&((const struct sockaddr_in6 *)any)->sin6_addr);
	return (struct addr){ .family = 0 };
}

static size_t
print_v4(const unsigned char *bytes, char *buf)
{
	size_t n = 0;

	for (int i = 0; i < 4; i++) {
		if (i > 0)
			buf[n++] = '.';
		n += span_put_u64(buf + n, bytes[i]);
	}
	return n;
}

static size_t
put_hex16(char *buf, unsigned value)
{
	size_t n = 0;

	for (int shift = 12; shift >= 0; shift -= 4)
		if (n > 0 || value >> shift != 0 || shift == 0)
			buf[n++] = "0123456789abcdef"[value >> shift & 15];
	return n;
}

static unsigned
group(const unsigned char *bytes, int i)
{
	return (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1];
}

/* The first of the longest runs of two or more zero groups (RFC 5952, 4.2);
 * its length, or 0. */
static int
longest_zeros(const unsigned char *bytes, int *ret_start)
{
	int best = 0;

	for (int i = 0, run = 0; i < 8; i++) {
		run = group(bytes, i) == 0 ? run + 1 : 0;
		if (run > best && run > 1) {
			best = run;
			*ret_start = i - run + 1;
		}
	}
	return best;
}

static size_t
print_v6(const unsigned char *bytes, char *buf)
{
	int start = -1, zeros = longest_zeros(bytes, &start);
	size_t n = 0;

	for (int i = 0; i < 8; i++) {
		if (i == start) {
			buf[n++] = ':';
			buf[n++] = ':';
			i += zeros - 1;
			continue;
		}
		if (i > 0 && i != start + zeros)
			buf[n++] = ':';
		n += put_hex16(buf + n, group(bytes, i));
	}
	return n;
}

size_t
addr_print(const struct addr *a, char *buf)
{
	size_t n = 4;

	if (a->family == 4)
		n = print_v4(a->bytes, buf);
	else if (a->family == 6)
		n = print_v6(a->bytes, buf);
	else
		memcpy(buf, "unix", n);
	buf[n] = '\0';
	return n;
}

bool
addr_equal(const struct addr *a, const struct addr *b)
{
	return a->family == b->family &&
	    memcmp(a->bytes, b->bytes, width(a) / 8) == 0;
}

bool
addr_is_loopback(const struct addr *a)
{
	static const unsigned char one[16] = { [15] = 1 };

	if (a->family == 4)
		return a->bytes[0] == 127;
	return a->family == 6 && memcmp(a->bytes, one, sizeof(one)) == 0;
}

struct addr
addr_mask(const struct addr *a, unsigned bits)
{
	struct addr m = { .family = a->family };

	if (bits > width(a))
		bits = width(a);
	memcpy(m.bytes, a->bytes, (bits + 7) / 8);
	if (bits % 8 != 0)
		m.bytes[bits / 8] &= (unsigned char)(0xff << (8 - bits % 8));
	return m;
}

enum err
cidr_parse(struct span text, struct cidr *ret)
{
	struct span rest = text, host;
	struct addr a, masked;
	int64_t bits, skipped;
	enum err e;

	if (!span_split(&rest, '/', &host) ||
	    addr_parse(host, false, &a) != ERR_OK)
		return ERR_SYNTAX;
	/* The first 96 bits of a mapped address are gone from it. */
	skipped = a.family == 4 && span_index(host, ':') >= 0 ? 96 : 0;
	bits = (int64_t)width(&a) + skipped;
	if (rest.ptr != NULL) {
		e = span_to_i64(rest, skipped, bits, &bits);
		if (e != ERR_OK)
			return e;
	}
	masked = addr_mask(&a, (unsigned)(bits - skipped));
	if (!addr_equal(&a, &masked))
		return ERR_RANGE;
	*ret = (struct cidr){ a, (uint8_t)(bits - skipped) };
	return ERR_OK;
}

bool
cidr_contains(const struct cidr *c, const struct addr *a)
{
	struct addr masked = addr_mask(a, c->bits);

	return addr_equal(&masked, &c->addr);
}

bool
cidr_any_contains(const struct cidr *set, size_t n, const struct addr *a)
{
	for (size_t i = 0; i < n; i++)
		if (cidr_contains(&set[i], a))
			return true;
	return false;
}

static enum err
parse_unix(struct span path, struct endpoint *ret)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	if (path.len == 0 || path.ptr[0] != '/' || span_index(path, '\0') >= 0)
		return ERR_SYNTAX;
	if (path.len >= sizeof(un.sun_path))
		return ERR_RANGE;
	memcpy(un.sun_path, path.ptr, path.len);
	*ret = (struct endpoint){ .len = (socklen_t)
	    (offsetof(struct sockaddr_un, sun_path) + path.len + 1) };
	memcpy(&ret->ss, &un, sizeof(un));
	return ERR_OK;
}

static struct endpoint
from_addr(const struct addr *a)
{
	struct endpoint e = { .len = 0 };
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	if (a->family == 4) {
		memcpy(&in.sin_addr, a->bytes, 4);
		memcpy(&e.ss, &in, sizeof(in));
		e.len = sizeof(in);
	} else {
		memcpy(&in6.sin6_addr, a->bytes, 16);
		memcpy(&e.ss, &in6, sizeof(in6));
		e.len = sizeof(in6);
	}
	return e;
}

enum err
endpoint_parse(struct span text, struct endpoint *ret)
{
	struct span host, port;
	struct addr a;
	int64_t number;
	enum err e;
	int af;

	if (span_starts(text, SPAN("unix:")))
		return parse_unix(span_skip(text, 5), ret);
	if (!cut_port(text, &af, &host, &port) ||
	    parse_bare(host, af, &a) != ERR_OK)
		return ERR_SYNTAX;
	e = parse_port(port, &number);
	if (e != ERR_OK)
		return e;
	*ret = from_addr(&a);
	endpoint_set_port(ret, (unsigned)number);
	return ERR_OK;
}

/* The path, which need not end with a NUL when the kernel gave it. */
static struct span
unix_path(const struct endpoint *e)
{
	const struct sockaddr_un *un = (const void *)&e->ss;
	const size_t head = offsetof(struct sockaddr_un, sun_path);

	if (e->len <= head)
		return SPAN_EMPTY;
	return span_of(un->sun_path, strnlen(un->sun_path, e->len - head));
}

size_t
endpoint_print(const struct endpoint *e, char *buf, size_t cap)
{
	struct addr a = addr_from_sockaddr((const void *)&e->ss);
	char host[ADDR_TEXT_MAX];
	int n;

	if (cap == 0)
		return 0;
	if (a.family == 0) {
		n = snprintf(buf, cap, "unix:%.*s", SPAN_ARG(unix_path(e)));
	} else {
		addr_print(&a, host);
		n = snprintf(buf, cap, a.family == 6 ? "[%s]:%u" : "%s:%u",
		    host, endpoint_port(e));
	}
	return (size_t)n < cap ? (size_t)n : cap - 1;
}

bool
endpoint_equal(const struct endpoint *a, const struct endpoint *b)
{
	struct addr x = addr_from_sockaddr((const void *)&a->ss);
	struct addr y = addr_from_sockaddr((const void *)&b->ss);

	if (a->ss.ss_family != b->ss.ss_family)
		return false;
	if (a->ss.ss_family == AF_UNIX)
		return span_equal(unix_path(a), unix_path(b));
	return addr_equal(&x, &y) && endpoint_port(a) == endpoint_port(b);
}

unsigned
endpoint_port(const struct endpoint *e)
{
	const void *any = &e->ss;

	if (e->ss.ss_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)any)->sin_port);
	if (e->ss.ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)any)->sin6_port);
	return 0;
}

void
endpoint_set_port(struct endpoint *e, unsigned port)
{
	void *any = &e->ss;

	if (e->ss.ss_family == AF_INET)
		((struct sockaddr_in *)any)->sin_port = htons((uint16_t)port);
	if (e->ss.ss_family == AF_INET6)
		((struct sockaddr_in6 *)any)->sin6_port = htons((uint16_t)port);
}
