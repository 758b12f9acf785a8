#ifndef WEIR_STORE_REDIS_CONF_H
#define WEIR_STORE_REDIS_CONF_H

#include "base/addr.h"

/* Which Redis to use, and how. */

#define REDIS_CONNECT_TIMEOUT	INT64_C(500000)
#define REDIS_MAX_IN_FLIGHT	4096u

struct redis_conf {
	struct endpoint address;	/* resolved: never a name */
	char *username, *password;	/* NULL: none */
	int database;
	int64_t timeout_us;		/* of a decision, 1000.. */
	char *prefix;			/* of every key */
	/* TCP, AUTH and loading the scripts together; 0: the default. */
	int64_t connect_timeout_us;
	unsigned max_in_flight;		/* 0: the default */
};

/* Do both mean the same server and manners, so that a link can be kept? */
bool redis_conf_equal(const struct redis_conf *a, const struct redis_conf *b);

/* With strings of its own and the defaults filled in; to be ended by
 * redis_conf_fini, which wipes the password. */
void redis_conf_copy(const struct redis_conf *conf, struct redis_conf *ret);
void redis_conf_fini(struct redis_conf *conf);

#endif
