#include <check.h>
#include <stdlib.h>

#include "limit/rate.h"

#define SECOND	INT64_C(1000000)
#define DAY	(86400 * SECOND)

static const struct rate_form {
	const char *text;
	enum err e;
	int64_t count, period_us;
	const char *printed;		/* NULL: the same */
} forms[] = {
	{ "10/s", ERR_OK, 10, SECOND, NULL },
	{ "600/m", ERR_OK, 600, 60 * SECOND, NULL },
	{ "5000/h", ERR_OK, 5000, 3600 * SECOND, NULL },
	{ "3/10s", ERR_OK, 3, 10 * SECOND, NULL },
	{ "1000000/d", ERR_OK, 1000000, DAY, NULL },
	{ "2/30d", ERR_OK, 2, 30 * DAY, NULL },
	{ "1/5s", ERR_OK, 1, 5 * SECOND, NULL },
	{ "5/15m", ERR_OK, 5, 900 * SECOND, NULL },
	{ "1/1500ms", ERR_OK, 1, 1500000, NULL },
	{ "7/ms", ERR_OK, 7, 1000, NULL },
	{ "5/60s", ERR_OK, 5, 60 * SECOND, "5/m" },
	{ "5/90s", ERR_OK, 5, 90 * SECOND, NULL },
	{ "5/24h", ERR_OK, 5, DAY, "5/d" },
	{ "010/01s", ERR_OK, 10, SECOND, "10/s" },
	{ "1000000000000/s", ERR_OK, INT64_C(1000000000000), SECOND, NULL },
	{ "1/366d", ERR_OK, 1, 366 * DAY, NULL },

	{ "", ERR_SYNTAX, 0, 0, NULL },
	{ "/", ERR_SYNTAX, 0, 0, NULL },
	{ "/s", ERR_SYNTAX, 0, 0, NULL },
	{ "10/", ERR_SYNTAX, 0, 0, NULL },
	{ "100", ERR_SYNTAX, 0, 0, NULL },
	{ "100/10", ERR_SYNTAX, 0, 0, NULL },
	{ "10/sec", ERR_SYNTAX, 0, 0, NULL },
	{ "10/S", ERR_SYNTAX, 0, 0, NULL },
	{ "10/mo", ERR_SYNTAX, 0, 0, NULL },
	{ "10/month", ERR_SYNTAX, 0, 0, NULL },
	{ "10/M", ERR_SYNTAX, 0, 0, NULL },
	{ "10/y", ERR_SYNTAX, 0, 0, NULL },
	{ "10/w", ERR_SYNTAX, 0, 0, NULL },
	{ "10/1000us", ERR_SYNTAX, 0, 0, NULL },
	{ "10/us", ERR_SYNTAX, 0, 0, NULL },
	{ " 10/s", ERR_SYNTAX, 0, 0, NULL },
	{ "10 /s", ERR_SYNTAX, 0, 0, NULL },
	{ "10/ s", ERR_SYNTAX, 0, 0, NULL },
	{ "10/s ", ERR_SYNTAX, 0, 0, NULL },
	{ "+10/s", ERR_SYNTAX, 0, 0, NULL },
	{ "-1/s", ERR_SYNTAX, 0, 0, NULL },
	{ "1.5/s", ERR_SYNTAX, 0, 0, NULL },
	{ "1/1.5s", ERR_SYNTAX, 0, 0, NULL },
	{ "1/s/s", ERR_SYNTAX, 0, 0, NULL },
	{ "1/1m30s", ERR_SYNTAX, 0, 0, NULL },
	{ "0/sec", ERR_SYNTAX, 0, 0, NULL },

	{ "0/s", ERR_RANGE, 0, 0, NULL },
	{ "1000000000001/s", ERR_RANGE, 0, 0, NULL },
	{ "99999999999999999999/s", ERR_RANGE, 0, 0, NULL },
	{ "1/0s", ERR_RANGE, 0, 0, NULL },
	{ "1/0ms", ERR_RANGE, 0, 0, NULL },
	{ "1/367d", ERR_RANGE, 0, 0, NULL },
	{ "1/8785h", ERR_RANGE, 0, 0, NULL },
	{ "1/99999999999999999999d", ERR_RANGE, 0, 0, NULL },
};

