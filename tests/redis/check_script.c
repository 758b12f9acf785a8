#include <check.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/model.h"
#include "harness/redis_server.h"
#include "harness/vectors.h"
#include "limit/script.h"

/*
 * The scripts on a real server, with no more rights than the manual grants,
 * against the C algorithms at the times the server tells.
 */

#define SKIPPED	77
#define STEPS	3000
#define RIGHTS	"ACL SETUSER weir on >secret ~weir:* -@all +get +set +time " \
		"+pttl +pexpire +evalsha +eval +script|load"

static struct redis_server server;

struct bench {
	redisContext *weir;		/* with few rights */
	redisReply *reply;		/* the last one */
	char sha[SCRIPT_COUNT][40];
	struct policy policies[MODEL_ROWS];
	struct limits limits[MODEL_ROWS];
	struct row rows[MODEL_ROWS];
	struct text command, key;
	uint64_t seed;
	unsigned repairs;
};

static redisReply *
say(struct bench *b, const char *fmt, ...)
{
	va_list ap;

	if (b->reply != NULL)
		freeReplyObject(b->reply);
	va_start(ap, fmt);
	b->reply = redisvCommand(b->weir, fmt, ap);
	va_end(ap);
	ck_assert_ptr_nonnull(b->reply);
	return b->reply;
}

static redisReply *
send_command(struct bench *b)
{
	void *reply;

	if (b->reply != NULL)
		freeReplyObject(b->reply);
	b->reply = NULL;
	redisAppendFormattedCommand(b->weir, text_cstr(&b->command),
	    b->command.len);
	ck_assert_int_eq(redisGetReply(b->weir, &reply), REDIS_OK);
	b->reply = reply;
	return b->reply;
}

static void
bench_init(struct bench *b)
{
	*b = (struct bench){ .weir = redisConnectUnix(server.path),
	    .seed = 5 };
	ck_assert(b->weir != NULL && b->weir->err == 0);
	redis_server_do(&server, "FLUSHALL");
	ck_assert_str_eq(redis_server_do(&server, RIGHTS), "OK");
	ck_assert_int_eq(say(b, "AUTH weir secret")->type, REDIS_REPLY_STATUS);
	for (unsigned i = 0; i < SCRIPT_COUNT; i++) {
		struct span source = script_source(i);

		say(b, "SCRIPT LOAD %b", source.ptr, source.len);
		ck_assert_uint_eq(b->reply->len, sizeof(b->sha[i]));
		memcpy(b->sha[i], b->reply->str, sizeof(b->sha[i]));
	}
	for (unsigned i = 0; i < MODEL_ROWS; i++) {
		b->policies[i].tag = 0x100 + i;
		b->rows[i] = (struct row){ .policy = &b->policies[i],
		    .limits = &b->limits[i], .cost = 1, .enforcing = true,
		    .identity = { 1, 2 } };
	}
}

static void
bench_fini(struct bench *b)
{
	freeReplyObject(b->reply);
	redisFree(b->weir);
	text_fini(&b->command);
	text_fini(&b->key);
}

/* sha empty: EVAL. */
static void
bench_ask_as(struct bench *b, struct question *q, bool spend, struct span sha)
{
	const redisReply *reply;

	text_clear(&b->command);
	script_encode(q, spend, SPAN("weir:"), sha, &b->command);
	reply = send_command(b);
	if (reply->type != REDIS_REPLY_STRING || script_decode(q,
	    span_of(reply->str, reply->len), &b->repairs) != ERR_OK)
		ck_abort_msg("%s", reply->str);
}

static void
bench_ask(struct bench *b, struct question *q, bool spend)
{
	bench_ask_as(b, q, spend, span_of(b->sha[script_for(q)], 40));
}

static const char *
row_key(struct bench *b, unsigned i)
{
	text_clear(&b->key);
	script_key(SPAN("weir:"), &b->rows[i], &b->key);
	return text_cstr(&b->key);
}

static int64_t
ttl(struct bench *b, unsigned i)
{
	return atoll(redis_server_do(&server, "PTTL %s", row_key(b, i)));
}

static int64_t
below(struct bench *b, int64_t n)
{
	b->seed = b->seed * UINT64_C(6364136223846793005) +
	    1442695040888963407u;
	return (int64_t)((b->seed >> 16) % (uint64_t)n);
}

static void
compare(const struct row *got, const struct row *want)
{
	ck_assert_int_eq(got->passed, want->passed);
	for (unsigned k = 0; k < got->limits->n; k++) {
		const struct verdict *a = &got->verdicts[k];
		const struct verdict *b = &want->verdicts[k];

		ck_assert_int_eq(a->passed, b->passed);
		ck_assert_int_eq(a->remaining, b->remaining);
		ck_assert_int_eq(a->pass_in, b->pass_in);
		ck_assert_int_eq(a->reset_in, b->reset_in);
	}
}

