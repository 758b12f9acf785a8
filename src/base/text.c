#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

void
text_init(struct text *t)
{
	*t = (struct text){ .data = NULL };
}

void
text_fini(struct text *t)
{
	mem_free(t->data);
	text_init(t);
}

void
text_clear(struct text *t)
{
	t->len = 0;
	if (t->data != NULL)
		t->data[0] = '\0';
}

/* Make room for n octets and the NUL. Doubling keeps appending linear. */
static void
reserve(struct text *t, size_t n)
{
	size_t need = t->len + n + 1;
	size_t cap = t->cap < 32 ? 64 : t->cap * 2;

	if (need <= n)
		abort();	/* more than there are addresses */
	if (need <= t->cap)
		return;
	t->cap = cap > need ? cap : need;
	t->data = mem_realloc(t->data, t->cap);
}

void
text_append(struct text *t, struct span s)
{
	reserve(t, s.len);
	if (s.len > 0)
		memcpy(t->data + t->len, s.ptr, s.len);
	t->len += s.len;
	t->data[t->len] = '\0';
}

void
text_append_str(struct text *t, const char *str)
{
	text_append(t, span_str(str));
}

void
text_append_char(struct text *t, char c)
{
	text_append(t, span_of(&c, 1));
}

void
text_append_u64(struct text *t, uint64_t value)
{
	char digits[20];

	text_append(t, span_of(digits, span_put_u64(digits, value)));
}

void
text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_vprintf(t, fmt, ap);
	va_end(ap);
}

void
text_vprintf(struct text *t, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0)
		abort();	/* the format itself is wrong */
	reserve(t, (size_t)n);
	vsnprintf(t->data + t->len, (size_t)n + 1, fmt, again);
	t->len += (size_t)n;
	va_end(again);
}

/* Octets of the UTF-8 sequence that begins with c, by the count of its leading
 * bits; 0: none begins so (RFC 3629, section 4). */
static size_t
utf8_length(unsigned char c)
{
	if (c < 0x80)
		return 1;
	if (c < 0xc2 || c > 0xf4)
		return 0;
	return c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* Length of the valid sequence that s (not empty) begins with, or 0. */
static size_t
utf8_valid(struct span s)
{
	const unsigned char *p = (const unsigned char *)s.ptr;
	size_t n = utf8_length(p[0]);

	if (n == 0 || n > s.len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) ||	/* longer than needed */
	    (p[0] == 0xed && p[1] > 0x9f) ||	/* surrogates */
	    (p[0] == 0xf0 && p[1] < 0x90) ||	/* longer than needed */
	    (p[0] == 0xf4 && p[1] > 0x8f))	/* beyond U+10FFFF */
		return 0;
	return n;
}

static void
append_escaped(struct text *t, unsigned code)
{
	static const char hex[] = "0123456789abcdef";
	const char seq[6] = { '\\', 'u', '0', '0', hex[code >> 4 & 15],
	    hex[code & 15] };
	const char *named = strchr("\bb\ff\nn\rr\tt", (int)code);

	if (code == '"' || code == '\\') {
		text_append_char(t, '\\');
		text_append_char(t, (char)code);
	} else if (code != 0 && code < ' ' && named != NULL) {
		text_append_char(t, '\\');
		text_append_char(t, named[1]);
	} else {
		text_append(t, span_of(seq, sizeof(seq)));
	}
}

/* Octets at the start of s that go out as they are. */
static size_t
plain_run(struct span s)
{
	size_t i = 0, n;

	while (i < s.len) {
		unsigned char c = (unsigned char)s.ptr[i];

		if (c < 0x20 || c == 0x7f || c == '"' || c == '\\')
			break;
		n = utf8_valid(span_skip(s, i));
		/* C1 controls steer terminals as C0 ones do. */
		if (n == 0 || (c == 0xc2 && (unsigned char)s.ptr[i + 1] < 0xa0))
			break;
		i += n;
	}
	return i;
}

void
text_append_json(struct text *t, struct span s)
{
	while (s.len > 0) {
		size_t n = plain_run(s);

		text_append(t, span_of(s.ptr, n));
		s = span_skip(s, n);
		if (s.len == 0)
			break;
		n = utf8_valid(s);
		if (n == 0)
			text_append_str(t, "\\ufffd");
		else
			append_escaped(t, (unsigned char)s.ptr[n - 1]);
		s = span_skip(s, n == 0 ? 1 : n);
	}
}

struct span
text_span(const struct text *t)
{
	return span_of(text_cstr(t), t->len);
}

const char *
text_cstr(const struct text *t)
{
	return t->data == NULL ? "" : t->data;
}

char *
text_take(struct text *t)
{
	char *data = t->data == NULL ? mem_strdup("") : t->data;

	text_init(t);
	return data;
}
