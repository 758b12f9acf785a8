#ifndef WEIR_BASE_HASH_H
#define WEIR_BASE_HASH_H

#include "base/span.h"

/* Keyed hashes of identities. hash.c alone knows libsodium. */

struct hash_key {
	unsigned char bytes[16];
};

struct hash128 {
	uint64_t lo, hi;
};

#define HASH_TEXT_LEN 22	/* base64url of 128 bits, no padding */

/* Once, before any other call, from the first thread. Aborts on failure. */
void hash_init(void);

/* A key from a secret of any length (BLAKE2b), bound to a purpose: the same
 * secret and purpose give the same key on every weir. */
void hash_key_derive(struct hash_key *ret, struct span secret,
    const char *purpose);

/* A key from the kernel's random source. */
void hash_key_random(struct hash_key *ret);

/* SipHash-2-4 with 128 bits of output: a keyed pseudo-random function, so a
 * guess at an identity cannot be tested without the key. */
struct hash128 hash_keyed(const struct hash_key *key, const void *data,
    size_t len);

/* Unkeyed 64 bits, for names out of the configuration only (FNV-1a). */
uint64_t hash_name(struct span name);

/* Write HASH_TEXT_LEN octets, no NUL. Byte order does not depend on the
 * machine. */
void hash_to_text(struct hash128 h, char *ret);

void hash_sha256(struct span data, unsigned char ret[32]);
/* 64 hexadecimal digits, either case. ERR_SYNTAX otherwise. */
enum err hash_parse_hex256(struct span hex, unsigned char ret[32]);

/* Random octets, for identifiers and jitter seeds. */
void hash_random(void *ret, size_t len);

static inline bool
hash_equal(struct hash128 a, struct hash128 b)
{
	return a.lo == b.lo && a.hi == b.hi;
}

#endif
