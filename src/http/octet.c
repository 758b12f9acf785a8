#include "http/octet.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define V  OCTET_VALUE
#define G  (OCTET_VALUE | OCTET_VISIBLE)
#define T  (G | OCTET_TOKEN)
#define PQ (OCTET_PATH | OCTET_QUERY)
#define SUB (G | PQ | OCTET_HOST)	/* sub-delims */
#define UNR (SUB | OCTET_TOKEN | OCTET_UNRESERVED)
#define DIG (UNR | OCTET_HEX)

/*
 * Beyond RFC 3986, path and query have [ ] ^ ` { | }, and the query a
 * backslash: browsers send them as they are (URL Standard, percent-encode
 * sets).
 */
const uint8_t http_octet_table[256] = {
	['\t'] = V, [' '] = V,
	['!'] = SUB | OCTET_TOKEN, ['"'] = G, ['#'] = T,
	['$'] = SUB | OCTET_TOKEN, ['%'] = T, ['&'] = SUB | OCTET_TOKEN,
	['\''] = SUB | OCTET_TOKEN, ['('] = SUB, [')'] = SUB,
	['*'] = SUB | OCTET_TOKEN, ['+'] = SUB | OCTET_TOKEN, [','] = SUB,
	['-'] = UNR, ['.'] = UNR, ['/'] = G | PQ,
	['0' ... '9'] = DIG,
	[':'] = G | PQ, [';'] = SUB, ['<'] = G, ['='] = SUB, ['>'] = G,
	['?'] = G | OCTET_QUERY, ['@'] = G | PQ,
	['A' ... 'F'] = DIG, ['G' ... 'Z'] = UNR,
	['['] = G | PQ, ['\\'] = G | OCTET_QUERY, [']'] = G | PQ,
	['^'] = T | PQ, ['_'] = UNR, ['`'] = T | PQ,
	['a' ... 'f'] = DIG, ['g' ... 'z'] = UNR,
	['{'] = G | PQ, ['|'] = T | PQ, ['}'] = G | PQ, ['~'] = UNR,
	[0x80 ... 0xff] = V,
};

#ifdef __SSE2__
/* The first octet of 16 that is all ones in bad; 16 when there is none. */
static inline unsigned
first_bad(__m128i bad)
{
	return (unsigned)__builtin_ctz(
	    (unsigned)_mm_movemask_epi8(bad) | 0x10000u);
}

static inline unsigned
first_no_value(__m128i x)
{
	__m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1f)), x);
	__m128i tab = _mm_cmpeq_epi8(x, _mm_set1_epi8('\t'));
	__m128i del = _mm_cmpeq_epi8(x, _mm_set1_epi8(0x7f));

	return first_bad(_mm_or_si128(_mm_andnot_si128(tab, low), del));
}

/* Octets from 0x80 are negative in this comparison. */
static inline unsigned
first_invisible(__m128i x)
{
	__m128i low = _mm_cmplt_epi8(x, _mm_set1_epi8(0x21));
	__m128i del = _mm_cmpeq_epi8(x, _mm_set1_epi8(0x7f));

	return first_bad(_mm_or_si128(low, del));
}

/* Stops early at the rarer token octets; the table goes on from there. */
static inline unsigned
first_no_word(__m128i x)
{
	__m128i alpha = _mm_sub_epi8(_mm_or_si128(x, _mm_set1_epi8(0x20)),
	    _mm_set1_epi8('a'));
	__m128i digit = _mm_sub_epi8(x, _mm_set1_epi8('0'));
	__m128i word = _mm_or_si128(
	    _mm_cmpeq_epi8(_mm_min_epu8(alpha, _mm_set1_epi8(25)), alpha),
	    _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit));

	word = _mm_or_si128(word, _mm_cmpeq_epi8(x, _mm_set1_epi8('-')));
	return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(word));
}

#define SKIP_BLOCKS(p, end, first) \
	while ((end) - (p) >= 16) { \
		unsigned n_ = first(_mm_loadu_si128((const void *)(p))); \
		(p) += n_; \
		if (n_ < 16) \
			break; \
	}
#else
#define SKIP_BLOCKS(p, end, first)
#endif

const char *
http_octet_skip_token(const char *p, const char *end)
{
	SKIP_BLOCKS(p, end, first_no_word)
	return http_octet_skip(p, end, OCTET_TOKEN);
}

const char *
http_octet_skip_value(const char *p, const char *end)
{
	SKIP_BLOCKS(p, end, first_no_value)
	return http_octet_skip(p, end, OCTET_VALUE);
}

const char *
http_octet_skip_visible(const char *p, const char *end)
{
	SKIP_BLOCKS(p, end, first_invisible)
	return http_octet_skip(p, end, OCTET_VISIBLE);
}
