/* Files that are right: what comes out of them, and what dump says. */
#include <check.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "config/findings.h"
#include "config/load.h"
#include "config/schema.h"
#include "harness/config_env.h"

#define OK	"listen: 127.0.0.1:80\nupstream: http://127.0.0.1:90\n"
#define SIX	"listen: 127.0.0.1:8080\nupstream: http://127.0.0.1:9000\n" \
		"policies:\n  - name: per-ip\n    key: client_ip\n" \
		"    limit: 10/s\n"

static void
setup(void)
{
	hash_init();
	config_env_clear();
}

/* Fails the test unless it loads; warnings: how many are right. */
static struct config *
load_with(const char *yaml, unsigned warnings)
{
	struct findings found = { 0 };
	struct config *config = NULL;
	struct text out = { 0 };
	const enum err e = load_text(span_str(yaml), "/etc/weir/weir.yaml",
	    &config_env, &found, &config);

	findings_print_text(&found, &out);
	ck_assert_msg(e == ERR_OK && found.warnings == warnings, "%s\n%s",
	    yaml, text_cstr(&out));
	text_fini(&out);
	findings_fini(&found);
	return config;
}

static struct config *
load(const char *yaml)
{
	return load_with(yaml, 0);
}

static char *
dump(const struct config *config, bool json)
{
	struct text out = { 0 };

	config_dump(config, json, &out);
	return text_take(&out);
}

START_TEST(test_six_lines)
{
	struct config *c = load(SIX);
	const struct policy *p = &c->rules.policies[0];

	ck_assert_uint_eq(c->nlistens, 1);
	ck_assert_uint_eq(endpoint_port(&c->listens[0].endpoint), 8080);
	ck_assert_str_eq(c->listens[0].text, "127.0.0.1:8080");
	ck_assert_int_eq(c->default_upstream, 0);
	ck_assert_uint_eq(c->upstreams[0].nservers, 1);
	ck_assert_ptr_null(c->upstreams[0].servers[0].host);
	ck_assert_uint_eq(endpoint_port(
	    &c->upstreams[0].servers[0].endpoint), 9000);
	ck_assert_str_eq(c->upstreams[0].servers[0].authority,
	    "127.0.0.1:9000");
	ck_assert_uint_eq(c->rules.npolicies, 1);
	ck_assert_str_eq(p->name, "per-ip");
	ck_assert_int_eq(p->key.parts[0].source, KEY_CLIENT_IP);
	ck_assert_uint_eq(p->limits.n, 1);
	ck_assert_int_eq(p->limits.rate[0].count, 10);
	ck_assert_int_eq(p->limits.rate[0].burst, 10);
	ck_assert_int_eq(p->limits.rate[0].period_us, 1000000);
	ck_assert_int_gt(p->limits.rate[0].cap, 0);
	ck_assert_int_eq(p->tag, policy_tag(p));
	ck_assert_uint_eq(config_env_lookups(), 0);
	config_unref(c);
}
END_TEST

START_TEST(test_defaults)
{
	struct config *c = load(SIX);
	const struct upstream_conf *u = &c->upstreams[0];

	ck_assert_int_eq(u->balance, BALANCE_LEAST_REQUESTS);
	ck_assert_int_eq(u->connect_timeout_us, 1000000);
	ck_assert_int_eq(u->response_timeout_us, 30000000);
	ck_assert_uint_eq(u->keepalive, 64);
	ck_assert_uint_eq(u->connections, 1024);
	ck_assert_uint_eq(u->servers[0].weight, 1);
	ck_assert_int_eq(c->client.from, HTTP_CLIENT_PEER);
	ck_assert_uint_eq(c->client.ntrusted, 0);
	ck_assert_uint_eq(c->rules.key_rule.ipv4_bits, 32);
	ck_assert_uint_eq(c->rules.key_rule.ipv6_bits, 64);
	ck_assert_int_eq(c->store.kind, STORE_MEMORY);
	ck_assert_uint_eq(c->store.memory_bytes, 64 << 20);
	ck_assert_int_eq(c->store.timeout_us, 20000);
	ck_assert_str_eq(c->store.prefix, "weir:");
	ck_assert_uint_eq(c->rules.instances, 1);
	ck_assert_uint_eq(c->rules.ncallers, 1);
	ck_assert_str_eq(c->rules.callers[0].name, "anonymous");
	ck_assert_int_eq(c->rules.callers[0].priority, PRIORITY_NORMAL);
	ck_assert_int_eq(c->rules.policies[0].on_store_error,
	    STORE_ERROR_LOCAL);
	ck_assert_int_eq(c->rules.policies[0].on_missing_key, MISSING_SKIP);
	ck_assert_int_eq(c->rules.policies[0].algorithm, ALGO_TOKEN_BUCKET);
	ck_assert_int_eq(c->rules.policies[0].mode, MODE_ENFORCE);
	ck_assert_int_eq(c->headers.style, HEADERS_X_RATELIMIT);
	ck_assert_int_eq(c->headers.reset, RESET_DELTA);
	ck_assert(c->headers.policy);
	ck_assert_int_eq(c->headers.upstream, UPSTREAM_REPLACE);
	ck_assert_uint_eq(c->headers.retry_after_jitter, 0);
	ck_assert(c->cors.expose && c->cors.skip_preflight);
	ck_assert_str_eq(c->log.access_path, "stdout");
	ck_assert_int_eq(c->log.access_format, LOG_JSON);
	ck_assert_uint_eq(c->log.sample_ppm, 1000000);
	ck_assert_int_eq(c->log.level, LOG_INFO);
	ck_assert_uint_eq(c->workers, 0);
	ck_assert_int_eq(c->drain_delay_us, 0);
	ck_assert_int_eq(c->drain_timeout_us, 30000000);
	ck_assert_uint_eq(c->limits.connections, 16384);
	ck_assert_uint_eq(c->limits.head.fields, 100);
	ck_assert_uint_eq(c->limits.head.head_bytes, 32768);
	ck_assert_uint_eq(c->limits.head.target_bytes, 8192);
	ck_assert_int_eq(c->limits.header_timeout_us, 10000000);
	ck_assert_int_eq(c->limits.body_timeout_us, 30000000);
	ck_assert_int_eq(c->limits.idle_timeout_us, 75000000);
	ck_assert_int_eq(c->limits.body_bytes, INT64_MAX);
	config_unref(c);
}
END_TEST

