#include "app/commands.h"
#include "app/options.h"
#include "app/server.h"

static const char usage[] =
    "usage: weir run [-c FILE] [-q]\n"
    "Serve in the foreground; -q: without the warnings of the check. TERM and INT drain, HUP reloads, USR1 reopens\n"
    "the access log.\n";

int
command_run(int argc, char **argv)
{
	struct options o;
	struct config *config;
	struct server *server;
	enum err e;
	int code = options_read(argc, argv, "cqw", usage, &o);

	if (code == -1)
		code = options_no_more(&o);
	if (code != -1)
		return code;
	config = command_load(o.config, o.quiet);
	if (config == NULL)
		return EXIT_CONFIG_;
	e = server_start(config, &server);
	config_unref(config);
	if (e != ERR_OK)
		return EXIT_RUNTIME;
	code = server_run(server, NULL, NULL);
	server_free(server);
	return code;
}
