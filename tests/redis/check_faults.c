/* The store against a server that says what a real one rarely says. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "harness/asking.h"
#include "harness/fake_redis.h"

#define MS CLOCK_MS
#define S CLOCK_SECOND
#define ROWS(t) ((int)(sizeof(t) / sizeof((t)[0])))

static struct fake_redis fake;
static struct redis_conf conf;
static struct asking a;
static struct loop *loop;

static void
setup(void)
{
	clock_init();
	hash_init();
	signal(SIGPIPE, SIG_IGN);
	loop = loop_new();
	fake_redis_begin(&fake, loop);
	conf = (struct redis_conf){ .address = fake.address,
	    .timeout_us = 1 * S, .connect_timeout_us = 200 * MS,
	    .prefix = (char *)(uintptr_t)"weir:" };
}

static void
teardown(void)
{
	asking_end(&a, false);
	fake_redis_end(&fake);
	loop_free(loop);
}

static void
begin_up(void)
{
	asking_begin(&a, loop, &conf);
	ck_assert(asking_until_up(&a, 2 * S));
	ck_assert_uint_eq(fake.connects, 1);
	fake.evals = fake.evalshas = 0;
}

/* Once the server is sound again. */
static void
assert_recovers(int64_t within)
{
	int64_t since = clock_now();

	fake.on_command = NULL;
	ck_assert(asking_until_up(&a, within));
	ck_assert_int_eq(asking_one(&a, 5, 1), 'P');
	ck_assert_int_lt(clock_now() - since, within);
}

static bool
say_text(struct fake_redis *f, struct fake_conn *c,
    const struct fake_command *command)
{
	if (!fake_is_decision(command))
		return false;
	fake_send(c, f->text);
	return true;
}

enum after { KEPT, BACK_SOON, BACK_LATE };

static const struct {
	struct span text;
	enum after after;
} errors[] = {
#define ERROR(text, after) { { "-" text "\r\n", sizeof(text) + 2 }, after }
	ERROR("LOADING Redis is loading the dataset in memory", BACK_SOON),
	ERROR("MASTERDOWN Link with MASTER is down and "
	    "replica-serve-stale-data is set to 'no'.", BACK_SOON),
	ERROR("CLUSTERDOWN The cluster is down", BACK_SOON),
	ERROR("BUSY Redis is busy running a script.", BACK_SOON),
	ERROR("READONLY You can't write against a read only replica.",
	    BACK_SOON),
	ERROR("ERR Error running script (call to f_0): @user_script:9: "
	    "-READONLY You can't write against a read only replica.",
	    BACK_SOON),
	ERROR("ERR Error running script (call to f_0): @user_script: 9: "
	    "-OOM command not allowed when used memory > 'maxmemory'.", KEPT),
	ERROR("ERR Error running script (call to f_0): @user_script: 9: "
	    "@user_script: 9: The user executing the script can't run this "
	    "command or subcommand", BACK_LATE),
	ERROR("@user_script: 9: The user executing the script can't run this "
	    "command or subcommand", BACK_LATE),
	ERROR("NOAUTH Authentication required.", BACK_LATE),
	ERROR("WRONGPASS invalid username-password pair", BACK_LATE),
	ERROR("NOPERM this user has no permissions to run the 'evalsha' "
	    "command", BACK_LATE),
	ERROR("ERR The user executing the script can't run this command",
	    BACK_LATE),
	ERROR("ERR ACL failure in script: User weir has no permissions to "
	    "run the 'set' command", BACK_LATE),
	ERROR("OOM command not allowed when used memory > 'maxmemory'.",
	    KEPT),
	ERROR("NOREPLICAS Not enough good replicas to write.", KEPT),
	ERROR("MISCONF Redis is configured to save RDB snapshots", KEPT),
	ERROR("WRONGTYPE Operation against a key holding the wrong kind",
	    KEPT),
	ERROR("CROSSSLOT Keys in request don't hash to the same slot", KEPT),
	ERROR("MOVED 3999 127.0.0.1:6381", KEPT),
	ERROR("TRYAGAIN Multiple keys request during rehashing of slot",
	    KEPT),
	ERROR("ERR unknown command 'EVALSHA'", KEPT),
	ERROR("", KEPT),
	ERROR("%s%n%s", KEPT),
#undef ERROR
};

