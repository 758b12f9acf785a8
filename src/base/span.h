#ifndef WEIR_BASE_SPAN_H
#define WEIR_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

/* A borrowed view of octets; never owns, never NUL-terminated. */
struct span {
	const char *ptr;
	size_t len;
};

#define SPAN(literal)	((struct span){ (literal), sizeof(literal) - 1 })
#define SPAN_EMPTY	((struct span){ "", 0 })
/* For printf: "%.*s", SPAN_ARG(s) */
#define SPAN_ARG(s)	(int)(s).len, (s).ptr

static inline struct span
span_of(const char *ptr, size_t len)
{
	return (struct span){ ptr, len };
}

static inline struct span
span_str(const char *str)
{
	return (struct span){ str, strlen(str) };
}

static inline bool
span_equal(struct span a, struct span b)
{
	/* memcmp must not see the pointer of an empty span: it may be NULL. */
	return a.len == b.len &&
	    (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* ASCII letters compare without case; every other octet exactly. */
bool span_equal_nocase(struct span a, struct span b);
bool span_starts(struct span s, struct span prefix);
bool span_starts_nocase(struct span s, struct span prefix);
bool span_ends(struct span s, struct span suffix);

/* Position of c, or -1. */
ptrdiff_t span_index(struct span s, char c);

/* Without the first n octets (n <= len). */
struct span span_skip(struct span s, size_t n);

/* Without leading and trailing SP and HTAB (RFC 9110, 5.6.3: OWS). */
struct span span_trim(struct span s);

/*
 * Take the part of *rest before the next sep, and leave what follows it.
 * False when *rest is used up: rest->ptr is NULL then. "a,,b" gives "a", "",
 * "b"; "" gives one empty part.
 */
bool span_split(struct span *rest, char sep, struct span *ret_part);

/*
 * The next element of a comma-separated list (RFC 9110, 5.6.1): trimmed, empty
 * elements skipped, commas inside quoted strings do not separate.
 */
bool span_next_element(struct span *rest, struct span *ret_element);

/*
 * Decimal digits only, no sign, no space. ERR_SYNTAX: empty or another octet;
 * ERR_RANGE: outside min..max or too long for int64_t.
 */
enum err span_to_i64(struct span s, int64_t min, int64_t max,
    int64_t *ret_value);

/* Write value in decimal, no NUL; returns octets written, at most 20. */
size_t span_put_u64(char *buf, uint64_t value);

#endif
