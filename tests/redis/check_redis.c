/* The store against a real redis-server. */
#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "harness/asking.h"
#include "harness/redis_server.h"
#include "limit/script.h"

#define MS CLOCK_MS
#define S CLOCK_SECOND
#define HOUR (3600 * CLOCK_SECOND)

static struct redis_server server;
static struct redis_conf conf;
static struct asking a;

/* A timeout no test runs into unless the server is silent. */
static void
use(struct redis_server *r)
{
	conf = (struct redis_conf){ .address = r->address,
	    .timeout_us = 2 * S, .prefix = (char *)(uintptr_t)"weir:" };
}

static void
setup(void)
{
	clock_init();
	hash_init();
	signal(SIGPIPE, SIG_IGN);
	redis_server_begin(&server, false, NULL);
	use(&server);
}

static void
teardown(void)
{
	if (a.store != NULL)
		asking_end(&a, true);
	redis_server_end(&server);
}

static void
begin_up(void)
{
	asking_begin(&a, NULL, &conf);
	ck_assert(asking_until_up(&a, 2 * S));
}

static long
number(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	ck_assert_msg(end != text, "not a number: %s", text);
	return n;
}

/* A line "name:value" of INFO. */
static long
info(const char *section, const char *name)
{
	const char *text = redis_server_do(&server, "INFO %s", section);
	const char *at = strstr(text, name);

	ck_assert_msg(at != NULL, "no %s", name);
	return number(at + strlen(name) + 1);
}

START_TEST(comes_up)
{
	asking_begin(&a, NULL, &conf);
	ck_assert(!redis_store_settled(a.store));
	ck_assert(!redis_store_up(a.store));
	ck_assert(asking_until_up(&a, 2 * S));
	ck_assert(a.settled);
	ck_assert(redis_store_settled(a.store));
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_UP), 1);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_RECONNECTS_TOTAL), 1);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_REQUESTS_TOTAL), 0);
	ck_assert(strstr(redis_server_do(&server, "CLIENT LIST"),
	    "name=weir ") != NULL);
	a.store->ops->free(a.store);
	a.store = NULL;
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_UP), 0);
	loop_free(a.loop);
}
END_TEST

START_TEST(counts)
{
	struct asked q;

	begin_up();
	ck_assert_str_eq(asking_row(&a, 1, 5), "PPPPP");
	asked_init(&q, &a);
	asked_send(&q, 1, 1);
	ck_assert(asked_wait(&q, 1));
	ck_assert_int_eq(q.said, SAID_DENY);
	ck_assert(!q.at_once);
	ck_assert_int_eq(q.question.source, SOURCE_REDIS);
	ck_assert_int_gt(q.question.now, 0);
	ck_assert_int_eq(q.question.rows[0].verdicts[0].limit, 5);
	/* From here on without Redis. */
	asked_send(&q, 1, 1);
	ck_assert(q.at_once);
	ck_assert_int_eq(q.said, SAID_DENY);
	ck_assert_int_eq(q.question.source, SOURCE_REMEMBERED);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_REMEMBERED_TOTAL), 1);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_REQUESTS_TOTAL), 6);
	ck_assert_int_eq(asking_one(&a, 2, 1), 'P');
	asked_fini(&q);
}
END_TEST

START_TEST(reload_forgets_denials)
{
	begin_up();
	asking_row(&a, 1, 6);
	a.store->ops->reloaded(a.store);
	ck_assert_int_eq(asking_one(&a, 1, 1), 'D');
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_REQUESTS_TOTAL), 7);
}
END_TEST

START_TEST(peek_writes_nothing)
{
	struct asked q;

	begin_up();
	asked_init(&q, &a);
	asked_send(&q, 1, 1);
	ck_assert(asked_wait(&q, 1));
	redis_server_do(&server, "FLUSHALL");
	for (int i = 0; i < 9; i++) {
		q.said = SAID_NOTHING;
		ck_assert_int_eq(a.store->ops->peek(a.store, &q.question,
		    loop_now(a.loop)), ANSWER_LATER);
		ck_assert(asked_wait(&q, 1));
		ck_assert_int_eq(q.said, SAID_PASS);
	}
	ck_assert_str_eq(redis_server_do(&server, "DBSIZE"), "0");
	asked_fini(&q);
}
END_TEST

