#ifndef WEIR_APP_OPTIONS_H
#define WEIR_APP_OPTIONS_H

#include <stdbool.h>

/* Exit codes of weir; the manual lists them. */
#define EXIT_FINE	0
#define EXIT_RUNTIME	1	/* port taken, a second TERM */
#define EXIT_LIMITED	10	/* explain: would be limited */
#define EXIT_USAGE_	64	/* EX_USAGE */
#define EXIT_DAEMON	69	/* daemon unreachable */
#define EXIT_CONFIG_	78	/* EX_CONFIG */

#define DEFAULT_CONFIG "/etc/weir/weir.yaml"

struct options {
	const char *config;		/* -c, or DEFAULT_CONFIG */
	bool quiet, strict, json, no_traffic;
	int port;			/* demo */
	int seconds;			/* demo; -1: until interrupted */
	const char *from;		/* explain --from */
	const char *headers[64];	/* explain -H */
	unsigned nheaders;
	char **args;			/* what is left behind the options */
	int nargs;
};

/*
 * Read the options that `allowed` names (a string of their short letters, see
 * options.c). On a wrong one: message with "did you mean" on stderr and
 * EXIT_USAGE_; --help prints usage and gives EXIT_FINE. Otherwise -1: go on.
 */
int options_read(int argc, char **argv, const char *allowed,
    const char *usage, struct options *ret);

/* -1, or a message and EXIT_USAGE_ when words besides options are left. */
int options_no_more(const struct options *o);

/* Of the n words the nearest to `word` by edits, or NULL when none is near. */
const char *options_nearest(const char *word, const char *const *words,
    unsigned n);

#endif
