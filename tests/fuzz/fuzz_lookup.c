/*
 * The file of a lookup: whatever the text, no line is both taken and refused,
 * and nothing of the text reaches a message.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "config/lookups.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool holds)
{
	if (!holds)
		abort();
}

static unsigned
count_lines(struct span text)
{
	unsigned n = 0;
	struct span line;

	while (span_split(&text, '\n', &line))
		n++;
	return n;
}

static void
check_finding(const struct finding *x, unsigned lines)
{
	require(x->line >= 1 && x->line <= lines);
	require(x->column >= 1);
	require(x->excerpt == NULL);
	/* One of the fixed sentences. */
	require(strchr(x->message, '\'') == NULL ||
	    strcmp(x->message, "'until' needs a date") == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span text = span_of((const char *)data, size);
	struct plan plan = { .name = (char *)(uintptr_t)"pro" };
	struct config config = { .rules = { .plans = &plan, .nplans = 1 } };
	struct findings found = { 0 };
	struct load load = { .found = &found, .config = &config };
	const unsigned lines = count_lines(text);
	struct lookup *lookup = lookups_parse(&load, "keys", "keys.map",
	    text);

	require(lookup_count(lookup) + found.errors <= lines);
	for (unsigned i = 0; i < found.n; i++)
		check_finding(&found.items[i], lines);
	lookup_free(lookup);
	findings_fini(&found);
	return 0;
}
