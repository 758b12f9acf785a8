#include "base/mem.h"
#include "config/lookups.h"
#include "config/types.h"

/*
 * The language: every key with its type, range, default and help. The order is
 * the order of reading, so that what is referred to comes first; it is also
 * that of dump and manual.
 */

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define MS		INT64_C(1000)
#define SECOND		INT64_C(1000000)
#define DAY		(86400 * SECOND)
#define KIB		INT64_C(1024)
#define MIB		(1024 * KIB)
#define TIB		(1024 * 1024 * MIB)
#define COST_MAX	INT64_C(1000000000000)

#define LATER(key_name, what) \
	{ .name = key_name, .type = &type_later, .help = what }

static const char *const balance_words[] = { "least_requests", "round_robin",
	NULL };
static const char *const mode_words[] = { "enforce", "shadow", "off", NULL };
static const char *const store_error_words[] = { "local", "allow", "deny",
	NULL };
static const char *const missing_key_words[] = { "skip", "deny", "peer",
	NULL };
static const char *const algorithm_words[] = {
#define ALGO(id, name) name,
#include "limit/algo.def"
#undef ALGO
	NULL
};
static const char *const align_words[] = { "clock", "first", NULL };
static const char *const style_words[] = { "x-ratelimit", "none", NULL };
static const char *const reset_words[] = { "delta", "epoch", NULL };
static const char *const upstream_words[] = { "replace", "keep", NULL };
static const char *const expose_words[] = { "none", "auto", NULL };
static const char *const format_words[] = { "json", "combined", NULL };
static const char *const level_words[] = { "error", "warn", "info", "debug",
	NULL };

/* ---- listen, upstreams ---- */

static const struct key listen_keys[] = {
	{ .name = "address", .type = &type_listen_address, .required = true,
	    .help = "where to listen" },
	LATER("tls", "certificates of this address"),
	{ .name = "proxy_protocol", .type = &type_none,
	    .help = "none: the peer is who it seems to be" },
};
static const struct section listen_section = { "listen[]", listen_keys,
	COUNT(listen_keys), 0, NULL, NULL };

static const struct key server_keys[] = {
	{ .name = "url", .type = &type_server_url, .required = true,
	    .help = "http://host[:port] or unix:/path" },
	{ .name = "weight", .type = &type_integer,
	    SCHEMA_AT(server_conf, weight), .min = 1, .max = 1000,
	    .def = "1", .help = "its share of the requests, against the "
	    "other servers" },
};
static const struct section server_section = { "upstreams.NAME.servers[]",
	server_keys, COUNT(server_keys), sizeof(struct server_conf), NULL,
	NULL };

static const struct key upstream_keys[] = {
	{ .name = "servers", .type = &type_servers,
	    SCHEMA_LIST(upstream_conf, servers, nservers),
	    .section = &server_section, .required = true,
	    .help = "where requests go" },
	{ .name = "balance", .type = &type_word,
	    SCHEMA_AT(upstream_conf, balance), .words = balance_words,
	    .def = "least_requests", .help = "which server gets the next "
	    "request" },
	{ .name = "connect_timeout", .type = &type_duration,
	    SCHEMA_AT(upstream_conf, connect_timeout_us), .min = MS,
	    .max = 3600 * SECOND, .def = "1s",
	    .help = "to connect, or to wait for a free connection; then "
	    "502 or 503" },
	{ .name = "response_timeout", .type = &type_duration,
	    SCHEMA_AT(upstream_conf, response_timeout_us), .min = MS,
	    .max = DAY, .def = "30s",
	    .help = "to the head of the response, and between its octets; "
	    "then 504" },
	{ .name = "keepalive", .type = &type_integer,
	    SCHEMA_AT(upstream_conf, keepalive), .min = 0, .max = 65535,
	    .def = "64", .help = "idle connections kept per worker" },
	{ .name = "connections", .type = &type_integer,
	    SCHEMA_AT(upstream_conf, connections), .min = 1, .max = 1000000,
	    .def = "1024", .help = "per server; past it requests wait up to "
	    "connect_timeout, then 503" },
	LATER("ca", "certificates that servers are verified by"),
	LATER("health", "active checks"),
};
const struct section keys_upstream = { "upstreams.NAME",
	upstream_keys, COUNT(upstream_keys), sizeof(struct upstream_conf),
	NULL, NULL };

/* ---- client_ip, store ---- */