START_TEST(parse_rate)
{
	const struct rate_form *f = &forms[_i];
	struct rate rate = { .count = 77 }, again;
	struct text out = { .data = NULL };

	ck_assert_msg(rate_parse(span_str(f->text), &rate) == f->e, "%s",
	    f->text);
	if (f->e != ERR_OK) {
		ck_assert_int_eq(rate.count, 77);
		return;
	}
	ck_assert_int_eq(rate.count, f->count);
	ck_assert_int_eq(rate.burst, f->count);
	ck_assert_int_eq(rate.period_us, f->period_us);
	rate_print(&rate, &out);
	ck_assert_str_eq(text_cstr(&out), f->printed ? f->printed : f->text);
	ck_assert_int_eq(rate_parse(text_span(&out), &again), ERR_OK);
	ck_assert_int_eq(again.count, rate.count);
	ck_assert_int_eq(again.period_us, rate.period_us);
	text_fini(&out);
}
END_TEST

static const struct duration_form {
	const char *text;
	enum err e;
	int64_t us;
	const char *printed;
} durations[] = {
	{ "0s", ERR_OK, 0, NULL },
	{ "0d", ERR_OK, 0, "0s" },
	{ "1us", ERR_OK, 1, NULL },
	{ "20ms", ERR_OK, 20000, NULL },
	{ "1000ms", ERR_OK, SECOND, "1s" },
	{ "1500ms", ERR_OK, 1500000, NULL },
	{ "15m", ERR_OK, 900 * SECOND, NULL },
	{ "1h", ERR_OK, 3600 * SECOND, NULL },
	{ "36h", ERR_OK, 36 * 3600 * SECOND, NULL },
	{ "366d", ERR_OK, 366 * DAY, NULL },
	{ "", ERR_SYNTAX, 0, NULL },
	{ "s", ERR_SYNTAX, 0, NULL },
	{ "20", ERR_SYNTAX, 0, NULL },
	{ "20 ms", ERR_SYNTAX, 0, NULL },
	{ "20msec", ERR_SYNTAX, 0, NULL },
	{ "1M", ERR_SYNTAX, 0, NULL },
	{ "1mo", ERR_SYNTAX, 0, NULL },
	{ "1y", ERR_SYNTAX, 0, NULL },
	{ "1w", ERR_SYNTAX, 0, NULL },
	{ "-1s", ERR_SYNTAX, 0, NULL },
	{ "1.5s", ERR_SYNTAX, 0, NULL },
	{ "1h30m", ERR_SYNTAX, 0, NULL },
	{ "367d", ERR_RANGE, 0, NULL },
	{ "99999999999999999999s", ERR_RANGE, 0, NULL },
};

START_TEST(parse_duration)
{
	const struct duration_form *f = &durations[_i];
	struct text out = { .data = NULL };
	int64_t us = 77;

	ck_assert_msg(duration_parse(span_str(f->text), &us) == f->e, "%s",
	    f->text);
	ck_assert_int_eq(us, f->e == ERR_OK ? f->us : 77);
	if (f->e != ERR_OK)
		return;
	duration_print(us, &out);
	ck_assert_str_eq(text_cstr(&out), f->printed ? f->printed : f->text);
	text_fini(&out);
}
END_TEST