/* Many askers of two stores on one key: the limit to the unit. */
#define ASKERS 16
static unsigned passed, left;

static void
ask_again(struct asked *q)
{
	passed += q->said == SAID_PASS;
	ck_assert_int_ne(q->said, SAID_UNKNOWN);
	while (left > 0) {
		left--;
		asked_send(q, 7, 1);
		if (!q->at_once)
			return;
		ck_assert_int_eq(q->said, SAID_DENY);
	}
}

START_TEST(two_stores_admit_the_limit)
{
	struct asking b;
	struct asked q[2 * ASKERS];

	begin_up();
	asking_begin(&b, a.loop, &conf);
	ck_assert(asking_until_up(&b, 2 * S));
	asking_limit(&a, (enum algo_kind)_i, 100, 1000 * HOUR);
	asking_limit(&b, (enum algo_kind)_i, 100, 1000 * HOUR);
	passed = 0;
	left = 1000;
	for (int i = 0; i < 2 * ASKERS; i++) {
		asked_init(&q[i], i % 2 == 0 ? &a : &b);
		q[i].then = ask_again;
		asked_send(&q[i], 7, 1);
	}
	ck_assert(asked_wait(q, 2 * ASKERS));
	ck_assert_uint_eq(left, 0);
	ck_assert_uint_eq(passed, 100);
	ck_assert_int_gt(number(redis_server_do(&server, "PTTL %s",
	    asking_key(&a, "weir:", 7))), 0);
	for (int i = 0; i < 2 * ASKERS; i++)
		asked_fini(&q[i]);
	asking_end(&b, false);
}
END_TEST

START_TEST(every_key_expires)
{
	begin_up();
	asking_limit(&a, (enum algo_kind)_i, 3, 60 * S);
	for (int i = 0; i < 5; i++) {
		long ttl;

		asking_one(&a, 1, 1);
		ttl = number(redis_server_do(&server, "PTTL %s",
		    asking_key(&a, "weir:", 1)));
		ck_assert_int_gt(ttl, 0);
		ck_assert_int_le(ttl, 2 * 60 * 1000 + 5000);
	}
	/* The key of the probes too. */
	ck_assert_int_eq(info("keyspace", "db0:keys"),
	    info("keyspace", ",expires"));
}
END_TEST

START_TEST(heals_a_key_without_expiry)
{
	const char *key;

	begin_up();
	asking_limit(&a, ALGO_FIXED_WINDOW, 3, HOUR);
	ck_assert_str_eq(asking_row(&a, 1, 4), "PPPD");
	key = asking_key(&a, "weir:", 1);
	ck_assert_str_eq(redis_server_do(&server, "PERSIST %s", key), "1");
	a.store->ops->reloaded(a.store);
	ck_assert_int_eq(asking_one(&a, 1, 1), 'D');
	ck_assert_int_gt(number(redis_server_do(&server, "PTTL %s", key)), 0);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_REPAIRS_TOTAL), 1);
}
END_TEST

START_TEST(heals_another_type)
{
	const char *key;

	begin_up();
	asking_limit(&a, (enum algo_kind)_i, 3, HOUR);
	key = asking_key(&a, "weir:", 1);
	redis_server_do(&server, "LPUSH %s x", key);
	ck_assert_str_eq(asking_row(&a, 1, 4), "PPPD");
	ck_assert_int_gt(number(redis_server_do(&server, "PTTL %s", key)), 0);
	redis_server_do(&server, "SET %s garbage", key);
	a.store->ops->reloaded(a.store);
	ck_assert_str_eq(asking_row(&a, 1, 4), "PPPD");
	ck_assert_int_gt(number(redis_server_do(&server, "PTTL %s", key)), 0);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_REPAIRS_TOTAL), 2);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_ERRORS_TOTAL), 0);
}
END_TEST