static const struct key client_ip_keys[] = {
	{ .name = "from", .type = &type_client_source,
	    SCHEMA_AT(config, client), .def = "peer",
	    .help = "where the client's address comes from: one source, no "
	    "fallbacks" },
	{ .name = "trusted_proxies", .type = &type_networks,
	    SCHEMA_AT(config, client), .empty_ok = true,
	    .help = "whose forwarding fields are believed; walked right to "
	    "left" },
	{ .name = "ipv6_prefix", .type = &type_integer,
	    SCHEMA_AT(config, rules.key_rule.ipv6_bits), .min = 1,
	    .max = 128, .def = "64",
	    .help = "bits that make one client" },
	{ .name = "ipv4_prefix", .type = &type_integer,
	    SCHEMA_AT(config, rules.key_rule.ipv4_bits), .min = 1, .max = 32,
	    .def = "32", .help = "bits that make one client" },
};
static const struct section client_ip_section = { "client_ip",
	client_ip_keys, COUNT(client_ip_keys), 0, NULL, NULL };

static bool
is_redis(const struct config *config, const void *base)
{
	(void)base;
	return config->store.kind == STORE_REDIS;
}

/* Else it stands in the URL. */
static bool
is_unix_redis(const struct config *config, const void *base)
{
	return is_redis(config, base) &&
	    config->store.redis.ss.ss_family == AF_UNIX;
}

static const struct key store_keys[] = {
	{ .name = "database", .type = &type_integer,
	    SCHEMA_AT(config, store.database), .min = 0, .max = 65535,
	    .def = "0", .shown = is_unix_redis,
	    .help = "its number; also taken from the URL" },
	{ .name = "redis", .type = &type_redis,
	    .help = "counters shared by all weirs; without it: memory" },
	{ .name = "username", .type = &type_text,
	    SCHEMA_AT(config, store.username), .shown = is_redis,
	    .help = "also taken from the URL" },
	{ .name = "password", .type = &type_secret,
	    .section = &type_password_section, .shown = is_redis,
	    .help = "a literal earns a warning" },
	{ .name = "timeout", .type = &type_duration,
	    SCHEMA_AT(config, store.timeout_us), .min = MS,
	    .max = 10 * SECOND, .def = "20ms", .shown = is_redis,
	    .help = "per decision, by weir's own clock; then on_store_error" },
	{ .name = "secret", .type = &type_store_secret,
	    .section = &type_secret_section,
	    .help = "keys the hash of identities, the same on all weirs" },
	{ .name = "instances", .type = &type_integer,
	    SCHEMA_AT(config, rules.instances), .min = 1, .max = 10000,
	    .def = "1", .shown = is_redis,
	    .help = "weirs sharing the store: local counting uses "
	    "limit/instances while it is away" },
	{ .name = "prefix", .type = &type_text,
	    SCHEMA_AT(config, store.prefix), .max = 64, .def = "weir:",
	    .shown = is_redis, .help = "what its keys begin with" },
	{ .name = "memory", .type = &type_size,
	    SCHEMA_AT(config, store.memory_bytes), .min = MIB, .max = TIB,
	    .def = "64MiB", .help = "hard bound of what is counted here" },
	LATER("snapshot", "keeps the memory store over restarts"),
};
static const struct section store_section = { "store", store_keys,
	COUNT(store_keys), 0, NULL, type_store_end };

/* ---- plans, lookups, callers ---- */

static const struct key plan_keys[] = {
	{ .name = "limit", .type = &type_limits, SCHEMA_AT(plan, limits),
	    .section = &type_plan_rates, .required = true,
	    .help = "what the plan buys; edits take effect at once" },
	LATER("concurrency", "requests in progress"),
};
static const struct section plan_section = { "plans.NAME", plan_keys,
	COUNT(plan_keys), sizeof(struct plan), NULL, NULL };

static void
lookup_end(struct load *load, const struct node *node, void *base)
{
	struct lookup_conf *conf = base;
	struct rules *rules = &load->config->rules;
	const struct node *file = yaml_get(node, "file");

	if (conf->name == NULL)
		return;
	if (conf->file != NULL)
		conf->lookup = lookups_read(load, file, conf->name,
		    conf->file);
	else
		conf->lookup = lookup_new(conf->name);
	rules->lookups = mem_realloc(rules->lookups,
	    (rules->nlookups + 1) * sizeof(struct lookup *));
	rules->lookups[rules->nlookups++] = conf->lookup;
}