static const struct preparation {
	int64_t count, period_us, burst;
	enum err e;
	int64_t tick_us, gain, unit;
} preparations[] = {
	{ 10, SECOND, 10, ERR_OK, 1, 1, 100000 },
	{ 300000, SECOND, 300000, ERR_OK, 1, 3, 10 },
	{ 1000000, DAY, 1000000, ERR_OK, 1, 1, 86400 },
	{ 3, 10 * SECOND, 3, ERR_OK, 1, 3, 10000000 },
	{ 2, 30 * DAY, 2, ERR_OK, 1, 1, INT64_C(1296000000000) },
	{ INT64_C(1000000000000), 1000, 1, ERR_OK, 1, 1000000000, 1 },
	/* 999983 is prime, so a day keeps all its ticks: of 1 ms then. */
	{ 999983, DAY, 999983, ERR_OK, 1000, 999983, 86400000 },
	{ INT64_C(10000000019), DAY, INT64_C(10000000019), ERR_OK, SECOND,
	    INT64_C(10000000019), 86400 },
	{ INT64_C(999999999989), DAY, INT64_C(999999999989), ERR_RANGE, 0, 0,
	    0 },
	/* The capacity at 2^52 and just below; a tick of 1 ms or 1 s does not
	 * divide 1 ms or 500 ms. */
	{ 1, 1000, INT64_C(4503599627370), ERR_OK, 1, 1, 1000 },
	{ 1, 1000, INT64_C(4503599627371), ERR_RANGE, 0, 0, 0 },
	{ 7, 500000, INT64_C(1000000000000), ERR_RANGE, 0, 0, 0 },
	/* Filling it would take longer than 2^52 us, whatever the tick. */
	{ 1, 366 * DAY, INT64_C(1000000000), ERR_RANGE, 0, 0, 0 },
	{ 0, SECOND, 1, ERR_RANGE, 0, 0, 0 },
	{ 1, SECOND, 0, ERR_RANGE, 0, 0, 0 },
	{ 1, 999, 1, ERR_RANGE, 0, 0, 0 },
	{ 1, 367 * DAY, 1, ERR_RANGE, 0, 0, 0 },
};

START_TEST(prepare)
{
	const struct preparation *p = &preparations[_i];
	struct rate rate = { .count = p->count, .period_us = p->period_us,
	    .burst = p->burst };

	ck_assert_int_eq(rate_prepare(&rate), p->e);
	ck_assert_int_eq(rate.tick_us, p->tick_us);
	ck_assert_int_eq(rate.gain, p->gain);
	ck_assert_int_eq(rate.unit, p->unit);
	ck_assert_int_eq(rate.cap, p->burst * p->unit);
	if (p->e == ERR_OK)
		ck_assert_int_eq(rate.sub_us, (p->period_us + 7) / 8);
}
END_TEST

/* Whatever is accepted keeps its promises: the long-run rate is exact and
 * every product is below 2^52. */
START_TEST(prepare_exact)
{
	static const int64_t periods[] = { 1000, 7000, 1000000, 86400 * SECOND,
	    366 * DAY };

	for (int64_t count = 1; count < INT64_C(1000000000000);
	    count = count * 3 + 1) {
		for (unsigned i = 0; i < 5; i++) {
			struct rate r = { .count = count, .burst = count,
			    .period_us = periods[i] };

			if (rate_prepare(&r) != ERR_OK)
				continue;
			ck_assert(r.cap < INT64_C(1) << 52);
			ck_assert((__int128)r.gain * (r.period_us /
			    r.tick_us) == (__int128)r.unit * r.count);
			ck_assert((r.cap + r.gain - 1) / r.gain * r.tick_us <
			    INT64_C(1) << 52);
		}
	}
}
END_TEST

START_TEST(seconds)
{
	ck_assert_int_eq(verdict_seconds(0), 1);
	ck_assert_int_eq(verdict_seconds(1), 1);
	ck_assert_int_eq(verdict_seconds(SECOND), 1);
	ck_assert_int_eq(verdict_seconds(SECOND + 1), 2);
	ck_assert_int_eq(verdict_seconds(2 * SECOND), 2);
	ck_assert_int_eq(verdict_seconds(30 * DAY), 30 * 86400);
	ck_assert_int_eq(verdict_seconds(INT64_MAX), INT64_MAX / SECOND + 1);
}
END_TEST

#define COUNT(rows) (int)(sizeof(rows) / sizeof((rows)[0]))

int
main(void)
{
	Suite *suite = suite_create("rate");
	TCase *tc = tcase_create("rate");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, parse_rate, 0, COUNT(forms));
	tcase_add_loop_test(tc, parse_duration, 0, COUNT(durations));
	tcase_add_loop_test(tc, prepare, 0, COUNT(preparations));
	tcase_add_test(tc, prepare_exact);
	tcase_add_test(tc, seconds);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