START_TEST(lost_scripts_are_sent_again)
{
	struct asked q[64];

	begin_up();
	ck_assert_str_eq(asking_row(&a, 1, 2), "PP");
	redis_server_do(&server, "SCRIPT FLUSH");
	ck_assert_str_eq(asking_row(&a, 1, 4), "PPPD");
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_NOSCRIPT_TOTAL), 1);
	/* Many at once: the text is sent once. */
	redis_server_do(&server, "SCRIPT FLUSH");
	for (int i = 0; i < 64; i++) {
		asked_init(&q[i], &a);
		asked_send(&q[i], 100 + (uint64_t)i, 1);
	}
	ck_assert(asked_wait(q, 64));
	for (int i = 0; i < 64; i++) {
		ck_assert_int_eq(q[i].said, SAID_PASS);
		ck_assert_uint_eq(q[i].times, 1);
		asked_fini(&q[i]);
	}
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_NOSCRIPT_TOTAL), 2);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_ERRORS_TOTAL), 0);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_RECONNECTS_TOTAL), 1);
}
END_TEST

START_TEST(killed_with_questions_outstanding)
{
	struct asked q[50];
	int64_t back;

	begin_up();
	redis_server_signal(&server, SIGSTOP);
	for (int i = 0; i < 50; i++) {
		asked_init(&q[i], &a);
		asked_send(&q[i], (uint64_t)i, 1);
		ck_assert(!q[i].at_once);
	}
	asked_cancel(&q[49]);
	asking_pause(a.loop, 5 * MS);
	redis_server_kill(&server);
	ck_assert(asked_wait(q, 49));
	for (int i = 0; i < 50; i++)
		ck_assert_uint_eq(q[i].times, i < 49);
	ck_assert(!redis_store_up(a.store));
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_UP), 0);
	asked_send(&q[0], 1, 1);
	ck_assert(q[0].at_once);
	ck_assert_int_eq(q[0].said, SAID_UNKNOWN);
	asking_pause(a.loop, 700 * MS);
	redis_server_start(&server, NULL);
	back = clock_now();
	ck_assert(asking_until_up(&a, 2 * S));
	ck_assert_int_lt(clock_now() - back, 1 * S);
	ck_assert_int_eq(asking_one(&a, 1, 1), 'P');
	for (int i = 0; i < 50; i++)
		asked_fini(&q[i]);
}
END_TEST

START_TEST(hung_and_continued)
{
	struct asked q[60];
	int64_t back;
	int later = 0;

	conf.timeout_us = 50 * MS;
	begin_up();
	asking_one(&a, 1, 1);
	redis_server_signal(&server, SIGSTOP);
	for (int i = 0; i < 60; i++) {
		asked_init(&q[i], &a);
		asked_send(&q[i], (uint64_t)i, 1);
		later += !q[i].at_once;
		asking_pause(a.loop, 2 * MS);
	}
	ck_assert(asked_wait(q, 60));
	ck_assert(!redis_store_up(a.store));
	/* Those asked before the fifth miss waited, the others did not. */
	ck_assert_int_ge(later, 5);
	ck_assert_int_le(later, 45);
	for (int i = 0; i < 60; i++) {
		ck_assert_int_eq(q[i].said, SAID_UNKNOWN);
		ck_assert_uint_eq(q[i].times, 1);
		ck_assert_int_lt(q[i].took_us, 75 * MS);
		asked_fini(&q[i]);
	}
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_TIMEOUTS_TOTAL), 5);
	asking_pause(a.loop, 900 * MS);
	redis_server_signal(&server, SIGCONT);
	back = clock_now();
	ck_assert(asking_until_up(&a, 2 * S));
	ck_assert_int_lt(clock_now() - back, 1 * S);
}
END_TEST

START_TEST(idle_and_hung)
{
	conf.timeout_us = 50 * MS;
	begin_up();
	redis_server_signal(&server, SIGSTOP);
	ck_assert(asking_until_down(&a, 4 * S));
	redis_server_signal(&server, SIGCONT);
	ck_assert(asking_until_up(&a, 2 * S));
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_TIMEOUTS_TOTAL), 0);
}
END_TEST

START_TEST(idle_for_long)
{
	begin_up();
	asking_pause(a.loop, 3500 * MS);
	ck_assert(redis_store_up(a.store));
	ck_assert_int_ge(info("commandstats", "cmdstat_ping:calls"), 2);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_RECONNECTS_TOTAL), 1);
}
END_TEST