static const struct key lookup_keys[] = {
	{ .name = "file", .type = &type_path, SCHEMA_AT(lookup_conf, file),
	    .required = true,
	    .help = "\"sha256 [plan] [until YYYY-MM-DD]\" a line; # comments" },
	LATER("redis", "plans that change hourly"),
	LATER("cache", "how long an answer of Redis is kept"),
};
static const struct section lookup_section = { "lookups.NAME", lookup_keys,
	COUNT(lookup_keys), sizeof(struct lookup_conf), NULL, lookup_end };

static void
caller_begin(struct load *load, void *base)
{
	struct caller *caller = base;

	(void)load;
	caller->priority = PRIORITY_NORMAL;
}

static void
caller_end(struct load *load, const struct node *node, void *base)
{
	const struct caller *c = base;
	const struct key_spec *key = &c->key;
	const bool single = key->n == 1 && (key->parts[0].name != NULL ||
	    key->parts[0].source == KEY_CLIENT_IP);

	if (node == NULL || node->kind != NODE_MAP)
		return;
	if (yaml_get(node, "lookup") != NULL && key->n > 0 && !single)
		findings_help(load_find(load, yaml_get(node, "lookup"),
		    COMBINE, "this key cannot be looked up"),
		    "a lookup needs a key of one part: header:NAME, "
		    "query:NAME, cookie:NAME or client_ip");
	if (yaml_get(node, "unknown") != NULL &&
	    yaml_get(node, "lookup") == NULL)
		findings_help(load_find(load, yaml_get(node, "unknown"),
		    COMBINE, "'unknown' without a lookup"),
		    "say by lookup which keys are known");
}

static const struct key caller_keys[] = {
	{ .name = "name", .type = &type_name, SCHEMA_AT(caller, name),
	    .required = true, .help = "of the class" },
	{ .name = "match", .type = &type_match, SCHEMA_AT(caller, match),
	    .section = &type_match_caller,
	    .help = "which requests; without it: all" },
	{ .name = "key", .type = &type_key, SCHEMA_AT(caller, key),
	    .arg = 1, .def = "client_ip", .help = "who is one caller" },
	{ .name = "lookup", .type = &type_lookup_name,
	    SCHEMA_AT(caller, lookup),
	    .help = "which keys are known, and their plans" },
	{ .name = "unknown", .type = &type_unknown, .def = "next",
	    .help = "a key that is not listed: the next caller, 401, or a "
	    "plan" },
	{ .name = "plan", .type = &type_plan_name, SCHEMA_AT(caller, plan),
	    .help = "of keys without one of their own" },
	LATER("priority", "who is turned away first"),
};
static const struct section caller_section = { "callers[]", caller_keys,
	COUNT(caller_keys), sizeof(struct caller), caller_begin, caller_end };

/* ---- routes, policies ---- */

static void
route_begin(struct load *load, void *base)
{
	struct route *route = base;

	(void)load;
	route->cost = 1;
	route->priority = PRIORITY_NORMAL;
}

static const struct key route_keys[] = {
	{ .name = "name", .type = &type_name, SCHEMA_AT(route, name),
	    .required = true, .help = "of the route" },
	{ .name = "match", .type = &type_match, SCHEMA_AT(route, match),
	    .section = &type_match_route,
	    .help = "which requests; without it: all" },
	{ .name = "cost", .type = &type_route_cost, SCHEMA_AT(route, cost),
	    .min = 1, .max = COST_MAX,
	    .help = "what a request counts in all its policies; else 1" },
	{ .name = "upstream", .type = &type_upstream_name,
	    SCHEMA_AT(route, upstream), .help = "else the default one" },
	{ .name = "policies", .type = &type_route_policies,
	    SCHEMA_AT(route, no_policies), .help = "none: never limited" },
	LATER("priority", "replaces the caller's"),
};
static const struct section route_section = { "routes[]", route_keys,
	COUNT(route_keys), sizeof(struct route), route_begin, NULL };

static const struct key default_keys[] = {
	{ .name = "on_store_error", .type = &type_word,
	    SCHEMA_AT(config, defaults.on_store_error),
	    .words = store_error_words, .def = "local",
	    .help = "the store is away: count here, let pass, or 503" },
	{ .name = "on_missing_key", .type = &type_word,
	    SCHEMA_AT(config, defaults.on_missing_key),
	    .words = missing_key_words, .def = "skip",
	    .help = "a request without the key: not concerned, 400, or count "
	    "by the peer's address" },
	{ .name = "algorithm", .type = &type_word,
	    SCHEMA_AT(config, defaults.algorithm), .words = algorithm_words,
	    .def = "token_bucket", .help = "how it is counted" },
};
static const struct section default_section = { "defaults", default_keys,
	COUNT(default_keys), 0, NULL, NULL };

