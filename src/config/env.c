#include "config/env.h"

#include <errno.h>
#include <glob.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

static enum err
env_read(const char *path, size_t max, struct text *out, const char **why)
{
	char buf[8192];
	FILE *file = fopen(path, "re");
	size_t n;
	enum err e = ERR_OK;

	if (file == NULL) {
		*why = strerror(errno);
		return ERR_SYSTEM;
	}
	while (e == ERR_OK && (n = fread(buf, 1, sizeof(buf), file)) > 0) {
		if (n > max - out->len) {
			*why = "too large";
			e = ERR_TOO_LARGE;
			break;
		}
		text_append(out, span_of(buf, n));
	}
	if (e == ERR_OK && ferror(file)) {
		*why = strerror(errno);
		e = ERR_SYSTEM;
	}
	fclose(file);
	return e;
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **
env_expand(const char *pattern, unsigned *n)
{
	char **paths = NULL;
	glob_t found;

	*n = 0;
	/* Sorted here: glob would follow the locale. */
	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return NULL;
	paths = mem_alloc((found.gl_pathc + 1) * sizeof(*paths));
	for (size_t i = 0; i < found.gl_pathc; i++)
		paths[(*n)++] = mem_strdup(found.gl_pathv[i]);
	globfree(&found);
	qsort(paths, *n, sizeof(*paths), compare);
	return paths;
}

/* The first IPv4 address, else the first: "localhost" often has an IPv6
 * address at which nothing listens. */
static const struct addrinfo *
choose(const struct addrinfo *list)
{
	for (const struct addrinfo *ai = list; ai != NULL; ai = ai->ai_next)
		if (ai->ai_family == AF_INET)
			return ai;
	return list;
}

static enum err
env_resolve(const char *host, struct endpoint *ret, const char **why)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	const struct addrinfo *ai;
	struct addrinfo *list = NULL;
	const int code = getaddrinfo(host, NULL, &hints, &list);

	if (code != 0) {
		*why = code == EAI_SYSTEM ? strerror(errno) :
		    gai_strerror(code);
		return ERR_NOT_FOUND;
	}
	ai = choose(list);
	*ret = (struct endpoint){ .len = ai->ai_addrlen };
	memcpy(&ret->ss, ai->ai_addr, ai->ai_addrlen);
	freeaddrinfo(list);
	return ERR_OK;
}

static const char *
env_variable(const char *name)
{
	return getenv(name);
}

static char *
env_folder(void)
{
	char *found = getcwd(NULL, 0);
	char *folder = mem_strdup(found != NULL ? found : "/");

	free(found);
	return folder;
}

const struct env env_system = {
	.read = env_read, .expand = env_expand, .resolve = env_resolve,
	.variable = env_variable, .folder = env_folder,
};