/* Every key that is served, with a value that is not its default. */
static const char everything[] =
    "listen:\n"
    "  - address: 0.0.0.0:8080\n"
    "    proxy_protocol: none\n"
    "  - '[::1]:8081'\n"
    "  - unix:/run/weir/http.sock\n"
    "upstream: api\n"
    "upstreams:\n"
    "  api:\n"
    "    servers: [http://127.0.0.1, {url: 'http://name.test:9001', "
    "weight: 3},\n"
    "      unix:/run/api.sock, 'http://[2001:db8::1]:1/']\n"
    "    balance: round_robin\n"
    "    connect_timeout: 200ms\n"
    "    response_timeout: 2m\n"
    "    keepalive: 0\n"
    "    connections: 7\n"
    "  other: {servers: http://127.0.0.1:9009}\n"
    "client_ip: {from: 'header:CF-Connecting-IP', trusted_proxies: "
    "[10.0.0.0/8, 192.0.2.1], ipv6_prefix: 56, ipv4_prefix: 24}\n"
    "store:\n"
    "  redis: redis://name.test:6380/3\n"
    "  username: weir\n"
    "  password: {env: WEIR_SECRET}\n"
    "  timeout: 5ms\n"
    "  secret: {credential: hash}\n"
    "  instances: 3\n"
    "  prefix: 'weir:prod:'\n"
    "  memory: 1GiB\n"
    "plans:\n"
    "  unlimited: {limit: none}\n"
    "  free: &free {limit: [10/s, {rate: 5000/h, burst: 3}]}\n"
    "  pro: {<<: *free}\n"
    "lookups: {keys: {file: plans.map}}\n"
    "callers:\n"
    "  - {name: internal, match: {client_ip: [10.20.0.0/16]}, plan: "
    "unlimited}\n"
    "  - name: live\n"
    "    match: {header: {X-Api-Key: 'sk_live_*'}, not: {path: [/a/**, "
    "'/b/{x}'], method: GET}}\n"
    "    key: header:x-api-key\n"
    "    lookup: keys\n"
    "    unknown: deny\n"
    "  - {name: test, match: {query: a}, key: query:a, lookup: keys, "
    "unknown: free, plan: pro}\n"
    "routes:\n"
    "  - {name: login, match: {method: POST, path: /v1/login}, cost: 2}\n"
    "  - {name: on, match: {host: '*.example.com', header: {x-country: "
    "[se, no, dk]}}, upstream: other}\n"
    "  - {name: health, match: {path: /healthz}, policies: none}\n"
    "defaults: {on_store_error: deny, on_missing_key: peer, algorithm: "
    "sliding_window}\n"
    "policies:\n"
    "  - {name: plan, key: caller, limit: plan, exempt: [caller:internal, "
    "{path: /free/*}], algorithm: token_bucket}\n"
    "  - {name: writes, match: {method: [POST, PUT], plan: [free, pro]}, "
    "key: [caller, route], limit: 10/s, burst: 30, algorithm: "
    "token_bucket, cost: 2}\n"
    "  - {name: window, key: all, limit: [100/m, {rate: 2000/h}], "
    "algorithm: fixed_window, align: first, on_store_error: allow}\n"
    "  - {name: rehearsal, mode: shadow, match: {route: login, not: "
    "{caller: internal}}, key: [client_ip, 'cookie:sid'], limit: 3/10s, "
    "on_missing_key: skip}\n"
    "  - {name: nothing, mode: off, key: host, limit: none}\n"
    "headers: {style: none, reset: epoch, policy: false, ietf: none, "
    "upstream: keep, retry_after_jitter: 10%}\n"
    "cors: {allow_origins: ['https://a.example', '*'], expose: none, "
    "skip_preflight: false}\n"
    "admin: none\n"
    "log: {access: {path: a.log, format: combined, sample: 0.25}, level: "
    "debug}\n"
    "workers: 4\n"
    "drain: {delay: 1s, timeout: 0s}\n"
    "limits: {connections: 9, connections_per_client: none, header_fields: "
    "9, header_timeout: 1s, body_timeout: 2s, idle_timeout: 3s, "
    "header_bytes: 16KiB, target_bytes: 1KiB, body_bytes: 10MiB}\n";