static void
policy_begin(struct load *load, void *base)
{
	struct policy *policy = base;
	const struct config *config = load->config;

	policy->on_store_error = config->defaults.on_store_error;
	policy->on_missing_key = config->defaults.on_missing_key;
	policy->algorithm = config->defaults.algorithm;
}

static bool
is_aligned(const struct config *config, const void *base)
{
	const struct policy *policy = base;

	(void)config;
	return policy->algorithm == ALGO_FIXED_WINDOW;
}

static const struct key policy_keys[] = {
	{ .name = "name", .type = &type_name, SCHEMA_AT(policy, name),
	    .required = true, .help = "of the policy, as callers see it" },
	{ .name = "mode", .type = &type_word, SCHEMA_AT(policy, mode),
	    .words = mode_words, .def = "enforce",
	    .help = "shadow: counted and logged, never denies" },
	{ .name = "match", .type = &type_match, SCHEMA_AT(policy, match),
	    .section = &type_match_policy,
	    .help = "which requests; without it: all" },
	{ .name = "exempt", .type = &type_exempt,
	    SCHEMA_LIST(policy, exempt, nexempt),
	    .help = "whom it never concerns" },
	{ .name = "key", .type = &type_key, SCHEMA_AT(policy, key),
	    .required = true, .help = "who shares a count: caller, client_ip, "
	    "header:NAME, ..., all, or a list" },
	{ .name = "algorithm", .type = &type_word,
	    SCHEMA_AT(policy, algorithm), .words = algorithm_words,
	    .help = "how it is counted; else defaults.algorithm" },
	{ .name = "limit", .type = &type_policy_limit,
	    SCHEMA_AT(policy, limits), .section = &type_policy_rates,
	    .required = true, .help = "how much: 10/s, [10/s, 5000/h], plan "
	    "(the caller's) or none" },
	{ .name = "burst", .type = &type_burst,
	    SCHEMA_AT(policy, limits.rate[0].burst), .min = 1,
	    .max = COST_MAX, .help = "token_bucket: as many at once; else "
	    "the limit's number" },
	{ .name = "align", .type = &type_word,
	    SCHEMA_AT(policy, align_first), .words = align_words,
	    .def = "clock", .shown = is_aligned,
	    .help = "fixed_window: windows begin at multiples of the period, "
	    "or with the caller's first request" },
	{ .name = "cost", .type = &type_cost, SCHEMA_AT(policy, cost),
	    .min = 1, .max = COST_MAX,
	    .help = "what a request counts; else the route's" },
	{ .name = "on_store_error", .type = &type_word,
	    SCHEMA_AT(policy, on_store_error), .words = store_error_words,
	    .help = "else defaults.on_store_error" },
	{ .name = "on_missing_key", .type = &type_word,
	    SCHEMA_AT(policy, on_missing_key), .words = missing_key_words,
	    .help = "else defaults.on_missing_key" },
	LATER("queue", "waiting in turn instead of 429"),
	LATER("concurrency", "requests in progress"),
	LATER("try", "a candidate beside the real limit"),
	LATER("count_if", "counting by the response"),
	LATER("penalty", "a ban after repeated denials"),
};
static const struct section policy_section = { "policies[]", policy_keys,
	COUNT(policy_keys), sizeof(struct policy), policy_begin,
	type_policy_end };

/* ---- answers ---- */

static const struct key header_keys[] = {
	{ .name = "style", .type = &type_word,
	    SCHEMA_AT(config, headers.style), .words = style_words,
	    .def = "x-ratelimit", .help = "which fields callers get" },
	{ .name = "reset", .type = &type_word,
	    SCHEMA_AT(config, headers.reset), .words = reset_words,
	    .def = "delta", .help = "x-ratelimit-reset: seconds from now, or "
	    "since 1970" },
	{ .name = "policy", .type = &type_bool,
	    SCHEMA_AT(config, headers.policy), .def = "true",
	    .help = "send x-ratelimit-policy" },
	{ .name = "ietf", .type = &type_none,
	    .help = "fields of the IETF draft" },
	{ .name = "upstream", .type = &type_word,
	    SCHEMA_AT(config, headers.upstream), .words = upstream_words,
	    .def = "replace", .help = "keep: a response with "
	    "x-ratelimit fields of its own gets none of weir's" },
	{ .name = "retry_after_jitter", .type = &type_percent,
	    SCHEMA_AT(config, headers.retry_after_jitter), .min = 0,
	    .max = 100, .def = "0%", .help = "added to Retry-After at most" },
};
static const struct section header_section = { "headers", header_keys,
	COUNT(header_keys), 0, NULL, NULL };

