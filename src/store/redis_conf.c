#include "store/redis_conf.h"

#include "base/mem.h"

static bool
equal_or_null(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool
redis_conf_equal(const struct redis_conf *a, const struct redis_conf *b)
{
	return endpoint_equal(&a->address, &b->address) &&
	    equal_or_null(a->username, b->username) &&
	    equal_or_null(a->password, b->password) &&
	    equal_or_null(a->prefix, b->prefix) &&
	    a->database == b->database && a->timeout_us == b->timeout_us &&
	    a->connect_timeout_us == b->connect_timeout_us &&
	    a->max_in_flight == b->max_in_flight;
}

static char *
dup_or_null(const char *str)
{
	return str == NULL ? NULL : mem_strdup(str);
}

void
redis_conf_copy(const struct redis_conf *conf, struct redis_conf *ret)
{
	*ret = *conf;
	ret->username = dup_or_null(conf->username);
	ret->password = dup_or_null(conf->password);
	ret->prefix = mem_strdup(conf->prefix);
	if (ret->connect_timeout_us == 0)
		ret->connect_timeout_us = REDIS_CONNECT_TIMEOUT;
	if (ret->max_in_flight == 0)
		ret->max_in_flight = REDIS_MAX_IN_FLIGHT;
}

void
redis_conf_fini(struct redis_conf *conf)
{
	mem_free(conf->username);
	mem_free(conf->prefix);
	if (conf->password != NULL)
		explicit_bzero(conf->password, strlen(conf->password));
	mem_free(conf->password);
}