static void
add_files(void)
{
	config_env_add("/cred/hash", "the secret\n");
	config_env_add("/etc/weir/plans.map", "# none yet\n");
}

START_TEST(test_everything)
{
	struct config *c;
	const struct condition *x;

	add_files();
	c = load_with(everything, 1);
	ck_assert_uint_eq(c->nlistens, 3);
	ck_assert_uint_eq(c->upstreams[0].nservers, 4);
	ck_assert_uint_eq(endpoint_port(
	    &c->upstreams[0].servers[0].endpoint), 80);
	ck_assert_uint_eq(c->upstreams[0].servers[1].weight, 3);
	ck_assert_uint_eq(endpoint_port(
	    &c->upstreams[0].servers[1].endpoint), 9001);
	ck_assert_int_eq(c->upstreams[0].servers[2].endpoint.ss.ss_family,
	    AF_UNIX);
	ck_assert_uint_eq(c->upstreams[0].keepalive, 0);
	ck_assert_int_eq(c->client.from, HTTP_CLIENT_HEADER);
	ck_assert(span_equal(c->client.header, SPAN("cf-connecting-ip")));
	ck_assert_uint_eq(c->client.ntrusted, 2);
	ck_assert_uint_eq(c->rules.key_rule.ipv6_bits, 56);
	ck_assert_int_eq(c->store.kind, STORE_REDIS);
	ck_assert_uint_eq(endpoint_port(&c->store.redis), 6380);
	ck_assert_int_eq(c->store.database, 3);
	ck_assert_str_eq(c->store.redis_text, "redis://name.test:6380/3");
	ck_assert_str_eq(c->store.username, "weir");
	ck_assert_str_eq(c->store.password, "from-the-environment");
	ck_assert(c->store.has_secret);
	ck_assert_uint_eq(c->rules.nplans, 3);
	ck_assert_uint_eq(c->rules.plans[0].limits.n, 0);
	ck_assert_int_eq(c->rules.plans[2].limits.rate[1].burst, 3);
	ck_assert_uint_eq(c->rules.ncallers, 4);
	ck_assert_ptr_eq(c->rules.callers[0].plan, &c->rules.plans[0]);
	ck_assert_int_eq(c->rules.callers[1].unknown, UNKNOWN_DENY);
	ck_assert_ptr_eq(c->rules.callers[1].lookup, c->rules.lookups[0]);
	ck_assert_uint_eq(c->rules.callers[1].match.n, 3);
	ck_assert(c->rules.callers[1].match.conditions[1].negate);
	ck_assert_int_eq(c->rules.callers[2].unknown, UNKNOWN_PLAN);
	ck_assert_ptr_eq(c->rules.callers[2].unknown_plan,
	    &c->rules.plans[1]);
	ck_assert(c->rules.routes[0].has_cost);
	ck_assert_int_eq(c->rules.routes[0].cost, 2);
	ck_assert_int_eq(c->rules.routes[0].upstream, -1);
	ck_assert_int_eq(c->rules.routes[1].upstream, 1);
	x = &c->rules.routes[1].match.conditions[1];
	ck_assert_str_eq(x->name, "x-country");
	ck_assert_uint_eq(x->n, 3);
	ck_assert_str_eq(x->values[1], "no");			/* F061 */
	ck_assert(c->rules.routes[2].no_policies);
	ck_assert(c->rules.policies[0].limit_is_plan);
	ck_assert_uint_eq(c->rules.policies[0].nexempt, 2);
	ck_assert_int_eq(c->rules.policies[1].limits.rate[0].burst, 30);
	ck_assert_int_eq(c->rules.policies[1].limits.rate[0].cap,
	    30 * c->rules.policies[1].limits.rate[0].unit);
	ck_assert_int_eq(c->rules.policies[1].cost, 2);
	ck_assert(c->rules.policies[2].align_first);
	ck_assert_int_eq(c->rules.policies[2].on_store_error,
	    STORE_ERROR_ALLOW);
	ck_assert_int_eq(c->rules.policies[3].on_store_error,
	    STORE_ERROR_DENY);
	ck_assert_int_eq(c->rules.policies[3].algorithm,
	    ALGO_SLIDING_WINDOW);
	ck_assert_uint_eq(c->rules.policies[3].key.n, 2);
	ck_assert_int_eq(c->rules.policies[4].mode, MODE_OFF);
	ck_assert_uint_eq(c->headers.retry_after_jitter, 10);
	ck_assert_uint_eq(c->cors.nallow_origins, 2);
	ck_assert(!c->cors.expose && !c->cors.skip_preflight);
	ck_assert_str_eq(c->log.access_path, "/etc/weir/a.log");
	ck_assert_uint_eq(c->log.sample_ppm, 250000);
	ck_assert_uint_eq(c->workers, 4);
	ck_assert_int_eq(c->limits.body_bytes, 10 << 20);
	ck_assert_uint_eq(config_env_lookups(), 2);
	config_unref(c);
}
END_TEST

