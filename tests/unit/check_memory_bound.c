#include "base/mem.h"
#include "memory_ask.h"

/* ---- the bound ---- */

START_TEST(million_keys_stay_within_the_bound)
{
	struct store *store = memory_store_new(16 * MIB);
	struct policy policy = policy_of(ALGO_TOKEN_BUCKET, 1, "10/h");
	const uint64_t busy = UINT64_MAX / 4;

	for (int i = 0; i < 10; i++)
		MUST(take_one(store, &policy, busy, T0));
	for (uint64_t i = 0; i < 1000000; i++) {
		MUST(take_one(store, &policy, i, T0 + (int64_t)i));
		if (i % 10000 == 0)
			assert_bounded(store);
	}
	assert_bounded(store);
	MUST(!take_one(store, &policy, busy, T0 + SECOND));
	ck_assert_uint_ge(memory_store_keys(store), 16 * MIB /
	    memory_store_key_bytes(16));
	ck_assert_uint_eq(memory_store_keys(store) +
	    (uint64_t)memory_store_evictions(store), 1000001);
	close_store(store);
}
END_TEST

START_TEST(key_costs_what_is_documented)
{
	struct store *store = memory_store_new(128 * MIB);
	struct policy policy = policy_of(ALGO_TOKEN_BUCKET, 1, "10/h");

	ck_assert_uint_le(memory_store_key_bytes(16), 64);
	for (uint64_t i = 1; i <= 1000000; i++) {
		MUST(take_one(store, &policy, i, T0));
		if (i >= 200000 && i % 20000 == 0)
			ck_assert_uint_le(memory_store_bytes(store),
			    memory_store_key_bytes(16) * i);
	}
	ck_assert_uint_eq(memory_store_keys(store), 1000000);
	ck_assert_int_eq(memory_store_evictions(store), 0);
	close_store(store);
}
END_TEST

START_TEST(least_store_holds_what_is_documented)
{
	struct store *store = memory_store_new(memory_store_min_bytes());
	struct policy policy = policy_of(_i, 1,
	    _i == ALGO_SLIDING_LOG ? "200/h" : "10/h");
	const size_t state = algo_get(_i)->size(&policy.limits);

	for (uint64_t i = 0; i < 30000; i++) {
		MUST(take_one(store, &policy, i, T0));
		if (i % 100 == 0)
			assert_bounded(store);
	}
	ck_assert_int_gt(memory_store_evictions(store), 0);
	ck_assert_uint_ge(memory_store_keys(store), memory_store_min_bytes() /
	    memory_store_key_bytes(state) / 10 * 9);
	close_store(store);
}
END_TEST

/* States in slots must not shut out states in blocks, nor the reverse. */
START_TEST(small_and_great_states_share_the_room)
{
	struct store *store = memory_store_new(MIB);
	struct policy small = policy_of(ALGO_TOKEN_BUCKET, 1, "10/h");
	struct policy great = policy_of(ALGO_SLIDING_LOG, 2, "1000/h");
	struct policy *first = _i == 0 ? &small : &great;
	struct policy *second = _i == 0 ? &great : &small;

	for (uint64_t i = 0; i < 40000; i++)
		MUST(take_one(store, first, i, T0));
	for (uint64_t i = 0; i < 40000; i++) {
		MUST(take_one(store, second, i, T0));
		MUST(take_one(store, second, i, T0));
		MUST(left(store, second, i, T0) ==
		    second->limits.rate[0].count - 3);
		assert_bounded(store);
	}
	close_store(store);
}
END_TEST

/* Nor do they leave where that gives no room. */
START_TEST(room_for_blocks_is_taken_from_blocks)
{
	struct store *store = memory_store_new(MIB);
	struct policy small = policy_of(ALGO_TOKEN_BUCKET, 1, "10/h");
	struct policy great = policy_of(ALGO_SLIDING_LOG, 2, "1000/d");

	for (uint64_t i = 0; i < 8000; i++)
		MUST(take_one(store, &small, i, T0));
	for (uint64_t i = 0; i < 2000; i++)
		MUST(take_one(store, &great, i, T0));
	ck_assert_int_gt(memory_store_evictions(store), 1800);
	for (uint64_t i = 0; i < 8000; i++)
		MUST(left(store, &small, i, T0) == 8);
	close_store(store);
}
END_TEST

/* Making room for one row must not forget another of the same request. */
START_TEST(rows_do_not_evict_each_other)
{
	struct store *store = memory_store_new(MIB);
	struct policy great = policy_of(ALGO_SLIDING_LOG, 1, "1000/h");
	struct policy full = policy_of(ALGO_SLIDING_LOG, 1, "1000/d");
	struct row rows[10];

	for (uint64_t i = 0; i < 2000; i++)
		take_one(store, &full, 1000000 + i, T0);
	for (uint64_t i = 0; i < 500; i++) {
		for (unsigned j = 0; j < LEN(rows); j++)
			rows[j] = row_of(&great, i * LEN(rows) + j);
		MUST(take(store, rows, LEN(rows), T0));
		for (unsigned j = 0; j < LEN(rows); j++)
			MUST(left(store, &great, i * LEN(rows) + j, T0) ==
			    998);
		assert_bounded(store);
	}
	close_store(store);
}
END_TEST