START_TEST(not_there_at_start)
{
	redis_server_kill(&server);
	asking_begin(&a, NULL, &conf);
	ck_assert(!redis_store_settled(a.store));
	asking_pause(a.loop, 50 * MS);
	ck_assert(a.settled);
	ck_assert_int_eq(asking_one(&a, 1, 1), 'U');
	asking_pause(a.loop, 2 * S);
	redis_server_start(&server, NULL);
	ck_assert(asking_until_up(&a, 1 * S));
	ck_assert_int_eq(asking_one(&a, 1, 1), 'P');
}
END_TEST

START_TEST(flushed)
{
	begin_up();
	ck_assert_str_eq(asking_row(&a, 1, 6), "PPPPPD");
	redis_server_do(&server, "FLUSHALL");
	/* A denial is remembered for a second at most. */
	asking_pause(a.loop, 1050 * MS);
	ck_assert_int_eq(asking_one(&a, 1, 1), 'P');
}
END_TEST

START_TEST(out_of_memory)
{
	begin_up();
	ck_assert_str_eq(asking_row(&a, 1, 5), "PPPPP");
	redis_server_do(&server, "CONFIG SET maxmemory 1");
	ck_assert_int_eq(asking_one(&a, 2, 1), 'U');
	ck_assert_int_eq(asking_one(&a, 1, 1), 'D');
	ck_assert(redis_store_up(a.store));
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_ERRORS_TOTAL), 1);
	/* A new connection is as good. */
	redis_server_do(&server, "CLIENT KILL TYPE normal");
	ck_assert(asking_until_down(&a, 1 * S));
	ck_assert(asking_until_up(&a, 1 * S));
	redis_server_do(&server, "CONFIG SET maxmemory 0");
	ck_assert_int_eq(asking_one(&a, 2, 1), 'P');
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_RECONNECTS_TOTAL), 2);
}
END_TEST

/* Standard error in a file, for what is logged. */
static FILE *
catch_log(int *ret_saved)
{
	FILE *f = tmpfile();

	fflush(stderr);
	*ret_saved = dup(STDERR_FILENO);
	dup2(fileno(f), STDERR_FILENO);
	return f;
}

static void
end_log(FILE *f, int saved, char *buf, size_t cap)
{
	size_t n;

	log_flush_repeats();
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(f);
	n = fread(buf, 1, cap - 1, f);
	buf[n] = '\0';
	fclose(f);
}

static size_t
count_in(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what)) != NULL) {
		text += strlen(what);
		n++;
	}
	return n;
}

#define PASSWORD "p@ss?w#rd:1&2%41"

START_TEST(password)
{
	static const char *const extra[] = { "--requirepass", PASSWORD, NULL };
	char text[4096];
	int saved;
	FILE *f = catch_log(&saved);

	redis_server_kill(&server);
	redis_server_start(&server, extra);
	conf.password = (char *)(uintptr_t)PASSWORD;
	begin_up();
	ck_assert_int_eq(asking_one(&a, 1, 1), 'P');
	end_log(f, saved, text, sizeof(text));
	ck_assert_msg(strstr(text, "p@ss") == NULL, "%s", text);
	ck_assert_uint_eq(count_in(text, "redis answers"), 1);
}
END_TEST

START_TEST(wrong_or_missing_password)
{
	static const char *const extra[] = { "--requirepass", PASSWORD, NULL };
	char text[4096];
	int saved;
	FILE *f = catch_log(&saved);

	redis_server_kill(&server);
	redis_server_start(&server, extra);
	conf.password = _i == 0 ? NULL : (char *)(uintptr_t)"secret";
	asking_begin(&a, NULL, &conf);
	asking_pause(a.loop, 1500 * MS);
	ck_assert(a.settled);
	ck_assert(!redis_store_up(a.store));
	ck_assert_int_eq(asking_one(&a, 1, 1), 'U');
	end_log(f, saved, text, sizeof(text));
	ck_assert_msg(strstr(text, "secret") == NULL, "%s", text);
	ck_assert_msg(count_in(text, "redis is away") == 1, "%s", text);
	ck_assert_msg(strstr(text, _i == 0 ? "NOAUTH" : "WRONGPASS") != NULL,
	    "%s", text);
	/* One try: no hammering with what was refused. */
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_RECONNECTS_TOTAL), 0);
}
END_TEST

