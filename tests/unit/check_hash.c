#include <check.h>
#include <stdlib.h>

#include "base/hash.h"

static struct hash_key
counting_key(void)
{
	struct hash_key key;

	for (size_t i = 0; i < sizeof(key.bytes); i++)
		key.bytes[i] = (unsigned char)i;
	return key;
}

/* From the reference vectors of SipHash-2-4 with 128 bits. */
START_TEST(siphash_vectors)
{
	struct hash_key key = counting_key();
	struct hash128 h = hash_keyed(&key, "", 0);

	ck_assert_uint_eq(h.lo, UINT64_C(0xe6a825ba047f81a3));
	ck_assert_uint_eq(h.hi, UINT64_C(0x930255c71472f66d));
	h = hash_keyed(&key, "\0", 1);
	ck_assert_uint_eq(h.lo, UINT64_C(0x44af996bd8c187da));
	ck_assert_uint_eq(h.hi, UINT64_C(0x45fc229b11597634));
}
END_TEST

START_TEST(key_and_data_matter)
{
	struct hash_key a = counting_key(), b = counting_key();

	b.bytes[15] ^= 1;
	ck_assert(hash_equal(hash_keyed(&a, "x", 1), hash_keyed(&a, "x", 1)));
	ck_assert(!hash_equal(hash_keyed(&a, "x", 1), hash_keyed(&b, "x", 1)));
	ck_assert(!hash_equal(hash_keyed(&a, "x", 1), hash_keyed(&a, "y", 1)));
	ck_assert(!hash_equal(hash_keyed(&a, "x", 1),
	    hash_keyed(&a, "x\0", 2)));
}
END_TEST

START_TEST(text_form)
{
	const struct hash128 h = { UINT64_C(0x0706050403020100),
	    UINT64_C(0xfffefdfcfbfaf9f8) };
	char text[HASH_TEXT_LEN + 1];

	memset(text, '#', sizeof(text));
	hash_to_text(h, text);
	ck_assert(span_equal(span_of(text, HASH_TEXT_LEN),
	    SPAN("AAECAwQFBgf4-fr7_P3-_w")));
	ck_assert_int_eq(text[HASH_TEXT_LEN], '#');
}
END_TEST

static bool
same_key(const struct hash_key *a, const struct hash_key *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

START_TEST(derive)
{
	struct hash_key a, b;
	char secret[300];

	memset(secret, 's', sizeof(secret));
	hash_key_derive(&a, span_of(secret, 300), "identity");
	hash_key_derive(&b, span_of(secret, 300), "identity");
	ck_assert(same_key(&a, &b));
	hash_key_derive(&b, span_of(secret, 299), "identity");
	ck_assert(!same_key(&a, &b));
	hash_key_derive(&b, span_of(secret, 300), "other");
	ck_assert(!same_key(&a, &b));
	/* The border between purpose and secret is not movable. */
	hash_key_derive(&a, SPAN("bc"), "a");
	hash_key_derive(&b, SPAN("c"), "ab");
	ck_assert(!same_key(&a, &b));
	hash_key_derive(&a, SPAN_EMPTY, "identity");
	hash_key_derive(&b, SPAN_EMPTY, "");
	ck_assert(!same_key(&a, &b));
}
END_TEST

/* Keys of a shared store must come out the same in every release. */
START_TEST(derive_is_stable)
{
	static const unsigned char expected[16] = {
		0x37, 0xd7, 0x63, 0x97, 0x90, 0x5f, 0x6b, 0x0d,
		0x15, 0x28, 0x0f, 0xa2, 0x9f, 0xa4, 0xae, 0x5c
	};
	struct hash_key key;

	hash_key_derive(&key, SPAN("secret"), "identity");
	ck_assert_mem_eq(key.bytes, expected, sizeof(expected));
}
END_TEST

START_TEST(names)
{
	ck_assert_uint_eq(hash_name(SPAN_EMPTY),
	    UINT64_C(0xcbf29ce484222325));
	ck_assert_uint_eq(hash_name(SPAN("a")),
	    UINT64_C(0xaf63dc4c8601ec8c));
	ck_assert_uint_eq(hash_name(SPAN("foobar")),
	    UINT64_C(0x85944171f73967e8));
}
END_TEST

START_TEST(sha256)
{
	unsigned char digest[32], parsed[32];

	hash_sha256(SPAN("abc"), digest);
	ck_assert_int_eq(hash_parse_hex256(SPAN("ba7816bf8f01cfea414140de5dae"
	    "2223b00361a396177a9cb410ff61f20015ad"), parsed), ERR_OK);
	ck_assert_mem_eq(digest, parsed, 32);
	hash_sha256(SPAN_EMPTY, digest);
	ck_assert_int_eq(hash_parse_hex256(SPAN("E3B0C44298FC1C149AFBF4C8996F"
	    "B92427AE41E4649B934CA495991B7852B855"), parsed), ERR_OK);
	ck_assert_mem_eq(digest, parsed, 32);
}
END_TEST

START_TEST(hex_refused)
{
	char hex[65];
	unsigned char out[32], before[32];

	memset(hex, 'a', sizeof(hex));
	memset(out, 7, sizeof(out));
	memcpy(before, out, sizeof(out));
	ck_assert_int_eq(hash_parse_hex256(span_of(hex, 63), out), ERR_SYNTAX);
	ck_assert_int_eq(hash_parse_hex256(span_of(hex, 65), out), ERR_SYNTAX);
	ck_assert_int_eq(hash_parse_hex256(SPAN_EMPTY, out), ERR_SYNTAX);
	for (size_t i = 0; i < 64; i++) {
		hex[i] = 'g';
		ck_assert_int_eq(hash_parse_hex256(span_of(hex, 64), out),
		    ERR_SYNTAX);
		hex[i] = 'a';
	}
	ck_assert_mem_eq(out, before, sizeof(out));
}
END_TEST

START_TEST(randomness)
{
	struct hash_key a, b;
	unsigned char bytes[17] = { 0 };

	hash_key_random(&a);
	hash_key_random(&b);
	ck_assert(!same_key(&a, &b));
	hash_random(bytes, 16);
	ck_assert_int_eq(bytes[16], 0);
	hash_random(&b, sizeof(b));
	ck_assert(!same_key(&a, &b));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("hash");
	TCase *tc = tcase_create("hash");
	SRunner *runner = srunner_create(suite);
	int failed;

	hash_init();
	suite_add_tcase(suite, tc);
	tcase_add_test(tc, siphash_vectors);
	tcase_add_test(tc, key_and_data_matter);
	tcase_add_test(tc, text_form);
	tcase_add_test(tc, derive);
	tcase_add_test(tc, derive_is_stable);
	tcase_add_test(tc, names);
	tcase_add_test(tc, sha256);
	tcase_add_test(tc, hex_refused);
	tcase_add_test(tc, randomness);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
