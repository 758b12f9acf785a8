#include "config/config.h"

#include "base/mem.h"
#include "config/emit.h"
#include "config/env.h"
#include "config/findings.h"
#include "config/load.h"
#include "config/schema.h"

enum err
config_load_text(struct span yaml, const char *name, struct findings *found,
    struct config **ret)
{
	return load_text(yaml, name, &env_system, found, ret);
}

static void
report_file(struct findings *found, const struct finding_place *place,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void
report_file(struct findings *found, const struct finding_place *place,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	findings_add(found, FINDING_FILE, place, NULL, NULL, fmt, ap);
	va_end(ap);
}

enum err
config_load(const char *path, struct findings *found, struct config **ret)
{
	const struct finding_place place = { .file = path };
	struct text text = { 0 };
	const char *why = "";
	enum err e;

	if (env_system.read(path, YAML_FILE_MAX, &text, &why) != ERR_OK) {
		report_file(found, &place, "cannot be read: %s", why);
		text_fini(&text);
		return ERR_CONFIG;
	}
	e = load_text(text_span(&text), path, &env_system, found, ret);
	if (text.len > 0)
		explicit_bzero(text.data, text.len);
	text_fini(&text);
	return e;
}

struct config *
config_ref(struct config *c)
{
	atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
	return c;
}

static void
free_upstream(struct upstream_conf *u)
{
	for (unsigned i = 0; i < u->nservers; i++) {
		mem_free(u->servers[i].text);
		mem_free(u->servers[i].host);
		mem_free(u->servers[i].authority);
	}
	mem_free(u->servers);
	mem_free(u->name);
}

static void
free_store(struct store_conf *store)
{
	if (store->password != NULL)
		explicit_bzero(store->password, strlen(store->password));
	mem_free(store->password);
	mem_free(store->username);
	mem_free(store->redis_text);
	mem_free(store->prefix);
	mem_free(store->password_origin.name);
	mem_free(store->secret_origin.name);
}

static void
config_free(struct config *c)
{
	for (unsigned i = 0; i < c->nlistens; i++)
		mem_free(c->listens[i].text);
	mem_free(c->listens);
	for (unsigned i = 0; i < c->nupstreams; i++)
		free_upstream(&c->upstreams[i]);
	mem_free(c->upstreams);
	if (c->client.from == HTTP_CLIENT_HEADER)
		mem_free((void *)(uintptr_t)c->client.header.ptr);
	mem_free((void *)(uintptr_t)c->client.trusted);
	free_store(&c->store);
	for (unsigned i = 0; i < c->nlookups; i++) {
		mem_free(c->lookups[i].name);
		mem_free(c->lookups[i].file);
	}
	mem_free(c->lookups);
	rules_fini(&c->rules);
	for (unsigned i = 0; i < c->cors.nallow_origins; i++)
		mem_free(c->cors.allow_origins[i]);
	mem_free(c->cors.allow_origins);
	mem_free(c->log.access_path);
	mem_free(c->path);
	mem_free(c);
}

void
config_unref(struct config *c)
{
	if (c != NULL && atomic_fetch_sub_explicit(&c->refs, 1,
	    memory_order_acq_rel) == 1)
		config_free(c);
}

void
config_dump(const struct config *c, bool json, struct text *out)
{
	struct emit emit;

	emit_init(&emit, out, json);
	schema_print(c, &emit, &keys_root, c);
	emit_end(&emit);
}

void
config_print_keys(struct text *out)
{
	schema_print_keys(&keys_root, out);
}
