#include "app/stores.h"

#include "store/redis.h"

/* Borrows from conf. */
static struct redis_conf
redis_conf_of(const struct store_conf *conf)
{
	return (struct redis_conf){ .address = conf->redis,
	    .username = conf->username, .password = conf->password,
	    .database = conf->database, .timeout_us = conf->timeout_us,
	    .prefix = conf->prefix };
}

bool
stores_equal(const struct store_conf *a, const struct store_conf *b)
{
	const struct redis_conf ra = redis_conf_of(a), rb = redis_conf_of(b);

	if (a->kind != b->kind)
		return false;
	return a->kind == STORE_MEMORY || redis_conf_equal(&ra, &rb);
}

struct store *
stores_open_shared(struct loop *loop, const struct store_conf *conf,
    struct counters *counters, void (*on_settled)(void *), void *arg)
{
	const struct redis_conf redis = redis_conf_of(conf);
	struct store *store;

	if (conf->kind == STORE_MEMORY)
		return NULL;
	store = redis_store_new(loop, &redis, counters);
	redis_store_on_settled(store, on_settled, arg);
	return store;
}

bool
stores_settled(const struct store *shared)
{
	return redis_store_settled(shared);
}