START_TEST(error_replies)
{
	enum after after = errors[_i].after;

	begin_up();
	fake.text = errors[_i].text;
	fake.on_command = say_text;
	ck_assert_int_eq(asking_one(&a, 1, 1), 'U');
	ck_assert_int_ge(asking_count(&a, COUNT_STORE_ERRORS_TOTAL), 1);
	ck_assert_int_eq(redis_store_up(a.store), after == KEPT);
	if (after == KEPT) {
		fake.on_command = NULL;
		ck_assert_int_eq(asking_one(&a, 1, 1), 'P');
		ck_assert_uint_eq(fake.connects, 1);
		return;
	}
	if (after == BACK_LATE) {
		asking_pause(loop, 700 * MS);
		ck_assert_uint_eq(fake.connects, 1);
		return;
	}
	asking_pause(loop, 300 * MS);
	ck_assert(!redis_store_up(a.store));
	assert_recovers(1 * S);
}
END_TEST

static bool
no_script(struct fake_redis *f, struct fake_conn *c,
    const struct fake_command *command)
{
	(void)f;
	if (!span_equal(command->words[0], SPAN("EVALSHA")))
		return false;
	fake_send(c, SPAN("-NOSCRIPT No matching script. Please use "
	    "EVAL.\r\n"));
	return true;
}

static bool
no_script_ever(struct fake_redis *f, struct fake_conn *c,
    const struct fake_command *command)
{
	(void)f;
	if (!fake_is_decision(command))
		return false;
	fake_send(c, SPAN("-NOSCRIPT No matching script.\r\n"));
	return true;
}

START_TEST(script_sent_whole)
{
	begin_up();
	fake.on_command = no_script;
	ck_assert_int_eq(asking_one(&a, 1, 1), 'P');
	ck_assert_uint_eq(fake.evals, 1);
	ck_assert_uint_eq(fake.evalshas, 1);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_NOSCRIPT_TOTAL), 1);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_ERRORS_TOTAL), 0);
	fake.on_command = no_script_ever;
	ck_assert_int_eq(asking_one(&a, 1, 1), 'U');
	ck_assert_uint_eq(fake.evals, 2);
	ck_assert_uint_eq(fake.evalshas, 2);
	ck_assert(redis_store_up(a.store));
	ck_assert_uint_eq(fake.connects, 1);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_ERRORS_TOTAL), 1);
}
END_TEST

/* Nobody waits any more: it is not sent again. */
START_TEST(script_not_sent_for_nobody)
{
	struct asked q;

	begin_up();
	fake.on_command = no_script;
	asked_init(&q, &a);
	asked_send(&q, 1, 1);
	asked_cancel(&q);
	asking_pause(loop, 20 * MS);
	ck_assert_uint_eq(q.times, 0);
	ck_assert_uint_eq(fake.evalshas, 1);
	ck_assert_uint_eq(fake.evals, 0);
	asked_fini(&q);
}
END_TEST

/* None of these is an answer to a question. */
static const struct span lies[] = {
	{ "hello\r\n", 7 }, { "\r\n", 2 }, { "\0\0\0\0", 4 },
	{ "HTTP/1.1 400 Bad Request\r\n\r\n", 28 },
	{ "+OK\r\n", 5 }, { ":1\r\n", 4 }, { "$-1\r\n", 5 },
	{ "*-1\r\n", 5 }, { "*0\r\n", 4 }, { "$0\r\n\r\n", 6 },
	{ "$3\r\nfoo\r\n", 9 }, { "*2\r\n:1\r\n:2\r\n", 12 },
	{ "$48\r\n\377\377\377\377\377\377\377\377"
	    "\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377"
	    "\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377"
	    "\377\377\377\377\377\377\377\377\r\n", 55 },
	{ "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1"
	    "\r\n", 44 },
	{ "$-5\r\n", 5 }, { "*99999999999999999999\r\n", 23 },
	{ "%1\r\n+a\r\n:1\r\n", 12 }, { ",1.5\r\n", 6 }, { "_\r\n", 3 },
};

