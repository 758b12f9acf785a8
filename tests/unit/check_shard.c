#include "memory_ask.h"
#include "store/shard.h"

/*
 * Fingerprints that all point to the end, where the table has only its spill:
 * no more than that fit, whatever its size, and none may be lost unnoticed or
 * written beyond.
 */
START_TEST(fingerprints_crowded_at_the_end)
{
	const struct algo *algo = algo_get(ALGO_TOKEN_BUCKET);
	const struct limits limits = limits_of("10/h", NULL);
	const size_t space = shard_space(SHARD_SHARE_MIN);
	void *memory = aligned_alloc(4096, space);
	struct shard shard;
	unsigned found = 0;

	memset(memory, 0, space);
	shard_init(&shard, memory, SHARD_SHARE_MIN);
	shard.now = T0;
	for (unsigned i = 0; i < 3000; i++) {
		struct hash128 print = { i, UINT64_MAX - scramble(i) % 512 };
		struct keep keep = { &print, 1 };
		int64_t *state;

		if (i % 4 == 0)
			print.hi = scramble(i);
		state = shard_put(&shard, print, algo, &limits, &keep);
		ck_assert_int_eq(state[0], 0);
		ck_assert_int_eq(state[1], 0);
		algo->spend(&limits, state, &(struct algo_ask){ T0, 1, false });
		state[1] += i;		/* its name, so to say */
		ck_assert_ptr_eq(slot_state(shard_find(&shard, print)), state);
	}
	for (unsigned i = 0; i < 3000; i++) {
		struct hash128 print = { i, i % 4 == 0 ? scramble(i) :
		    UINT64_MAX - scramble(i) % 512 };
		struct slot *slot = shard_find(&shard, print);

		found += slot != NULL;
		if (slot != NULL)
			ck_assert_int_eq((slot_state(slot)[1] - i) %
			    limits.rate[0].unit, 0);
	}
	ck_assert_uint_eq(found, shard.count);
	ck_assert_uint_eq(shard.count + (uint64_t)shard.evictions, 3000);
	ck_assert_uint_gt(shard.count, 700);
	shard_fini(&shard);
	free(memory);
}
END_TEST

START_TEST(fingerprints_that_differ_in_one_half)
{
	const struct algo *algo = algo_get(ALGO_SLIDING_LOG);
	const struct limits limits = limits_of("10/h", NULL);
	const size_t space = shard_space(SHARD_SHARE_MIN);
	void *memory = aligned_alloc(4096, space);
	const struct keep none = { NULL, 0 };
	struct shard shard;

	memset(memory, 0, space);
	shard_init(&shard, memory, SHARD_SHARE_MIN);
	for (uint64_t i = 0; i < 40; i++) {
		struct hash128 print = { i % 2 ? i : 1000, i % 2 ? 7 : i };

		ck_assert_ptr_null(shard_find(&shard, print));
		shard_put(&shard, print, algo, &limits, &none)[1] =
		    (int64_t)i;
	}
	for (uint64_t i = 0; i < 40; i++) {
		struct hash128 print = { i % 2 ? i : 1000, i % 2 ? 7 : i };
		struct slot *slot = shard_find(&shard, print);

		ck_assert_ptr_nonnull(slot);
		ck_assert_int_eq(slot_state(slot)[1], (int64_t)i);
	}
	shard_fini(&shard);
	/* All but the table has been given back. */
	ck_assert_uint_eq(shard.count, 0);
	ck_assert_uint_eq(shard.blocks, 0);
	ck_assert_ptr_null(shard.shapes);
	free(memory);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("shard");
	TCase *table = tcase_create("table");
	SRunner *runner;
	int failed;

	tcase_add_test(table, fingerprints_crowded_at_the_end);
	tcase_add_test(table, fingerprints_that_differ_in_one_half);
	suite_add_tcase(suite, table);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