/* A real clock runs; the limits are of the order of what it lets through. */
START_TEST(agrees)
{
	static const char *const limits[] = { "20/7ms", "3/ms,40/20ms",
	    "1000/50ms", "30/10ms:50", "10/s", "7/m" };
	struct bench b;
	struct model model;
	unsigned denied = 0;

	bench_init(&b);
	model_init(&model);
	for (unsigned i = 0; i < MODEL_ROWS; i++) {
		b.policies[i].algorithm = (enum algo_kind)(_i < ALGO_COUNT ?
		    (unsigned)_i : i);
		vectors_limits(span_str(limits[i]), &b.limits[i]);
	}
	for (unsigned step = 0; step < STEPS; step++) {
		struct row expect[MODEL_ROWS];
		struct question q = { .rows = b.rows, .nrows = 1 };
		struct question e = { .rows = expect };
		bool spend = below(&b, 20) > 0;

		if (below(&b, 3) == 0)
			q.nrows = 1 + (unsigned)below(&b, MODEL_ROWS);
		for (unsigned i = 0; i < q.nrows; i++) {
			b.rows[i].cost = 1 + below(&b, 3) * below(&b, 3);
			b.rows[i].enforcing = below(&b, 4) > 0;
		}
		if (below(&b, 100) == 0)
			vectors_limits(span_str(limits[below(&b, 6)]),
			    &b.limits[below(&b, MODEL_ROWS)]);
		memcpy(expect, b.rows, sizeof(expect));
		bench_ask(&b, &q, spend);
		e.nrows = q.nrows;
		model_decide(&model, &e, q.now, spend);
		for (unsigned i = 0; i < q.nrows; i++) {
			compare(&b.rows[i], &expect[i]);
			denied += !b.rows[i].passed;
		}
		/* Before it is over a key may be gone, never without end. */
		if (step % 16 == 0)
			ck_assert_int_ne(ttl(&b, 0), -1);
	}
	ck_assert_uint_gt(denied, STEPS / 100);
	model_fini(&model);
	bench_fini(&b);
}
END_TEST

START_TEST(heals)
{
	struct bench b;
	struct question q;

	bench_init(&b);
	q = (struct question){ .rows = b.rows, .nrows = 1 };
	b.policies[0].algorithm = (enum algo_kind)_i;
	vectors_limits(SPAN("2/h"), &b.limits[0]);
	for (unsigned i = 0; i < 3; i++)
		bench_ask(&b, &q, true);
	ck_assert(!b.rows[0].passed);
	redis_server_do(&server, "PERSIST %s", row_key(&b, 0));
	ck_assert_int_eq(ttl(&b, 0), -1);
	bench_ask(&b, &q, true);
	ck_assert(!b.rows[0].passed);
	ck_assert_uint_eq(b.repairs, 1);
	ck_assert_int_gt(ttl(&b, 0), 0);
	/* One window; sliding_window gives back one sub-window late. */
	ck_assert_int_le(ttl(&b, 0), 9 * 450000 + 1000);

	redis_server_do(&server, "SET %s garbage", row_key(&b, 0));
	bench_ask(&b, &q, true);
	ck_assert(b.rows[0].passed);
	ck_assert_int_gt(ttl(&b, 0), 0);

	redis_server_do(&server, "DEL %s", row_key(&b, 0));
	redis_server_do(&server, "LPUSH %s item", row_key(&b, 0));
	bench_ask(&b, &q, false);
	ck_assert(b.rows[0].passed);
	ck_assert_int_eq(ttl(&b, 0), -1);
	bench_ask(&b, &q, true);
	ck_assert(b.rows[0].passed);
	ck_assert_uint_eq(b.repairs, 1);
	ck_assert_int_gt(ttl(&b, 0), 0);
	bench_fini(&b);
}
END_TEST

START_TEST(noscript)
{
	struct bench b;
	struct question q;

	bench_init(&b);
	q = (struct question){ .rows = b.rows, .nrows = 1 };
	b.policies[0].algorithm = (enum algo_kind)_i;
	vectors_limits(SPAN("2/h"), &b.limits[0]);
	redis_server_do(&server, "SCRIPT FLUSH");
	script_encode(&q, true, SPAN("weir:"), span_of(b.sha[script_for(&q)],
	    40), &b.command);
	ck_assert_int_eq(send_command(&b)->type, REDIS_REPLY_ERROR);
	ck_assert_int_eq(strncmp(b.reply->str, "NOSCRIPT", 8), 0);
	bench_ask_as(&b, &q, true, SPAN_EMPTY);
	ck_assert(b.rows[0].passed);
	/* Now it is known again. */
	bench_ask(&b, &q, true);
	ck_assert_int_eq(b.rows[0].verdicts[0].remaining, 0);
	bench_fini(&b);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("script");
	TCase *tc = tcase_create("script");
	SRunner *runner = srunner_create(suite);
	int failed;

	if (system("command -v redis-server >/dev/null 2>&1") != 0)
		return SKIPPED;
	redis_server_begin(&server, false, NULL);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, agrees, 0, ALGO_COUNT + 1);
	tcase_add_loop_test(tc, heals, 0, ALGO_COUNT);
	tcase_add_loop_test(tc, noscript, 0, ALGO_COUNT);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	redis_server_end(&server);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
