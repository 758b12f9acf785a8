#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

static FILE *captured;
static char output[1 << 20];

/* Each test runs in a process of its own, so its stderr is its own, too. */
static void
capture(void)
{
	unsetenv("JOURNAL_STREAM");
	captured = tmpfile();
	ck_assert(captured != NULL);
	ck_assert_int_ge(dup2(fileno(captured), STDERR_FILENO), 0);
}

static const char *
read_output(void)
{
	size_t n;

	rewind(captured);
	n = fread(output, 1, sizeof(output) - 1, captured);
	output[n] = '\0';
	return output;
}

static size_t
count(const char *needle)
{
	size_t n = 0;

	for (const char *p = read_output(); (p = strstr(p, needle)) != NULL;
	    p += strlen(needle))
		n++;
	return n;
}

START_TEST(line_form)
{
	char stamp[32], text[64];
	int year, month, day, hour, minute, second, ms, end = 0;

	log_warn("upstream away server=%s", "a:1");
	ck_assert_int_eq(sscanf(read_output(), "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n",
	    &year, &month, &day, &hour, &minute, &second, &ms, &end), 7);
	ck_assert_int_eq(end, 24);
	ck_assert_str_eq(output + end, " warn upstream away server=a:1\n");
	ck_assert_int_eq(sscanf(output, "%31s %63[a-z]", stamp, text), 2);
	ck_assert_str_eq(text, "warn");
}
END_TEST

START_TEST(journal_form)
{
	char name[64];
	struct stat st;

	ck_assert_int_eq(fstat(STDERR_FILENO, &st), 0);
	snprintf(name, sizeof(name), "%ju:%ju", (uintmax_t)st.st_dev,
	    (uintmax_t)st.st_ino);
	setenv("JOURNAL_STREAM", name, 1);
	log_set_level(LOG_DEBUG);
	log_error("e");
	log_warn("w");
	log_info("i");
	log_debug("d");
	ck_assert_str_eq(read_output(), "<3>e\n<4>w\n<6>i\n<7>d\n");
}
END_TEST

/* The variable is inherited by processes whose stderr is something else. */
START_TEST(journal_of_another)
{
	setenv("JOURNAL_STREAM", "1:1", 1);
	log_error("e");
	ck_assert_uint_eq(count("<3>"), 0);
	ck_assert_uint_eq(count(" error e\n"), 1);
}
END_TEST

START_TEST(levels)
{
	enum log_level level;

	for (int i = 0; i < LOG_LEVELS; i++) {
		ck_assert_int_eq(log_parse_level(span_str(log_level_name(
		    (enum log_level)i)), &level), ERR_OK);
		ck_assert_int_eq((int)level, i);
	}
	ck_assert_int_eq(log_parse_level(SPAN("ERROR"), &level), ERR_SYNTAX);
	ck_assert_int_eq(log_parse_level(SPAN("err"), &level), ERR_SYNTAX);
	ck_assert_int_eq(log_parse_level(SPAN_EMPTY, &level), ERR_SYNTAX);
	ck_assert_int_eq((int)log_get_level(), LOG_INFO);
	log_debug("hidden");
	log_set_level(LOG_ERROR);
	log_warn("hidden");
	log_error("shown");
	ck_assert_uint_eq(count("hidden"), 0);
	ck_assert_uint_eq(count("shown"), 1);
}
END_TEST

START_TEST(repeats)
{
	for (int i = 0; i < 42; i++)
		log_warn("store away");
	ck_assert_uint_eq(count("store away"), 1);
	log_flush_repeats();
	ck_assert_uint_eq(count("warn store away ... repeated 41 times\n"), 1);
	log_flush_repeats();
	ck_assert_uint_eq(count("store away"), 2);
	/* Still held back, and counted anew. */
	log_warn("store away");
	log_flush_repeats();
	ck_assert_uint_eq(count("store away ... repeated 1 time\n"), 1);
	ck_assert_uint_eq(count("store away\n"), 1);
}
END_TEST

