#ifndef WEIR_HTTP_OCTET_H
#define WEIR_HTTP_OCTET_H

#include <stdbool.h>
#include <stdint.h>

/* What an octet may be part of; one table answers all of it. */
#define OCTET_TOKEN	 0x01	/* tchar (RFC 9110, 5.6.2) */
#define OCTET_VALUE	 0x02	/* field value, reason, quoted text */
#define OCTET_VISIBLE	 0x04	/* 0x21..0x7e */
#define OCTET_PATH	 0x08	/* see http_target_parse; "%" is apart */
#define OCTET_QUERY	 0x10
#define OCTET_HOST	 0x20	/* reg-name (RFC 3986, 3.2.2), no "%" */
#define OCTET_UNRESERVED 0x40	/* RFC 3986, 2.3 */
#define OCTET_HEX	 0x80

extern const uint8_t http_octet_table[256];

static inline bool
http_octet_is(char c, unsigned classes)
{
	return (http_octet_table[(unsigned char)c] & classes) != 0;
}

/* Value of a hexadecimal digit. */
static inline unsigned
http_octet_hex(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : ((unsigned)c | 32) - 'a' + 10;
}

/* The first octet of p..end that is not of the class, or end. */
static inline const char *
http_octet_skip(const char *p, const char *end, unsigned classes)
{
	while (p < end && http_octet_is(*p, classes))
		p++;
	return p;
}

/* The same for one class, many octets at a time. */
const char *http_octet_skip_token(const char *p, const char *end);
const char *http_octet_skip_value(const char *p, const char *end);
const char *http_octet_skip_visible(const char *p, const char *end);

#endif