START_TEST(wrong_replies)
{
	begin_up();
	fake.text = lies[_i];
	fake.on_command = say_text;
	ck_assert_int_eq(asking_one(&a, 1, 1), 'U');
	ck_assert(asking_until_down(&a, 1 * S));
	asking_pause(loop, 150 * MS);
	ck_assert(!redis_store_up(a.store));
	assert_recovers(1 * S);
}
END_TEST

static bool
say_text_and_close(struct fake_redis *f, struct fake_conn *c,
    const struct fake_command *command)
{
	if (!say_text(f, c, command))
		return false;
	fake_close(c);
	return true;
}

static const struct span halves[] = {
	{ "", 0 }, { "$", 1 }, { "$4", 2 }, { "$48\r\n", 5 },
	{ "$48\r\n\0\0\0\0\0\0\0", 12 }, { "-ERR no end", 11 },
	{ "*2\r\n:1\r\n", 8 }, { "-ERR whole\r\n", 12 },
};

START_TEST(half_a_reply_then_closed)
{
	begin_up();
	fake.text = halves[_i];
	fake.on_command = say_text_and_close;
	ck_assert_int_eq(asking_one(&a, 1, 1), 'U');
	ck_assert(asking_until_down(&a, 1 * S));
	assert_recovers(1 * S);
}
END_TEST

/* The last row is a whole reply. */
START_TEST(half_a_reply_then_silence)
{
	struct asked q;

	conf.timeout_us = 50 * MS;
	begin_up();
	fake.text = halves[_i];
	fake.on_command = say_text;
	asked_init(&q, &a);
	asked_send(&q, 1, 1);
	ck_assert(asked_wait(&q, 1));
	ck_assert_int_eq(q.said, SAID_UNKNOWN);
	ck_assert_int_ge(q.took_us, 50 * MS);
	ck_assert_int_lt(q.took_us, 80 * MS);
	ck_assert(redis_store_up(a.store));
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_TIMEOUTS_TOTAL), 1);
	/* Four deadlines after it was asked. */
	ck_assert(asking_until_down(&a, 200 * MS));
	asking_pause(loop, 5 * MS);
	assert_recovers(1 * S);
	asked_fini(&q);
}
END_TEST

static bool
octet_by_octet(struct fake_redis *f, struct fake_conn *c,
    const struct fake_command *command)
{
	(void)f;
	if (!span_equal(command->words[0], SPAN("SCRIPT")))
		return false;
	for (const char *p = "$40\r\n0123456789012345678901234567890123456789"
	    "\r\n"; *p != '\0'; p++)
		fake_send(c, span_of(p, 1));
	return true;
}

START_TEST(small_pieces)
{
	fake.on_command = octet_by_octet;
	begin_up();
	ck_assert_int_eq(asking_one(&a, 1, 1), 'P');
}
END_TEST

static const struct span extras[] = {
	{ "+OK\r\n", 5 }, { ":1\r\n", 4 }, { "-ERR so\r\n", 9 }, { "+", 1 },
	{ "*1\r\n:1\r\n", 8 }, { "+a\r\n+b\r\n", 8 },
};

/* hiredis would abort the process. */
START_TEST(a_reply_to_no_command)
{
	begin_up();
	ck_assert_int_eq(asking_one(&a, 1, 1), 'P');
	fake_send(fake_newest(&fake), extras[_i]);
	ck_assert(asking_until_down(&a, 1 * S));
	assert_recovers(1 * S);
	ck_assert_uint_eq(fake.connects, 2);
}
END_TEST

static bool
answer_and_text(struct fake_redis *f, struct fake_conn *c,
    const struct fake_command *command)
{
	if (!fake_is_decision(command))
		return false;
	fake_answer(f, c, command);
	fake_send(c, f->text);
	return true;
}

START_TEST(two_replies_to_one_command)
{
	begin_up();
	fake.text = extras[_i];
	fake.on_command = answer_and_text;
	ck_assert_int_eq(asking_one(&a, 1, 1), 'U');
	ck_assert(asking_until_down(&a, 1 * S));
	assert_recovers(1 * S);
}
END_TEST

