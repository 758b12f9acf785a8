#include "config/emit.h"

#include "http/octet.h"

static void
indent(struct emit *e, unsigned n)
{
	while (n-- > 0)
		text_append_char(e->out, ' ');
}

static struct emit_level *
top(struct emit *e)
{
	return &e->levels[e->depth - 1];
}

static void
open_level(struct emit *e, bool list, bool behind_dash, unsigned n)
{
	e->levels[e->depth++] = (struct emit_level){ .list = list,
		.behind_dash = behind_dash, .indent = n };
	if (e->json)
		text_append_char(e->out, list ? '[' : '{');
}

void
emit_init(struct emit *e, struct text *out, bool json)
{
	*e = (struct emit){ .out = out, .json = json };
	open_level(e, false, false, 0);
}

/* What separates an entry from the one before. */
static void
begin_entry(struct emit *e)
{
	struct emit_level *l = top(e);
	const bool first = l->n++ == 0;

	if (e->json) {
		text_append_str(e->out, first ? "\n" : ",\n");
		indent(e, e->depth);
	} else if (!first || !l->behind_dash) {
		indent(e, l->indent);
	}
}

static bool
is_bare(struct span s)
{
	static const char *const nulls[] = { "~", "null", "Null", "NULL" };

	if (s.len == 0 || s.ptr[s.len - 1] == ':')
		return false;
	for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++)
		if (span_equal(s, span_str(nulls[i])))
			return false;
	for (size_t i = 0; i < s.len; i++) {
		const bool plain = http_octet_is(s.ptr[i], OCTET_UNRESERVED) ||
		    s.ptr[i] == '/';

		if (!plain && (i == 0 || strchr(":*+%", s.ptr[i]) == NULL))
			return false;
	}
	return s.ptr[0] != '-' && s.ptr[0] != '~';
}

static void
quote(struct emit *e, struct span s)
{
	if (!e->json && is_bare(s)) {
		text_append(e->out, s);
		return;
	}
	text_append_char(e->out, '"');
	text_append_json(e->out, s);
	text_append_char(e->out, '"');
}

void
emit_key(struct emit *e, const char *key)
{
	begin_entry(e);
	quote(e, span_str(key));
	text_append_str(e->out, e->json ? ": " : ":");
}

/* What stands before a value of this level. */
static void
begin_value(struct emit *e, bool scalar)
{
	if (top(e)->list) {
		begin_entry(e);
		if (!e->json)
			text_append_str(e->out, "- ");
	} else if (!e->json) {
		text_append_char(e->out, scalar ? ' ' : '\n');
	}
}

void
emit_map(struct emit *e)
{
	const struct emit_level outer = *top(e);

	begin_value(e, false);
	open_level(e, false, outer.list, outer.indent + 2);
}

void
emit_list(struct emit *e)
{
	const struct emit_level outer = *top(e);

	begin_value(e, false);
	open_level(e, true, false, outer.indent + 2);
}

void
emit_end(struct emit *e)
{
	const struct emit_level l = *top(e);

	e->depth--;
	if (!e->json)
		return;
	if (l.n > 0) {
		text_append_char(e->out, '\n');
		indent(e, e->depth);
	}
	text_append_str(e->out, l.list ? "]" : "}");
	if (e->depth == 0)
		text_append_char(e->out, '\n');
}

static void
end_value(struct emit *e)
{
	if (!e->json)
		text_append_char(e->out, '\n');
}

void
emit_text(struct emit *e, struct span text)
{
	begin_value(e, true);
	quote(e, text);
	end_value(e);
}

void
emit_plain(struct emit *e, const char *text)
{
	begin_value(e, true);
	text_append_str(e->out, text);
	end_value(e);
}

void
emit_number(struct emit *e, int64_t n)
{
	begin_value(e, true);
	text_append_u64(e->out, (uint64_t)n);
	end_value(e);
}