static const struct key cors_keys[] = {
	{ .name = "allow_origins", .type = &type_origins,
	    SCHEMA_LIST(config, cors.allow_origins, cors.nallow_origins),
	    .empty_ok = true, .help = "whose scripts may read weir's own "
	    "answers" },
	{ .name = "expose", .type = &type_word,
	    SCHEMA_AT(config, cors.expose), .words = expose_words,
	    .def = "auto", .help = "let scripts read the fields weir sends" },
	{ .name = "skip_preflight", .type = &type_bool,
	    SCHEMA_AT(config, cors.skip_preflight), .def = "true",
	    .help = "preflight requests never count" },
};
static const struct section cors_section = { "cors", cors_keys,
	COUNT(cors_keys), 0, NULL, NULL };

/* ---- running ---- */

/* "access: none" */
static void
access_end(struct load *load, const struct node *node, void *base)
{
	struct log_conf *log = &load->config->log;

	(void)base;
	if (!yaml_is(node, "none"))
		return;
	mem_free(log->access_path);
	log->access_path = NULL;
}

static const struct key access_keys[] = {
	{ .name = "path", .type = &type_path,
	    SCHEMA_AT(config, log.access_path), .word = "stdout",
	    .def = "stdout", .help = "a file; reopened on USR1" },
	{ .name = "format", .type = &type_word,
	    SCHEMA_AT(config, log.access_format), .words = format_words,
	    .def = "json", .help = "of its lines" },
	{ .name = "sample", .type = &type_share,
	    SCHEMA_AT(config, log.sample_ppm), .def = "1.0",
	    .help = "share of allowed requests; denied ones always" },
};
static const struct section access_section = { "log.access", access_keys,
	COUNT(access_keys), 0, NULL, access_end };

static const struct key log_keys[] = {
	{ .name = "access", .type = &type_access, .section = &access_section,
	    .word = "none", .help = "a line for each request" },
	{ .name = "level", .type = &type_word, SCHEMA_AT(config, log.level),
	    .words = level_words, .def = "info",
	    .help = "of weir's own log, on stderr" },
};
static const struct section log_section = { "log", log_keys, COUNT(log_keys),
	0, NULL, NULL };

static const struct key drain_keys[] = {
	{ .name = "delay", .type = &type_duration,
	    SCHEMA_AT(config, drain_delay_us), .min = 0, .max = 3600 * SECOND,
	    .def = "0s", .help = "between TERM and closing the listeners" },
	{ .name = "timeout", .type = &type_duration,
	    SCHEMA_AT(config, drain_timeout_us), .min = 0, .max = DAY,
	    .def = "30s", .help = "for requests in progress" },
};
static const struct section drain_section = { "drain", drain_keys,
	COUNT(drain_keys), 0, NULL, NULL };

static void
limits_end(struct load *load, const struct node *node, void *base)
{
	const struct http_limits *head = &load->config->limits.head;
	const struct node *at = yaml_get(node, "target_bytes");

	(void)base;
	if (at == NULL)
		at = yaml_get(node, "header_bytes");
	if (at != NULL && head->target_bytes > head->head_bytes)
		findings_help(load_find(load, at, COMBINE,
		    "target_bytes above header_bytes"),
		    "the target is part of the head");
}

