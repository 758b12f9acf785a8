#include "config/source.h"

#include "base/mem.h"

#define SHOWN_MAX	160	/* characters of a line */
#define SHOWN_BEFORE	60	/* of them before the place, when cut */

/* There may be secrets in it. */
static void
wipe(struct text *text)
{
	if (text->len > 0)
		explicit_bzero(text->data, text->len);
	text_fini(text);
}

struct source *
source_new(const char *name, unsigned index, struct text *text)
{
	struct source *source = mem_zalloc(sizeof(*source));
	const struct span bom = SPAN("\xef\xbb\xbf");
	struct span all = text_span(text);

	source->name = mem_strdup(name);
	source->index = index;
	if (span_starts(all, bom))
		all = span_skip(all, bom.len);
	text_append(&source->text, all);
	wipe(text);
	return source;
}

void
source_free(struct source *source)
{
	if (source == NULL)
		return;
	wipe(&source->text);
	mem_free(source->masks);
	mem_free(source->name);
	mem_free(source);
}

void
source_add_mask(struct source *source, struct source_mask mask)
{
	source->masks = mem_realloc(source->masks,
	    (source->nmasks + 1) * sizeof(mask));
	source->masks[source->nmasks++] = mask;
}

/* Octets of the line break that s begins with; 0: none. */
static size_t
break_length(struct span s)
{
	if (span_starts(s, SPAN("\r\n")))
		return 2;
	if (s.len > 0 && (s.ptr[0] == '\n' || s.ptr[0] == '\r'))
		return 1;
	if (span_starts(s, SPAN("\xc2\x85")))
		return 2;
	if (span_starts(s, SPAN("\xe2\x80\xa8")) ||
	    span_starts(s, SPAN("\xe2\x80\xa9")))
		return 3;
	return 0;
}

/* Take the next line, without its break, out of *rest. */
static bool
next_line(struct span *rest, struct span *ret)
{
	size_t i = 0, n = 0;

	if (rest->ptr == NULL)
		return false;
	while (i < rest->len && (n = break_length(span_skip(*rest, i))) == 0)
		i++;
	*ret = span_of(rest->ptr, i);
	*rest = i < rest->len ? span_skip(*rest, i + n) : span_of(NULL, 0);
	return true;
}

static bool
find_line(const struct source *source, unsigned line, struct span *ret)
{
	struct span rest = text_span(&source->text);

	while (next_line(&rest, ret))
		if (--line == 0)
			return true;
	return false;
}

static bool
is_inside_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Octets before that column. */
static size_t
column_offset(struct span line, unsigned column)
{
	size_t i = 0;

	while (i < line.len && column > 1) {
		i++;
		while (i < line.len && is_inside_character(line.ptr[i]))
			i++;
		column--;
	}
	return i;
}

struct span
source_slice(const struct source *source, unsigned line, unsigned column,
    unsigned end_line, unsigned end_column)
{
	struct span first, last;
	const char *from, *to;

	if (!find_line(source, line, &first) ||
	    !find_line(source, end_line, &last))
		return SPAN_EMPTY;
	from = first.ptr + column_offset(first, column);
	to = last.ptr + column_offset(last, end_column);
	return to > from ? span_of(from, (size_t)(to - from)) : SPAN_EMPTY;
}

void
source_position(const struct source *source, size_t offset,
    unsigned *ret_line, unsigned *ret_column)
{
	const char *begin = text_cstr(&source->text);
	struct span rest = text_span(&source->text), line;

	*ret_line = 0;
	*ret_column = 1;
	while (next_line(&rest, &line)) {
		(*ret_line)++;
		if (rest.ptr != NULL && begin + offset >= rest.ptr)
			continue;
		for (const char *p = line.ptr; p < line.ptr + line.len &&
		    p < begin + offset; p++)
			*ret_column += !is_inside_character(*p);
		return;
	}
}

bool
source_is_secret(struct span key)
{
	return span_equal_nocase(key, SPAN("password")) ||
	    span_equal_nocase(key, SPAN("secret")) ||
	    span_equal_nocase(key, SPAN("token"));
}

static bool
is_masked(const struct source *source, unsigned line, unsigned column)
{
	for (unsigned i = 0; i < source->nmasks; i++) {
		const struct source_mask *m = &source->masks[i];

		if ((line > m->line ||
		    (line == m->line && column >= m->column)) &&
		    (line < m->end_line ||
		    (line == m->end_line && column < m->end_column)))
			return true;
	}
	return false;
}

/* The octet behind which nothing may be shown. */
static size_t
careful_end(struct span line)
{
	static const char *const words[] = { "password", "secret", "token",
	    "://" };
	size_t end = line.len;

	for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
		const struct span word = span_str(words[w]);

		for (size_t i = 0; i + word.len <= end; i++)
			if (span_starts_nocase(span_skip(line, i), word))
				end = i + word.len;
	}
	return end;
}

/* One character, as it can be shown. */
static void
show(struct span c, bool masked, struct text *out)
{
	const unsigned char first = (unsigned char)c.ptr[0];

	if (masked)
		text_append_char(out, '*');
	else if (first == '\t')
		text_append_char(out, ' ');
	else if (first < 0x20 || first == 0x7f ||
	    (first == 0xc2 && c.len == 2 && (unsigned char)c.ptr[1] < 0xa0))
		text_append_char(out, '?');
	else
		text_append(out, c);
}

char *
source_excerpt(const struct source *source, unsigned line, unsigned column,
    bool careful, unsigned *ret_column)
{
	struct text out = { 0 };
	struct span text;
	unsigned at = 1, from = 1;
	size_t end;

	if (line == 0 || !find_line(source, line, &text))
		return NULL;
	end = careful ? careful_end(text) : text.len;
	if (column > SHOWN_MAX - SHOWN_BEFORE)
		from = column - SHOWN_BEFORE;
	for (size_t i = 0, n; i < text.len && at < from + SHOWN_MAX;
	    i += n, at++) {
		for (n = 1; i + n < text.len &&
		    is_inside_character(text.ptr[i + n]); n++)
			;
		if (at >= from)
			show(span_of(text.ptr + i, n), i >= end ||
			    is_masked(source, line, at), &out);
	}
	*ret_column = column - from + 1;
	return text_take(&out);
}