/* Some of the answers are one place off, the last one is one too many. */
START_TEST(two_replies_among_many)
{
	struct asked q[40];

	begin_up();
	fake.text = extras[_i];
	fake.on_command = answer_and_text;
	for (int i = 0; i < 40; i++) {
		asked_init(&q[i], &a);
		asked_send(&q[i], (uint64_t)i, 1);
	}
	ck_assert(asked_wait(q, 40));
	for (int i = 0; i < 40; i++) {
		ck_assert_uint_eq(q[i].times, 1);
		asked_fini(&q[i]);
	}
	ck_assert(asking_until_down(&a, 1 * S));
	assert_recovers(1 * S);
}
END_TEST

static bool
flood(struct fake_redis *f, struct fake_conn *c,
    const struct fake_command *command)
{
	static char octets[65536];

	(void)f;
	if (!fake_is_decision(command))
		return false;
	fake_send(c, SPAN("$99999999\r\n"));
	for (int i = 0; i < 2; i++)
		fake_send(c, span_of(octets, sizeof(octets)));
	return true;
}

static bool
is_flooded(void *arg)
{
	static char octets[65536];
	struct fake_conn *c = fake_newest(&fake);

	if (c != NULL)
		fake_send(c, span_of(octets, sizeof(octets)));
	return !redis_store_up(((struct asking *)arg)->store);
}

START_TEST(a_reply_without_end)
{
	struct asked q;

	conf.timeout_us = 3 * S;
	begin_up();
	fake.on_command = flood;
	asked_init(&q, &a);
	asked_send(&q, 1, 1);
	/* 4 MiB in pieces of 64 KiB. */
	ck_assert(asking_until(loop, is_flooded, &a, 2 * S));
	ck_assert(asked_wait(&q, 1));
	ck_assert_int_eq(q.said, SAID_UNKNOWN);
	assert_recovers(1 * S);
	asked_fini(&q);
}
END_TEST

START_TEST(never_answers)
{
	int64_t since = clock_now();

	fake.deaf = true;
	asking_begin(&a, loop, &conf);
	ck_assert(!redis_store_settled(a.store));
	ck_assert_int_eq(asking_one(&a, 1, 1), 'U');
	while (!a.settled && clock_now() - since < 1 * S)
		asking_pause(loop, 10 * MS);
	ck_assert(a.settled);
	ck_assert_int_ge(clock_now() - since, 200 * MS);
	ck_assert_int_lt(clock_now() - since, 300 * MS);
	fake_listen_again(&fake);
	assert_recovers(1 * S);
}
END_TEST

START_TEST(closes_at_once)
{
	fake.drop = true;
	asking_begin(&a, loop, &conf);
	asking_pause(loop, 1000 * MS);
	ck_assert(a.settled);
	ck_assert(!redis_store_up(a.store));
	/* At 0, 100, 300 and 700 ms, a fifth more or less. */
	ck_assert_uint_ge(fake.connects, 3);
	ck_assert_uint_le(fake.connects, 5);
	fake.drop = false;
	assert_recovers(1 * S);
}
END_TEST

START_TEST(nobody_there)
{
	unlink(fake.path);
	asking_begin(&a, loop, &conf);
	ck_assert(!redis_store_settled(a.store));
	asking_pause(loop, 20 * MS);
	ck_assert(a.settled);
	ck_assert_int_eq(asking_one(&a, 1, 1), 'U');
}
END_TEST

