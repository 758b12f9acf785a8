#include "harness/config_env.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "base/mem.h"

#define FILES_MAX 16

static struct {
	const char *path, *content;
} files[FILES_MAX];
static unsigned nfiles, nlookups;

void
config_env_add(const char *path, const char *content)
{
	if (nfiles == FILES_MAX)
		abort();
	files[nfiles].path = path;
	files[nfiles++].content = content;
}

void
config_env_clear(void)
{
	nfiles = nlookups = 0;
}

unsigned
config_env_lookups(void)
{
	return nlookups;
}

static enum err
fake_read(const char *path, size_t max, struct text *out, const char **why)
{
	for (unsigned i = 0; i < nfiles; i++) {
		if (strcmp(files[i].path, path) != 0)
			continue;
		if (strlen(files[i].content) > max) {
			*why = "too large";
			return ERR_TOO_LARGE;
		}
		text_append_str(out, files[i].content);
		return ERR_OK;
	}
	*why = "no such file";
	return ERR_SYSTEM;
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **
fake_expand(const char *pattern, unsigned *n)
{
	char **paths = mem_alloc(FILES_MAX * sizeof(*paths));

	*n = 0;
	for (unsigned i = 0; i < nfiles; i++)
		if (fnmatch(pattern, files[i].path, FNM_PATHNAME) == 0)
			paths[(*n)++] = mem_strdup(files[i].path);
	qsort(paths, *n, sizeof(*paths), compare);
	return paths;
}

static enum err
fake_resolve(const char *host, struct endpoint *ret, const char **why)
{
	nlookups++;
	*why = "unknown name";
	if (strcmp(host, "name.test") != 0)
		return ERR_NOT_FOUND;
	return endpoint_parse(SPAN("192.0.2.7:0"), ret);
}

static const char *
fake_variable(const char *name)
{
	if (strcmp(name, "WEIR_SECRET") == 0)
		return "from-the-environment";
	return strcmp(name, "CREDENTIALS_DIRECTORY") == 0 ? "/cred" : NULL;
}

static char *
fake_folder(void)
{
	return mem_strdup("/etc/weir");
}

const struct env config_env = {
	.read = fake_read, .expand = fake_expand, .resolve = fake_resolve,
	.variable = fake_variable, .folder = fake_folder,
};
