#include "http/chunk.h"

#include "http/octet.h"

/*
 * chunk     = 1*HEXDIG *( BWS ";" BWS name [ BWS "=" BWS value ] ) CRLF
 * trailers  = *( name ":" value CRLF ) CRLF
 */
enum state {
	AT_SIZE,
	IN_SIZE,
	BEFORE_EXT,	/* white space behind a size or an extension */
	AT_NAME,	/* behind ";" */
	IN_NAME,
	BEFORE_EQUAL,	/* white space behind a name */
	AT_VALUE,	/* behind "=" */
	IN_VALUE,
	IN_QUOTES,
	IN_PAIR,	/* behind a backslash */
	BEHIND_QUOTES,
	SIZE_LF,
	IN_DATA,
	DATA_CR, DATA_LF,
	AT_TRAILER,
	IN_TRAILER_NAME, IN_TRAILER_VALUE,
	TRAILER_LF,
	END_LF,
	ENDED,
	MALFORMED	/* answer of the functions below, never kept */
};

static bool
is_ows(char c)
{
	return c == ' ' || c == '\t';
}

/* What may follow a whole size, name or value. */
static enum state
behind(char c, enum state blank)
{
	if (c == '\r')
		return SIZE_LF;
	if (c == ';')
		return AT_NAME;
	return is_ows(c) ? blank : MALFORMED;
}

/* One octet of extensions; the machine of the grammar above. */
static enum state
extension(enum state at, char c)
{
	switch (at) {
	case BEFORE_EXT:
		return c == '\r' ? MALFORMED : behind(c, BEFORE_EXT);
	case AT_NAME:
		if (is_ows(c))
			return AT_NAME;
		return http_octet_is(c, OCTET_TOKEN) ? IN_NAME : MALFORMED;
	case IN_NAME:
		if (http_octet_is(c, OCTET_TOKEN))
			return IN_NAME;
		return c == '=' ? AT_VALUE : behind(c, BEFORE_EQUAL);
	case BEFORE_EQUAL:
		if (c == '=')
			return AT_VALUE;
		return c == '\r' ? MALFORMED : behind(c, BEFORE_EQUAL);
	case AT_VALUE:
		if (is_ows(c))
			return AT_VALUE;
		if (c == '"')
			return IN_QUOTES;
		return http_octet_is(c, OCTET_TOKEN) ? IN_VALUE : MALFORMED;
	case IN_VALUE:
		if (http_octet_is(c, OCTET_TOKEN))
			return IN_VALUE;
		return behind(c, BEFORE_EXT);
	case IN_QUOTES:
		if (c == '"')
			return BEHIND_QUOTES;
		if (c == '\\')
			return IN_PAIR;
		return http_octet_is(c, OCTET_VALUE) ? IN_QUOTES : MALFORMED;
	case IN_PAIR:
		return http_octet_is(c, OCTET_VALUE) ? IN_QUOTES : MALFORMED;
	case BEHIND_QUOTES:
		return behind(c, BEFORE_EXT);
	default:
		return MALFORMED;
	}
}

static enum err
size_digit(struct http_chunk *c, char hex)
{
	unsigned digit = http_octet_hex(hex);

	if (c->left > (INT64_MAX - (int64_t)digit) >> 4)
		return ERR_RANGE;
	c->left = c->left << 4 | digit;
	c->state = IN_SIZE;
	return ERR_OK;
}

/* One octet of the line before a chunk's data. */
static enum err
size_line(struct http_chunk *c, char octet)
{
	enum state next;

	if (++c->line > HTTP_CHUNK_LINE_MAX)
		return ERR_TOO_LARGE;
	if (c->state == SIZE_LF) {
		if (octet != '\n')
			return ERR_SYNTAX;
		c->state = c->left > 0 ? IN_DATA : AT_TRAILER;
		return ERR_OK;
	}
	if (c->state <= IN_SIZE && http_octet_is(octet, OCTET_HEX))
		return size_digit(c, octet);
	next = c->state == AT_SIZE ? MALFORMED :
	    c->state == IN_SIZE ? behind(octet, BEFORE_EXT) :
	    extension(c->state, octet);
	if (next == MALFORMED)
		return ERR_SYNTAX;
	c->state = next;
	return ERR_OK;
}

static enum state
trailer(enum state at, char c)
{
	switch (at) {
	case AT_TRAILER:
		if (c == '\r')
			return END_LF;
		return http_octet_is(c, OCTET_TOKEN) ? IN_TRAILER_NAME :
		    MALFORMED;
	case IN_TRAILER_NAME:
		if (c == ':')
			return IN_TRAILER_VALUE;
		return http_octet_is(c, OCTET_TOKEN) ? at : MALFORMED;
	case IN_TRAILER_VALUE:
		if (c == '\r')
			return TRAILER_LF;
		return http_octet_is(c, OCTET_VALUE) ? at : MALFORMED;
	case TRAILER_LF:
		return c == '\n' ? AT_TRAILER : MALFORMED;
	case END_LF:
		return c == '\n' ? ENDED : MALFORMED;
	default:
		return MALFORMED;
	}
}

static enum err
trailer_octet(struct http_chunk *c, char octet)
{
	enum state next;

	if (++c->trailer > HTTP_TRAILER_MAX)
		return ERR_TOO_LARGE;
	next = trailer(c->state, octet);
	if (next == MALFORMED)
		return ERR_SYNTAX;
	c->state = next;
	return ERR_OK;
}

/* One octet that is no data. */
static enum err
one_octet(struct http_chunk *c, char octet)
{
	if (c->state <= SIZE_LF)
		return size_line(c, octet);
	if (c->state >= AT_TRAILER)
		return trailer_octet(c, octet);
	if (octet != (c->state == DATA_CR ? '\r' : '\n'))
		return ERR_SYNTAX;
	c->state = c->state == DATA_CR ? DATA_LF : AT_SIZE;
	c->line = 0;
	return ERR_OK;
}

enum err
http_chunk_next(struct http_chunk *c, struct span *in, struct span *ret_body,
    bool *ret_done)
{
	enum err e;
	size_t n;

	*ret_body = SPAN_EMPTY;
	*ret_done = c->state == ENDED;
	while (in->len > 0 && c->state != ENDED) {
		if (c->state == IN_DATA) {
			n = (uint64_t)c->left < in->len ? (size_t)c->left :
			    in->len;
			*ret_body = span_of(in->ptr, n);
			*in = span_skip(*in, n);
			c->left -= (int64_t)n;
			if (c->left == 0)
				c->state = DATA_CR;
			return ERR_OK;
		}
		if ((e = one_octet(c, in->ptr[0])) != ERR_OK)
			return e;
		*in = span_skip(*in, 1);
	}
	*ret_done = c->state == ENDED;
	return ERR_OK;
}

size_t
http_chunk_put_size(char *buf, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	unsigned bits = 4;
	size_t n = 0;

	while (bits < sizeof(len) * 8 && len >> bits != 0)
		bits += 4;
	for (; bits > 0; bits -= 4)
		buf[n++] = digits[len >> (bits - 4) & 15];
	buf[n++] = '\r';
	buf[n++] = '\n';
	return n;
}