START_TEST(user_with_few_rights)
{
	begin_up();
	redis_server_do(&server, "ACL SETUSER weir on >x ~weir:* +evalsha "
	    "+eval +script|load +get +set +pttl +pexpire +time +ping +client");
	asking_end(&a, true);
	conf.username = (char *)(uintptr_t)"weir";
	conf.password = (char *)(uintptr_t)"x";
	begin_up();
	for (int i = 0; i < ALGO_COUNT; i++) {
		asking_limit(&a, (enum algo_kind)i, 2, HOUR);
		ck_assert_str_eq(asking_row(&a, 1, 3), "PPD");
		redis_server_do(&server, "PERSIST %s",
		    asking_key(&a, "weir:", 1));
		a.store->ops->reloaded(a.store);
		redis_server_do(&server, "SCRIPT FLUSH");
		ck_assert_int_eq(asking_one(&a, 1, 1), 'D');
	}
	redis_server_do(&server, "CLIENT KILL TYPE normal");
	ck_assert(asking_until_down(&a, 1 * S));
	ck_assert(asking_until_up(&a, 1 * S));
	ck_assert_int_eq(asking_one(&a, 1, 1), 'D');
	/* Only the connection that was cut. */
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_ERRORS_TOTAL), 1);
	ck_assert_str_eq(redis_server_do(&server, "ACL LOG"), "");
}
END_TEST

START_TEST(rights_taken_away)
{
	long before;

	begin_up();
	redis_server_do(&server, "ACL SETUSER weir on >x ~weir:* +@all");
	asking_end(&a, true);
	conf.username = (char *)(uintptr_t)"weir";
	conf.password = (char *)(uintptr_t)"x";
	begin_up();
	redis_server_do(&server, "ACL SETUSER weir -set");
	ck_assert_int_eq(asking_one(&a, 1, 1), 'U');
	ck_assert(asking_until_down(&a, 1 * S));
	before = info("stats", "total_connections_received");
	asking_pause(a.loop, 2 * S);
	/* Our own look is one. */
	ck_assert_int_eq(info("stats", "total_connections_received"),
	    before + 1);
	redis_server_do(&server, "ACL SETUSER weir +set");
	ck_assert(asking_until_up(&a, 6 * S));
}
END_TEST

/*
 * Each right by itself: without it there is no answer, above all no pass. Each
 * is asked for by a question that needs it: pttl by a denied one, pexpire by a
 * denied one whose key does not expire, eval when the scripts are lost.
 */
static const struct {
	const char *right;
	bool used_up, lasting, flushed;
} rights[] = {
	{ .right = "get" }, { .right = "get", .used_up = true },
	{ .right = "set" }, { .right = "time" },
	{ .right = "time", .used_up = true },
	{ .right = "pttl", .used_up = true },
	{ .right = "pexpire", .used_up = true, .lasting = true },
	{ .right = "evalsha" }, { .right = "eval", .flushed = true },
};
#define RIGHTS ((int)(sizeof(rights) / sizeof(*rights)))

START_TEST(each_right_taken_away)
{
	struct asked q;
	enum algo_kind kind = (enum algo_kind)(_i % ALGO_COUNT);
	int i = _i / ALGO_COUNT;
	char text[4096];
	int saved;
	FILE *f;

	redis_server_do(&server, "ACL SETUSER weir on >x ~weir:* -@all "
	    "+evalsha +eval +script|load +get +set +pttl +pexpire +time "
	    "+ping +client");
	conf.username = (char *)(uintptr_t)"weir";
	conf.password = (char *)(uintptr_t)"x";
	f = catch_log(&saved);
	begin_up();
	asking_limit(&a, kind, 2, HOUR);
	if (rights[i].used_up)
		ck_assert_str_eq(asking_row(&a, 1, 3), "PPD");
	if (rights[i].lasting)
		ck_assert_str_eq(redis_server_do(&server, "PERSIST %s",
		    asking_key(&a, "weir:", 1)), "1");
	redis_server_do(&server, "ACL SETUSER weir -%s", rights[i].right);
	if (rights[i].flushed)
		redis_server_do(&server, "SCRIPT FLUSH");
	a.store->ops->reloaded(a.store);
	asked_init(&q, &a);
	asked_send(&q, 1, 1);
	ck_assert(!q.at_once);
	ck_assert(asked_wait(&q, 1));
	ck_assert_int_eq(q.said, SAID_UNKNOWN);
	ck_assert(asking_until_down(&a, 1 * S));
	ck_assert_int_eq(asking_one(&a, 1, 1), 'U');
	end_log(f, saved, text, sizeof(text));
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_REPAIRS_TOTAL), 0);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_ERRORS_TOTAL), 1);
	ck_assert_uint_eq(count_in(text, "redis is away"), 1);
	ck_assert_uint_eq(count_in(text, "healed"), 0);
	asked_fini(&q);
}
END_TEST