static struct {
	const char *word, *reply;
	bool close;
	enum after after;
} steps[] = {
	{ "AUTH", "", true, BACK_SOON },
	{ "AUTH", "-ERR AUTH hunter2 is not my password\r\n", false,
	    BACK_LATE },
	{ "AUTH", "-WRONGPASS hunter2\r\n", false, BACK_LATE },
	{ "AUTH", "-hunter2\r\n", false, BACK_LATE },
	{ "AUTH", "-ERR max number of clients reached\r\n", true, BACK_SOON },
	{ "AUTH", "-LOADING Redis is loading\r\n", false, BACK_SOON },
	{ "CLIENT", "-ERR unknown subcommand\r\n", false, KEPT },
	{ "CLIENT", "", true, BACK_SOON },
	{ "SELECT", "-ERR DB index is out of range\r\n", false, BACK_LATE },
	{ "SELECT", "-NOAUTH Authentication required.\r\n", false,
	    BACK_LATE },
	{ "SCRIPT", "-NOPERM this user has no permissions\r\n", false,
	    BACK_LATE },
	{ "SCRIPT", "-LOADING Redis is loading\r\n", false, BACK_SOON },
	{ "SCRIPT", "-BUSY Redis is busy\r\n", false, BACK_SOON },
	{ "SCRIPT", "$39\r\n012345678901234567890123456789012345678\r\n",
	    false, BACK_SOON },
	{ "SCRIPT", "+OK\r\n", false, BACK_SOON },
	{ "SCRIPT", "$-1\r\n", false, BACK_SOON },
	{ "SCRIPT", "rubbish", false, BACK_SOON },
	{ "SCRIPT", "", true, BACK_SOON },
	{ "SCRIPT", "", false, BACK_SOON },
	{ "EVALSHA", "-LOADING Redis is loading\r\n", false, BACK_SOON },
	{ "EVALSHA", "-READONLY You can't write\r\n", false, BACK_SOON },
	{ "EVALSHA", "-OOM command not allowed\r\n", false, KEPT },
	{ "EVALSHA", "+OK\r\n", false, BACK_SOON },
	{ "EVALSHA", "", true, BACK_SOON },
};

static bool
at_step(struct fake_redis *f, struct fake_conn *c,
    const struct fake_command *command)
{
	const char *word = steps[f->text.len].word;

	if (!span_equal(command->words[0], span_str(word)))
		return false;
	fake_send(c, span_str(steps[f->text.len].reply));
	if (steps[f->text.len].close)
		fake_close(c);
	return true;
}

START_TEST(trouble_while_connecting)
{
	enum after after = steps[_i].after;
	char log[4096];
	FILE *f = tmpfile();
	int saved = dup(STDERR_FILENO);
	size_t n;

	dup2(fileno(f), STDERR_FILENO);
	conf.username = (char *)(uintptr_t)"me";
	conf.password = (char *)(uintptr_t)"hunter2";
	conf.database = 1;
	fake.text.len = (size_t)_i;
	fake.on_command = at_step;
	asking_begin(&a, loop, &conf);
	asking_pause(loop, 400 * MS);
	log_flush_repeats();
	dup2(saved, STDERR_FILENO);
	rewind(f);
	n = fread(log, 1, sizeof(log) - 1, f);
	log[n] = '\0';
	fclose(f);
	ck_assert_msg(n > 0 && strstr(log, "hunter2") == NULL, "%s", log);
	ck_assert(a.settled);
	ck_assert_int_eq(redis_store_up(a.store), after == KEPT);
	if (after == BACK_LATE)
		ck_assert_uint_eq(fake.connects, 1);
	else if (after == BACK_SOON)
		assert_recovers(1 * S);
	else
		ck_assert_uint_eq(fake.connects, 1);
}
END_TEST

static bool
close_instead(struct fake_redis *f, struct fake_conn *c,
    const struct fake_command *command)
{
	(void)f;
	if (!fake_is_decision(command))
		return false;
	fake_close(c);
	return true;
}

/* A connection lost during its probe is one failure, not two: the waits are
 * 100, 200 and 400 ms, a fifth more or less. */
START_TEST(a_failed_probe_counts_once)
{
	fake.on_command = close_instead;
	asking_begin(&a, loop, &conf);
	asking_pause(loop, 900 * MS);
	ck_assert(a.settled);
	ck_assert_uint_ge(fake.connects, 4);
	ck_assert_uint_le(fake.connects, 5);
	assert_recovers(1 * S);
}
END_TEST

START_TEST(a_reader_that_stops)
{
	static struct asked q[3000];

	conf.timeout_us = 4 * S;
	begin_up();
	fake.deaf = true;
	for (int i = 0; i < 3000; i++) {
		asked_init(&q[i], &a);
		asked_send(&q[i], (uint64_t)i, 1);
		ck_assert(!q[i].at_once);
		if (i % 500 == 0)
			asking_pause(loop, 1 * MS);
	}
	asking_pause(loop, 20 * MS);
	for (int i = 0; i < 3000; i++)
		ck_assert_uint_eq(q[i].times, 0);
	fake_listen_again(&fake);
	ck_assert(asked_wait(q, 3000));
	for (int i = 0; i < 3000; i++) {
		ck_assert_int_eq(q[i].said, SAID_PASS);
		asked_fini(&q[i]);
	}
	ck_assert_uint_eq(fake.connects, 1);
}
END_TEST

