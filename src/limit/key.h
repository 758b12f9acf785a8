#ifndef WEIR_LIMIT_KEY_H
#define WEIR_LIMIT_KEY_H

#include "base/hash.h"
#include "base/text.h"
#include "limit/request.h"

/* Who shares a count: one typed part, or several that count together. */

enum key_source {
#define KEY(id, name, named) KEY_##id,
#include "limit/key.def"
#undef KEY
	KEY_SOURCES
};

#define KEY_PARTS_MAX 8

struct key_part {
	enum key_source source;
	char *name;		/* header, query, cookie; owned */
	uint64_t name_hash;	/* of key_part_parse; 0 without name */
};

struct key_spec {
	struct key_part parts[KEY_PARTS_MAX];
	unsigned n;			/* 0: client_ip */
};

struct scratch;

/* How identities are made: the same on all weirs that share a store. */
struct key_rule {
	struct hash_key secret;
	uint8_t ipv4_bits, ipv6_bits;	/* prefix that counts as one client */
};

/*
 * The identity of the request under that spec. Every part is typed and its
 * value hashed on its own, then the list of (type, name, length, hash); a key
 * of one part with a short value is one hash of (type, name, length, value).
 * Tuples never collide and no raw value leaves this function. An address part
 * is the client's, masked. A caller part is the class name and the class's own
 * key.
 * ERR_NOT_FOUND: a part is missing (its index in *ret_missing): no such field,
 * an empty value, a Unix peer without address, a caller whose key is missing.
 */
enum err key_build(const struct key_spec *spec, const struct key_rule *rule,
    const struct request *req, struct hash128 *ret, unsigned *ret_missing);

/*
 * The same, but the address of the connection's other end (masked, of a type
 * of its own) stands in for each part that is missing. ERR_NOT_FOUND: there is
 * none either, as the peer is a Unix socket.
 */
enum err key_build_peer(const struct key_spec *spec,
    const struct key_rule *rule, const struct request *req,
    struct hash128 *ret, unsigned *ret_missing);

/*
 * The text of a key of one part (not caller or all), as lookup files have it:
 * an address in full, several lines of a header joined by ", ". A view into
 * req or scratch. False: missing, or several parts.
 */
bool key_value(const struct key_spec *spec, const struct request *req,
    struct scratch *scratch, struct span *ret);

/*
 * What people may see of the key: networks, hosts, methods, paths, routes and
 * class names as they are, everything that could be a secret (header, query,
 * cookie) as "h:" and 12 characters of its keyed hash; parts joined by "+". A
 * caller is "class:key". What is missing, and no route, is "-".
 */
void key_print(const struct key_spec *spec, const struct key_rule *rule,
    const struct request *req, struct text *out);

/* "header:x-api-key" and so on. ERR_NOT_FOUND: no such source; ERR_SYNTAX: a
 * name is missing, not a token, or not wanted. Header names become lower case. */
enum err key_part_parse(struct span text, struct key_part *ret);
void key_part_print(const struct key_part *part, struct text *out);
const char *key_source_name(enum key_source source);
void key_spec_fini(struct key_spec *spec);

/* Same source list and names: state found under one belongs to the other. */
uint64_t key_spec_hash(const struct key_spec *spec);

#endif