/* Found out by the probe, before anybody is asked. */
START_TEST(right_missing_from_the_start)
{
	static const char *const needed[] = { "get", "set", "time",
	    "evalsha" };

	redis_server_do(&server, "ACL SETUSER weir on >x ~weir:* +@all -%s",
	    needed[_i]);
	conf.username = (char *)(uintptr_t)"weir";
	conf.password = (char *)(uintptr_t)"x";
	asking_begin(&a, NULL, &conf);
	asking_pause(a.loop, 300 * MS);
	ck_assert(a.settled);
	ck_assert(!redis_store_up(a.store));
	ck_assert_int_eq(asking_one(&a, 1, 1), 'U');
}
END_TEST

/* Repairs are told, with the policy, and not once for each. */
START_TEST(repairs_are_logged)
{
	char text[4096];
	int saved;
	FILE *f = catch_log(&saved);

	begin_up();
	for (int i = 0; i < 3; i++) {
		redis_server_do(&server, "SET %s garbage",
		    asking_key(&a, "weir:", 1));
		ck_assert_int_eq(asking_one(&a, 1, 1), 'P');
	}
	end_log(f, saved, text, sizeof(text));
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_REPAIRS_TOTAL), 3);
	ck_assert_msg(count_in(text, "warn a damaged key was healed address=")
	    == 2, "%s", text);
	ck_assert_msg(strstr(text, " policy=p ... repeated 2 times\n") != NULL,
	    "%s", text);
}
END_TEST

START_TEST(database)
{
	conf.database = 3;
	begin_up();
	ck_assert_int_eq(asking_one(&a, 1, 1), 'P');
	ck_assert_str_eq(redis_server_do(&server, "EXISTS %s",
	    asking_key(&a, "weir:", 1)), "0");
	ck_assert(strstr(redis_server_do(&server, "INFO keyspace"), "db3:") !=
	    NULL);
	ck_assert(strstr(redis_server_do(&server, "INFO keyspace"), "db0:") ==
	    NULL);
}
END_TEST

START_TEST(turned_replica)
{
	begin_up();
	ck_assert_int_eq(asking_one(&a, 1, 1), 'P');
	redis_server_do(&server, "REPLICAOF 127.0.0.1 1");
	ck_assert_int_eq(asking_one(&a, 1, 1), 'U');
	ck_assert(asking_until_down(&a, 1 * S));
	asking_pause(a.loop, 300 * MS);
	ck_assert(!redis_store_up(a.store));
	redis_server_do(&server, "REPLICAOF NO ONE");
	ck_assert(asking_until_up(&a, 1 * S));
	ck_assert_int_eq(asking_one(&a, 1, 1), 'P');
}
END_TEST

/* Late replies are nobody's: who asks next gets his own. */
START_TEST(late_replies)
{
	struct asked q[4];

	conf.timeout_us = 60 * MS;
	begin_up();
	asking_limit(&a, ALGO_TOKEN_BUCKET, 1, HOUR);
	ck_assert_str_eq(asking_row(&a, 1, 2), "PD");
	a.store->ops->reloaded(a.store);
	redis_server_do(&server, "CLIENT PAUSE 9000 WRITE");
	for (int i = 0; i < 4; i++) {
		asked_init(&q[i], &a);
		asked_send(&q[i], i == 0 ? 1 : 100 + (uint64_t)i, 1);
	}
	ck_assert(asked_wait(q, 4));
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(q[i].said, SAID_UNKNOWN);
	/* On the same connection, behind the late ones. */
	ck_assert(redis_store_up(a.store));
	redis_server_do(&server, "CLIENT UNPAUSE");
	for (int i = 0; i < 4; i++)
		asked_send(&q[i], i == 0 ? 1 : 200 + (uint64_t)i, 1);
	ck_assert(asked_wait(q, 4));
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(q[i].said, i == 0 ? SAID_DENY : SAID_PASS);
		ck_assert_uint_eq(q[i].times, 2);
		asked_fini(&q[i]);
	}
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_RECONNECTS_TOTAL), 1);
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_TIMEOUTS_TOTAL), 4);
}
END_TEST

