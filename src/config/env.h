#ifndef WEIR_CONFIG_ENV_H
#define WEIR_CONFIG_ENV_H

#include "base/addr.h"
#include "base/text.h"

/*
 * What loading asks of the outside: everything else is a pure function of the
 * text. Tests bring their own. *why is a short text that stays.
 */
struct env {
	/* Append the whole file. ERR_TOO_LARGE: above max octets; ERR_SYSTEM.
	 * out may hold a part then. */
	enum err (*read)(const char *path, size_t max, struct text *out,
	    const char **why);
	/* Files that fit the pattern (glob(7)), in the order of their octets;
	 * an array of *n strings, all owned by the caller. */
	char **(*expand)(const char *pattern, unsigned *n);
	/* An address of that host, port 0. ERR_NOT_FOUND. */
	enum err (*resolve)(const char *host, struct endpoint *ret,
	    const char **why);
	/* As getenv. */
	const char *(*variable)(const char *name);
	/* The folder that relative names begin at; owned by the caller. */
	char *(*folder)(void);
};

extern const struct env env_system;

#endif