static void
same_again(const char *yaml, unsigned warnings)
{
	struct config *c = load_with(yaml, warnings), *again;
	char *first = dump(c, false), *second;

	again = load_with(first, warnings);
	second = dump(again, false);
	ck_assert_str_eq(first, second);
	config_unref(c);
	config_unref(again);
	mem_free(first);
	mem_free(second);
}

START_TEST(test_dump_loads_to_the_same)
{
	add_files();
	same_again(SIX, 0);
	/* A listener without addresses, and a policy that counts by them. */
	same_again(everything, 1);
	same_again(OK "log: {access: none}\n", 0);
	same_again(OK "store: {redis: 'unix:/run/redis.sock', database: 2, "
	    "secret: {env: WEIR_SECRET}}\n", 0);
	same_again(OK "store: {redis: 'redis://u:p%40@127.0.0.1', secret: "
	    "abc}\n", 2);
}
END_TEST

START_TEST(test_dump_shows_defaults)
{
	struct config *c = load(SIX);
	char *text = dump(c, false);

	ck_assert_ptr_nonnull(strstr(text, "policies:\n  - name: per-ip\n"
	    "    mode: enforce\n    key:\n      - client_ip\n"
	    "    algorithm: token_bucket\n    limit: 10/s\n"
	    "    burst: 10\n"));
	ck_assert_ptr_nonnull(strstr(text, "  idle_timeout: 75s\n"));
	mem_free(text);
	text = dump(c, true);
	ck_assert_ptr_nonnull(strstr(text, "\"name\": \"per-ip\""));
	ck_assert_ptr_nonnull(strstr(text, "\"allow_origins\": []"));
	mem_free(text);
	config_unref(c);
}
END_TEST

/* F054: from the file, from a file that ends in a newline, and in the URL. */
START_TEST(test_password_with_special_characters)
{
	static const char password[] = "p@ss?w#rd:1&2%41 ;";
	static const char *const forms[] = {
		"{redis: 'unix:/r', password: 'p@ss?w#rd:1&2%41 ;'}",
		"{redis: 'unix:/r', password: {file: secrets/redis}}",
		"{redis: 'unix:/r', password: {credential: redis}}",
		("{redis: 'redis://:p%40ss%3Fw%23rd%3a1%262%2541%20%3B@"
		    "127.0.0.1'}"),
	};

	config_env_add("/etc/weir/secrets/redis", "p@ss?w#rd:1&2%41 ;\n");
	config_env_add("/cred/redis", "p@ss?w#rd:1&2%41 ;\r\n");
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct text yaml = { 0 };
		struct config *c;
		char *text;

		text_printf(&yaml, OK "store: %s\n", forms[i]);
		c = load_with(text_cstr(&yaml), i == 0 || i == 3 ? 2 : 1);
		ck_assert_str_eq(c->store.password, password);
		text = dump(c, i % 2 == 1);
		ck_assert_ptr_null(strstr(text, "ss?w"));
		ck_assert_ptr_null(strstr(text, "ss%3F"));
		mem_free(text);
		config_unref(c);
		text_fini(&yaml);
	}
}
END_TEST

/* F059: a minute is shown as such, whatever it was written as. */
START_TEST(test_periods)
{
	struct config *c = load(OK "policies: [{name: a, key: all, limit: "
	    "[1/1m, 2/3600s]}]\n");
	char *text = dump(c, false);

	ck_assert_int_eq(c->rules.policies[0].limits.rate[0].period_us,
	    60000000);
	ck_assert_ptr_nonnull(strstr(text, "- 1/m\n      - 2/h\n"));
	mem_free(text);
	config_unref(c);
}
END_TEST

START_TEST(test_byte_order_mark_and_crlf)
{
	struct config *c = load("\xef\xbb\xbflisten: 127.0.0.1:80\r\n"
	    "upstream: http://127.0.0.1:90\r\nworkers: 3\r\n");

	ck_assert_uint_eq(c->workers, 3);
	config_unref(c);
}
END_TEST