/* Cut again and again with replies outstanding, some questions given up. */
START_TEST(cut_with_replies_outstanding)
{
	struct asked q[32];
	unsigned sent[32] = { 0 };

	begin_up();
	for (int i = 0; i < 32; i++)
		asked_init(&q[i], &a);
	for (int round = 0; round < 30; round++) {
		ck_assert(asking_until_up(&a, 2 * S));
		for (int i = 0; i < 32; i++) {
			asked_send(&q[i], (uint64_t)(round * 32 + i), 1);
			sent[i]++;
			if (i % 3 != 0)
				continue;
			asked_cancel(&q[i]);
			q[i].said = SAID_UNKNOWN;
			sent[i] -= !q[i].at_once;
		}
		if (round % 2 == 0)
			asking_pause(a.loop, 500 * (round % 4));
		redis_server_do(&server, "CLIENT KILL TYPE normal");
		ck_assert(asked_wait(q, 32));
		for (int i = 0; i < 32; i++)
			ck_assert_uint_eq(q[i].times, sent[i]);
		ck_assert(asking_until_down(&a, 2 * S));
	}
	for (int i = 0; i < 32; i++)
		asked_fini(&q[i]);
}
END_TEST

START_TEST(freed_with_questions_outstanding)
{
	struct asked q[20];

	begin_up();
	redis_server_signal(&server, SIGSTOP);
	for (int i = 0; i < 20; i++) {
		asked_init(&q[i], &a);
		asked_send(&q[i], (uint64_t)i, 1);
		if (i < 10)
			asking_pause(a.loop, 100);
	}
	asked_cancel(&q[0]);
	a.store->ops->free(a.store);
	a.store = NULL;
	for (int i = 0; i < 20; i++) {
		ck_assert_uint_eq(q[i].times, i > 0);
		ck_assert_int_eq(q[i].said, i > 0 ? SAID_UNKNOWN :
		    SAID_NOTHING);
		asked_fini(&q[i]);
	}
	loop_free(a.loop);
}
END_TEST

START_TEST(no_more_in_flight_than_allowed)
{
	struct asked q[20];

	conf.max_in_flight = 8;
	begin_up();
	for (int i = 0; i < 20; i++) {
		asked_init(&q[i], &a);
		asked_send(&q[i], (uint64_t)i, 1);
		ck_assert_int_eq(q[i].at_once, i >= 8);
	}
	ck_assert(asked_wait(q, 20));
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(q[i].said, i < 8 ? SAID_PASS : SAID_UNKNOWN);
		asked_fini(&q[i]);
	}
	ck_assert_int_eq(asking_count(&a, COUNT_STORE_OVERFLOWS_TOTAL), 12);
	ck_assert_int_eq(asking_one(&a, 99, 1), 'P');
}
END_TEST

/* The descriptor that is connected to the server's port. */
static int
find_socket(unsigned port)
{
	for (int fd = 3; fd < 256; fd++) {
		struct sockaddr_storage ss;
		socklen_t len = sizeof(ss);
		const void *any = &ss;
		const struct sockaddr_in *in = any;

		if (getpeername(fd, (struct sockaddr *)&ss, &len) == 0 &&
		    ss.ss_family == AF_INET && ntohs(in->sin_port) == port)
			return fd;
	}
	return -1;
}

