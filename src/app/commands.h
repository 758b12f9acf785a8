#ifndef WEIR_APP_COMMANDS_H
#define WEIR_APP_COMMANDS_H

#include "config/config.h"

/*
 * What `weir NAME` does. argv holds what follows the name; the result is the
 * exit code (options.h).
 */
int command_run(int argc, char **argv);
int command_check(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_demo(int argc, char **argv);

/* Load for a command: findings go to stderr (errors always, warnings unless
 * quiet). NULL: invalid; the exit code is EXIT_CONFIG_. */
struct config *command_load(const char *path, bool quiet);

#endif