START_TEST(test_anchors_and_merge)
{
	struct config *c = load(OK "policies:\n"
	    "  - &a {name: a, key: &k [client_ip, route], limit: 1/s, "
	    "cost: 1}\n"
	    "  - {<<: *a, name: b, limit: 2/s}\n"
	    "  - {name: c, <<: [{limit: 3/s, key: all}, *a]}\n"
	    "  - {name: d, key: *k, limit: &l 4/s, burst: 9}\n"
	    "  - {name: e, key: all, limit: *l}\n");
	const struct policy *p = c->rules.policies;

	ck_assert_str_eq(p[1].name, "b");
	ck_assert_uint_eq(p[1].key.n, 2);
	ck_assert_int_eq(p[1].limits.rate[0].count, 2);
	ck_assert_int_eq(p[1].cost, 1);
	ck_assert_int_eq(p[2].limits.rate[0].count, 3);
	ck_assert_uint_eq(p[2].key.n, 1);
	ck_assert_int_eq(p[2].cost, 1);
	ck_assert_int_eq(p[3].limits.rate[0].burst, 9);
	ck_assert_int_eq(p[4].limits.rate[0].burst, 4);
	config_unref(c);
}
END_TEST

/* A burst that makes it fit is looked at first, also behind a merge key. */
START_TEST(test_burst_before_the_fit)
{
	struct config *c = load(OK "policies:\n"
	    "  - {name: a, key: all, limit: 999999999989/366d, burst: 1}\n");

	ck_assert_int_eq(c->rules.policies[0].limits.rate[0].burst, 1);
	config_unref(c);
}
END_TEST

START_TEST(test_include)
{
	struct config *c;

	config_env_add("/etc/weir/conf.d/b.yaml",
	    "policies: [{name: b, key: all, limit: 2/s}]\n");
	config_env_add("/etc/weir/conf.d/a.yaml",
	    "policies: [{name: a, key: all, limit: 1/s}]\nworkers: 2\n");
	config_env_add("/etc/weir/conf.d/A.yaml",
	    "plans: {x: {limit: 1/s}}\ncallers: [{name: y, plan: x}]\n");
	config_env_add("/etc/weir/conf.d/not.txt", "nonsense: 1\n");
	c = load("include: [conf.d/*.yaml, empty.d/*]\n" OK
	    "policies: [{name: first, key: all, limit: 3/s}]\n");
	ck_assert_uint_eq(c->rules.npolicies, 3);
	ck_assert_str_eq(c->rules.policies[0].name, "first");
	ck_assert_str_eq(c->rules.policies[1].name, "a");
	ck_assert_str_eq(c->rules.policies[2].name, "b");
	ck_assert_ptr_eq(c->rules.callers[0].plan, &c->rules.plans[0]);
	ck_assert_uint_eq(c->workers, 2);
	config_unref(c);
}
END_TEST

/* Anchors stand where nobody reads them, in each file by itself. */
START_TEST(test_free_keys)
{
	struct config *c;
	char *all;

	config_env_add("/etc/weir/conf.d/a.yaml", "x-a: &a {burst: 5}\n"
	    "policies: [{<<: *a, name: b, key: all, limit: 2/s}]\n");
	c = load(OK "include: conf.d/*.yaml\nx-a: &a {limit: 3/s}\npolicies: "
	    "[{<<: *a, name: a, key: all}]\n");
	ck_assert_uint_eq(c->rules.npolicies, 2);
	ck_assert_int_eq(c->rules.policies[0].limits.rate[0].count, 3);
	ck_assert_int_eq(c->rules.policies[1].limits.rate[0].burst, 5);
	all = dump(c, false);
	ck_assert_ptr_null(strstr(all, "x-a"));
	mem_free(all);
	config_unref(c);
}
END_TEST

START_TEST(test_no_policies)
{
	struct config *c = load(OK "policies: []\n");

	ck_assert_uint_eq(c->rules.npolicies, 0);
	config_unref(c);
	same_again(OK "policies: []\n", 0);
}
END_TEST

START_TEST(test_include_names_the_right_file)
{
	struct findings found = { 0 };
	struct config *c = NULL;

	config_env_add("/etc/weir/a.yaml", "workers: 1\n\nx: 1\nplans: "
	    "{p: {limit: 1/s}}\ninclude: b.yaml\n");
	ck_assert_int_eq(load_text(SPAN("include: a.yaml\n" OK
	    "workers: 2\ny: 1\nplans: {p: {limit: 2/s}}\n"),
	    "/etc/weir/weir.yaml", &config_env, &found, &c), ERR_CONFIG);
	ck_assert_uint_eq(found.n, 5);
	ck_assert_str_eq(found.items[0].file, "/etc/weir/weir.yaml");
	ck_assert_str_eq(found.items[0].message,
	    "unknown key 'y' at the top level");
	ck_assert_str_eq(found.items[1].file, "/etc/weir/a.yaml");
	ck_assert_uint_eq(found.items[1].line, 1);
	ck_assert_str_eq(found.items[1].message, "key 'workers' twice, first "
	    "in /etc/weir/weir.yaml on line 4");
	ck_assert_uint_eq(found.items[2].line, 3);
	ck_assert_str_eq(found.items[3].code, "E008");
	ck_assert_str_eq(found.items[4].code, "E030");
	findings_fini(&found);
}
END_TEST

