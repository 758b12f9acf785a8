#include <pthread.h>

#include "base/mem.h"
#include "config/types.h"
#include "config/url.h"

/* The shared store, and secrets. */

static void
refuse_both(struct load *load, const struct node *node, const char *name)
{
	if (yaml_get(load->map, name) != NULL)
		findings_help(load_find(load, node, COMBINE,
		    "the URL and '%s' say the same thing", name),
		    "leave it out of the URL");
}

/* User, password and database, as far as the URL has them. */
static void
take_parts(struct load *load, const struct node *node, struct url *url)
{
	struct store_conf *store = &load->config->store;

	if (url->user != NULL) {
		refuse_both(load, node, "username");
		mem_free(store->username);
		store->username = url->user;
		url->user = NULL;
	}
	if (url->password != NULL) {
		refuse_both(load, node, "password");
		mem_free(store->password);
		store->password = url->password;
		store->password_origin.kind = SECRET_LITERAL;
		url->password = NULL;
		findings_help(load_find(load, node, W_LITERAL,
		    "the password stands in the file"),
		    "write password: {file: PATH} and let only weir read it");
	}
	if (url->database >= 0) {
		refuse_both(load, node, "database");
		store->database = url->database;
	}
}

static bool
find_address(struct load *load, const struct node *node, struct url *url)
{
	const char *why = "";

	if (url->host == NULL)
		return true;
	if (load->env->resolve(url->host, &url->endpoint, &why) != ERR_OK) {
		findings_help(load_find(load, node, RESOLVE,
		    "no address for '%.60s': %s", url->host, why),
		    "names are looked up when the file is loaded; an address "
		    "needs no lookup");
		return false;
	}
	endpoint_set_port(&url->endpoint, url->port);
	return true;
}

static void
set_redis(struct store_conf *store, const char *text, const struct url *url)
{
	struct text shown = { 0 };

	store->kind = STORE_REDIS;
	store->redis = url->endpoint;
	if (url->endpoint.ss.ss_family == AF_UNIX)
		text_append_str(&shown, text);
	else
		text_printf(&shown, "redis://%s/%d", url->authority,
		    store->database);
	mem_free(store->redis_text);
	store->redis_text = text_take(&shown);
}

static void
read_redis(struct load *load, const struct key *key, const struct node *node,
    void *base)
{
	const char *text = type_scalar(load, key, node), *why = "";
	struct url url = { 0 };
	enum err e;

	(void)base;
	if (text == NULL)
		return;
	e = url_parse_redis(span_str(text), &url, &why);
	if (e == ERR_UNSUPPORTED)
		findings_help(load_find(load, node, LATER,
		    "%s is not supported yet", why),
		    "use redis://host:port of a single Redis for now");
	else if (e != ERR_OK)
		findings_help(load_find(load, node, URL,
		    "not the URL of a Redis: %s", why),
		    "write redis://127.0.0.1:6379/0 or unix:/path");
	if (e != ERR_OK)
		return;
	take_parts(load, node, &url);
	if (find_address(load, node, &url))
		set_redis(&load->config->store, text, &url);
	url_fini(&url);
}

static void
print_redis(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	(void)base;
	if (config->store.redis_text == NULL)
		return;
	emit_key(emit, key->name);
	emit_text(emit, span_str(config->store.redis_text));
}

const struct type type_redis = { "URL", read_redis, NULL, print_redis,
	"redis://[user[:password]@]host[:port][/database] or unix:/path" };

/* ---- secrets ---- */

#define SECRET_MAX 65536

struct secret_names {
	char *file, *env, *credential;
};

static const struct key secret_keys[] = {
	{ .name = "file", .type = &type_path,
	    SCHEMA_AT(secret_names, file),
	    .help = "a file; one newline at its end is dropped" },
	{ .name = "env", .type = &type_text, SCHEMA_AT(secret_names, env),
	    .help = "a variable of the environment" },
	{ .name = "credential", .type = &type_text,
	    SCHEMA_AT(secret_names, credential),
	    .help = "a credential of systemd (LoadCredential=)" },
};