static bool
silent(struct fake_redis *f, struct fake_conn *c,
    const struct fake_command *command)
{
	(void)f;
	(void)c;
	return fake_is_decision(command);
}

/* Answered questions ask again at once, and one gives another up. */
static struct asked *victim;

static void
ask_again(struct asked *q)
{
	if (victim != NULL && victim != q && victim->said == SAID_NOTHING) {
		asked_cancel(victim);
		victim->said = SAID_UNKNOWN;
		victim = NULL;
	}
	if (q->times == 1)
		asked_send(q, 9, 1);
}

START_TEST(asking_again_while_it_ends)
{
	struct asked q[12];

	conf.timeout_us = 100 * MS;
	begin_up();
	fake.on_command = silent;
	for (int i = 0; i < 12; i++) {
		asked_init(&q[i], &a);
		q[i].then = ask_again;
		asked_send(&q[i], (uint64_t)i, 1);
	}
	victim = &q[11];
	if (_i == 1) {
		asking_pause(loop, 5 * MS);
		fake_close(fake_newest(&fake));
	}
	ck_assert(asking_until_down(&a, 2 * S));
	ck_assert(asked_wait(q, 12));
	for (int i = 0; i < 12; i++) {
		ck_assert_uint_eq(q[i].times, i < 11 ? 2 : 0);
		ck_assert_int_eq(q[i].said, SAID_UNKNOWN);
		asked_fini(&q[i]);
	}
	assert_recovers(1 * S);
}
END_TEST

/* Always answered, always too late. */
static bool
hold_back(struct fake_redis *f, struct fake_conn *c,
    const struct fake_command *command)
{
	if (!fake_is_decision(command))
		return false;
	if (f->evalshas > 1)
		fake_answer(f, c, command);
	return true;
}

START_TEST(always_late)
{
	int asked = 0;

	conf.timeout_us = 4 * MS;
	begin_up();
	fake.on_command = hold_back;
	/* Each reply is that to the question before. */
	while (redis_store_up(a.store) && asked++ < 200)
		ck_assert_int_eq(asking_one(&a, 1, 1), 'U');
	ck_assert(!redis_store_up(a.store));
	/* Half of the last hundred, about; a stalled machine may miss five in
	 * a row before that. */
	ck_assert_int_ge(asked, 5);
	ck_assert_int_le(asked, 60);
	assert_recovers(1 * S);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("faults");
	TCase *tc = tcase_create("faults");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, error_replies, 0, ROWS(errors));
	tcase_add_test(tc, script_sent_whole);
	tcase_add_test(tc, script_not_sent_for_nobody);
	tcase_add_loop_test(tc, wrong_replies, 0, ROWS(lies));
	tcase_add_loop_test(tc, half_a_reply_then_closed, 0, ROWS(halves));
	tcase_add_loop_test(tc, half_a_reply_then_silence, 0,
	    ROWS(halves) - 1);
	tcase_add_test(tc, small_pieces);
	tcase_add_loop_test(tc, a_reply_to_no_command, 0, ROWS(extras));
	tcase_add_loop_test(tc, two_replies_to_one_command, 0, ROWS(extras));
	tcase_add_loop_test(tc, two_replies_among_many, 0, ROWS(extras));
	tcase_add_test(tc, a_reply_without_end);
	tcase_add_test(tc, never_answers);
	tcase_add_test(tc, closes_at_once);
	tcase_add_test(tc, nobody_there);
	tcase_add_loop_test(tc, trouble_while_connecting, 0, ROWS(steps));
	tcase_add_test(tc, a_failed_probe_counts_once);
	tcase_add_test(tc, a_reader_that_stops);
	tcase_add_loop_test(tc, asking_again_while_it_ends, 0, 2);
	tcase_add_test(tc, always_late);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