static const struct key limits_keys[] = {
	{ .name = "connections", .type = &type_integer,
	    SCHEMA_AT(config, limits.connections), .min = 1,
	    .max = 10000000, .def = "16384",
	    .help = "of clients, over all workers; further ones are closed" },
	{ .name = "connections_per_client", .type = &type_none,
	    .help = "of one address" },
	{ .name = "header_fields", .type = &type_integer,
	    SCHEMA_AT(config, limits.head.fields), .min = 1,
	    .max = HTTP_FIELDS_MAX, .def = "100", .help = "then 431" },
	{ .name = "header_timeout", .type = &type_duration,
	    SCHEMA_AT(config, limits.header_timeout_us), .min = MS,
	    .max = DAY, .def = "10s",
	    .help = "from the first octet of a head to its last; then 408" },
	{ .name = "body_timeout", .type = &type_duration,
	    SCHEMA_AT(config, limits.body_timeout_us), .min = MS, .max = DAY,
	    .def = "30s", .help = "without an octet of the body; then 408" },
	{ .name = "idle_timeout", .type = &type_duration,
	    SCHEMA_AT(config, limits.idle_timeout_us), .min = MS, .max = DAY,
	    .def = "75s", .help = "between requests" },
	{ .name = "header_bytes", .type = &type_size,
	    SCHEMA_AT(config, limits.head.head_bytes), .min = 256,
	    .max = MIB, .def = "32KiB", .help = "then 431" },
	{ .name = "target_bytes", .type = &type_size,
	    SCHEMA_AT(config, limits.head.target_bytes), .min = 16,
	    .max = MIB, .def = "8KiB", .help = "then 414" },
	{ .name = "body_bytes", .type = &type_size,
	    SCHEMA_AT(config, limits.body_bytes), .min = 0, .max = TIB,
	    .word = "none", .word_value = INT64_MAX, .def = "none",
	    .help = "then 413" },
};
static const struct section limits_section = { "limits", limits_keys,
	COUNT(limits_keys), 0, NULL, limits_end };

/* ---- the whole ---- */

/* Done before anything is read (load.c). */
static void
read_include(struct load *load, const struct key *key,
    const struct node *node, void *base)
{
	(void)load;
	(void)key;
	(void)node;
	(void)base;
}

static const struct type type_include = { "path, or a list", read_include,
	NULL, NULL, "a file, or a pattern like conf.d/*.yaml" };

static const struct key root_keys[] = {
	{ .name = "include", .type = &type_include,
	    .help = "further files, relative to this one, by name" },
	{ .name = "listen", .type = &type_listens,
	    SCHEMA_LIST(config, listens, nlistens),
	    .section = &listen_section, .required = true,
	    .help = "one address, or a list" },
	{ .name = "upstreams", .type = &type_named,
	    SCHEMA_LIST(config, upstreams, nupstreams),
	    .section = &keys_upstream, .help = "servers by name" },
	{ .name = "upstream", .type = &type_upstream,
	    SCHEMA_AT(config, default_upstream),
	    .help = "where requests go that no route sends elsewhere; "
	    "without it they get 404" },
	{ .name = "client_ip", .type = &type_section,
	    .section = &client_ip_section, .help = "who the client is" },
	{ .name = "store", .type = &type_section, .section = &store_section,
	    .word = "memory", .help = "where counters live" },
	{ .name = "plans", .type = &type_named,
	    SCHEMA_LIST(config, rules.plans, rules.nplans),
	    .section = &plan_section, .help = "what callers may use" },
	{ .name = "lookups", .type = &type_named,
	    SCHEMA_LIST(config, lookups, nlookups),
	    .section = &lookup_section, .help = "which key has which plan" },
	{ .name = "callers", .type = &type_callers,
	    SCHEMA_LIST(config, rules.callers, rules.ncallers),
	    .section = &caller_section,
	    .help = "who is calling: first match wins" },
	{ .name = "routes", .type = &type_sections,
	    SCHEMA_LIST(config, rules.routes, rules.nroutes),
	    .section = &route_section, .help = "what is called: first match "
	    "wins" },
	{ .name = "defaults", .type = &type_section,
	    .section = &default_section,
	    .help = "what policies inherit" },
	{ .name = "policies", .type = &type_sections,
	    SCHEMA_LIST(config, rules.policies, rules.npolicies),
	    .section = &policy_section, .empty_ok = true,
	    .help = "all that match must pass" },
	LATER("shed", "turning requests away when the machine is full"),
	{ .name = "headers", .type = &type_section,
	    .section = &header_section, .help = "what callers are told" },
	{ .name = "cors", .type = &type_section, .section = &cors_section,
	    .help = "for scripts in browsers" },
	{ .name = "admin", .type = &type_none, .help = "the status page" },
	{ .name = "log", .type = &type_section, .section = &log_section,
	    .help = "what is written down" },
	{ .name = "workers", .type = &type_integer,
	    SCHEMA_AT(config, workers), .min = 1, .max = 1024,
	    .word = "auto", .word_value = 0, .def = "auto",
	    .help = "event loops; auto: one a core" },
	{ .name = "drain", .type = &type_section, .section = &drain_section,
	    .help = "how weir stops" },
	{ .name = "limits", .type = &type_section,
	    .section = &limits_section, .help = "of connections and HTTP" },
};
const struct section keys_root = { "", root_keys, COUNT(root_keys),
	sizeof(struct config), NULL, NULL };