const struct section type_password_section = { "store.password",
	secret_keys, 3, sizeof(struct secret_names), NULL, NULL };
const struct section type_secret_section = { "store.secret", secret_keys, 3,
	sizeof(struct secret_names), NULL, NULL };

static void
report_secret(struct load *load, const struct node *node, const char *what,
    const char *name, const char *why, const char *help)
{
	findings_help(load_find(load, node, SECRET, "%s '%.100s': %s", what,
	    name, why), "%s", help);
}

static bool
secret_from_file(struct load *load, const struct node *node,
    const char *path, struct text *out)
{
	const char *why = "";

	if (load->env->read(path, SECRET_MAX, out, &why) != ERR_OK) {
		report_secret(load, node, "file", path, why,
		    "the user that weir runs as has to be able to read it");
		return false;
	}
	if (out->len > 0 && out->data[out->len - 1] == '\n')
		out->data[--out->len] = '\0';
	if (out->len > 0 && out->data[out->len - 1] == '\r')
		out->data[--out->len] = '\0';
	if (out->len > 0)
		return true;
	report_secret(load, node, "file", path, "is empty",
	    "write the secret into it, on one line");
	return false;
}

static bool
secret_from_env(struct load *load, const struct node *node, const char *name,
    struct text *out)
{
	const char *value = load->env->variable(name);

	if (value == NULL || value[0] == '\0') {
		report_secret(load, node, "variable", name,
		    value == NULL ? "is not set" : "is empty",
		    "set the variable where weir is started; in a unit of "
		    "systemd with EnvironmentFile=");
		return false;
	}
	text_append_str(out, value);
	return true;
}

static bool
secret_from_credential(struct load *load, const struct node *node,
    const char *name, struct text *out)
{
	const char *folder = load->env->variable("CREDENTIALS_DIRECTORY");
	struct text path = { 0 };
	bool read;

	if (strchr(name, '/') != NULL) {
		report_secret(load, node, "credential", name,
		    "is not a name but a path", "write its name alone, or "
		    "{file: PATH}");
		return false;
	}
	if (folder == NULL) {
		report_secret(load, node, "credential", name,
		    "$CREDENTIALS_DIRECTORY is not set", "systemd sets it "
		    "for units with LoadCredential=NAME:PATH; elsewhere use "
		    "{file: PATH}");
		return false;
	}
	text_printf(&path, "%s/%s", folder, name);
	read = secret_from_file(load, node, text_cstr(&path), out);
	text_fini(&path);
	return read;
}

static bool
secret_named(struct load *load, const struct section *section,
    const struct node *node, struct secret_origin *origin, struct text *out)
{
	struct secret_names names = { 0 };
	const unsigned errors = load->found->errors;
	bool read = false;

	schema_read(load, section, node, &names);
	if (load->found->errors != errors) {
		;
	} else if (node->n != 1) {
		findings_help(load_find(load, node, COMBINE,
		    "a secret comes from one place"),
		    "{file: PATH}, {env: NAME} or {credential: NAME}");
	} else if (names.file != NULL) {
		*origin = (struct secret_origin){ SECRET_FILE, names.file };
		names.file = NULL;
		read = secret_from_file(load, node, origin->name, out);
	} else if (names.env != NULL) {
		*origin = (struct secret_origin){ SECRET_ENV, names.env };
		names.env = NULL;
		read = secret_from_env(load, node, origin->name, out);
	} else {
		*origin = (struct secret_origin){ SECRET_CREDENTIAL,
			names.credential };
		names.credential = NULL;
		read = secret_from_credential(load, node, origin->name, out);
	}
	mem_free(names.file);
	mem_free(names.env);
	mem_free(names.credential);
	return read;
}

