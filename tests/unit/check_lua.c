#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "harness/lua_runner.h"
#include "harness/vectors.h"
#include "limit/script.h"

/* The shipped scripts: vectors, and whatever may be found under a key. */

#define START	INT64_C(1764500000123457)

static void
lua_fresh(void *arg)
{
	lua_runner_flush(arg);
}

static void
lua_decide(void *arg, struct row *row, int64_t now, bool spend)
{
	struct question q = { .rows = row, .nrows = 1 };
	struct verdict first[RATES_MAX];
	unsigned repairs;

	lua_runner_set_now(arg, now);
	/* As a shadow row the decide script judges it, whatever it is. */
	row->enforcing = false;
	lua_runner_ask(arg, &q, false, &repairs);
	memcpy(first, row->verdicts, sizeof(first));
	ck_assert_uint_eq(lua_runner_writes(arg), 0);
	row->enforcing = true;
	lua_runner_ask(arg, &q, spend, &repairs);
	ck_assert_mem_eq(first, row->verdicts,
	    row->limits->n * sizeof(first[0]));
	ck_assert_int_eq(q.now, now);
	if (!spend)
		ck_assert_uint_eq(lua_runner_writes(arg), 0);
}

START_TEST(vectors)
{
	struct lua_runner *runner = lua_runner_new();
	const struct vector_player player = { .kind = (enum algo_kind)_i,
	    .fresh = lua_fresh, .decide = lua_decide, .arg = runner };

	vectors_play(&player);
	lua_runner_free(runner);
}
END_TEST