START_TEST(test_one_address_or_a_mapping)
{
	struct config *c = load("listen: {address: unix:/a}\n"
	    "upstream: unix:/b\n");

	ck_assert_int_eq(c->listens[0].endpoint.ss.ss_family, AF_UNIX);
	ck_assert_int_eq(c->upstreams[0].servers[0].endpoint.ss.ss_family,
	    AF_UNIX);
	config_unref(c);
}
END_TEST

START_TEST(test_identity_keys)
{
	static const char redis[] = OK "store: {redis: 'unix:/r'}\n";
	static const char other[] = OK
	    "store: {redis: 'unix:/r', prefix: x}\n";
	static const char secret[] = OK
	    "store: {redis: 'unix:/r', secret: {env: WEIR_SECRET}}\n";
	struct config *c[6] = { load(SIX), load(OK), load_with(redis, 1),
		load_with(redis, 1), load_with(other, 1), load(secret) };
	struct hash_key want;

#define KEY_OF(i) &c[i]->rules.key_rule.secret
	/* One process, one key, also after a reload; never another's. */
	ck_assert_mem_eq(KEY_OF(0), KEY_OF(1), 16);
	ck_assert_mem_ne(KEY_OF(0), KEY_OF(2), 16);
	ck_assert_mem_eq(KEY_OF(2), KEY_OF(3), 16);
	ck_assert_mem_ne(KEY_OF(2), KEY_OF(4), 16);
	hash_key_derive(&want, SPAN("from-the-environment"),
	    "weir identity");
	ck_assert_mem_eq(KEY_OF(5), &want, 16);
	ck_assert(c[5]->store.has_secret && !c[2]->store.has_secret);
	for (int i = 0; i < 6; i++)
		config_unref(c[i]);
}
END_TEST

START_TEST(test_last_caller_takes_all)
{
	struct config *c = load(OK "callers:\n"
	    "  - {name: a, match: {method: GET}}\n  - {name: rest}\n");

	ck_assert_uint_eq(c->rules.ncallers, 2);
	config_unref(c);
	add_files();
	c = load(OK "lookups: {keys: {file: plans.map}}\ncallers:\n"
	    "  - {name: rest, key: header:k, lookup: keys}\n");
	ck_assert_uint_eq(c->rules.ncallers, 2);
	ck_assert_str_eq(c->rules.callers[1].name, "anonymous");
	config_unref(c);
}
END_TEST

static void *
use(void *arg)
{
	for (int i = 0; i < 10000; i++)
		config_unref(config_ref(arg));
	config_unref(arg);
	return NULL;
}

START_TEST(test_references_across_threads)
{
	struct config *c = load(SIX);
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, use, config_ref(c));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(atomic_load(&c->refs), 1);
	config_unref(c);
	config_unref(NULL);
}
END_TEST

/* ---- the contract's example ---- */

