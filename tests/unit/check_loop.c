#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/loop.h"

static struct loop *loop;
static char trace[64];
static size_t ntrace;

static void
note(char c)
{
	trace[ntrace++] = c;
	trace[ntrace] = '\0';
}

static void
setup(void)
{
	loop = loop_new();
	ntrace = 0;
	trace[0] = '\0';
}

static void
teardown(void)
{
	loop_free(loop);
}

/* ---- timers ---- */

static struct loop_timer first, second, last;
static int64_t set_at;

static void
on_first(struct loop_timer *t)
{
	ck_assert_int_ge(loop_now(loop) - set_at, 20000);
	note('1');
	/* Set to 0 from within: later, not now. */
	if (ntrace < 3)
		loop_timer_set(t, 0);
}

static void
on_second(struct loop_timer *t)
{
	(void)t;
	note('2');
	loop_timer_cancel(&last);
}

static void
on_last(struct loop_timer *t)
{
	(void)t;
	note('3');
	loop_stop(loop);
}

START_TEST(timers_in_order_and_never_early)
{
	struct loop_timer stop;

	loop_timer_init(loop, &first, on_first);
	loop_timer_init(loop, &second, on_second);
	loop_timer_init(loop, &last, on_last);
	loop_timer_init(loop, &stop, on_last);
	set_at = loop_now(loop);
	loop_timer_set(&stop, 60000);
	loop_timer_set(&last, 50000);
	loop_timer_set(&second, 40000);
	loop_timer_set(&first, 20000);
	loop_run(loop);
	ck_assert_str_eq(trace, "11123");
}
END_TEST

START_TEST(a_timer_is_replaced)
{
	loop_timer_init(loop, &first, on_first);
	loop_timer_init(loop, &last, on_last);
	set_at = loop_now(loop);
	loop_timer_set(&first, 1);
	loop_timer_set(&first, 3600 * INT64_C(1000000));
	loop_timer_set(&last, 30000);
	loop_run(loop);
	ck_assert_str_eq(trace, "3");
	loop_timer_cancel(&first);
	loop_timer_cancel(&first);
}
END_TEST

/* ---- tasks ---- */

static struct loop_task a, b, c;

static void
on_a(struct loop_task *task)
{
	note('a');
	if (ntrace < 4)
		loop_defer(loop, task);
	loop_task_cancel(&c);
}

static void
on_b(struct loop_task *task)
{
	(void)task;
	note('b');
	if (ntrace > 4)
		loop_stop(loop);
	else
		loop_defer(loop, task);
}

START_TEST(tasks_once_a_turn)
{
	loop_task_init(&a, on_a);
	loop_task_init(&b, on_b);
	loop_task_init(&c, on_b);
	loop_defer(loop, &a);
	loop_defer(loop, &b);
	loop_defer(loop, &a);
	loop_defer(loop, &c);
	loop_run(loop);
	ck_assert_str_eq(trace, "ababab");
}
END_TEST

/* ---- descriptors ---- */

static int pair[2];

static void
on_pair(struct loop_io *io, unsigned what)
{
	char buf[8];

	if (what & LOOP_WRITE)
		note('w');
	if (what & LOOP_READ) {
		note('r');
		ck_assert_int_eq(read(loop_io_fd(io), buf, sizeof(buf)), 2);
	}
	if (what & LOOP_CLOSED) {
		note('c');
		loop_io_remove(io);
		loop_stop(loop);
	}
}

static void
send_and_close(struct loop_timer *t)
{
	(void)t;
	ck_assert_int_eq(write(pair[1], "hi", 2), 2);
	close(pair[1]);
}

START_TEST(edges_and_the_end)
{
	struct loop_io io = { 0 };

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0,
	    pair), 0);
	ck_assert_int_eq(loop_io_add(loop, &io, pair[0], on_pair), ERR_OK);
	loop_timer_init(loop, &first, send_and_close);
	loop_timer_set(&first, 10000);
	loop_run(loop);
	/* Writable once at the start, then nothing until something comes. */
	ck_assert_int_eq(trace[0], 'w');
	ck_assert_ptr_nonnull(strstr(trace, "rc"));
	ck_assert_uint_le(ntrace, 5);
	loop_io_remove(&io);
	close(pair[0]);
}
END_TEST

/* ---- other threads ---- */

static void
posted(void *arg)
{
	note(*(const char *)arg);
	if (*(const char *)arg == 'z')
		loop_stop(loop);
}

static void *
poster(void *arg)
{
	loop_post(loop, posted, arg);
	loop_post(loop, posted, (char *)arg + 1);
	loop_post(loop, posted, (char *)arg + 2);
	return NULL;
}

START_TEST(posts_come_in_order)
{
	static char letters[] = "xyz";
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, poster, letters), 0);
	loop_run(loop);
	pthread_join(thread, NULL);
	ck_assert_str_eq(trace, "xyz");
}
END_TEST

START_TEST(stop_before_run_counts)
{
	loop_stop(loop);
	loop_run(loop);
	ck_assert_str_eq(trace, "");
}
END_TEST

static void
on_time(struct loop_task *task)
{
	int64_t now = loop_now(loop);

	(void)task;
	usleep(2000);
	ck_assert_int_eq(loop_now(loop), now);
	ck_assert_int_ge(loop_now_fresh(loop), now + 2000);
	ck_assert_int_ge(loop_now(loop), now + 2000);
	loop_stop(loop);
}

START_TEST(time_stands_within_a_turn)
{
	loop_task_init(&a, on_time);
	loop_defer(loop, &a);
	loop_run(loop);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("loop");
	TCase *tc = tcase_create("loop");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, timers_in_order_and_never_early);
	tcase_add_test(tc, a_timer_is_replaced);
	tcase_add_test(tc, tasks_once_a_turn);
	tcase_add_test(tc, edges_and_the_end);
	tcase_add_test(tc, posts_come_in_order);
	tcase_add_test(tc, stop_before_run_counts);
	tcase_add_test(tc, time_stands_within_a_turn);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
