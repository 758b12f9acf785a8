#include <stdio.h>

#include "config/types.h"
#include "limit/rate.h"

/* Numbers, with a unit where one could be mistaken. */

/* The key's word for a number; stored then. */
static bool
take_word(const struct key *key, const struct node *node, void *base)
{
	if (key->word == NULL || !yaml_is(node, key->word))
		return false;
	schema_store(key, base, key->word_value);
	return true;
}

static bool
print_word_for(struct emit *emit, const struct key *key, const void *base)
{
	if (key->word == NULL || schema_fetch(key, base) != key->word_value)
		return false;
	emit_text(emit, span_str(key->word));
	return true;
}

static void
report_range(struct load *load, const struct key *key,
    const struct node *node)
{
	struct text range = { 0 };

	type_print_range(key, &range);
	findings_help(load_find(load, node, RANGE, "'%.*s' is out of range",
	    LOAD_QUOTE(node)), "%s is %s", key->name, text_cstr(&range));
	text_fini(&range);
}

/* Store it if it is in range. e: of the conversion. */
static void
take_number(struct load *load, const struct key *key,
    const struct node *node, void *base, int64_t value)
{
	if (value < key->min || value > key->max)
		report_range(load, key, node);
	else
		schema_store(key, base, value);
}

static void
read_integer(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	int64_t value = 0;
	enum err e;

	if (type_scalar(load, key, node) == NULL ||
	    take_word(key, node, base))
		return;
	e = span_to_i64(yaml_text(node), 0, INT64_MAX, &value);
	if (e == ERR_RANGE) {
		report_range(load, key, node);
	} else if (e != ERR_OK) {
		findings_help(load_find(load, node, NUMBER,
		    "'%s' takes a whole number%s%s, not '%.*s'", key->name,
		    key->word != NULL ? " or " : "",
		    key->word != NULL ? key->word : "", LOAD_QUOTE(node)),
		    "decimal digits only, for example %lld",
		    (long long)(key->min > 0 ? key->min : 1));
	} else {
		take_number(load, key, node, base, value);
	}
}

static void
print_integer(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	(void)config;
	emit_key(emit, key->name);
	if (!print_word_for(emit, key, base))
		emit_number(emit, schema_fetch(key, base));
}

const struct type type_integer = { "integer", read_integer, NULL,
	print_integer, NULL };

/* ---- durations ---- */

/* "30": a number that lacks its unit. */
static bool
is_number(const struct node *node)
{
	return node->text[strspn(node->text, "0123456789")] == '\0';
}

static void
read_duration(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	struct finding *finding;
	int64_t us = 0;
	enum err e;

	if (type_scalar(load, key, node) == NULL)
		return;
	e = duration_parse(yaml_text(node), &us);
	if (e == ERR_OK) {
		take_number(load, key, node, base, us);
		return;
	}
	if (e == ERR_RANGE) {
		report_range(load, key, node);
		return;
	}
	finding = load_find(load, node, UNIT, "'%.*s' is not a duration",
	    LOAD_QUOTE(node));
	if (is_number(node))
		findings_help(finding, "write the unit: %.*ss, or %.*sms",
		    LOAD_QUOTE(node), LOAD_QUOTE(node));
	else
		findings_help(finding, "a whole number and a unit: us, ms, s,"
		    " m (minutes), h, d; for example 30s");
}

static void
print_duration(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	struct text text = { 0 };

	(void)config;
	emit_key(emit, key->name);
	duration_print(schema_fetch(key, base), &text);
	emit_text(emit, text_span(&text));
	text_fini(&text);
}

const struct type type_duration = { "duration", read_duration, NULL,
	print_duration, NULL };

/* ---- sizes ---- */

static const struct {
	const char *name;
	int64_t bytes;
} size_units[] = {
	{ "GiB", 1 << 30 }, { "MiB", 1 << 20 }, { "KiB", 1 << 10 },
	{ "B", 1 },
};

#define SIZE_UNITS (sizeof(size_units) / sizeof(size_units[0]))

static enum err
parse_size(const char *text, int64_t *ret)
{
	const size_t n = strspn(text, "0123456789");
	int64_t value;
	enum err e;

	for (size_t i = 0; i < SIZE_UNITS; i++) {
		if (strcmp(text + n, size_units[i].name) != 0)
			continue;
		e = span_to_i64(span_of(text, n), 0,
		    INT64_MAX / size_units[i].bytes, &value);
		if (e == ERR_OK)
			*ret = value * size_units[i].bytes;
		return e;
	}
	return ERR_SYNTAX;
}

