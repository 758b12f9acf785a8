/* Every way a file can be wrong: the code, the place, and the cure. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "config/findings.h"
#include "config/load.h"
#include "harness/config_env.h"

/* Two lines that are right; what a row says begins on line 3. */
#define OK	"listen: 127.0.0.1:80\nupstream: http://127.0.0.1:90\n"
#define POLICY	OK "policies:\n  - {name: a, key: client_ip, limit: 1/s}\n"

struct mistake {
	const char *yaml, *code;
	unsigned line, column;
	const char *says;		/* in the message or the help */
};

static const struct mistake rows[] = {
	/* not YAML */
	{ "", "E001", 0, 0, "empty" },
	{ "# nothing\n", "E001", 0, 0, "empty" },
	{ OK "log: {level: info\n", "E002", 4, 1, "line 3, column 6" },
	{ OK "log: [1, 2\nx: 1\n", "E002", 4, 2, "sequence" },
	{ OK "a: 'b\n", "E002", 4, 1, "quoted scalar" },
	{ OK "log:\n\tlevel: info\n", "E003", 4, 1, "tabs" },
	{ OK "log: \xff\n", "E002", 3, 6, "UTF-8" },
	{ OK "log: \x01\n", "E002", 3, 6, "control" },
	{ OK "---\na: 1\n", "E004", 3, 1, "second document" },
	{ "--- {listen: 127.0.0.1:80}\n--- x\n", "E004", 2, 1, "include" },
	{ OK "workers: !!int 3\n", "E005", 3, 10, "tag" },
	{ OK "drain: !own {delay: 1s}\n", "E005", 3, 8, "!own" },
	{ "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "E006", 1, 33, "32" },
	{ OK "workers: *n\n", "E007", 3, 10, "&n" },
	{ OK "log: &l {access: *l}\n", "E007", 3, 18, "inside itself" },
	{ "- a\n", "E014", 1, 1, "mapping" },
	{ "listen\n", "E014", 1, 1, "mapping" },
	{ OK "[a, b]: 1\n", "E014", 3, 1, "key" },
	{ OK "<<: 3\n", "E014", 3, 5, "mapping" },
	{ OK "store: {prefix: \"a\\tb\"}\n", "E020", 3, 17, "control" },
	{ OK "store: {prefix: \"a\\0b\"}\n", "E020", 3, 17, "control" },

	/* keys: F055, F056, F060 */
	{ POLICY "policies: []\n", "E008", 5, 1, "first on line 3" },
	{ OK "policies:\n  - name: a\n    key: all\n    limit: 1/s\n"
	    "    limit: 2/s\n", "E008", 7, 5, "lines 6 and 7" },
	{ OK "wrokers: 1\n", "E009", 3, 1, "did you mean 'workers'" },
	{ OK "policies:\n  - name: a\n    key: all\n    limit: 1/s\n"
	    "    burts: 20\n", "E009", 7, 5, "did you mean 'burst'" },
	{ OK "match: {path: /a}\n", "E009", 3, 1, "belongs in callers[], "
	    "routes[], policies[]" },
	{ OK "clientIp: {from: peer}\n", "E009", 3, 1,
	    "did you mean 'client_ip'" },
	{ OK "zzzz: 1\n", "E009", 3, 1, "keys here: include, listen" },
	{ OK "callers:\n  - {name: a, match: {route: b}}\n", "E009", 4, 23,
	    "belongs in policies[].match" },
	{ "upstream: http://127.0.0.1:90\n", "E011", 1, 1, "listen" },
	{ OK "policies:\n  - {name: a, key: all}\n", "E011", 4, 5, "limit" },
	{ OK "policies:\n  - {name: a, limit: 1/s}\n", "E011", 4, 5, "key" },
	{ OK "policies:\n  - {name: a, key: all, limt: 1/s}\n", "E009", 4,
	    25, "did you mean 'limit'" },
	{ "listn: 127.0.0.1:80\n", "E009", 1, 1, "did you mean 'listen'" },
	{ OK "log: {x-a: 1}\n", "E009", 3, 7, "x-a" },
	{ OK "X-a: 1\n", "E009", 3, 1, "X-a" },
	{ OK "routes:\n  - {cost: 3}\n", "E011", 4, 5, "name" },
	{ OK "client_ip:\n", "E012", 3, 1, "no value" },
	{ OK "client_ip: {from: x-forwarded-for, trusted_proxies: }\n",
	    "E012", 3, 36, "trusted_proxies" },
	{ OK "workers: ~\n", "E012", 3, 1, "workers" },
	{ OK "workers: null\n", "E012", 3, 1, "workers" },
	{ OK "routes: []\n", "E013", 3, 9, "empty list" },
	{ OK "client_ip: {}\n", "E013", 3, 12, "empty" },
	{ OK "store: {prefix: \"\"}\n", "E013", 3, 17, "empty" },
	{ OK "policies: {a: b}\n", "E014", 3, 11, "list" },
	{ OK "policies: [a]\n", "E014", 3, 12, "mapping" },
	{ OK "workers: [1]\n", "E014", 3, 10, "list" },
	{ OK "drain: 30s\n", "E014", 3, 8, "mapping" },
	{ OK "drain: [30s]\n", "E014", 3, 8, "list" },
	{ OK "plans: {a: 10/s}\n", "E014", 3, 12, "mapping" },
	{ OK "store: redis\n", "E014", 3, 8, "memory" },

	/* values: F058, F061 */
	{ OK "headers: {policy: yes}\n", "E015", 3, 19, "write true" },
	{ OK "headers: {policy: off}\n", "E015", 3, 19, "write false" },
	{ OK "headers: {policy: True}\n", "E015", 3, 19, "write true" },
	{ OK "workers: 0x10\n", "E016", 3, 10, "decimal" },
	{ OK "workers: 1_000\n", "E016", 3, 10, "decimal" },
	{ OK "workers: -1\n", "E016", 3, 10, "decimal" },
	{ OK "workers: 0\n", "E018", 3, 10, "1..1024" },
	{ OK "workers: 99999999999999999999\n", "E018", 3, 10, "1..1024" },
	{ OK "log: {access: {sample: 2}}\n", "E016", 3, 24, "0.0 to 1.0" },
	{ OK "log: {access: {sample: 0.1234567}}\n", "E016", 3, 24, "6" },
	{ OK "drain: {timeout: 30}\n", "E017", 3, 18, "30s" },
	{ OK "drain: {timeout: 30 s}\n", "E017", 3, 18, "30s" },
	{ OK "drain: {timeout: 1mo}\n", "E017", 3, 18, "m (minutes)" },
	{ OK "drain: {timeout: 1M}\n", "E017", 3, 18, "m (minutes)" },
	{ OK "drain: {timeout: 2d}\n", "E018", 3, 18, "0s..1d" },
	{ OK "store: {memory: 64}\n", "E017", 3, 17, "64MiB" },
	{ OK "store: {memory: 64MB}\n", "E017", 3, 17, "MiB" },
	{ OK "store: {memory: 1B}\n", "E018", 3, 17, "1MiB" },
	{ OK "headers: {retry_after_jitter: 10}\n", "E017", 3, 31, "10%" },
	{ OK "headers: {retry_after_jitter: 101%}\n", "E018", 3, 31,
	    "0%..100%" },
	{ OK "log: {level: warning}\n", "E019", 3, 14, "'warn'" },
	{ OK "defaults: {algorithm: bucket}\n", "E019", 3, 23,
	    "token_bucket" },
	{ OK "client_ip: {from: x-real-ip}\n", "E019", 3, 19, "header:NAME" },
	{ OK "client_ip: {from: \"header:\"}\n", "E019", 3, 19, "header:NAME" },
	{ OK "routes: [{name: a, policies: [x]}]\n", "E019", 3, 30,
	    "match: {route: NAME}" },
	{ OK "store: {prefix: \"0123456789012345678901234567890123456789"
	    "0123456789012345678901234\"}\n", "E020", 3, 17, "64" },
	{ OK "plans: {A: {limit: 1/s}}\n", "E021", 3, 9, "lower case" },
	{ OK "routes: [{name: -a}]\n", "E021", 3, 17, "letter or digit" },
	{ OK "routes: [{name: a}, {name: a}]\n", "E022", 3, 28, "line 3" },
	{ OK "upstreams: {default: {servers: \"unix:/a\"}}\n", "E022", 2, 11,
	    "upstream: default" },
	{ OK "callers: [{name: anonymous, match: {method: GET}}]\n", "E022",
	    3, 11, "built-in" },
	{ OK "routes: [{name: a, upstream: b}]\n", "E023", 3, 30,
	    "upstreams" },
	{ "listen: 127.0.0.1:80\nupstream: api\n", "E023", 2, 11, "'api'" },
	{ OK "callers: [{name: a, plan: b}]\n", "E023", 3, 27, "plans" },
	{ OK "callers: [{name: a, key: client_ip, lookup: b}]\n", "E023", 3,
	    45, "lookups" },
	{ OK "policies: [{name: a, key: all, limit: 1/s, match: "
	    "{route: b}}]\n", "E023", 3, 59, "routes" },
	{ OK "policies: [{name: a, key: all, limit: 1/s, exempt: "
	    "[caller:b]}]\n", "E023", 3, 53, "callers" },
	{ "listen: 8080\n", "E024", 1, 9, "127.0.0.1:8080" },
	{ "listen: localhost:80\n", "E024", 1, 9, "127.0.0.1:8080" },
	{ "listen: 127.0.0.1:0\n", "E024", 1, 9, "range" },
	{ "listen: 127.0.0.1:70000\n", "E024", 1, 9, "range" },
	{ "listen: unix:relative\n", "E024", 1, 9, "unix:/" },
	{ OK "client_ip: {trusted_proxies: [10.0.0.1/8]}\n", "E024", 3, 31,
	    "beyond its prefix" },
	{ OK "client_ip: {trusted_proxies: [ten]}\n", "E024", 3, 31,
	    "10.0.0.0/8" },
	{ "listen: [127.0.0.1:80, 127.0.0.1:80]\n", "E025", 1, 24,
	    "already" },
	{ "listen: 127.0.0.1:80\nupstream: ftp://a\n", "E026", 2, 11,
	    "a URL begins with http:// or unix:" },
	{ "listen: 127.0.0.1:80\nupstream: http://127.0.0.1/api\n", "E026", 2,
	    11, "own path" },
	{ "listen: 127.0.0.1:80\nupstream: http://a@127.0.0.1\n", "E026", 2,
	    11, "user" },
	{ "listen: 127.0.0.1:80\nupstream: http://127.0.0.1:0\n", "E026", 2,
	    11, "port" },
	{ "listen: 127.0.0.1:80\nupstream: http://127.0.0.256\n", "E026", 2,
	    11, "host" },
	{ "listen: 127.0.0.1:80\nupstream: http://::1:80\n", "E026", 2, 11,
	    "brackets" },
	{ "listen: 127.0.0.1:80\nupstream: http://::1\n", "E026", 2, 11,
	    "host" },
	{ "listen: 127.0.0.1:80\nupstream: http://\n", "E026", 2, 11,
	    "host" },
	{ "listen: 127.0.0.1:80\nupstream: http://other.test\n", "E027", 2,
	    11, "other.test" },
	{ OK "store: {redis: \"http://127.0.0.1\"}\n", "E026", 3, 16,
	    "a URL begins with redis:// or unix:" },
	{ OK "store: {redis: \"redis://127.0.0.1/x\"}\n", "E026", 3, 16,
	    "DATABASE" },
	{ OK "store: {redis: \"redis://other.test\"}\n", "E027", 3, 16,
	    "other.test" },
	{ OK "cors: {allow_origins: [https://a.example/]}\n", "E026", 3, 24,
	    "no path" },
	{ OK "store: {redis: \"unix:/r\", password: {file: none}}\n", "E028",
	    3, 37, "/etc/weir/none" },
	{ OK "store: {redis: \"unix:/r\", password: {env: NONE}}\n", "E028", 3,
	    37, "NONE" },
	{ OK "store: {redis: \"unix:/r\", password: {env: NONE}}\n", "E028", 3,
	    37, "set the variable" },
	{ OK "store: {redis: \"unix:/r\", secret: {credential: /a/b}}\n",
	    "E028", 3, 35, "write its name alone" },
	{ OK "store: {redis: \"unix:/r\", secret: {credential: none}}\n",
	    "E028", 3, 35, "/cred/none" },
	{ OK "store: {redis: \"unix:/r\", secret: {env: A, file: b}}\n",
	    "E036", 3, 35, "one place" },
	{ OK "store: {redis: \"unix:/r\", username: u}\n", "E011", 3, 8,
	    "password" },
	{ OK "store: {redis: \"redis://127.0.0.1/1\", database: 2}\n", "E036",
	    3, 16, "database" },
	{ OK "lookups: {a: {file: none}}\n", "E001", 3, 21,
	    "/etc/weir/none" },
	{ OK "include: none.yaml\n", "E030", 3, 10, "none.yaml" },
	{ OK "include: {a: b}\n", "E014", 3, 10, "path" },

	/* rates: F058, F059 */
	{ OK "policies: [{name: a, key: all, limit: 100}]\n", "E031", 3, 39,
	    "100/10s" },
	{ OK "policies: [{name: a, key: all, limit: 100/10}]\n", "E031", 3,
	    39, "100/10s" },
	{ OK "policies: [{name: a, key: all, limit: 10/sec}]\n", "E031", 3,
	    39, "10/s" },
	{ OK "policies: [{name: a, key: all, limit: 1/1mo}]\n", "E031", 3, 39,
	    "months" },
	{ OK "policies: [{name: a, key: all, limit: 1/1M}]\n", "E031", 3, 39,
	    "m (minutes)" },
	{ OK "policies: [{name: a, key: all, limit: 0/s}]\n", "E018", 3, 39,
	    "10^12" },
	{ OK "policies: [{name: a, key: all, limit: 999999999989/366d}]\n",
	    "E032", 3, 39, "exactly" },
	{ OK "policies: [{name: a, key: all, limit: 7/366d, burst: "
	    "1000000000000}]\n", "E032", 3, 54, "smaller burst" },
	{ OK "policies: [{name: a, key: all, limit: [{rate: 7/366d, burst: "
	    "1000000000000}]}]\n", "E032", 3, 62, "smaller burst" },
	{ OK "policies: [{name: a, key: all, limit: 999999999989/366d, "
	    "burst: 999999999989}]\n", "E032", 3, 39, "smaller number" },
	{ OK "policies: [{name: a, key: all, limit: [1/s, 2/1000ms]}]\n",
	    "E033", 3, 45, "same period" },
	{ OK "policies: [{name: a, key: all, limit: [1/s, 2/m, 3/h, 4/d, "
	    "5/2d]}]\n", "E033", 3, 60, "more than 4" },
	{ OK "policies: [{name: a, key: all, limit: [{burst: 3}]}]\n", "E011",
	    3, 40, "rate" },
	{ OK "policies: [{name: a, key: all, limit: [{rate: 1/s, burst: 0}]"
	    "}]\n", "E018", 3, 59, "burst" },
	{ OK "policies: [{name: a, key: all, limit: [1/s], burst: 3}]\n",
	    "E034", 3, 53, "{rate: 10/s, burst: 30}" },
	{ OK "policies: [{name: a, key: all, limit: plan, burst: 3}]\n",
	    "E034", 3, 52, "single rate" },
	{ OK "policies: [{name: a, key: all, limit: none, burst: 3}]\n",
	    "E034", 3, 52, "single rate" },
	{ OK "policies: [{name: a, key: all, limit: 1/s, burst: 3, "
	    "algorithm: sliding_log}]\n", "E034", 3, 51, "sliding_log" },
	{ OK "policies: [{name: a, key: all, limit: [{rate: 1/s, burst: 3}], "
	    "algorithm: fixed_window}]\n", "E034", 3, 39, "fixed_window" },
	{ OK "plans: {p: {limit: {rate: 1/s, burst: 3}}}\npolicies: [{name: a,"
	    " key: all, limit: plan, algorithm: sliding_window}]\n", "E034",
	    4, 39, "plan p" },
	{ OK "policies: [{name: a, key: all, limit: 1001/s, algorithm: "
	    "sliding_log}]\n", "E035", 3, 39, "sliding_window" },
	{ OK "plans: {p: {limit: 1001/s}}\npolicies: [{name: a, key: all, "
	    "limit: plan, algorithm: sliding_log}]\n", "E035", 4, 39,
	    "plan p" },
	{ OK "policies: [{name: a, key: all, limit: 1/s, align: first}]\n",
	    "E036", 3, 51, "fixed_window" },
	{ OK "policies: [{name: a, key: all, limit: 1/s, cost: 0}]\n", "E018",
	    3, 50, "cost" },
	{ OK "policies: [{name: a, key: all, limit: {rate: 1/s, count: 3}}]\n",
	    "E009", 3, 51, "keys here: rate, burst" },
	{ OK "limits: {target_bytes: 64KiB}\n", "E036", 3, 24,
	    "header_bytes" },

	/* keys and patterns */
	{ OK "policies: [{name: a, key: ip, limit: 1/s}]\n", "E037", 3, 27,
	    "client_ip" },
	{ OK "policies: [{name: a, key: client-ip, limit: 1/s}]\n", "E037", 3,
	    27, "did you mean 'client_ip'? one of: caller, client_ip, "
	    "header:NAME" },
	{ OK "policies: [{name: a, key: clientip, limit: 1/s}]\n", "E037", 3,
	    27, "did you mean 'client_ip'" },
	{ OK "policies: [{name: a, key: x-api-key, limit: 1/s}]\n", "E037", 3,
	    27, "did you mean 'header:x-api-key'" },
	{ OK "policies: [{name: a, key: X-Host, limit: 1/s}]\n", "E037", 3,
	    27, "did you mean 'header:X-Host'" },
	{ OK "policies: [{name: a, key: user-agent, limit: 1/s}]\n", "E037",
	    3, 27, "did you mean 'header:user-agent'" },
	{ OK "policies: [{name: a, key: headers, limit: 1/s}]\n", "E037", 3,
	    27, "did you mean 'header:NAME'" },
	{ OK "policies: [{name: a, key: \"header:\", limit: 1/s}]\n", "E037",
	    3, 27, "missing" },
	{ OK "policies: [{name: a, key: [host, host], limit: 1/s}]\n", "E037",
	    3, 34, "already" },
	{ OK "policies: [{name: a, key: [all, host], limit: 1/s}]\n", "E037",
	    3, 27, "all" },
	{ OK "callers: [{name: a, key: caller}]\n", "E037", 3, 26,
	    "itself" },
	{ OK "callers: [{name: a, key: [host, method], lookup: b}]\nlookups: "
	    "{b: {file: good.map}}\n", "E036", 3, 50, "one part" },
	{ OK "callers: [{name: a, unknown: deny}]\n", "E036", 3, 30,
	    "lookup" },
	{ OK "routes: [{name: a, match: {path: a}}]\n", "E038", 3, 34, "/" },
	{ OK "routes: [{name: a, match: {path: /a/**/b}}]\n", "E038", 3, 34,
	    "last" },
	{ OK "routes: [{name: a, match: {method: get}}]\n", "E038", 3, 36,
	    "write GET" },
	{ OK "routes: [{name: a, match: {method: \"a b\"}}]\n", "E038", 3, 36,
	    "method" },
	{ OK "routes: [{name: a, match: {host: \"a:80\"}}]\n", "E038", 3, 34,
	    "port" },
	{ OK "routes: [{name: a, match: {header: \"a b\"}}]\n", "E038", 3, 36,
	    "name" },
	{ OK "routes: [{name: a, match: {header: [a]}}]\n", "E014", 3, 36,
	    "mapping" },
	{ OK "routes: [{name: a, match: []}]\n", "E014", 3, 27, "mapping" },
	{ OK "routes: [{name: a, match: {not: a}}]\n", "E014", 3, 33,
	    "mapping" },
	{ OK "policies: [{name: a, key: all, limit: 1/s, exempt: [b]}]\n",
	    "E038", 3, 53, "caller:NAME, plan:NAME, route:NAME, a network or "
	    "client_ip:NETWORK, method:NAME, host:NAME, path:PATTERN" },

	/* in the language, but not served yet */
	{ OK "shed: {in_flight: 3}\n", "E010", 3, 1, "shed" },
	{ OK "admin: {address: 127.0.0.1:1}\n", "E010", 3, 8, "admin" },
	{ "listen: fd:http\n", "E010", 1, 9, "fd:" },
	{ "listen: fd:http\n", "E010", 1, 9, "use host:port" },
	{ "listen: [{address: 127.0.0.1:80, tls: {}}]\n", "E010", 1, 34,
	    "tls" },
	{ "listen: [{address: 127.0.0.1:80, proxy_protocol: v2}]\n", "E010",
	    1, 50, "proxy_protocol" },
	{ "listen: 127.0.0.1:80\nupstream: https://a\n", "E010", 2, 11,
	    "https://" },
	{ "listen: 127.0.0.1:80\nupstream: https://a\n", "E010", 2, 11,
	    "use http:// for now" },
	{ OK "callers: [{name: a, priority: low}]\n", "E010", 3, 21,
	    "'priority' is not supported yet" },
	{ OK "routes: [{name: a, priority: low}]\n", "E010", 3, 20,
	    "'priority' is not supported yet" },
	{ OK "store: {redis: \"rediss://a\"}\n", "E010", 3, 16, "rediss://" },
	{ OK "store: {redis: \"rediss://a\"}\n", "E010", 3, 16,
	    "use redis://" },
	{ OK "store: {redis: \"sentinel://a@b:1\"}\n", "E010", 3, 16,
	    "sentinel://" },
	{ OK "store: {redis: \"cluster://a:1\"}\n", "E010", 3, 16,
	    "cluster://" },
	{ OK "store: {snapshot: a}\n", "E010", 3, 9, "snapshot" },
	{ OK "headers: {ietf: draft-10}\n", "E010", 3, 17, "ietf" },
	{ OK "limits: {connections_per_client: 9}\n", "E010", 3, 34,
	    "connections_per_client" },
	{ OK "policies: [{name: a, key: all, concurrency: 3}]\n", "E010", 3,
	    32, "concurrency" },
	{ OK "policies: [{name: a, key: all, limit: 1/s, cost: {reserve: 1}}]"
	    "\n", "E010", 3, 44, "settle" },
	{ OK "policies: [{name: a, key: all, limit: 1/s, cost: {reserve: 1}}]"
	    "\n", "E010", 3, 44, "use a whole number" },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static enum err
load(const char *yaml, struct findings *found)
{
	struct config *config = NULL;
	enum err e;

	memset(found, 0, sizeof(*found));
	e = load_text(span_str(yaml), "weir.yaml", &config_env, found,
	    &config);
	ck_assert((e == ERR_OK) == (config != NULL));
	config_unref(config);
	return e;
}

static void
show(const struct findings *found)
{
	struct text out = { 0 };

	findings_print_text(found, &out);
	fprintf(stderr, "%s", text_cstr(&out));
	text_fini(&out);
}

static void
setup(void)
{
	hash_init();
	config_env_clear();
	config_env_add("/etc/weir/good.map", "# nobody\n");
}

static const struct finding *
first_error(const struct findings *found)
{
	for (unsigned i = 0; i < found->n; i++)
		if (found->items[i].severity == SEVERITY_ERROR)
			return &found->items[i];
	return NULL;
}

START_TEST(test_row)
{
	const struct mistake *row = &rows[_i];
	const struct finding *x;
	struct findings found;

	ck_assert_int_eq(load(row->yaml, &found), ERR_CONFIG);
	show(&found);
	ck_assert_uint_eq(found.errors, 1);
	x = first_error(&found);
	ck_assert_str_eq(x->code, row->code);
	ck_assert_uint_eq(x->line, row->line);
	ck_assert_uint_eq(x->column, row->column);
	ck_assert_msg(strstr(x->message, row->says) != NULL ||
	    (x->help != NULL && strstr(x->help, row->says) != NULL),
	    "%s does not stand in: %s / %s", row->says, x->message,
	    x->help != NULL ? x->help : "-");
	findings_fini(&found);
}
END_TEST

/* Each code is met by a row, or by a test of its own. */
START_TEST(test_every_code_is_met)
{
	static const enum finding_id elsewhere[] = { FINDING_LOOKUP,
		FINDING_MANY };

	for (int id = 0; id < FINDING_COUNT; id++) {
		const char *code = findings_code((enum finding_id)id);
		bool met = code[0] == 'W';

		for (size_t i = 0; i < ROWS; i++)
			met |= strcmp(rows[i].code, code) == 0;
		for (size_t i = 0; i < 2; i++)
			met |= elsewhere[i] == (enum finding_id)id;
		ck_assert_msg(met, "no row for %s, %s", code,
		    findings_about((enum finding_id)id));
		ck_assert_uint_gt(strlen(findings_about(
		    (enum finding_id)id)), 5);
	}
}
END_TEST

START_TEST(test_codes_are_unique)
{
	for (int a = 0; a < FINDING_COUNT; a++)
		for (int b = 0; b < a; b++)
			ck_assert_str_ne(findings_code((enum finding_id)a),
			    findings_code((enum finding_id)b));
}
END_TEST

/* F056: all errors of a file come in one run, in its order. */
START_TEST(test_all_errors_in_one_run)
{
	struct findings found;

	ck_assert_int_eq(load("upstream: ftp://x\nmatch: {path: /}\n"
	    "workers: yes\nlisten: 1\npolicies:\n  - name: A\n"
	    "    burts: 1\n", &found), ERR_CONFIG);
	show(&found);
	ck_assert_uint_eq(found.errors, 8);
	for (unsigned i = 1; i < found.n; i++)
		ck_assert_uint_ge(found.items[i].line,
		    found.items[i - 1].line);
	ck_assert_str_eq(found.items[0].code, "E026");
	ck_assert_str_eq(found.items[7].path, "policies[0].burts");
	findings_fini(&found);
}
END_TEST

START_TEST(test_text_form)
{
	struct findings found;
	struct text out = { 0 };

	load(POLICY "    # x\nwrokers: 1\n", &found);
	findings_print_text(&found, &out);
	ck_assert_str_eq(text_cstr(&out),
	    "weir.yaml:6:1: error[E009]: unknown key 'wrokers' at the top "
	    "level\n"
	    "  |\n"
	    "6 | wrokers: 1\n"
	    "  | ^^^^^^^\n"
	    "  = help: did you mean 'workers'?\n"
	    "\n"
	    "1 error, 0 warnings\n");
	text_clear(&out);
	findings_print_json(&found, &out);
	ck_assert_str_eq(text_cstr(&out),
	    "{\"findings\":[\n"
	    " {\"code\":\"E009\",\"severity\":\"error\",\"file\":\"weir.yaml\","
	    "\"line\":6,\"column\":1,\"path\":\"wrokers\",\"message\":"
	    "\"unknown key 'wrokers' at the top level\",\"help\":\"did you "
	    "mean 'workers'?\"}],\n"
	    " \"errors\":1,\"warnings\":0}\n");
	text_fini(&out);
	findings_fini(&found);
}
END_TEST

/* The caret stands under the place: tabs, wide characters, cut lines. */
START_TEST(test_caret)
{
	struct findings found;
	struct text out = { 0 };
	char yaml[1000];
	char *line, *caret;

	snprintf(yaml, sizeof(yaml), "%slog: {level: \"%0300d\", access: "
	    "{format: \"\xc3\xa4\",\tpath: [x]}}\n", OK, 1);
	load(yaml, &found);
	ck_assert_uint_eq(found.errors, 3);
	findings_print_text(&found, &out);
	line = strstr(text_cstr(&out), "path: [x]");
	ck_assert_ptr_nonnull(line);
	line = strstr(line, "a list");
	ck_assert_ptr_nonnull(line);
	line = strstr(line, "\n3 | ");
	caret = strchr(strchr(line + 1, '\n') + 1, '^');
	ck_assert_ptr_nonnull(caret);
	/* One octet more before it: the umlaut has two. */
	ck_assert_int_eq(*(line + 1 + (caret -
	    strchr(line + 1, '\n') - 1) + 1), '[');
	text_fini(&out);
	findings_fini(&found);
}
END_TEST

START_TEST(test_all_that_are_kept_are_shown)
{
	struct findings found;
	struct text yaml = { 0 }, out = { 0 };
	const char *p;
	unsigned shown = 0;

	text_append_str(&yaml, OK);
	for (int i = 0; i < 600; i++)
		text_printf(&yaml, "unknown-key-%d: 1\n", i);
	load(text_cstr(&yaml), &found);
	ck_assert_uint_eq(found.errors, 600);
	ck_assert_uint_eq(found.n, FINDINGS_KEPT);
	findings_print_text(&found, &out);
	for (p = text_cstr(&out); (p = strstr(p, "error[")) != NULL; p++)
		shown++;
	ck_assert_uint_eq(shown, FINDINGS_KEPT);
	ck_assert_ptr_nonnull(strstr(text_cstr(&out),
	    "... and 100 more\n"));
	text_fini(&yaml);
	text_fini(&out);
	findings_fini(&found);
}
END_TEST

START_TEST(test_42_errors)
{
	struct findings found;
	struct text yaml = { 0 }, out = { 0 };

	text_append_str(&yaml, OK);
	for (int i = 0; i < 42; i++)
		text_printf(&yaml, "unknown-key-%d: 1\n", i);
	load(text_cstr(&yaml), &found);
	findings_print_text(&found, &out);
	for (int i = 0; i < 42; i++) {
		char place[40];

		snprintf(place, sizeof(place), "weir.yaml:%d:1: error[", i + 3);
		ck_assert_ptr_nonnull(strstr(text_cstr(&out), place));
	}
	ck_assert_ptr_null(strstr(text_cstr(&out), "more"));
	ck_assert_ptr_nonnull(strstr(text_cstr(&out), "42 errors, "));
	text_fini(&yaml);
	text_fini(&out);
	findings_fini(&found);
}
END_TEST

/* What is wrong with a file as a whole has no place in it. */
START_TEST(test_no_place)
{
	struct config *config = NULL;
	struct findings found = { 0 };
	struct text out = { 0 };

	ck_assert_int_eq(config_load("/nonexistent/weir.yaml", &found,
	    &config), ERR_CONFIG);
	findings_print_text(&found, &out);
	ck_assert_ptr_nonnull(strstr(text_cstr(&out),
	    "/nonexistent/weir.yaml: error[E001]"));
	text_clear(&out);
	findings_print_json(&found, &out);
	ck_assert_ptr_nonnull(strstr(text_cstr(&out),
	    "\"line\":null,\"column\":null,"));
	text_fini(&out);
	findings_fini(&found);
}
END_TEST

/* Where a secret comes from is no secret. */
START_TEST(test_words_before_secrets_are_shown)
{
	static const struct {
		const char *line, *shown;
	} lines[] = {
		{ "store: {password: {file: a/b}, xx: 1}",
		    "3 | store: {password: {file: a/b}, xx: 1}\n" },
		{ "store: {secret: {env: NONE}, xx: 1}",
		    "3 | store: {secret: {env: NONE}, xx: 1}\n" },
		{ "store: {secret: {\"credential\": n}, xx: 1}",
		    "3 | store: {secret: {\"credential\": n}, xx: 1}\n" },
		{ "store: {password: {fiel: a}, xx: 1}",
		    "3 | store: {password: {****: *}, xx: 1}\n" },
		{ "store: {password: [file], xx: 1}",
		    "3 | store: {password: [****], xx: 1}\n" },
		{ "store: {password: file, xx: 1}",
		    "3 | store: {password: ****, xx: 1}\n" },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct findings found;
		struct text yaml = { 0 }, out = { 0 };

		text_printf(&yaml, OK "%s\n", lines[i].line);
		load(text_cstr(&yaml), &found);
		findings_print_text(&found, &out);
		ck_assert_msg(strstr(text_cstr(&out), lines[i].shown) != NULL,
		    "%s", text_cstr(&out));
		text_fini(&yaml);
		text_fini(&out);
		findings_fini(&found);
	}
}
END_TEST

static const char *
no_variable(const char *name)
{
	(void)name;
	return NULL;
}

START_TEST(test_no_credentials)
{
	struct env env = config_env;
	struct config *config = NULL;
	struct findings found = { 0 };

	env.variable = no_variable;
	ck_assert_int_eq(load_text(SPAN(OK "store: {redis: 'unix:/r', secret: "
	    "{credential: a}}\n"), "weir.yaml", &env, &found, &config),
	    ERR_CONFIG);
	ck_assert_uint_eq(found.errors, 1);
	ck_assert_str_eq(found.items[0].code, "E028");
	ck_assert_ptr_nonnull(strstr(found.items[0].help, "systemd sets it"));
	ck_assert_ptr_nonnull(strstr(found.items[0].help, "LoadCredential="));
	findings_fini(&found);
}
END_TEST

/* F054: whatever is wrong, neither form ever shows a secret. */
START_TEST(test_secrets_are_never_shown)
{
	static const char *const files[] = {
		"store: {redis: \"unix:/r\", password: \"hunter2\", xx: 1}\n",
		"store: {redis: \"unix:/r\", password: hunter2, xx: 1}\n",
		"store: {redis: \"redis://u:hunter2@127.0.0.1:xx\"}\n",
		"store: {redis: \"http://u:hunter2@127.0.0.1\", xx: 1}\n",
		"store: {redis: \"redis://u:p@hunter2@127.0.0.1\"}\n",
		"store: {redis: \"redis://:hunter2%zz@127.0.0.1\"}\n",
		"store: {redis: \"redis://:hunter2?#@127.0.0.1\"}\n",
		"store: redis://u:hunter2@127.0.0.1\n",
		"store: {redis: \"unix:/r\", password: [hunter2]}\n",
		"store: {redis: \"unix:/r\", password: \"hunter2}\n",
		"store: {redis: \"unix:/r\", password: hunter2\n",
		"store: {redis: \"unix:/r\", secret: \"hunter2\", xx: 1}\n",
		("store: {redis: \"unix:/r\", password: |\n   hunter2\n"
		    "  , x: 1}\n"),
		"upstream: http://u:hunter2@127.0.0.1\n",
		"admin: {token: hunter2}\nxx: 1\n",
		"lookups: {a: {file: bad.map}}\n",
	};

	config_env_add("/etc/weir/bad.map", "hunter2 gold\n");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct findings found;
		struct text yaml = { 0 }, out = { 0 };

		text_printf(&yaml, "listen: 127.0.0.1:80\n%s", files[i]);
		load(text_cstr(&yaml), &found);
		ck_assert_uint_gt(found.n, 0);
		findings_print_text(&found, &out);
		findings_print_json(&found, &out);
		ck_assert_msg(strstr(text_cstr(&out), "hunter2") == NULL,
		    "shown:\n%s", text_cstr(&out));
		text_fini(&yaml);
		text_fini(&out);
		findings_fini(&found);
	}
}
END_TEST

START_TEST(test_alias_bomb)
{
	struct findings found;
	struct text yaml = { 0 };

	text_append_str(&yaml, "a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 12; i++) {
		text_printf(&yaml, "a%d: &a%d [", i, i);
		for (int j = 0; j < 9; j++)
			text_printf(&yaml, "%s*a%d", j > 0 ? "," : "", i - 1);
		text_append_str(&yaml, "]\n");
	}
	ck_assert_int_eq(load(text_cstr(&yaml), &found), ERR_CONFIG);
	ck_assert_str_eq(found.items[0].code, "E007");
	ck_assert_ptr_nonnull(strstr(found.items[0].message, "10000"));
	text_fini(&yaml);
	findings_fini(&found);
}
END_TEST

/* As deep as is allowed, and one deeper (in the table). */
START_TEST(test_depth)
{
	struct findings found;

	load("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
	    "]]]]", &found);
	ck_assert_uint_eq(found.n, 1);
	ck_assert_str_eq(found.items[0].code, "E014");
	findings_fini(&found);
}
END_TEST

START_TEST(test_too_many_items)
{
	struct findings found;
	struct text yaml = { 0 };

	text_append_str(&yaml, OK "client_ip: {trusted_proxies: [");
	for (int i = 0; i < 10001; i++)
		text_append_str(&yaml, "10.0.0.1,");
	text_append_str(&yaml, "]}\n");
	ck_assert_int_eq(load(text_cstr(&yaml), &found), ERR_CONFIG);
	ck_assert_uint_eq(found.errors, 1);
	ck_assert_str_eq(found.items[0].code, "E039");
	text_fini(&yaml);
	findings_fini(&found);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("config errors");
	TCase *tc = tcase_create("all");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, test_row, 0, (int)ROWS);
	tcase_add_test(tc, test_every_code_is_met);
	tcase_add_test(tc, test_codes_are_unique);
	tcase_add_test(tc, test_all_errors_in_one_run);
	tcase_add_test(tc, test_text_form);
	tcase_add_test(tc, test_caret);
	tcase_add_test(tc, test_all_that_are_kept_are_shown);
	tcase_add_test(tc, test_42_errors);
	tcase_add_test(tc, test_no_place);
	tcase_add_test(tc, test_words_before_secrets_are_shown);
	tcase_add_test(tc, test_no_credentials);
	tcase_add_test(tc, test_secrets_are_never_shown);
	tcase_add_test(tc, test_alias_bomb);
	tcase_add_test(tc, test_depth);
	tcase_add_test(tc, test_too_many_items);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
