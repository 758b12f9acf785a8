/*
 * A configuration: whatever the text, loading ends, its findings point into
 * the text, and what it accepts dumps to a text that loads to the same dump.
 * Files and names do not exist here.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "config/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool holds)
{
	if (!holds)
		abort();
}

static enum err
no_file(const char *path, size_t max, struct text *out, const char **why)
{
	(void)path;
	(void)max;
	(void)out;
	*why = "no such file";
	return ERR_SYSTEM;
}

static char **
no_files(const char *pattern, unsigned *n)
{
	(void)pattern;
	*n = 0;
	return NULL;
}

static enum err
no_name(const char *host, struct endpoint *ret, const char **why)
{
	(void)host;
	(void)ret;
	*why = "unknown name";
	return ERR_NOT_FOUND;
}

static const char *
no_variable(const char *name)
{
	return name[0] == 'A' ? "a" : NULL;
}

static char *
folder(void)
{
	return mem_strdup("/etc/weir");
}

static const struct env nowhere = { no_file, no_files, no_name, no_variable,
	folder };

static void
check_findings(const struct findings *found, size_t size, bool loaded)
{
	struct text out = { 0 };

	require((found->errors == 0) == loaded);
	for (unsigned i = 0; i < found->n; i++) {
		require(found->items[i].line <= size + 1);
		require(found->items[i].message != NULL);
		require(i == 0 || found->items[i].line >=
		    found->items[i - 1].line);
	}
	findings_print_text(found, &out);
	findings_print_json(found, &out);
	text_fini(&out);
}

static struct config *
load(struct span text)
{
	struct findings found = { 0 };
	struct config *config = NULL;
	const enum err e = load_text(text, "weir.yaml", &nowhere, &found,
	    &config);

	require((e == ERR_OK) == (config != NULL));
	check_findings(&found, text.len, config != NULL);
	findings_fini(&found);
	return config;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config *config, *again;
	struct text first = { 0 }, second = { 0 };

	hash_init();
	config = load(span_of((const char *)data, size));
	if (config == NULL)
		return 0;
	config_dump(config, true, &first);
	text_clear(&first);
	config_dump(config, false, &first);
	again = load(text_span(&first));
	require(again != NULL);
	config_dump(again, false, &second);
	require(span_equal(text_span(&first), text_span(&second)));
	config_unref(config);
	config_unref(again);
	text_fini(&first);
	text_fini(&second);
	return 0;
}
