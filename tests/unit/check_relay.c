#include <check.h>
#include <stdlib.h>

#include "base/text.h"
#include "proxy/relay.h"

#define FRONT	64
#define INPUT	4096

static char buf[FRONT + INPUT + RELAY_ROOM];

/* What goes out when `in` comes in pieces of `step` octets behind a head. */
static enum err
pass_all(struct relay *r, struct span in, size_t step, struct text *out,
    struct span *ret_rest)
{
	size_t head = 5;
	enum err e = ERR_OK;

	memcpy(buf, "HEAD ", head);
	while (!r->done || head > 0) {
		struct relay_room room = { buf, FRONT, head };
		struct span piece = in, wire;
		size_t before;

		if (piece.len > step)
			piece.len = step;
		before = piece.len;
		if ((e = relay_pass(r, &piece, &room, &wire)) != ERR_OK)
			break;
		text_append(out, wire);
		in = span_skip(in, before - piece.len);
		head = 0;
		if (before == 0)
			break;
	}
	*ret_rest = in;
	return e;
}

static void
ck_span(struct span got, const char *want)
{
	ck_assert_msg(span_equal(got, span_str(want)), "got \"%.*s\"",
	    SPAN_ARG(got));
}

static const struct {
	int64_t length;
	bool chunked_out;
	const char *in, *out, *rest;
} bodies[] = {
	{ 0, false, "GET /", "HEAD ", "GET /" },
	{ 0, true, "x", "HEAD ", "x" },
	{ 5, false, "hello", "HEAD hello", "" },
	{ 5, false, "helloGET /", "HEAD hello", "GET /" },
	{ HTTP_CHUNKED, false,
	    "2\r\nab\r\n3;x=y\r\ncde\r\n0\r\nT: 1\r\n\r\nrest",
	    "HEAD abcde", "rest" },
	{ HTTP_CHUNKED, false, "0\r\n\r\nrest", "HEAD ", "rest" },
	{ HTTP_UNTIL_CLOSE, false, "all of it", "HEAD all of it", "" },
};

START_TEST(plain_in_any_pieces)
{
	for (size_t step = 1; step < 40; step++) {
		struct relay r;
		struct text out = { 0 };
		struct span rest;

		relay_init(&r, bodies[_i].length, bodies[_i].chunked_out);
		ck_assert_int_eq(pass_all(&r, span_str(bodies[_i].in), step,
		    &out, &rest), ERR_OK);
		ck_span(text_span(&out), bodies[_i].out);
		ck_span(rest, bodies[_i].rest);
		text_fini(&out);
	}
}
END_TEST

/* Undo our own chunking: what was in it, and that it is whole. */
static void
ck_chunked(struct span wire, const char *want)
{
	struct http_chunk c = { 0 };
	struct text body = { 0 };
	bool done = false;

	ck_assert(span_starts(wire, SPAN("HEAD ")));
	wire = span_skip(wire, 5);
	while (!done && wire.len > 0) {
		struct span run;

		ck_assert_int_eq(http_chunk_next(&c, &wire, &run, &done),
		    ERR_OK);
		text_append(&body, run);
	}
	ck_assert(done);
	ck_assert_uint_eq(wire.len, 0);
	ck_span(text_span(&body), want);
	text_fini(&body);
}

START_TEST(chunks_are_made_anew)
{
	const char *in = "5;ext=1\r\nhello\r\n00001\r\n \r\n"
	    "A\r\n0123456789\r\n0\r\nX-T: 1\r\n\r\nGET";

	for (size_t step = 1; step < 70; step++) {
		struct relay r;
		struct text out = { 0 };
		struct span rest;

		relay_init(&r, HTTP_CHUNKED, true);
		ck_assert_int_eq(pass_all(&r, span_str(in), step, &out,
		    &rest), ERR_OK);
		ck_chunked(text_span(&out), "hello 0123456789");
		ck_span(rest, "GET");
		ck_assert_int_eq(r.octets, 16);
		text_fini(&out);
	}
}
END_TEST

