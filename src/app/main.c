#include <stdio.h>
#include <string.h>

#include "app/commands.h"
#include "app/options.h"
#include "base/clock.h"
#include "base/hash.h"
#include "config.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);	/* NULL: not supported yet */
	const char *help;
} commands[] = {
	{ "run",      command_run,     "serve, in the foreground" },
	{ "check",    command_check,   "validate the configuration (-t)" },
	{ "dump",     command_dump,    "print the effective configuration (-T)" },
	{ "explain",  command_explain, "say what would happen to a request" },
	{ "demo",     command_demo,    "upstream, limits and clients in one go" },
	{ "test",     NULL, NULL },
	{ "simulate", NULL, NULL },
	{ "suggest",  NULL, NULL },
	{ "schema",   NULL, NULL },
};
#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

static int
usage(void)
{
	printf("weir, a rate-limiting HTTP/1.1 reverse proxy\n\n"
	    "usage: weir COMMAND [OPTION]...\n\n");
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (commands[i].run != NULL)
			printf("  %-9s %s\n", commands[i].name,
			    commands[i].help);
	printf("\n  -c, --config FILE   default " DEFAULT_CONFIG "\n"
	    "  -h, --help          also: weir COMMAND --help\n"
	    "      --version\n\n"
	    "weir -c FILE is weir run -c FILE. See weir(8) and weir.yaml(5).\n");
	return EXIT_FINE;
}

static int
unknown_command(const char *word)
{
	const char *names[NCOMMANDS], *near;

	for (size_t i = 0; i < NCOMMANDS; i++)
		names[i] = commands[i].name;
	fprintf(stderr, "weir: unknown command '%s'", word);
	near = options_nearest(word, names, NCOMMANDS);
	if (near != NULL)
		fprintf(stderr, "; did you mean 'weir %s'?", near);
	fprintf(stderr, "\n");
	return EXIT_USAGE_;
}

static int
dispatch(int argc, char **argv)
{
	for (size_t i = 0; i < NCOMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		if (commands[i].run != NULL)
			return commands[i].run(argc - 2, argv + 2);
		fprintf(stderr, "weir: 'weir %s' is not supported yet\n",
		    argv[1]);
		return EXIT_USAGE_;
	}
	return unknown_command(argv[1]);
}

int
main(int argc, char **argv)
{
	hash_init();
	clock_init();
	if (argc < 2) {
		usage();
		return EXIT_USAGE_;
	}
	if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)
		return usage();
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-v") == 0) {
		printf("weir " PACKAGE_VERSION "\n");
		return EXIT_FINE;
	}
	if (strcmp(argv[1], "-t") == 0)
		return command_check(argc - 2, argv + 2);
	if (strcmp(argv[1], "-T") == 0)
		return command_dump(argc - 2, argv + 2);
	if (argv[1][0] == '-')		/* weir -c FILE */
		return command_run(argc - 1, argv + 1);
	return dispatch(argc, argv);
}