START_TEST(over_tcp)
{
	char text[64];
	socklen_t len = sizeof(int);
	int fd, on = 0;

	redis_server_end(&server);
	redis_server_begin(&server, true, NULL);
	snprintf(text, sizeof(text), "127.0.0.1:%u", server.port);
	ck_assert_int_eq(endpoint_parse(span_str(text), &conf.address), ERR_OK);
	begin_up();
	ck_assert_str_eq(asking_row(&a, 1, 6), "PPPPPD");
	fd = find_socket(server.port);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &len),
	    0);
	ck_assert_int_ne(on, 0);
	redis_server_kill(&server);
	ck_assert(asking_until_down(&a, 1 * S));
	asking_pause(a.loop, 300 * MS);
	redis_server_start(&server, NULL);
	ck_assert(asking_until_up(&a, 1 * S));
}
END_TEST

START_TEST(memory_stays_flat)
{
	struct asked q[64];
	size_t before = 0;

	begin_up();
	for (int i = 0; i < 64; i++)
		asked_init(&q[i], &a);
	for (int round = 0; round < 60; round++) {
		if (round == 10)
			before = mallinfo2().uordblks;
		for (int i = 0; i < 64; i++)
			asked_send(&q[i], (uint64_t)(round * 64 + i), 1);
		ck_assert(asked_wait(q, 64));
	}
	ck_assert_uint_le(mallinfo2().uordblks, before + 4096);
	for (int i = 0; i < 64; i++)
		asked_fini(&q[i]);
}
END_TEST

START_TEST(equal_configurations)
{
	struct redis_conf other = conf;

	ck_assert(redis_conf_equal(&conf, &other));
	other.password = (char *)(uintptr_t)"x";
	ck_assert(!redis_conf_equal(&conf, &other));
	other = conf;
	other.username = (char *)(uintptr_t)"x";
	ck_assert(!redis_conf_equal(&conf, &other));
	other = conf;
	other.database = 1;
	ck_assert(!redis_conf_equal(&conf, &other));
	other = conf;
	other.timeout_us++;
	ck_assert(!redis_conf_equal(&conf, &other));
	other = conf;
	other.prefix = (char *)(uintptr_t)"other:";
	ck_assert(!redis_conf_equal(&conf, &other));
	other = conf;
	ck_assert_int_eq(endpoint_parse(SPAN("unix:/x"), &other.address),
	    ERR_OK);
	ck_assert(!redis_conf_equal(&conf, &other));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("redis");
	TCase *tc = tcase_create("redis");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, comes_up);
	tcase_add_test(tc, counts);
	tcase_add_test(tc, reload_forgets_denials);
	tcase_add_test(tc, peek_writes_nothing);
	tcase_add_loop_test(tc, two_stores_admit_the_limit, 0, ALGO_COUNT);
	tcase_add_loop_test(tc, every_key_expires, 0, ALGO_COUNT);
	tcase_add_test(tc, heals_a_key_without_expiry);
	tcase_add_loop_test(tc, heals_another_type, 0, ALGO_COUNT);
	tcase_add_test(tc, lost_scripts_are_sent_again);
	tcase_add_test(tc, killed_with_questions_outstanding);
	tcase_add_test(tc, hung_and_continued);
	tcase_add_test(tc, idle_and_hung);
	tcase_add_test(tc, idle_for_long);
	tcase_add_test(tc, not_there_at_start);
	tcase_add_test(tc, flushed);
	tcase_add_test(tc, out_of_memory);
	tcase_add_test(tc, password);
	tcase_add_loop_test(tc, wrong_or_missing_password, 0, 2);
	tcase_add_test(tc, user_with_few_rights);
	tcase_add_test(tc, rights_taken_away);
	tcase_add_loop_test(tc, each_right_taken_away, 0,
	    RIGHTS * ALGO_COUNT);
	tcase_add_loop_test(tc, right_missing_from_the_start, 0, 4);
	tcase_add_test(tc, repairs_are_logged);
	tcase_add_test(tc, database);
	tcase_add_test(tc, turned_replica);
	tcase_add_test(tc, late_replies);
	tcase_add_test(tc, cut_with_replies_outstanding);
	tcase_add_test(tc, freed_with_questions_outstanding);
	tcase_add_test(tc, no_more_in_flight_than_allowed);
	tcase_add_test(tc, over_tcp);
	tcase_add_test(tc, memory_stays_flat);
	tcase_add_test(tc, equal_configurations);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
