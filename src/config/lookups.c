#include "config/lookups.h"

#include "config/types.h"

#define FILE_MAX	(256 << 20)
#define DAY_US		INT64_C(86400000000)

/* Behind the files of YAML in the order of findings. */
#define FILE_INDEX	1000000

static bool
is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days from 1970-01-01 to the first of January of that year. */
static int64_t
days_before(int64_t year)
{
	const int64_t y = year - 1;

	return y * 365 + y / 4 - y / 100 + y / 400 - 719162;
}

enum err
lookups_parse_date(struct span text, int64_t *ret_us)
{
	static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31,
		30, 31 };
	int64_t year, month, day, days;

	if (text.len != 10 || text.ptr[4] != '-' || text.ptr[7] != '-' ||
	    span_to_i64(span_of(text.ptr, 4), 1970, 9999, &year) != ERR_OK ||
	    span_to_i64(span_of(text.ptr + 5, 2), 1, 12, &month) != ERR_OK ||
	    span_to_i64(span_of(text.ptr + 8, 2), 1,
	    lengths[month - 1] + (month == 2 && is_leap(year)), &day) !=
	    ERR_OK)
		return ERR_SYNTAX;
	days = days_before(year) + day;
	for (int64_t m = 0; m < month - 1; m++)
		days += lengths[m] + (m == 1 && is_leap(year));
	*ret_us = days * DAY_US - 1;
	return ERR_OK;
}

/* ---- lines ---- */

struct line {
	struct load *load;
	struct lookup *lookup;
	const char *path;
	unsigned number;
	struct span text;		/* comment and blanks removed */
};

static void
report(const struct line *line, struct span at, const char *help,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static void
report(const struct line *line, struct span at, const char *help,
    const char *fmt, ...)
{
	const struct finding_place place = { .file = line->path,
		.file_index = FILE_INDEX, .line = line->number,
		.column = (unsigned)(at.ptr - line->text.ptr) + 1,
		.length = (unsigned)at.len };
	struct finding *finding;
	va_list ap;

	va_start(ap, fmt);
	finding = findings_add(line->load->found, FINDING_LOOKUP, &place,
	    NULL, NULL, fmt, ap);
	va_end(ap);
	if (help != NULL)
		findings_help(finding, "%s", help);
}

/* The next word; false: none. */
static bool
next_word(struct span *rest, struct span *ret)
{
	size_t n = 0;

	*rest = span_trim(*rest);
	while (n < rest->len && rest->ptr[n] != ' ' && rest->ptr[n] != '\t')
		n++;
	*ret = span_of(rest->ptr, n);
	*rest = span_skip(*rest, n);
	return n > 0;
}

/* False: said why. */
static bool
read_until(const struct line *line, struct span *rest, int64_t *ret)
{
	struct span word;

	if (next_word(rest, &word) && lookups_parse_date(word, ret) == ERR_OK)
		return true;
	report(line, word, "for example until 2026-12-31, the last day that "
	    "counts (UTC)", "'until' needs a date");
	return false;
}

static bool
read_plan(const struct line *line, struct span word,
    const struct plan **ret)
{
	char name[64];

	if (word.len < sizeof(name)) {
		memcpy(name, word.ptr, word.len);
		name[word.len] = '\0';
		*ret = type_find_plan(line->load->config, name);
	}
	if (*ret == NULL)
		report(line, word, "plans are defined in the configuration",
		    "no such plan");
	return *ret != NULL;
}

static bool
read_rest(const struct line *line, struct span rest,
    const struct plan **ret_plan, int64_t *ret_until)
{
	struct span word;
	bool more = next_word(&rest, &word);

	if (more && !span_equal(word, SPAN("until"))) {
		if (!read_plan(line, word, ret_plan))
			return false;
		more = next_word(&rest, &word);
	}
	if (more && span_equal(word, SPAN("until"))) {
		if (!read_until(line, &rest, ret_until))
			return false;
		more = next_word(&rest, &word);
	}
	if (more)
		report(line, word, "sha256, plan, until DATE",
		    "more than a line can say");
	return !more;
}

static void
read_line(const struct line *line)
{
	unsigned char sha256[32];
	const struct plan *plan = NULL;
	int64_t until = INT64_MAX;
	struct span rest = line->text, hex;

	if (!next_word(&rest, &hex))
		return;
	if (hash_parse_hex256(hex, sha256) != ERR_OK) {
		report(line, hex, "printf %s KEY | sha256sum: the key itself "
		    "does not belong in the file",
		    "the first word is not a sha256 in hexadecimal");
		return;
	}
	if (!read_rest(line, rest, &plan, &until))
		return;
	if (lookup_add(line->lookup, sha256, plan, until) != ERR_OK)
		report(line, hex, "keep one of the lines",
		    "this key is listed already");
}

struct lookup *
lookups_parse(struct load *load, const char *name, const char *path,
    struct span text)
{
	struct line line = { .load = load, .lookup = lookup_new(name),
		.path = path };
	struct span rest = text, whole;

	while (span_split(&rest, '\n', &whole)) {
		struct span comment, before;

		if (span_ends(whole, SPAN("\r")))
			whole.len--;
		comment = whole;
		span_split(&comment, '#', &before);
		line.number++;
		line.text = before;
		read_line(&line);
	}
	return line.lookup;
}

struct lookup *
lookups_read(struct load *load, const struct node *node, const char *name,
    const char *path)
{
	struct text text = { 0 };
	const char *why = "";
	struct lookup *lookup;

	if (load->env->read(path, FILE_MAX, &text, &why) != ERR_OK) {
		findings_help(load_find(load, node, FILE, "'%.200s': %s",
		    path, why), "the path is relative to this file");
		text_clear(&text);
	}
	lookup = lookups_parse(load, name, path, text_span(&text));
	text_fini(&text);
	return lookup;
}