START_TEST(many_numbers_stay_within_the_bound)
{
	struct store *store = memory_store_new(MIB);
	struct policy policy = policy_of(ALGO_TOKEN_BUCKET, 1, "1/h");
	struct policy great = policy_of(ALGO_SLIDING_LOG, 2, "1000/h");

	for (int64_t i = 0; i < 5000; i++) {
		policy.limits.rate[0].count = i + 1;
		policy.limits.rate[0].burst = i + 1;
		ck_assert_int_eq(rate_prepare(&policy.limits.rate[0]),
		    ERR_OK);
		MUST(take_one(store, &policy, (uint64_t)i, T0));
		MUST(take_one(store, &great, (uint64_t)i, T0));
		assert_bounded(store);
	}
	close_store(store);
}
END_TEST

START_TEST(fresh_entries_leave_free_of_charge)
{
	struct store *store = memory_store_new(MIB);
	struct policy slow = policy_of(ALGO_TOKEN_BUCKET, 1, "10/d");
	struct policy quick = policy_of(ALGO_TOKEN_BUCKET, 2, "10/s");
	int64_t now = T0;

	for (uint64_t i = 0; i < 1000; i++)
		MUST(take_one(store, &slow, i, now));
	/* Full, so that there is no growth to sweep before. */
	for (uint64_t i = 0; i < 17500; i++)
		MUST(take_one(store, &quick, 1000000 + i, now));
	now += SECOND;
	for (uint64_t i = 0; i < 200000; i++)
		MUST(take_one(store, &quick, i, now += 100));
	ck_assert_int_eq(memory_store_evictions(store), 0);
	for (uint64_t i = 0; i < 1000; i++)
		ck_assert_int_eq(left(store, &slow, i, now), 8);
	assert_bounded(store);
	close_store(store);
}
END_TEST

START_TEST(fresh_entries_are_swept_before_growth)
{
	struct store *store = memory_store_new(16 * MIB);
	struct policy policy = policy_of(ALGO_TOKEN_BUCKET, 1, "10/s");
	size_t bytes = 0;

	for (uint64_t i = 0; i < 2000000; i++) {
		MUST(take_one(store, &policy, i, T0 + (int64_t)i * 5));
		if (i == 200000)
			bytes = memory_store_bytes(store);
	}
	/* At most 20,000 at a time are not fresh. */
	ck_assert_uint_le(memory_store_bytes(store), bytes + bytes / 4);
	ck_assert_uint_le(memory_store_bytes(store), 4 * MIB);
	close_store(store);
}
END_TEST

START_TEST(least_used_leave_first)
{
	struct store *store = memory_store_new(MIB);
	struct policy policy = policy_of(ALGO_TOKEN_BUCKET, 1, "10/h");
	unsigned heavy = 0, light = 0;

	for (uint64_t i = 0; i < 4000; i++) {
		for (int j = 0; j < 10; j++)
			MUST(take_one(store, &policy, i, T0));
		MUST(take_one(store, &policy, 10000 + i, T0));
	}
	for (uint64_t i = 0; i < 20000; i++)
		MUST(take_one(store, &policy, 100000 + i, T0 + SECOND));
	for (uint64_t i = 0; i < 4000; i++) {
		heavy += left(store, &policy, i, T0 + SECOND) == -1;
		light += left(store, &policy, 10000 + i, T0 + SECOND) == 8;
	}
	ck_assert_int_gt(memory_store_evictions(store), 5000);
	ck_assert_uint_ge(heavy, 3990);
	ck_assert_uint_le(light, 3000);
	close_store(store);
}
END_TEST

/* ---- against a plain model ---- */

#define MODEL_KEYS	6000

static bool
verdict_equal(const struct verdict *a, const struct verdict *b)
{
	return a->passed == b->passed && a->limit == b->limit &&
	    a->remaining == b->remaining && a->pass_in == b->pass_in &&
	    a->reset_in == b->reset_in;
}

struct model_key {
	const struct limits *limits;	/* NULL: unseen */
	int64_t state[128];
};

struct model {
	struct policy policies[2 * ALGO_COUNT];	/* two sets of numbers */
	struct model_key keys[ALGO_COUNT][MODEL_KEYS];
};

static void
model_load(const struct model_key *key, const struct row *row,
    int64_t state[128])
{
	const struct algo *algo = algo_get(row->policy->algorithm);

	memset(state, 0, 128 * sizeof(int64_t));
	if (key->limits == row->limits)
		memcpy(state, key->state, sizeof(key->state));
	else if (key->limits != NULL)
		algo->convert(key->limits, key->state, row->limits, state);
}

