#ifndef WEIR_CONFIG_CONFIG_H
#define WEIR_CONFIG_CONFIG_H

#include <stdatomic.h>

#include "base/addr.h"
#include "base/log.h"
#include "base/text.h"
#include "http/forward.h"
#include "http/parse.h"
#include "limit/advert.h"
#include "limit/rules.h"

/*
 * One immutable, checked snapshot of the configuration. Made by config_load,
 * shared by reference, freed with its last one. Every default is filled in.
 */

struct listen_conf {
	struct endpoint endpoint;
	char *text;			/* as written */
};

struct server_conf {
	char *text;			/* as written */
	char *host;			/* a name to be resolved, or NULL */
	struct endpoint endpoint;	/* valid unless host */
	unsigned port;
	unsigned weight;		/* 1.. */
	char *authority;		/* what Host would be, for messages */
};

enum balance { BALANCE_LEAST_REQUESTS, BALANCE_ROUND_ROBIN };

struct upstream_conf {
	char *name;
	struct server_conf *servers;
	unsigned nservers;
	enum balance balance;
	int64_t connect_timeout_us;	/* 1 s */
	int64_t response_timeout_us;	/* 30 s */
	unsigned keepalive;		/* 64 idle connections a worker */
	unsigned connections;		/* 1024 a server, over all workers */
};

enum store_kind { STORE_MEMORY, STORE_REDIS };

/* Where a secret came from, so that it can be named without being shown. */
enum secret_kind {
	SECRET_NONE, SECRET_LITERAL, SECRET_FILE, SECRET_ENV,
	SECRET_CREDENTIAL
};

struct secret_origin {
	enum secret_kind kind;
	char *name;			/* path, variable or credential */
};

struct store_conf {
	enum store_kind kind;
	size_t memory_bytes;		/* 64 MiB */
	struct endpoint redis;
	char *redis_text;		/* without user and password */
	char *username, *password;	/* NULL: none */
	int database;
	int64_t timeout_us;		/* 20 ms */
	char *prefix;			/* "weir:" */
	bool has_secret;		/* key_rule came from store.secret */
	struct secret_origin password_origin, secret_origin;
};

struct lookup_conf {
	char *name;
	char *file;
	struct lookup *lookup;		/* owned by rules */
};

struct cors_conf {
	char **allow_origins;		/* exact origins, or "*" */
	unsigned nallow_origins;
	bool expose;			/* auto: true; none: false */
	bool skip_preflight;
};

enum log_format { LOG_JSON, LOG_COMBINED };

struct log_conf {
	char *access_path;		/* "stdout", a file, or NULL: none */
	enum log_format access_format;
	unsigned sample_ppm;		/* of allowed requests; denied: all */
	enum log_level level;
};

struct limits_conf {
	unsigned connections;		/* 16384, over all workers */
	struct http_limits head;
	int64_t header_timeout_us;	/* 10 s, from the first octet */
	int64_t body_timeout_us;	/* 30 s without an octet */
	int64_t idle_timeout_us;	/* 75 s */
	int64_t body_bytes;		/* INT64_MAX: none */
};

struct config {
	_Atomic int refs;		/* private */
	char *path;			/* "" for text in memory */
	struct listen_conf *listens;
	unsigned nlistens;
	struct upstream_conf *upstreams;
	unsigned nupstreams;
	int default_upstream;		/* index, or -1: 404 without a route */
	struct http_client_rule client;	/* spans and cidrs owned here */
	struct store_conf store;
	struct lookup_conf *lookups;	/* rules.lookups and their files */
	unsigned nlookups;
	struct rules rules;
	struct {			/* what policies inherited */
		enum on_store_error on_store_error;
		enum on_missing_key on_missing_key;
		enum algo_kind algorithm;
	} defaults;
	unsigned builtin_caller;	/* 1: the last one is not the file's */
	struct headers_conf headers;
	struct cors_conf cors;
	struct log_conf log;
	struct limits_conf limits;
	unsigned workers;		/* 0: auto, one a core */
	int64_t drain_delay_us, drain_timeout_us;
};

/* What the check found: errors and warnings, in the order of the file. */
enum severity { SEVERITY_ERROR, SEVERITY_WARNING };

struct finding {
	enum severity severity;
	const char *code;		/* "E012"; stable, in weir.yaml(5) */
	char *file;
	unsigned line, column;		/* from 1; 0: the file as a whole */
	unsigned length;		/* octets to underline */
	char *path;			/* "policies[0].burst" */
	char *message;			/* "unknown key 'burts'" */
	char *help;			/* the cure, or NULL */

	char *excerpt;			/* private from here: the line, secrets
					   masked, or NULL */
	unsigned excerpt_column;	/* where in it the place is, from 1 */
	unsigned file_index, order;
};

struct findings {
	struct finding *items;
	unsigned n, errors, warnings;
};

void findings_fini(struct findings *f);
/* file:line:col: error[E012]: message, the line, a caret, "= help: ...". */
void findings_print_text(const struct findings *f, struct text *out);
void findings_print_json(const struct findings *f, struct text *out);

/*
 * Load and check a file. ERR_CONFIG: findings say why, *ret untouched; also
 * for a file that cannot be read. ERR_OK may come with warnings. found is
 * zeroed by the caller and to be freed in both cases.
 */
enum err config_load(const char *path, struct findings *found,
    struct config **ret);
/* The same for text in memory; name stands for the file in messages. */
enum err config_load_text(struct span yaml, const char *name,
    struct findings *found, struct config **ret);

struct config *config_ref(struct config *c);
void config_unref(struct config *c);	/* accepts NULL */

/* The effective configuration as YAML that loads to the same again, defaults
 * shown, secrets masked; or as JSON. */
void config_dump(const struct config *c, bool json, struct text *out);

/* Every key of the language with type, range, default and help, one a line
 * ("policies[].burst  integer  1..  the limit  ..."): for the manual and its
 * test. */
void config_print_keys(struct text *out);

#endif