static const char example[] =
    "listen:\n"
    "  - address: 0.0.0.0:8080\n"
    "  - address: 0.0.0.0:8443\n"
    "    tls: {certificate: /etc/weir/tls.pem, key: /etc/weir/tls.key}\n"
    "    proxy_protocol: none\n"
    "upstream: api\n"
    "upstreams:\n"
    "  api:\n"
    "    servers: [http://127.0.0.1:9000, http://127.0.0.1:9001]\n"
    "    balance: least_requests\n"
    "    connect_timeout: 1s\n"
    "    response_timeout: 30s\n"
    "    keepalive: 64\n"
    "    connections: 1024\n"
    "    ca: /etc/ssl/certs/ca-certificates.crt\n"
    "    health: {path: /healthz, interval: 5s, fall: 3, rise: 2}\n"
    "client_ip:\n"
    "  from: peer\n"
    "  trusted_proxies: [10.0.0.0/8]\n"
    "  ipv6_prefix: 64\n"
    "store:\n"
    "  redis: redis://127.0.0.1:6379/0\n"
    "  username: weir\n"
    "  password: {file: secrets/redis}\n"
    "  timeout: 20ms\n"
    "  secret: {credential: weir-hash}\n"
    "  instances: 1\n"
    "  prefix: \"weir:\"\n"
    "  memory: 64MiB\n"
    "callers:\n"
    "  - {name: internal, match: {client_ip: [10.20.0.0/16]}, key: "
    "client_ip, plan: unlimited, priority: critical}\n"
    "  - {name: live, match: {header: {x-api-key: \"sk_live_*\"}}, key: "
    "header:x-api-key, lookup: api-keys, unknown: next}\n"
    "  - {name: test, match: {header: {x-api-key: \"sk_test_*\"}}, key: "
    "header:x-api-key, lookup: api-keys, unknown: next,\n"
    "     plan: test, priority: low}\n"
    "  - {name: anonymous, key: client_ip, plan: anonymous, priority: "
    "lowest}\n"
    "plans:\n"
    "  unlimited: {limit: none}\n"
    "  anonymous: {limit: 60/h}\n"
    "  test: {limit: 25/s}\n"
    "  free: {limit: [10/s, 5000/h]}\n"
    "  pro: {limit: [100/s, 200000/d], concurrency: 50}\n"
    "lookups:\n"
    "  api-keys: {file: plans.map}\n"
    "routes:\n"
    "  - {name: login, match: {method: POST, path: /v1/login}}\n"
    "  - {name: search, match: {path: /v1/search}, cost: 5}\n"
    "  - {name: export, match: {path: \"/v1/accounts/{id}/export\"}, cost: "
    "20, priority: low, upstream: api}\n"
    "  - {name: health, match: {path: /healthz}, policies: none}\n"
    "policies:\n"
    "  - {name: plan, key: caller, limit: plan, exempt: "
    "[caller:internal]}\n"
    "  - name: writes\n"
    "    match: {method: [POST, PUT, PATCH, DELETE]}\n"
    "    key: caller\n"
    "    limit: 10/s\n"
    "    burst: 30\n"
    "    queue: {wait: 300ms, size: 20}\n"
    "  - {name: in-progress, key: caller, concurrency: 20}\n"
    "  - {name: search-burst, match: {route: search}, key: [caller, route], "
    "limit: 20/10s, algorithm: sliding_log,\n"
    "     try: 10/10s}\n"
    "  - {name: login-failures, match: {route: login}, key: client_ip, "
    "limit: 5/15m, count_if: {status: [401, 403]},\n"
    "     penalty: {after: 3, ban: 10m, grow: 2x, max: 24h}, "
    "on_store_error: deny}\n"
    "  - {name: exports, match: {route: export}, key: caller, limit: "
    "1000/d,\n"
    "     cost: {reserve: 1, settle: response_header:x-export-cost}}\n"
    "  - {name: everyone, key: all, limit: 2000/s}\n"
    "  - {name: next-month, mode: shadow, match: {caller: anonymous}, key: "
    "client_ip, limit: 30/h}\n"
    "shed:\n"
    "  in_flight: 400\n"
    "  refuse_above: {lowest: 50%, low: 70%, normal: 80%, critical: 100%}\n"
    "defaults: {on_store_error: local, on_missing_key: skip, algorithm: "
    "token_bucket}\n"
    "headers: {style: x-ratelimit, reset: delta, policy: true, ietf: none, "
    "upstream: replace, retry_after_jitter: 0%}\n"
    "cors: {allow_origins: [], expose: auto, skip_preflight: true}\n"
    "admin: {address: 127.0.0.1:9901, socket: /run/weir/admin.sock, token: "
    "{file: FILE}}\n"
    "log: {access: {path: stdout, format: json, sample: 1.0}, level: info}\n"
    "workers: auto\n"
    "drain: {delay: 0s, timeout: 30s}\n"
    "limits: {connections: 16384, connections_per_client: none, "
    "header_fields: 100, header_timeout: 10s, body_timeout: 30s, "
    "idle_timeout: 75s, header_bytes: 32KiB, target_bytes: 8KiB, "
    "body_bytes: none}\n";

/* Refused only for what is not served yet, each by its name. */
START_TEST(test_the_whole_contract)
{
	static const char *const later[] = { "listen[1].tls",
		"upstreams.api.ca", "upstreams.api.health",
		"callers[0].priority", "callers[2].priority",
		"callers[3].priority", "plans.pro.concurrency",
		"routes[2].priority", "policies[1].queue",
		"policies[2].concurrency", "policies[3].try",
		"policies[4].count_if", "policies[4].penalty",
		"policies[5].cost", "shed", "admin" };
	struct findings found = { 0 };
	struct config *c = NULL;

	config_env_add("/etc/weir/secrets/redis", "x\n");
	config_env_add("/cred/weir-hash", "x\n");
	config_env_add("/etc/weir/plans.map", "");
	ck_assert_int_eq(load_text(span_str(example), "/etc/weir/weir.yaml",
	    &config_env, &found, &c), ERR_CONFIG);
	ck_assert_uint_eq(found.n, sizeof(later) / sizeof(later[0]));
	for (unsigned i = 0; i < found.n; i++) {
		ck_assert_str_eq(found.items[i].code, "E010");
		ck_assert_str_eq(found.items[i].path, later[i]);
		ck_assert_ptr_nonnull(strstr(found.items[i].message,
		    "not supported yet"));
	}
	findings_fini(&found);
}
END_TEST

