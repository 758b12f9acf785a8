#ifndef WEIR_CONFIG_TYPES_H
#define WEIR_CONFIG_TYPES_H

#include "config/schema.h"

/* The types of keys, a file a group: how each is read and printed. */

/* type_scalar.c */
extern const struct type type_bool, type_integer, type_duration, type_size,
    type_percent, type_share, type_word, type_text, type_path, type_name,
    type_origins;
/* Only "none" so far. */
extern const struct type type_none;
/* In the language, but not served yet. */
extern const struct type type_later;

/* type_section.c: one mapping; a list of them; a mapping of them by name. */
extern const struct type type_section, type_sections, type_named,
    type_access;

/* type_net.c */
extern const struct type type_listens, type_servers, type_upstream,
    type_upstream_name, type_client_source, type_networks;
extern const struct type type_listen_address, type_server_url;

bool type_network(struct load *load, const struct key *key,
    const struct node *node, struct cidr *ret);
void type_print_network(struct emit *emit, const struct cidr *cidr);

/* type_store.c */
extern const struct type type_redis, type_secret, type_store_secret;
extern const struct section type_password_section, type_secret_section;
/* The end of section store: the key of identities. */
void type_store_end(struct load *load, const struct node *node, void *base);

/* type_match.c */
extern const struct type type_match, type_exempt;
/* What a caller, a route and a policy may be matched by. */
extern const struct section type_match_caller, type_match_route,
    type_match_policy;

/* type_rules.c */
extern const struct type type_callers, type_key, type_plan_name,
    type_lookup_name, type_unknown, type_route_policies, type_route_cost;
const struct plan *type_find_plan(const struct config *config,
    const char *name);

/* type_limit.c */
extern const struct type type_limits, type_policy_limit, type_burst,
    type_cost;
extern const struct section type_plan_rates, type_policy_rates;
/* The end of section policies[]: what its keys say together. */
void type_policy_end(struct load *load, const struct node *node, void *base);

/* Out of key->min and ->max, in the unit of the type. */
void type_print_range(const struct key *key, struct text *out);

/* The scalar's text, or NULL after saying what is wrong: not a scalar, empty
 * (unless it is not to be). */
const char *type_scalar(struct load *load, const struct key *key,
    const struct node *node);

/* A token of HTTP (RFC 9110, 5.6.2), not empty. */
bool type_is_token(struct span text);

#endif