/* In the order in which things happened, each time, at once. */
START_TEST(states)
{
	log_error("detail");
	log_state(LOG_ERROR, "failed path=%s", "a");
	log_error("detail");
	log_error("detail");
	log_state(LOG_ERROR, "failed path=%s", "a");
	log_state(LOG_INFO, "done");
	log_state(LOG_INFO, "done");
	log_state(LOG_DEBUG, "hidden");
	log_flush_repeats();
	for (char *p = (char *)(uintptr_t)read_output(); *p != '\0'; p++)
		if (strncmp(p, "20", 2) == 0 && p[23] == 'Z')
			memmove(p, p + 25, strlen(p + 25) + 1);
	ck_assert_str_eq(output, "error detail\nerror failed path=a\n"
	    "error detail ... repeated 2 times\nerror failed path=a\n"
	    "info done\ninfo done\n");
	/* What it flushed is still held back. */
	log_error("detail");
	ck_assert_uint_eq(count("error detail\n"), 1);
	log_state(LOG_INFO, "a\nb");
	ck_assert_uint_eq(count("repeated 1 time\n"), 1);
	ck_assert_uint_eq(count("info a\\x0ab\n"), 1);
	errno = EPERM;
	log_state(LOG_ERROR, "%m");
	ck_assert_int_eq(errno, EPERM);
	ck_assert_uint_eq(count("error Operation not permitted\n"), 1);
}
END_TEST

START_TEST(different_lines_pass)
{
	log_warn("a");
	log_error("a");
	log_warn("ab");
	log_warn("b");
	ck_assert_uint_eq(count("\n"), 4);
}
END_TEST

/* More different lines than there is room for: none is lost, and what was
 * counted for a line that leaves is printed then. */
START_TEST(bounded)
{
	log_info("first");
	log_info("first");
	log_info("first");
	for (int i = 0; i < 1000; i++)
		log_info("line-%d.", i);
	ck_assert_uint_eq(count("info line-"), 1000);
	ck_assert_uint_eq(count("info first ... repeated 2 times\n"), 1);
	log_info("first");
	ck_assert_uint_eq(count("info first\n"), 2);
}
END_TEST

START_TEST(one_line_whatever_comes)
{
	char text[4 * LOG_TEXT_MAX];
	size_t lines;

	log_info("a\nb\r\x1b[31m\x7f\xc3\xa9");
	ck_assert_uint_eq(count("info a\\x0ab\\x0d\\x1b[31m\\x7f\xc3\xa9\n"),
	    1);
	lines = count("\n");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_info("%s", text);
	log_info("%s", text);
	memset(text, '\n', sizeof(text) - 1);
	log_info("%s", text);
	log_flush_repeats();
	ck_assert_uint_eq(count("\n"), lines + 3);
	ck_assert_uint_eq(count("x ... repeated 1 time\n"), 1);
}
END_TEST

START_TEST(keeps_errno)
{
	errno = ENOENT;
	log_error("open: %m");
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_uint_eq(count("error open: No such file or directory\n"), 1);
	/* And nothing happens when stderr is gone. */
	close(STDERR_FILENO);
	errno = EPERM;
	log_error("lost");
	ck_assert_int_eq(errno, EPERM);
}
END_TEST

#define THREADS	4
#define LINES	2000

static void *
log_a_lot(void *arg)
{
	for (int i = 0; i < LINES; i++) {
		log_info("same");
		log_info("thread-%d line-%d.", *(int *)arg, i);
	}
	return NULL;
}

START_TEST(threads)
{
	pthread_t thread[THREADS];
	int id[THREADS];
	uint64_t same = 0, again;

	for (int i = 0; i < THREADS; i++) {
		id[i] = i;
		ck_assert_int_eq(pthread_create(&thread[i], NULL, log_a_lot,
		    &id[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	log_flush_repeats();
	ck_assert_uint_eq(count("info thread-"), THREADS * LINES);
	same = count("info same\n");
	for (const char *p = read_output();
	    (p = strstr(p, "same ... repeated ")) != NULL; p++)
		if (sscanf(p, "same ... repeated %ju time", &again) == 1)
			same += again;
	ck_assert_uint_eq(same, THREADS * LINES);
}
END_TEST

START_TEST(clocks)
{
	int64_t before, after;

	clock_init();
	before = clock_now();
	ck_assert_int_lt(llabs(clock_wall() - before), CLOCK_SECOND);
	for (int i = 0; i < 1000; i++) {
		after = clock_now();
		ck_assert_int_ge(after, before);
		before = after;
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("log");
	TCase *tc = tcase_create("log");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, capture, NULL);
	tcase_add_test(tc, line_form);
	tcase_add_test(tc, journal_form);
	tcase_add_test(tc, journal_of_another);
	tcase_add_test(tc, levels);
	tcase_add_test(tc, repeats);
	tcase_add_test(tc, states);
	tcase_add_test(tc, different_lines_pass);
	tcase_add_test(tc, bounded);
	tcase_add_test(tc, one_line_whatever_comes);
	tcase_add_test(tc, keeps_errno);
	tcase_add_test(tc, threads);
	tcase_add_test(tc, clocks);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
