#ifndef WEIR_HARNESS_CONFIG_ENV_H
#define WEIR_HARNESS_CONFIG_ENV_H

#include "config/env.h"

/*
 * A world for loading that touches neither files nor names: the files a test
 * adds, "name.test" at 192.0.2.7 and no other name, the variables WEIR_SECRET
 * and CREDENTIALS_DIRECTORY ("/cred"). Relative paths begin at "/etc/weir".
 */
extern const struct env config_env;

/* Borrows both until config_env_clear. */
void config_env_add(const char *path, const char *content);
void config_env_clear(void);
/* How many names were looked up since the last clear. */
unsigned config_env_lookups(void);

#endif
