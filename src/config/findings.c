#include "config/findings.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

static const struct {
	const char *code, *about;
} table[] = {
#define FINDING(id, code, about) { code, about },
#include "config/findings.def"
#undef FINDING
};

const char *
findings_code(enum finding_id id)
{
	return table[id].code;
}

const char *
findings_about(enum finding_id id)
{
	return table[id].about;
}

static bool
known(const struct findings *f, enum finding_id id,
    const struct finding_place *place, const char *message)
{
	for (unsigned i = 0; i < f->n; i++) {
		const struct finding *x = &f->items[i];

		if (x->code == table[id].code && x->line == place->line &&
		    x->column == place->column &&
		    strcmp(x->file, place->file) == 0 &&
		    strcmp(x->message, message) == 0)
			return true;
	}
	return false;
}

struct finding *
findings_add(struct findings *f, enum finding_id id,
    const struct finding_place *place, char *path, char *excerpt,
    const char *fmt, va_list ap)
{
	struct text message = { 0 };
	struct finding *x;

	text_vprintf(&message, fmt, ap);
	if (known(f, id, place, text_cstr(&message))) {
		text_fini(&message);
		goto drop;
	}
	if (table[id].code[0] == 'E')
		f->errors++;
	else
		f->warnings++;
	if (f->n >= FINDINGS_KEPT) {
		text_fini(&message);
		goto drop;
	}
	f->items = mem_realloc(f->items, (f->n + 1) * sizeof(*f->items));
	x = &f->items[f->n];
	*x = (struct finding){
		.severity = table[id].code[0] == 'E' ? SEVERITY_ERROR :
		    SEVERITY_WARNING,
		.code = table[id].code, .file = mem_strdup(place->file),
		.line = place->line, .column = place->column,
		.length = place->length, .message = text_take(&message),
		.path = path != NULL ? path : mem_strdup(""),
		.excerpt = excerpt, .excerpt_column = place->excerpt_column,
		.file_index = place->file_index,
		.order = f->n++,
	};
	return x;
drop:
	mem_free(path);
	mem_free(excerpt);
	return NULL;
}

void
findings_help(struct finding *finding, const char *fmt, ...)
{
	struct text help = { 0 };
	va_list ap;

	if (finding == NULL)
		return;
	va_start(ap, fmt);
	text_vprintf(&help, fmt, ap);
	va_end(ap);
	mem_free(finding->help);
	finding->help = text_take(&help);
}

static int
compare(const void *va, const void *vb)
{
	const struct finding *a = va, *b = vb;

	if (a->file_index != b->file_index)
		return a->file_index < b->file_index ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

void
findings_sort(struct findings *f)
{
	if (f->n > 1)
		qsort(f->items, f->n, sizeof(*f->items), compare);
}

void
findings_fini(struct findings *f)
{
	for (unsigned i = 0; i < f->n; i++) {
		struct finding *x = &f->items[i];

		mem_free(x->file);
		mem_free(x->path);
		mem_free(x->message);
		mem_free(x->help);
		mem_free(x->excerpt);
	}
	mem_free(f->items);
	*f = (struct findings){ 0 };
}

/* ---- text ---- */

static void
append_run(struct text *out, char c, unsigned n)
{
	while (n-- > 0)
		text_append_char(out, c);
}

/* How much of it stands in the excerpt, which may be cut; at least 1. */
static unsigned
underlined(const struct finding *x)
{
	const size_t shown = strlen(x->excerpt);
	const unsigned before = x->excerpt_column - 1;

	if (shown <= before || x->length == 0)
		return 1;
	return x->length < shown - before ? x->length :
	    (unsigned)(shown - before);
}

/* The line and, under it, what is meant. */
static void
print_excerpt(const struct finding *x, struct text *out)
{
	char number[24];
	const int width = snprintf(number, sizeof(number), "%u", x->line);

	append_run(out, ' ', (unsigned)width);
	text_append_str(out, " |\n");
	text_printf(out, "%s | %s\n", number, x->excerpt);
	append_run(out, ' ', (unsigned)width);
	text_append_str(out, " | ");
	append_run(out, ' ', x->excerpt_column - 1);
	append_run(out, '^', underlined(x));
	text_append_char(out, '\n');
}

static const char *
severity_name(const struct finding *x)
{
	return x->severity == SEVERITY_ERROR ? "error" : "warning";
}

static void
print_finding(const struct finding *x, struct text *out)
{
	text_append_str(out, x->file);
	if (x->line > 0)
		text_printf(out, ":%u:%u", x->line, x->column);
	text_printf(out, ": %s[%s]: %s\n", severity_name(x), x->code,
	    x->message);
	if (x->excerpt != NULL)
		print_excerpt(x, out);
	if (x->help != NULL)
		text_printf(out, "  = help: %s\n", x->help);
	text_append_char(out, '\n');
}

static void
print_count(unsigned n, const char *what, struct text *out)
{
	text_printf(out, "%u %s%s", n, what, n == 1 ? "" : "s");
}

void
findings_print_text(const struct findings *f, struct text *out)
{
	const unsigned all = f->errors + f->warnings;

	for (unsigned i = 0; i < f->n; i++)
		print_finding(&f->items[i], out);
	if (all > f->n)
		text_printf(out, "... and %u more\n\n", all - f->n);
	if (all == 0)
		return;
	print_count(f->errors, "error", out);
	text_append_str(out, ", ");
	print_count(f->warnings, "warning", out);
	text_append_char(out, '\n');
}

/* ---- JSON ---- */

static void
print_member(struct text *out, const char *name, const char *value)
{
	text_printf(out, ",\"%s\":", name);
	if (value == NULL) {
		text_append_str(out, "null");
		return;
	}
	text_append_char(out, '"');
	text_append_json(out, span_str(value));
	text_append_char(out, '"');
}

/* Of a file as a whole there is neither. */
static void
print_place(const struct finding *x, struct text *out)
{
	if (x->line > 0)
		text_printf(out, ",\"line\":%u,\"column\":%u", x->line,
		    x->column);
	else
		text_append_str(out, ",\"line\":null,\"column\":null");
}

void
findings_print_json(const struct findings *f, struct text *out)
{
	text_append_str(out, "{\"findings\":[");
	for (unsigned i = 0; i < f->n; i++) {
		const struct finding *x = &f->items[i];

		text_printf(out, "%s{\"code\":\"%s\",\"severity\":\"%s\"",
		    i > 0 ? ",\n " : "\n ", x->code, severity_name(x));
		print_member(out, "file", x->file);
		print_place(x, out);
		print_member(out, "path", x->path);
		print_member(out, "message", x->message);
		print_member(out, "help", x->help);
		text_append_char(out, '}');
	}
	text_printf(out, "],\n \"errors\":%u,\"warnings\":%u}\n", f->errors,
	    f->warnings);
}
