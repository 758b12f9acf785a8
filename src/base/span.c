#include "base/span.h"

static unsigned char
lower(char c)
{
	unsigned char u = (unsigned char)c;

	return u >= 'A' && u <= 'Z' ? u | 0x20 : u;
}

static bool
is_ows(char c)
{
	return c == ' ' || c == '\t';
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool
span_equal_nocase(struct span a, struct span b)
{
	/* Mostly the case is equal too. */
	return span_equal(a, b) ||
	    (a.len == b.len && span_starts_nocase(a, b));
}

bool
span_starts(struct span s, struct span prefix)
{
	return s.len >= prefix.len &&
	    span_equal(span_of(s.ptr, prefix.len), prefix);
}

bool
span_starts_nocase(struct span s, struct span prefix)
{
	if (s.len < prefix.len)
		return false;
	for (size_t i = 0; i < prefix.len; i++)
		if (lower(s.ptr[i]) != lower(prefix.ptr[i]))
			return false;
	return true;
}

bool
span_ends(struct span s, struct span suffix)
{
	return s.len >= suffix.len &&
	    span_equal(span_skip(s, s.len - suffix.len), suffix);
}

ptrdiff_t
span_index(struct span s, char c)
{
	const char *at;

	if (s.len == 0)
		return -1;
	at = memchr(s.ptr, c, s.len);
	return at == NULL ? -1 : at - s.ptr;
}

struct span
span_skip(struct span s, size_t n)
{
	/* An empty span may have no pointer to add to. */
	return n == 0 ? s : span_of(s.ptr + n, s.len - n);
}

struct span
span_trim(struct span s)
{
	while (s.len > 0 && is_ows(s.ptr[0]))
		s = span_skip(s, 1);
	while (s.len > 0 && is_ows(s.ptr[s.len - 1]))
		s.len--;
	return s;
}

/* Take the first n octets and the separator behind them, if there is one. */
static struct span
take(struct span *rest, size_t n)
{
	struct span part = span_of(rest->ptr, n);

	if (n == rest->len)
		*rest = span_of(NULL, 0);
	else
		*rest = span_skip(*rest, n + 1);
	return part;
}

bool
span_split(struct span *rest, char sep, struct span *ret_part)
{
	ptrdiff_t at;

	if (rest->ptr == NULL)
		return false;
	at = span_index(*rest, sep);
	*ret_part = take(rest, at < 0 ? rest->len : (size_t)at);
	return true;
}

/* Position of the first comma outside quoted strings, or the length. A string
 * that is not closed reaches to the end. */
static size_t
element_end(struct span s)
{
	bool quoted = false;

	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '"')
			quoted = !quoted;
		else if (quoted && s.ptr[i] == '\\')
			i++;
		else if (!quoted && s.ptr[i] == ',')
			return i;
	}
	return s.len;
}

bool
span_next_element(struct span *rest, struct span *ret_element)
{
	while (rest->ptr != NULL) {
		struct span part = span_trim(take(rest, element_end(*rest)));

		if (part.len > 0) {
			*ret_element = part;
			return true;
		}
	}
	return false;
}

enum err
span_to_i64(struct span s, int64_t min, int64_t max, int64_t *ret_value)
{
	int64_t value = 0;
	bool fits = true;

	if (s.len == 0)
		return ERR_SYNTAX;
	for (size_t i = 0; i < s.len; i++) {
		int digit = s.ptr[i] - '0';

		if (!is_digit(s.ptr[i]))
			return ERR_SYNTAX;
		/* On, to the end: "9...9x" is malformed, not too large. */
		fits = fits && value <= (INT64_MAX - digit) / 10;
		if (fits)
			value = value * 10 + digit;
	}
	if (!fits || value < min || value > max)
		return ERR_RANGE;
	*ret_value = value;
	return ERR_OK;
}

/* From 10 on. */
static size_t
count_digits(uint64_t value)
{
	uint64_t bound = 100;
	size_t n = 2;

	while (n < 20 && value >= bound) {
		bound *= 10;	/* wraps after the 20th, which is not asked */
		n++;
	}
	return n;
}

size_t
span_put_u64(char *buf, uint64_t value)
{
	static const char pairs[] =
	    "0001020304050607080910111213141516171819"
	    "2021222324252627282930313233343536373839"
	    "4041424344454647484950515253545556575859"
	    "6061626364656667686970717273747576777879"
	    "8081828384858687888990919293949596979899";
	size_t n;
	char *p;

	if (value < 10) {
		*buf = (char)('0' + value);
		return 1;
	}
	n = count_digits(value);
	p = buf + n;
	for (; value >= 100; value /= 100)
		memcpy(p -= 2, pairs + value % 100 * 2, 2);
	if (value >= 10)
		memcpy(p - 2, pairs + value * 2, 2);
	else
		p[-1] = (char)('0' + value);
	return n;
}