/* The value never reaches a message. */
static bool
secret_read(struct load *load, const struct key *key,
    const struct node *node, struct secret_origin *origin, struct text *out)
{
	if (node->kind == NODE_MAP)
		return secret_named(load, key->section, node, origin, out);
	if (type_scalar(load, key, node) == NULL)
		return false;
	origin->kind = SECRET_LITERAL;
	text_append_str(out, node->text);
	findings_help(load_find(load, node, W_LITERAL,
	    "the %s stands in the file", key->name),
	    "write %s: {file: PATH} and let only weir read it", key->name);
	return true;
}

static void
wipe(struct text *secret)
{
	if (secret->len > 0)
		explicit_bzero(secret->data, secret->len);
	text_fini(secret);
}

static void
read_password(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	struct store_conf *store = &load->config->store;
	struct text secret = { 0 };

	(void)base;
	if (!secret_read(load, key, node, &store->password_origin, &secret))
		;
	else if (memchr(secret.data, '\0', secret.len) != NULL ||
	    strchr(secret.data, '\n') != NULL)
		load_find(load, node, SECRET,
		    "the password is more than one line");
	else
		store->password = mem_strdup(text_cstr(&secret));
	wipe(&secret);
}

static void
read_store_secret(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	struct store_conf *store = &load->config->store;
	struct text secret = { 0 };

	(void)base;
	if (secret_read(load, key, node, &store->secret_origin, &secret)) {
		hash_key_derive(&load->config->rules.key_rule.secret,
		    text_span(&secret), "weir identity");
		store->has_secret = true;
	}
	wipe(&secret);
}

/* A literal one loads again as another value, so that nothing leaks. */
static void
print_origin(struct emit *emit, const struct key *key,
    const struct secret_origin *origin)
{
	static const char *const names[] = { [SECRET_FILE] = "file",
		[SECRET_ENV] = "env", [SECRET_CREDENTIAL] = "credential" };

	if (origin->kind == SECRET_NONE)
		return;
	emit_key(emit, key->name);
	if (origin->kind == SECRET_LITERAL) {
		emit_text(emit, SPAN("********"));
		return;
	}
	emit_map(emit);
	emit_key(emit, names[origin->kind]);
	emit_text(emit, span_str(origin->name));
	emit_end(emit);
}

static void
print_password(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	(void)base;
	print_origin(emit, key, &config->store.password_origin);
}

static void
print_store_secret(const struct config *config, struct emit *emit,
    const struct key *key, const void *base)
{
	(void)base;
	print_origin(emit, key, &config->store.secret_origin);
}

const struct type type_secret = { "secret", read_password, NULL,
	print_password, "text, {file}, {env} or {credential}" };
const struct type type_store_secret = { "secret", read_store_secret, NULL,
	print_store_secret, "text, {file}, {env} or {credential}" };

/* ---- the section as a whole ---- */

static struct hash_key process_key;
static pthread_once_t process_key_once = PTHREAD_ONCE_INIT;

static void
make_process_key(void)
{
	hash_key_random(&process_key);
}

/*
 * Without a secret: what is counted in this process alone is hashed by a key
 * of this process alone, the same over reloads; what is shared needs the same
 * key on every weir, and the prefix is all they have in common.
 */
void
type_store_end(struct load *load, const struct node *node, void *base)
{
	struct store_conf *store = &load->config->store;
	struct hash_key *key = &load->config->rules.key_rule.secret;

	(void)base;
	if (node != NULL && node->kind == NODE_MAP &&
	    store->username != NULL && store->password == NULL &&
	    yaml_get(node, "password") == NULL)
		findings_help(load_find(load, node, MISSING,
		    "a username without a password"),
		    "add store.password");
	if (store->has_secret)
		return;
	if (store->kind == STORE_REDIS) {
		hash_key_derive(key, span_str(store->prefix != NULL ?
		    store->prefix : ""), "weir identity");
		return;
	}
	pthread_once(&process_key_once, make_process_key);
	*key = process_key;
}