START_TEST(all_at_hand_is_one_chunk)
{
	struct relay r;
	struct text out = { 0 };
	struct span rest;

	relay_init(&r, HTTP_CHUNKED, true);
	pass_all(&r, SPAN("1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n"), 4096,
	    &out, &rest);
	ck_span(text_span(&out), "HEAD 3\r\nabc\r\n0\r\n\r\n");
	text_fini(&out);
}
END_TEST

START_TEST(until_close_becomes_chunked)
{
	struct relay r;
	struct text out = { 0 };
	struct span rest;

	relay_init(&r, HTTP_UNTIL_CLOSE, true);
	pass_all(&r, SPAN("hello"), 2, &out, &rest);
	ck_assert(!r.done);
	text_append(&out, relay_close(&r));
	ck_assert(r.done);
	ck_chunked(text_span(&out), "hello");
	text_fini(&out);

	relay_init(&r, HTTP_UNTIL_CLOSE, false);
	ck_assert_uint_eq(relay_close(&r).len, 0);
	ck_assert(r.done);
}
END_TEST

/* Nothing is copied that need not be. */
START_TEST(plain_octets_stay_where_they_are)
{
	struct relay_room room = { buf, FRONT, 0 };
	struct span in = SPAN("0123456789"), wire;
	const char *at = in.ptr;
	struct relay r;

	relay_init(&r, 4, false);
	ck_assert_int_eq(relay_pass(&r, &in, &room, &wire), ERR_OK);
	ck_assert_ptr_eq(wire.ptr, at);
	ck_assert_uint_eq(wire.len, 4);
	ck_assert_ptr_eq(in.ptr, at + 4);
}
END_TEST

static const char *const broken[] = {
	"zz\r\nabc\r\n0\r\n\r\n",
	"5\r\nhelloX",
	"10000000000000003\r\nabc\r\n",
	"5\nhello\r\n0\r\n\r\n",
};

START_TEST(bad_chunks_are_refused)
{
	for (size_t step = 1; step < 30; step++) {
		struct relay r;
		struct text out = { 0 };
		struct span in = span_str(broken[_i]), rest;

		relay_init(&r, HTTP_CHUNKED, true);
		ck_assert_int_ne(pass_all(&r, in, step, &out, &rest),
		    ERR_OK);
		ck_assert(!r.done);
		/* What had gone out by then never looks whole. */
		ck_assert(!span_ends(text_span(&out), SPAN("0\r\n\r\n")));
		text_fini(&out);

		relay_init(&r, HTTP_CHUNKED, false);
		in = span_str(broken[_i]);
		ck_assert_int_ne(relay_discard(&r, &in), ERR_OK);
	}
}
END_TEST

START_TEST(discard_stops_at_the_end)
{
	struct span in = SPAN("5\r\nhello\r\n0\r\n\r\nGET");
	struct relay r;

	relay_init(&r, HTTP_CHUNKED, false);
	ck_assert_int_eq(relay_discard(&r, &in), ERR_OK);
	ck_assert(r.done);
	ck_span(in, "GET");

	in = SPAN("abcdefGET");
	relay_init(&r, 6, false);
	ck_assert_int_eq(relay_discard(&r, &in), ERR_OK);
	ck_assert(r.done);
	ck_span(in, "GET");
	ck_assert_int_eq(r.octets, 6);

	in = SPAN("abc");
	relay_init(&r, 6, false);
	ck_assert_int_eq(relay_discard(&r, &in), ERR_OK);
	ck_assert(!r.done);
	ck_assert_int_eq(r.left, 3);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

int
main(void)
{
	Suite *suite = suite_create("relay");
	TCase *tc = tcase_create("relay");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, plain_in_any_pieces, 0, ROWS(bodies));
	tcase_add_test(tc, chunks_are_made_anew);
	tcase_add_test(tc, all_at_hand_is_one_chunk);
	tcase_add_test(tc, until_close_becomes_chunked);
	tcase_add_test(tc, plain_octets_stay_where_they_are);
	tcase_add_loop_test(tc, bad_chunks_are_refused, 0, ROWS(broken));
	tcase_add_test(tc, discard_stops_at_the_end);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
