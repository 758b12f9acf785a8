#ifndef WEIR_LIMIT_RULES_H
#define WEIR_LIMIT_RULES_H

#include "limit/algo.h"
#include "limit/key.h"
#include "limit/match.h"

/*
 * Everything the configuration says about who is limited and how: immutable
 * once checked, owned by the configuration. Names are owned strings.
 */

enum priority {
	PRIORITY_LOWEST, PRIORITY_LOW, PRIORITY_NORMAL, PRIORITY_CRITICAL
};

struct plan {
	char *name;
	struct limits limits;		/* n 0: no limit */
	struct limits local_limits;	/* of rules_finish */
};

enum unknown_action { UNKNOWN_NEXT, UNKNOWN_DENY, UNKNOWN_PLAN };

struct caller {
	char *name;
	struct match match;
	struct key_spec key;		/* n 0: client_ip */
	const struct lookup *lookup;	/* NULL: none */
	enum unknown_action unknown;
	const struct plan *unknown_plan;
	const struct plan *plan;	/* NULL: none */
	enum priority priority;
};

struct route {
	char *name;
	struct match match;
	int64_t cost;			/* 1.. */
	bool has_cost;
	int upstream;			/* index in the configuration, -1: default */
	bool no_policies;		/* policies: none */
	enum priority priority;
	bool has_priority;
};

enum policy_mode { MODE_ENFORCE, MODE_SHADOW, MODE_OFF };
enum on_store_error { STORE_ERROR_LOCAL, STORE_ERROR_ALLOW, STORE_ERROR_DENY };
enum on_missing_key { MISSING_SKIP, MISSING_DENY, MISSING_PEER };

struct policy {
	char *name;
	unsigned index;			/* place in rules.policies */
	enum policy_mode mode;
	struct match match;
	struct match *exempt;		/* any that fits exempts */
	unsigned nexempt;
	struct key_spec key;
	bool limit_is_plan;		/* limit: plan */
	struct limits limits;		/* otherwise; n 0: limit: none */
	struct limits local_limits;	/* of rules_finish: what one weir counts
					   alone while the store is away */
	enum algo_kind algorithm;
	bool align_first;
	int64_t cost;			/* 0: the route's */
	enum on_store_error on_store_error;
	enum on_missing_key on_missing_key;
	uint64_t tag;			/* hash of name, key and algorithm:
					   what its state is filed under */
};

struct rules {
	struct plan *plans;
	unsigned nplans;
	struct lookup **lookups;
	unsigned nlookups;
	struct caller *callers;		/* where none fits: the built-in one */
	unsigned ncallers;
	struct route *routes;
	unsigned nroutes;
	struct policy *policies;
	unsigned npolicies;
	struct key_rule key_rule;
	unsigned instances;		/* weirs that share the store */
};

/*
 * Derive what the rest rests on, once all else is set: the prepared rates of
 * policies and plans, their local_limits (each number divided by instances, at
 * least 1; rounded down a little more where that alone fits exact arithmetic),
 * every policy's index and tag. ERR_RANGE: rate_prepare refuses a rate.
 */
enum err rules_finish(struct rules *rules);

/* policy->tag, once name, key and algorithm are set. */
uint64_t policy_tag(const struct policy *policy);

/* What a request costs under that policy: 1.. */
int64_t policy_cost(const struct policy *policy, const struct request *req);

/*
 * Fill req->caller, ->plan and ->route. now: clock_now(), for plans with an
 * end. ERR_REFUSED: an unknown key where `unknown: deny` (401).
 * The class is the first whose match fits and whose lookup knows the key (or
 * has `unknown: deny` or a plan); a caller with lookup whose key is missing
 * does not fit. Where none fits: a built-in "anonymous", key client_ip, no
 * plan, which need not be among rules->callers.
 */
enum err rules_classify(const struct rules *rules, struct request *req,
    int64_t now);

/* Why a policy does or does not concern a classified request. */
enum policy_concern {
	CONCERN_YES, CONCERN_OFF, CONCERN_ROUTE_NONE, CONCERN_NO_MATCH,
	CONCERN_EXEMPT, CONCERN_NO_PLAN, CONCERN_NO_LIMIT
};
enum policy_concern policy_concerns(const struct policy *policy,
    const struct request *req);

void rules_fini(struct rules *rules);

/* The plans of keys: a file of "sha256 plan [until]", "#" comments. Keys are
 * looked up by the sha256 of their text. */
struct lookup;
struct lookup *lookup_new(const char *name);
void lookup_free(struct lookup *lookup);
const char *lookup_name(const struct lookup *lookup);
/*
 * Add one entry. until: last moment in microseconds since 1970, or INT64_MAX.
 * ERR_AMBIGUOUS: the key is there already.
 */
enum err lookup_add(struct lookup *lookup, const unsigned char sha256[32],
    const struct plan *plan, int64_t until);
/*
 * False: not listed, or its until has passed. *ret_plan may be NULL (listed
 * without a plan).
 */
bool lookup_find(const struct lookup *lookup, struct span key, int64_t now,
    const struct plan **ret_plan);
size_t lookup_count(const struct lookup *lookup);

#endif
