#include "harness/vectors.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

struct play {
	const struct vector_player *player;
	char path[512];
	unsigned line, asked;
	struct policy policy;
	struct limits limits;
	struct row row;
};

static int64_t
parse_time(const struct play *p, struct span text)
{
	int64_t sum = 0;
	int sign = 1;

	while (text.len > 0) {
		size_t n = strcspn(text.ptr, "+-\t\n");
		int64_t part = 0;

		n = n < text.len ? n : text.len;
		if (!span_equal(span_of(text.ptr, n), SPAN("0")) &&
		    duration_parse(span_of(text.ptr, n), &part) != ERR_OK)
			ck_abort_msg("%s:%u: bad time", p->path, p->line);
		sum += sign * part;
		if (n == text.len)
			break;
		sign = text.ptr[n] == '-' ? -1 : 1;
		text = span_skip(text, n + 1);
	}
	return sum;
}

static int64_t
parse_number(const struct play *p, struct span text)
{
	int64_t value;

	if (span_to_i64(text, 0, INT64_MAX, &value) != ERR_OK)
		ck_abort_msg("%s:%u: bad number", p->path, p->line);
	return value;
}

void
vectors_limits(struct span text, struct limits *ret)
{
	struct span rate, number;
	struct rate *r;

	ret->n = 0;
	while (span_split(&text, ',', &rate)) {
		ck_assert_uint_lt(ret->n, RATES_MAX);
		r = &ret->rate[ret->n++];
		ck_assert(span_split(&rate, ':', &number));
		ck_assert_int_eq(rate_parse(number, r), ERR_OK);
		if (rate.ptr != NULL)
			ck_assert_int_eq(span_to_i64(rate, 1, INT64_MAX,
			    &r->burst), ERR_OK);
		ck_assert_int_eq(rate_prepare(r), ERR_OK);
	}
}

static struct span
field(const struct play *p, struct span *rest)
{
	struct span ret;

	if (!span_split(rest, '\t', &ret))
		ck_abort_msg("%s:%u: a field is missing", p->path, p->line);
	return ret;
}

static void
compare(const struct play *p, const char *what, int64_t got, int64_t want)
{
	if (got != want)
		ck_abort_msg("%s:%u: %s is %lld, not %lld", p->path, p->line,
		    what, (long long)got, (long long)want);
}

static void
play_ask(struct play *p, struct span rest, bool spend)
{
	int64_t now = parse_time(p, field(p, &rest));
	bool all = true;

	p->row.cost = parse_number(p, field(p, &rest));
	p->player->decide(p->player->arg, &p->row, now, spend);
	for (unsigned i = 0; i < p->limits.n; i++) {
		const struct verdict *v = &p->row.verdicts[i];
		bool yes = span_equal(field(p, &rest), SPAN("yes"));

		all = all && yes;
		compare(p, "passed", v->passed, yes);
		compare(p, "remaining", v->remaining,
		    parse_number(p, field(p, &rest)));
		compare(p, "pass_in", v->pass_in,
		    parse_time(p, field(p, &rest)));
		compare(p, "reset_in", v->reset_in,
		    parse_time(p, field(p, &rest)));
		compare(p, "limit", v->limit,
		    algo_capacity(p->player->kind, &p->limits.rate[i]));
	}
	compare(p, "row passed", p->row.passed, all);
	if (rest.ptr != NULL)
		ck_abort_msg("%s:%u: a field too many", p->path, p->line);
	p->asked++;
}

static void
play_line(struct play *p, struct span rest)
{
	struct span verb = field(p, &rest);

	if (span_equal(verb, SPAN("new"))) {
		vectors_limits(field(p, &rest), &p->limits);
		p->policy.align_first = rest.ptr != NULL;
		p->player->fresh(p->player->arg);
	} else if (span_equal(verb, SPAN("limits"))) {
		vectors_limits(field(p, &rest), &p->limits);
	} else if (span_equal(verb, SPAN("ask"))) {
		play_ask(p, rest, true);
	} else if (span_equal(verb, SPAN("look"))) {
		play_ask(p, rest, false);
	} else {
		ck_abort_msg("%s:%u: unknown verb", p->path, p->line);
	}
}

void
vectors_play(const struct vector_player *player)
{
	const char *top = getenv("srcdir");
	struct play p = { .player = player };
	char line[512];
	FILE *file;

	snprintf(p.path, sizeof(p.path), "%s/tests/vectors/%s.tsv",
	    top == NULL ? "." : top, algo_get(player->kind)->name);
	p.policy.algorithm = player->kind;
	p.row.policy = &p.policy;
	p.row.limits = &p.limits;
	p.row.enforcing = true;
	file = fopen(p.path, "r");
	if (file == NULL)
		ck_abort_msg("%s cannot be read", p.path);
	while (fgets(line, sizeof(line), file) != NULL) {
		p.line++;
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '#' && line[0] != '\0')
			play_line(&p, span_str(line));
	}
	fclose(file);
	ck_assert_uint_gt(p.asked, 0);
}
