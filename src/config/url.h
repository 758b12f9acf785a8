#ifndef WEIR_CONFIG_URL_H
#define WEIR_CONFIG_URL_H

#include "base/addr.h"

/* The URLs of servers and stores, taken apart. Strings are owned. */
struct url {
	char *host;			/* a name to look up; NULL: endpoint */
	struct endpoint endpoint;	/* valid unless host */
	unsigned port;
	char *authority;		/* host[:port], without user */
	char *user, *password;		/* decoded; NULL: not given */
	int database;			/* -1: not given */
};

void url_fini(struct url *url);

/*
 * "http://host[:port]", "unix:/path". ERR_UNSUPPORTED: of the language, but
 * not served yet; ERR_SYNTAX. *why says which part, and never quotes a user
 * or password.
 */
enum err url_parse_server(struct span text, struct url *ret,
    const char **why);
/* "redis://[user[:password]@]host[:port][/database]", "unix:/path". */
enum err url_parse_redis(struct span text, struct url *ret,
    const char **why);

#endif