static void
put_size(int64_t bytes, struct text *out)
{
	size_t i = 0;

	while (bytes % size_units[i].bytes != 0 || (bytes == 0 &&
	    i + 1 < SIZE_UNITS))
		i++;
	text_printf(out, "%lld%s", (long long)(bytes / size_units[i].bytes),
	    size_units[i].name);
}

static void
read_size(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	struct finding *finding;
	int64_t bytes = 0;
	enum err e;

	if (type_scalar(load, key, node) == NULL ||
	    take_word(key, node, base))
		return;
	e = parse_size(node->text, &bytes);
	if (e == ERR_OK) {
		take_number(load, key, node, base, bytes);
		return;
	}
	if (e == ERR_RANGE) {
		report_range(load, key, node);
		return;
	}
	finding = load_find(load, node, UNIT, "'%.*s' is not a size",
	    LOAD_QUOTE(node));
	if (is_number(node))
		findings_help(finding, "write the unit: %.*sB, %.*sKiB or "
		    "%.*sMiB", LOAD_QUOTE(node), LOAD_QUOTE(node),
		    LOAD_QUOTE(node));
	else
		findings_help(finding, "a whole number and a unit: B, KiB, "
		    "MiB, GiB; for example 64MiB");
}

static void
print_size(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	struct text text = { 0 };

	(void)config;
	emit_key(emit, key->name);
	if (print_word_for(emit, key, base))
		return;
	put_size(schema_fetch(key, base), &text);
	emit_text(emit, text_span(&text));
	text_fini(&text);
}

const struct type type_size = { "size", read_size, NULL, print_size, NULL };

void
type_print_range(const struct key *key, struct text *out)
{
	const int64_t ends[] = { key->min, key->max };

	for (int i = 0; i < 2; i++) {
		if (i > 0)
			text_append_str(out, "..");
		if (i > 0 && key->max == INT64_MAX)
			break;
		if (key->type == &type_duration)
			duration_print(ends[i], out);
		else if (key->type == &type_size)
			put_size(ends[i], out);
		else
			text_printf(out, "%lld%s", (long long)ends[i],
			    key->type == &type_percent ? "%" : "");
	}
}

/* ---- percentages and shares ---- */

static void
read_percent(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	const char *text = type_scalar(load, key, node);
	int64_t value = 0;
	size_t n;

	if (text == NULL)
		return;
	n = strspn(text, "0123456789");
	if (strcmp(text + n, "%") == 0 &&
	    span_to_i64(span_of(text, n), 0, INT64_MAX, &value) == ERR_OK)
		take_number(load, key, node, base, value);
	else
		findings_help(load_find(load, node, UNIT,
		    "'%.*s' is not a percentage", LOAD_QUOTE(node)),
		    "a whole number and a percent sign, for example 10%%");
}

static void
print_percent(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	char text[32];

	(void)config;
	snprintf(text, sizeof(text), "%lld%%",
	    (long long)schema_fetch(key, base));
	emit_key(emit, key->name);
	emit_text(emit, span_str(text));
}

const struct type type_percent = { "percentage", read_percent, NULL,
	print_percent, NULL };

#define SHARE_DIGITS	6
#define SHARE_ONE	1000000

/* "0", "1", "0.25": parts of a million. */
static bool
parse_share(const char *text, int64_t *ret)
{
	const char *digits = text + 1;
	int64_t value = text[0] - '0', unit = SHARE_ONE;

	if (text[0] != '0' && text[0] != '1')
		return false;
	value *= SHARE_ONE;
	if (*digits == '.' && digits[1] != '\0')
		for (digits++; *digits >= '0' && *digits <= '9' && unit > 1;
		    digits++)
			value += (*digits - '0') * (unit /= 10);
	if (*digits != '\0' || value > SHARE_ONE)
		return false;
	*ret = value;
	return true;
}

static void
read_share(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	const char *text = type_scalar(load, key, node);
	int64_t value;

	if (text == NULL)
		return;
	if (parse_share(text, &value))
		schema_store(key, base, value);
	else
		findings_help(load_find(load, node, NUMBER,
		    "'%.*s' is not a share", LOAD_QUOTE(node)),
		    "0.0 to 1.0, at most %d digits behind the point",
		    SHARE_DIGITS);
}

static void
print_share(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	const long long value = (long long)schema_fetch(key, base);
	char text[32];
	size_t n;

	(void)config;
	n = (size_t)snprintf(text, sizeof(text), "%lld.%06lld",
	    value / SHARE_ONE, value % SHARE_ONE);
	while (text[n - 1] == '0' && text[n - 2] != '.')
		text[--n] = '\0';
	emit_key(emit, key->name);
	emit_plain(emit, text);
}

const struct type type_share = { "share", read_share, NULL, print_share,
	"0.0..1.0" };
