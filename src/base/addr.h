#ifndef WEIR_BASE_ADDR_H
#define WEIR_BASE_ADDR_H

#include <sys/socket.h>

#include "base/span.h"

/*
 * An IP address without its port. IPv4-mapped IPv6 addresses become IPv4 here,
 * once, in every function that makes a struct addr.
 */
struct addr {
	uint8_t family;			/* 4, 6, or 0: none (a Unix peer) */
	unsigned char bytes[16];	/* network order; IPv4 in the first 4 */
};

struct cidr {
	struct addr addr;		/* host bits are 0 */
	uint8_t bits;			/* 0..32 or 0..128 */
};

#define ADDR_TEXT_MAX 46		/* with NUL */

/* A place to listen at or to connect to. */
struct endpoint {
	struct sockaddr_storage ss;	/* AF_INET, AF_INET6 or AF_UNIX */
	socklen_t len;
};

/*
 * "192.0.2.1", "2001:db8::1", "[2001:db8::1]"; with_port also allows a
 * following ":443" (brackets needed for IPv6), which is dropped. No zone.
 * ERR_SYNTAX: anything else.
 */
enum err addr_parse(struct span text, bool with_port, struct addr *ret);
struct addr addr_from_sockaddr(const struct sockaddr *sa);
/* Writes at most ADDR_TEXT_MAX with NUL; returns the length without. Family 0
 * prints as "unix". */
size_t addr_print(const struct addr *a, char *buf);
bool addr_equal(const struct addr *a, const struct addr *b);
bool addr_is_loopback(const struct addr *a);
/* Zero the bits behind the first `bits`, at most the family's width. */
struct addr addr_mask(const struct addr *a, unsigned bits);

/* "10.0.0.0/8", "2001:db8::/32", or an address alone. Host bits that are set
 * are refused (ERR_RANGE): the author meant something else. */
enum err cidr_parse(struct span text, struct cidr *ret);
bool cidr_contains(const struct cidr *c, const struct addr *a);
bool cidr_any_contains(const struct cidr *set, size_t n, const struct addr *a);

/* "127.0.0.1:80", "[::1]:80", "unix:/path". Port 0..65535 must be given, a
 * path begins with a slash. ERR_SYNTAX; ERR_RANGE: port or path length. */
enum err endpoint_parse(struct span text, struct endpoint *ret);
#define ENDPOINT_TEXT_MAX 128		/* with NUL */
/* In the form endpoint_parse reads, cut to cap octets with NUL; returns the
 * length without. A Unix peer without a name prints as "unix:". */
size_t endpoint_print(const struct endpoint *e, char *buf, size_t cap);
bool endpoint_equal(const struct endpoint *a, const struct endpoint *b);
/* Port of an inet endpoint, 0 for Unix. */
unsigned endpoint_port(const struct endpoint *e);
void endpoint_set_port(struct endpoint *e, unsigned port);

#endif