static void
model_check(struct model *model, const struct row *rows,
    const unsigned *ids, unsigned n, int64_t now)
{
	struct algo_ask question = { .now = now };
	struct verdict verdicts[RATES_MAX];
	int64_t state[3][128];
	bool passes = true, passed[3];

	for (unsigned i = 0; i < n; i++) {
		const struct algo *algo = algo_get(rows[i].policy->algorithm);

		model_load(&model->keys[rows[i].policy->algorithm][ids[i]],
		    &rows[i], state[i]);
		question.cost = rows[i].cost;
		passed[i] = algo->peek(rows[i].limits, state[i], &question,
		    verdicts);
		passes = passes && passed[i];
		MUST(passed[i] == rows[i].passed);
	}
	for (unsigned i = 0; i < n; i++) {
		const struct algo *algo = algo_get(rows[i].policy->algorithm);

		/* Another row denies: what is there without this request. */
		question.cost = !passes && passed[i] ? 0 : rows[i].cost;
		algo->peek(rows[i].limits, state[i], &question, verdicts);
		for (unsigned j = 0; j < rows[i].limits->n; j++)
			MUST(verdict_equal(&verdicts[j],
			    &rows[i].verdicts[j]));
	}
	for (unsigned i = 0; passes && i < n; i++) {
		const enum algo_kind kind = rows[i].policy->algorithm;
		struct model_key *key = &model->keys[kind][ids[i]];

		question.cost = rows[i].cost;
		algo_get(kind)->spend(rows[i].limits, state[i], &question);
		key->limits = rows[i].limits;
		memcpy(key->state, state[i], sizeof(key->state));
	}
}

START_TEST(random_questions_equal_the_model)
{
	struct store *store = memory_store_new(32 * MIB);
	struct model *model = mem_zalloc(sizeof(*model));
	int64_t now = T0;

	for (unsigned k = 0; k < 2 * ALGO_COUNT; k++)
		model->policies[k] = policy_of(k % ALGO_COUNT, k % ALGO_COUNT,
		    k < ALGO_COUNT ? "6/s" : "9/s");
	model->policies[ALGO_TOKEN_BUCKET].limits = limits_of("6/s", "20/m");
	model->policies[ALGO_SLIDING_WINDOW].limits = limits_of("6/s", "20/m");
	for (uint64_t i = 0; i < 400000; i++) {
		uint64_t r = scramble(i);
		/* Busy with few keys and with many, in turns. */
		unsigned span = r % 4 == 0 ? MODEL_KEYS : 100;
		unsigned n = 1 + r / 8 % 3;
		unsigned set = i / 50000 % 2 ? ALGO_COUNT : 0;
		unsigned ids[3];
		struct row rows[3];

		now += (int64_t)(r >> 8) % 200;
		for (unsigned j = 0; j < n; j++) {
			uint64_t s = scramble(r + j + 1);
			/* Distinct kinds, so no two rows share a key. */
			unsigned kind = (unsigned)(r + j) % ALGO_COUNT;

			ids[j] = (unsigned)(s >> 8) % span;
			rows[j] = row_of(&model->policies[set + kind],
			    ids[j]);
			rows[j].cost = 1 + (int64_t)(s >> 40) % 3;
		}
		take(store, rows, n, now);
		model_check(model, rows, ids, n, now);
	}
	ck_assert_int_eq(memory_store_evictions(store), 0);
	ck_assert_uint_gt(memory_store_keys(store), 1000);
	mem_free(model);
	close_store(store);
}
END_TEST

static void
add_bound(Suite *suite)
{
	TCase *bound = tcase_create("bound");

	tcase_set_timeout(bound, 120);
	tcase_add_test(bound, million_keys_stay_within_the_bound);
	tcase_add_test(bound, key_costs_what_is_documented);
	tcase_add_loop_test(bound, least_store_holds_what_is_documented, 0,
	    ALGO_COUNT);
	tcase_add_loop_test(bound, small_and_great_states_share_the_room, 0,
	    2);
	tcase_add_test(bound, room_for_blocks_is_taken_from_blocks);
	tcase_add_test(bound, rows_do_not_evict_each_other);
	tcase_add_test(bound, many_numbers_stay_within_the_bound);
	tcase_add_test(bound, fresh_entries_leave_free_of_charge);
	tcase_add_test(bound, fresh_entries_are_swept_before_growth);
	tcase_add_test(bound, least_used_leave_first);
	tcase_add_test(bound, random_questions_equal_the_model);
	suite_add_tcase(suite, bound);
}

int
main(void)
{
	Suite *suite = suite_create("memory_bound");
	SRunner *runner;
	int failed;

	add_bound(suite);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
