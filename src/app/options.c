#include "app/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"

static const struct option_row {
	char letter;			/* in `allowed`; also "-x" if single */
	bool has_short, has_value;
	const char *name;
} rows[] = {
	{ 'c', true,  true,  "config" },
	{ 'q', true,  false, "quiet" },
	{ 's', false, false, "strict" },
	{ 'f', false, true,  "format" },	/* text or json */
	{ 'y', false, true,  "format" },	/* yaml or json */
	{ 'w', false, false, "watch" },
	{ 'p', false, true,  "port" },
	{ 'S', false, true,  "seconds" },
	{ 'n', false, false, "no-traffic" },
	{ 'H', true,  true,  "header" },
	{ 'F', false, true,  "from" },
	{ 'v', false, true,  "via" },
};
#define NROWS (sizeof(rows) / sizeof(rows[0]))

/* Levenshtein distance of two short words; 99 when one is too long. */
static unsigned
distance(const char *a, const char *b)
{
	unsigned row[64], diagonal, above;
	const size_t m = strlen(a), n = strlen(b);

	if (m >= 64 || n >= 64)
		return 99;
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= m; i++) {
		diagonal = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++) {
			above = row[j];
			row[j] = diagonal + (a[i - 1] != b[j - 1]);
			if (above + 1 < row[j])
				row[j] = above + 1;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			diagonal = above;
		}
	}
	return row[n];
}

const char *
options_nearest(const char *word, const char *const *words, unsigned n)
{
	const char *best = NULL;
	unsigned least = (unsigned)strlen(word) / 3 + 2;

	for (unsigned i = 0; i < n; i++) {
		const unsigned d = distance(word, words[i]);

		if (d < least) {
			least = d;
			best = words[i];
		}
	}
	return best;
}

static int
unknown_option(const char *word, const char *allowed)
{
	const char *names[NROWS], *near;
	unsigned n = 0;

	for (size_t i = 0; i < NROWS; i++)
		if (strchr(allowed, rows[i].letter) != NULL)
			names[n++] = rows[i].name;
	fprintf(stderr, "weir: unknown option '%s'", word);
	near = options_nearest(word + strspn(word, "-"), names, n);
	if (near != NULL)
		fprintf(stderr, "; did you mean '--%s'?", near);
	fprintf(stderr, "\n");
	return EXIT_USAGE_;
}

static int
bad_value(const char *name, const char *value, const char *want)
{
	fprintf(stderr, "weir: --%s: '%s' is not %s\n", name, value, want);
	return EXIT_USAGE_;
}

static int
set_number(const char *name, const char *value, int64_t max, int *ret)
{
	int64_t n;

	if (span_to_i64(span_str(value), 1, max, &n) != ERR_OK)
		return bad_value(name, value, "a whole number in range");
	*ret = (int)n;
	return -1;
}

static int
apply(const struct option_row *row, const char *value, struct options *o)
{
	const char *plain;

	switch (row->letter) {
	case 'c':
		o->config = value;
		return -1;
	case 'q':
		o->quiet = true;
		return -1;
	case 's':
		o->strict = true;
		return -1;
	case 'n':
		o->no_traffic = true;
		return -1;
	case 'F':
		o->from = value;
		return -1;
	case 'f':
	case 'y':
		plain = row->letter == 'f' ? "text" : "yaml";
		o->json = strcmp(value, "json") == 0;
		if (o->json || strcmp(value, plain) == 0)
			return -1;
		fprintf(stderr, "weir: --format: '%s' is not %s or json\n",
		    value, plain);
		return EXIT_USAGE_;
	case 'p':
		return set_number(row->name, value, 65535, &o->port);
	case 'S':
		return set_number(row->name, value, 86400, &o->seconds);
	case 'H':
		if (strchr(value, ':') == NULL)
			return bad_value(row->name, value, "'Name: value'");
		if (o->nheaders == 64)
			return bad_value(row->name, value,
			    "possible: 64 header fields at most");
		o->headers[o->nheaders++] = value;
		return -1;
	default:
		fprintf(stderr, "weir: --%s is not supported yet\n",
		    row->name);
		return EXIT_USAGE_;
	}
}

/* The row that word names; *ret_value: what follows "=" or a short letter. */
static const struct option_row *
find(const char *word, const char *allowed, const char **ret_value)
{
	for (size_t i = 0; i < NROWS; i++) {
		const size_t len = strlen(rows[i].name);

		if (strchr(allowed, rows[i].letter) == NULL)
			continue;
		*ret_value = NULL;
		if (rows[i].has_short && word[0] == '-' &&
		    word[1] == rows[i].letter) {
			if (word[2] == '\0')
				return &rows[i];
			if (rows[i].has_value) {
				*ret_value = word + 2;
				return &rows[i];
			}
		}
		if (strncmp(word, "--", 2) != 0 ||
		    strncmp(word + 2, rows[i].name, len) != 0)
			continue;
		if (word[2 + len] == '\0')
			return &rows[i];
		if (word[2 + len] == '=' && rows[i].has_value) {
			*ret_value = word + 2 + len + 1;
			return &rows[i];
		}
	}
	return NULL;
}

int
options_read(int argc, char **argv, const char *allowed, const char *usage,
    struct options *ret)
{
	int kept = 0;
	bool ended = false;

	*ret = (struct options){ .config = DEFAULT_CONFIG, .port = 8080,
	    .seconds = -1, .args = argv };
	for (int i = 0; i < argc; i++) {
		const struct option_row *row;
		const char *value;
		int code;

		if (ended || argv[i][0] != '-' || argv[i][1] == '\0') {
			argv[kept++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			ended = true;
			continue;
		}
		if (strcmp(argv[i], "-h") == 0 ||
		    strcmp(argv[i], "--help") == 0) {
			fputs(usage, stdout);
			return EXIT_FINE;
		}
		row = find(argv[i], allowed, &value);
		if (row == NULL)
			return unknown_option(argv[i], allowed);
		if (row->has_value && value == NULL && i + 1 < argc)
			value = argv[++i];
		if (row->has_value && value == NULL) {
			fprintf(stderr, "weir: --%s needs a value\n",
			    row->name);
			return EXIT_USAGE_;
		}
		if ((code = apply(row, value, ret)) != -1)
			return code;
	}
	ret->nargs = kept;
	return -1;
}

int
options_no_more(const struct options *o)
{
	if (o->nargs == 0)
		return -1;
	fprintf(stderr, "weir: unexpected '%s'; -c FILE names the "
	    "configuration\n", o->args[0]);
	return EXIT_USAGE_;
}
