#include "base/hash.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>

#include <sodium.h>

void
hash_init(void)
{
	if (sodium_init() < 0) {
		fputs("weir: libsodium finds no source of randomness\n",
		    stderr);
		abort();
	}
}

void
hash_key_derive(struct hash_key *ret, struct span secret, const char *purpose)
{
	unsigned char root[crypto_generichash_KEYBYTES_MAX];

	/* BLAKE2b takes keys of 16..64 octets; the secret may have any. */
	crypto_generichash(root, sizeof(root),
	    (const unsigned char *)secret.ptr, secret.len, NULL, 0);
	crypto_generichash(ret->bytes, sizeof(ret->bytes),
	    (const unsigned char *)purpose, strlen(purpose), root,
	    sizeof(root));
	sodium_memzero(root, sizeof(root));
}

void
hash_key_random(struct hash_key *ret)
{
	randombytes_buf(ret->bytes, sizeof(ret->bytes));
}

static uint64_t
load_le64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static void
store_le64(unsigned char *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

struct hash128
hash_keyed(const struct hash_key *key, const void *data, size_t len)
{
	unsigned char out[crypto_shorthash_siphashx24_BYTES];

	_Static_assert(sizeof(key->bytes) ==
	    crypto_shorthash_siphashx24_KEYBYTES, "SipHash key");
	crypto_shorthash_siphashx24(out, data, len, key->bytes);
	return (struct hash128){ load_le64(out), load_le64(out + 8) };
}

uint64_t
hash_name(struct span name)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < name.len; i++)
		h = (h ^ (unsigned char)name.ptr[i]) *
		    UINT64_C(0x100000001b3);
	return h;
}

void
hash_to_text(struct hash128 h, char *ret)
{
	unsigned char bytes[16];
	char text[HASH_TEXT_LEN + 1];

	store_le64(bytes, h.lo);
	store_le64(bytes + 8, h.hi);
	sodium_bin2base64(text, sizeof(text), bytes, sizeof(bytes),
	    sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	memcpy(ret, text, HASH_TEXT_LEN);
}

void
hash_sha256(struct span data, unsigned char ret[32])
{
	crypto_hash_sha256(ret, (const unsigned char *)data.ptr, data.len);
}

enum err
hash_parse_hex256(struct span hex, unsigned char ret[32])
{
	unsigned char bytes[32];
	size_t n;
	const char *end;

	if (hex.len != 64 || sodium_hex2bin(bytes, sizeof(bytes), hex.ptr,
	    hex.len, NULL, &n, &end) != 0)
		return ERR_SYNTAX;
	if (n != sizeof(bytes) || end != hex.ptr + hex.len)
		return ERR_SYNTAX;
	memcpy(ret, bytes, sizeof(bytes));
	return ERR_OK;
}

void
hash_random(void *ret, size_t len)
{
	randombytes_buf(ret, len);
}