/* ---- the tables ---- */

static void
check_section(const struct section *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct key *key = &s->keys[i];

		ck_assert_msg(key->help != NULL, "%s.%s", s->path, key->name);
		ck_assert_ptr_nonnull(key->type);
		ck_assert(key->def == NULL || key->min <= key->max);
		for (unsigned j = 0; j < i; j++)
			ck_assert_str_ne(key->name, s->keys[j].name);
		if (key->section != NULL)
			check_section(key->section);
	}
}

/* Lines of out that begin with that path. */
static unsigned
count_path(const struct text *out, struct span path)
{
	struct span rest = text_span(out), line, first;
	unsigned n = 0;

	while (span_split(&rest, '\n', &line)) {
		span_split(&line, '\t', &first);
		n += span_equal(first, path);
	}
	return n;
}

START_TEST(test_every_key_once)
{
	struct text out = { 0 };
	struct span rest, line, path;

	config_print_keys(&out);
	rest = text_span(&out);
	rest.len--;
	while (span_split(&rest, '\n', &line)) {
		span_split(&line, '\t', &path);
		ck_assert_msg(count_path(&out, path) == 1, "%.*s",
		    SPAN_ARG(path));
	}
	text_fini(&out);
}
END_TEST

START_TEST(test_every_key_has_its_help)
{
	struct text out = { 0 };

	check_section(&keys_root);
	config_print_keys(&out);
	ck_assert_ptr_nonnull(strstr(text_cstr(&out),
	    "policies[].burst\tinteger\t1..1000000000000\t-\t"));
	ck_assert_ptr_nonnull(strstr(text_cstr(&out),
	    "limits.idle_timeout\tduration\t1ms..1d\t75s\t"));
	ck_assert_ptr_nonnull(strstr(text_cstr(&out),
	    "workers\tinteger\t1..1024, auto\tauto\t"));
	text_fini(&out);
}
END_TEST

/* ---- files ---- */

START_TEST(test_real_files)
{
	const char *srcdir = getenv("srcdir");
	struct findings found = { 0 };
	struct config *c = NULL;
	char path[4096];

	snprintf(path, sizeof(path), "%s/conf/weir.yaml",
	    srcdir != NULL ? srcdir : ".");
	ck_assert_int_eq(config_load(path, &found, &c), ERR_OK);
	ck_assert_uint_eq(found.n, 0);
	ck_assert_str_eq(c->path, path);
	config_unref(c);
	c = NULL;
	snprintf(path, sizeof(path), "%s/conf", srcdir != NULL ? srcdir :
	    ".");
	ck_assert_int_eq(config_load(path, &found, &c), ERR_CONFIG);
	ck_assert_int_eq(config_load("/nowhere/weir.yaml", &found, &c),
	    ERR_CONFIG);
	ck_assert_uint_eq(found.errors, 2);
	ck_assert_ptr_null(c);
	ck_assert_str_eq(found.items[1].code, "E001");
	findings_fini(&found);
}
END_TEST

START_TEST(test_real_names)
{
	struct findings found = { 0 };
	struct config *c = NULL;

	ck_assert_int_eq(config_load_text(SPAN("listen: 127.0.0.1:80\n"
	    "upstream: http://localhost:90\n"), "x", &found, &c), ERR_OK);
	ck_assert_uint_eq(endpoint_port(
	    &c->upstreams[0].servers[0].endpoint), 90);
	ck_assert_str_eq(c->upstreams[0].servers[0].authority,
	    "localhost:90");
	config_unref(c);
	findings_fini(&found);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("config");
	TCase *tc = tcase_create("all");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_six_lines);
	tcase_add_test(tc, test_defaults);
	tcase_add_test(tc, test_everything);
	tcase_add_test(tc, test_dump_loads_to_the_same);
	tcase_add_test(tc, test_dump_shows_defaults);
	tcase_add_test(tc, test_password_with_special_characters);
	tcase_add_test(tc, test_periods);
	tcase_add_test(tc, test_byte_order_mark_and_crlf);
	tcase_add_test(tc, test_anchors_and_merge);
	tcase_add_test(tc, test_burst_before_the_fit);
	tcase_add_test(tc, test_include);
	tcase_add_test(tc, test_free_keys);
	tcase_add_test(tc, test_no_policies);
	tcase_add_test(tc, test_include_names_the_right_file);
	tcase_add_test(tc, test_one_address_or_a_mapping);
	tcase_add_test(tc, test_identity_keys);
	tcase_add_test(tc, test_last_caller_takes_all);
	tcase_add_test(tc, test_references_across_threads);
	tcase_add_test(tc, test_the_whole_contract);
	tcase_add_test(tc, test_every_key_once);
	tcase_add_test(tc, test_every_key_has_its_help);
	tcase_add_test(tc, test_real_files);
	tcase_add_test(tc, test_real_names);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