/* A small generator, so that a seed means the same everywhere. */
static uint64_t
next(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static int64_t
below(uint64_t *seed, int64_t n)
{
	return (int64_t)(next(seed) % (uint64_t)n);
}

struct one {
	struct lua_runner *runner;
	struct policy policy;
	struct limits limits;
	struct row row;
	struct question question;
	struct text key;
	unsigned repairs;
};

static void
one_init(struct one *one, enum algo_kind kind, struct span limits)
{
	*one = (struct one){ .runner = lua_runner_new(),
	    .policy = { .algorithm = kind, .tag = 0xabcdef } };
	vectors_limits(limits, &one->limits);
	one->row = (struct row){ .policy = &one->policy,
	    .limits = &one->limits, .identity = { 1, 2 }, .cost = 1,
	    .enforcing = true };
	one->question = (struct question){ .rows = &one->row, .nrows = 1 };
	script_key(SPAN("weir:"), &one->row, &one->key);
	lua_runner_set_now(one->runner, START);
}

static void
one_fini(struct one *one)
{
	lua_runner_free(one->runner);
	text_fini(&one->key);
}

static bool
one_ask(struct one *one)
{
	lua_runner_ask(one->runner, &one->question, true, &one->repairs);
	return one->row.passed;
}

static int64_t
one_ttl(const struct one *one)
{
	return lua_runner_ttl(one->runner, text_span(&one->key));
}

START_TEST(expiry_healed)
{
	struct one one;
	struct text value = { .data = NULL };

	one_init(&one, (enum algo_kind)_i, SPAN("2/10s"));
	ck_assert(one_ask(&one));
	ck_assert(one_ask(&one));
	ck_assert(!one_ask(&one));
	ck_assert_uint_eq(lua_runner_writes(one.runner), 0);
	text_append(&value, lua_runner_value(one.runner, text_span(&one.key)));
	lua_runner_put(one.runner, text_span(&one.key), text_span(&value), -1);
	ck_assert(!one_ask(&one));
	ck_assert_uint_eq(lua_runner_writes(one.runner), 1);
	ck_assert_uint_eq(one.repairs, 1);
	ck_assert_int_gt(one_ttl(&one), 1000);
	ck_assert_int_le(one_ttl(&one), 12250);
	ck_assert(span_equal(lua_runner_value(one.runner,
	    text_span(&one.key)), text_span(&value)));
	ck_assert(!one_ask(&one));
	ck_assert_uint_eq(lua_runner_writes(one.runner), 0);
	text_fini(&value);
	one_fini(&one);
}
END_TEST

/* Whatever was under the key: the caller passes, and afterwards it is ours. */
static void
found(enum algo_kind kind, struct span limits, struct span value)
{
	struct one one;

	one_init(&one, kind, limits);
	if (value.ptr == NULL)
		lua_runner_put_list(one.runner, text_span(&one.key), -1);
	else
		lua_runner_put(one.runner, text_span(&one.key), value, -1);
	ck_assert(one_ask(&one));
	ck_assert_int_eq(one.row.verdicts[0].remaining,
	    one.row.verdicts[0].limit - 1);
	ck_assert_int_gt(one_ttl(&one), 0);
	for (int64_t i = 1; i < one.row.verdicts[0].limit; i++)
		ck_assert(one_ask(&one));
	ck_assert(!one_ask(&one));
	one_fini(&one);
}

/* n doubles. */
static struct span
doubles(struct text *t, unsigned n, ...)
{
	va_list ap;

	text_clear(t);
	va_start(ap, n);
	for (unsigned i = 0; i < n; i++) {
		double number = va_arg(ap, double);

		text_append(t, span_of((const char *)&number, sizeof(number)));
	}
	va_end(ap);
	return text_span(t);
}

START_TEST(garbage)
{
	static const char junk[96] = "any text";
	enum algo_kind kind = (enum algo_kind)_i;
	struct span limits = SPAN("5/10s");
	double bad[] = { NAN, INFINITY, -1, 0.5, 1e300 };
	double p = 10000000, t = START;
	struct text v = { .data = NULL };

	found(kind, limits, (struct span){ NULL, 0 });
	for (size_t len = 0; len <= sizeof(junk); len++)
		found(kind, limits, span_of(junk, len));
	for (unsigned i = 0; i < 5; i++) {
		double b = bad[i];

		found(kind, limits, doubles(&v, 4, p, b, 1.0, 1e7));
		found(kind, limits, doubles(&v, 4, p, t, b, 1e7));
		found(kind, limits, doubles(&v, 4, p, t, 1.0, b));
		found(kind, limits, doubles(&v, 4, p, t, 2e7, 1e7));
		found(kind, limits, doubles(&v, 3, p, b, 5.0));
		found(kind, limits, doubles(&v, 3, p, t, b));
		found(kind, limits, doubles(&v, 11, p, b, 5.0, 0.0, 0.0, 0.0,
		    0.0, 0.0, 0.0, 0.0, 0.0));
		found(kind, limits, doubles(&v, 11, p, floor(t / (p / 8)), b,
		    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0));
		found(kind, limits, doubles(&v, 3, b, t, 5.0));
		found(kind, limits, doubles(&v, 3, 0.0, b, 5.0));
		found(kind, limits, doubles(&v, 3, 0.0, t, b));
	}
	text_fini(&v);
}
END_TEST

/* Random bits under a key never break a script or its reply. */
START_TEST(garbage_random)
{
	uint64_t seed = 99;
	struct one one;

	one_init(&one, (enum algo_kind)_i, SPAN("5/10s,9/1m"));
	for (unsigned i = 0; i < 20000; i++) {
		double numbers[24];
		unsigned n = 1 + (unsigned)below(&seed, 24);

		for (unsigned k = 0; k < n; k++) {
			uint64_t bits = next(&seed);

			memcpy(&numbers[k], &bits, sizeof(bits));
			if (below(&seed, 2) > 0)
				numbers[k] = (double)(START - 5 +
				    below(&seed, 10));
			if (below(&seed, 3) == 0)
				numbers[k] = (double)below(&seed, 6);
			if (below(&seed, 5) == 0)
				numbers[k] = below(&seed, 2) > 0 ? 1e7 : 6e7;
		}
		lua_runner_put(one.runner, text_span(&one.key),
		    span_of((const char *)numbers, n * sizeof(double)), -1);
		one_ask(&one);
		ck_assert_int_ge(one_ttl(&one), 0);
	}
	one_fini(&one);
}
END_TEST

static size_t
log_entries(const struct one *one)
{
	size_t len = lua_runner_value(one->runner, text_span(&one->key)).len;

	ck_assert_uint_eq(len % 16, 8);
	return len / 16;
}

/* A log keeps what counts, and never more than the limit asks for. */
START_TEST(log_bounded)
{
	struct one one;

	one_init(&one, ALGO_SLIDING_LOG, SPAN("9/10s"));
	for (int i = 0; i < 9; i++)
		ck_assert(one_ask(&one));
	ck_assert_uint_eq(log_entries(&one), 9);
	lua_runner_set_now(one.runner, START + 5000000);
	vectors_limits(SPAN("12/10s"), &one.limits);
	ck_assert(one_ask(&one));
	ck_assert_uint_eq(log_entries(&one), 10);
	/* The limit has become smaller than the log. */
	vectors_limits(SPAN("4/s"), &one.limits);
	lua_runner_set_now(one.runner, START + 5500000);
	ck_assert(one_ask(&one));
	ck_assert_uint_eq(log_entries(&one), 2);
	vectors_limits(SPAN("9/10s"), &one.limits);
	for (int i = 0; i < 7; i++)
		ck_assert(one_ask(&one));
	vectors_limits(SPAN("2/10s,3/ms"), &one.limits);
	lua_runner_set_now(one.runner, START - 60000000);
	ck_assert(!one_ask(&one));
	ck_assert_uint_eq(log_entries(&one), 3);
	/* At the very end of a period its entries are gone. */
	lua_runner_set_now(one.runner, START - 50000000);
	ck_assert(one_ask(&one));
	ck_assert_uint_eq(log_entries(&one), 1);
	one_fini(&one);
}
END_TEST

/* A denied question mends what it finds in its other rows, and spends
 * nothing there. */
START_TEST(denied_by_another)
{
	struct one one;
	struct policy other = { .algorithm = ALGO_FIXED_WINDOW, .tag = 1 };
	struct row rows[2];
	struct text key = { .data = NULL };
	struct question q = { .rows = rows, .nrows = 2 };

	one_init(&one, (enum algo_kind)_i, SPAN("5/10s"));
	rows[0] = rows[1] = one.row;
	rows[1].policy = &other;
	rows[1].cost = 5;
	script_key(SPAN("weir:"), &rows[1], &key);
	lua_runner_ask(one.runner, &q, true, &one.repairs);
	ck_assert(rows[0].passed && rows[1].passed);
	ck_assert_int_eq(rows[0].verdicts[0].remaining, 4);
	lua_runner_put_list(one.runner, text_span(&one.key), -1);
	lua_runner_ask(one.runner, &q, true, &one.repairs);
	ck_assert(rows[0].passed && !rows[1].passed);
	ck_assert_int_eq(rows[0].verdicts[0].remaining, 5);
	ck_assert_uint_eq(one.repairs, 1);
	ck_assert_int_eq(one_ttl(&one), 1000);
	ck_assert_int_gt(lua_runner_ttl(one.runner, text_span(&key)), 1000);
	ck_assert(one_ask(&one));
	ck_assert_int_eq(one.row.verdicts[0].remaining, 4);
	text_fini(&key);
	one_fini(&one);
}
END_TEST

/* Errors of GET that say nothing about the value, as Redis 6.2, 7.0 and 8 put
 * them, and two that only look like damage. */
static const char *const get_errors[] = {
	"NOPERM this user has no permissions to run the 'get' command",
	"ERR The user executing the script can't run this command or "
	    "subcommand",
	"ERR ACL failure in script: User weir has no permissions to run the "
	    "'get' command",
	"@user_script: 9: The user executing the script can't run this "
	    "command or subcommand",
	"LOADING Redis is loading the dataset in memory",
	"MASTERDOWN Link with MASTER is down",
	"CLUSTERDOWN The cluster is down",
	"BUSY Redis is busy running a script.",
	"ERR no WRONGTYPE at all", "WRONGTYPES are something else", "",
};

static void
expect_error(struct one *one, struct question *q, bool spend, const char *text)
{
	struct text command = { .data = NULL };

	script_encode(q, spend, SPAN("weir:"), lua_runner_sha(script_for(q)),
	    &command);
	ck_assert_ptr_null(lua_runner_call(one->runner,
	    text_span(&command)).ptr);
	ck_assert_str_eq(lua_runner_error(one->runner), text);
	ck_assert_uint_eq(lua_runner_writes(one->runner), 0);
	text_fini(&command);
}

/* A value that cannot be read is not a value that is damaged: the error is the
 * script's, nothing is written, and nobody passes. */
START_TEST(unreadable)
{
	struct one one;
	struct policy other = { .algorithm = ALGO_FIXED_WINDOW, .tag = 1 };
	struct row rows[2];
	struct question two = { .rows = rows, .nrows = 2 };
	struct span key;

	one_init(&one, (enum algo_kind)_i, SPAN("2/10s"));
	key = text_span(&one.key);
	rows[0] = rows[1] = one.row;
	rows[0].policy = &other;
	ck_assert(one_ask(&one));
	ck_assert(one_ask(&one));
	for (size_t i = 0; i < sizeof(get_errors) / sizeof(*get_errors); i++) {
		const char *text = get_errors[i];

		lua_runner_fail_get(one.runner, key, text);
		expect_error(&one, &one.question, true, text);
		expect_error(&one, &one.question, false, text);
		expect_error(&one, &two, true, text);
		one.row.enforcing = false;
		expect_error(&one, &one.question, true, text);
		one.row.enforcing = true;
	}
	/* What was counted still is. */
	lua_runner_fail_get(one.runner, key, NULL);
	ck_assert(!one_ask(&one));
	ck_assert_uint_eq(one.repairs, 0);
	one_fini(&one);
}
END_TEST

START_TEST(eval_whole)
{
	struct one one;
	struct text command = { .data = NULL };
	unsigned repairs;

	one_init(&one, (enum algo_kind)_i, SPAN("5/10s"));
	script_encode(&one.question, true, SPAN("weir:"), SPAN_EMPTY,
	    &command);
	ck_assert_int_eq(script_decode(&one.question,
	    lua_runner_call(one.runner, text_span(&command)), &repairs),
	    ERR_OK);
	ck_assert(one.row.passed);
	ck_assert_int_eq(one.row.verdicts[0].remaining, 4);
	text_fini(&command);
	one_fini(&one);
}
END_TEST

START_TEST(key_layout)
{
	struct one one;

	one_init(&one, ALGO_TOKEN_BUCKET, SPAN("5/10s"));
	ck_assert_uint_eq(one.key.len, strlen("weir:1:{}:abcdef") + 22);
	ck_assert(span_starts(text_span(&one.key), SPAN("weir:1:{")));
	ck_assert(span_ends(text_span(&one.key), SPAN("}:abcdef")));
	one_fini(&one);
}
END_TEST

/* Replies that do not answer the question leave it as it was. */
START_TEST(malformed_reply)
{
	struct one one;
	struct text v = { .data = NULL };
	struct question *q = &one.question;
	double bad[] = { NAN, INFINITY, -1, 0.5, 1e17 };
	unsigned repairs = 7;

	one_init(&one, ALGO_TOKEN_BUCKET, SPAN("5/10s"));
#define DECODE(n, ...) script_decode(q, doubles(&v, n, __VA_ARGS__), &repairs)
	for (unsigned i = 0; i < 5; i++) {
		double b = bad[i];

		ck_assert_int_eq(DECODE(6, b, 0., 1., 4., 0., 1.), ERR_SYNTAX);
		ck_assert_int_eq(DECODE(6, 9., b, 1., 4., 0., 1.), ERR_SYNTAX);
		ck_assert_int_eq(DECODE(6, 9., 0., b, 4., 0., 1.), ERR_SYNTAX);
		ck_assert_int_eq(DECODE(6, 9., 0., 1., b, 0., 1.), ERR_SYNTAX);
		ck_assert_int_eq(DECODE(6, 9., 0., 0., 4., b, 1.), ERR_SYNTAX);
		ck_assert_int_eq(DECODE(6, 9., 0., 1., 4., 0., b), ERR_SYNTAX);
	}
	ck_assert_int_eq(DECODE(6, 9., 2., 1., 4., 0., 1.), ERR_SYNTAX);
	ck_assert_int_eq(DECODE(6, 9., 0., 2., 4., 0., 1.), ERR_SYNTAX);
	ck_assert_int_eq(DECODE(6, 9., 0., 1., 6., 0., 1.), ERR_SYNTAX);
	ck_assert_int_eq(DECODE(6, 9., 0., 0., 4., 0., 1.), ERR_SYNTAX);
	ck_assert_int_eq(DECODE(6, 9., 0., 1., 4., 3., 3.), ERR_SYNTAX);
	ck_assert_int_eq(DECODE(5, 9., 0., 1., 4., 0.), ERR_SYNTAX);
	ck_assert_int_eq(DECODE(7, 9., 0., 1., 4., 0., 1., 0.), ERR_SYNTAX);
	ck_assert_int_eq(script_decode(q, SPAN_EMPTY, &repairs), ERR_SYNTAX);
	ck_assert_uint_eq(repairs, 7);
	ck_assert_int_eq(q->now, 0);
	ck_assert_int_eq(DECODE(6, 9., 1., 0., 4., 3., 3.), ERR_OK);
	ck_assert_uint_eq(repairs, 1);
	ck_assert_int_eq(q->now, 9);
	ck_assert(!one.row.passed);
	ck_assert_int_eq(one.row.verdicts[0].pass_in, 3);
#undef DECODE
	text_fini(&v);
	one_fini(&one);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("lua");
	TCase *tc = tcase_create("lua");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, vectors, 0, ALGO_COUNT);
	tcase_add_loop_test(tc, expiry_healed, 0, ALGO_COUNT);
	tcase_add_loop_test(tc, garbage, 0, ALGO_COUNT);
	tcase_add_loop_test(tc, garbage_random, 0, ALGO_COUNT);
	tcase_add_loop_test(tc, denied_by_another, 0, ALGO_COUNT);
	tcase_add_loop_test(tc, unreadable, 0, ALGO_COUNT);
	tcase_add_loop_test(tc, eval_whole, 0, ALGO_COUNT);
	tcase_add_test(tc, log_bounded);
	tcase_add_test(tc, key_layout);
	tcase_add_test(tc, malformed_reply);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
