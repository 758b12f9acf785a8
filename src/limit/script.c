#include "limit/script.h"

#include "limit/scripts.h"

/*
 * Numbers travel as little-endian doubles, exact below 2^53. The argument of
 * SCRIPT_BUCKET is a rate and whether to spend; that of SCRIPT_DECIDE whether
 * to spend, then the rows. Both replies are alike.
 */
#define NUMBER		8
#define RATE_NUMBERS	6
#define ROW_NUMBERS	4
#define REPLY_NUMBERS	2
#define VERDICT_NUMBERS	4
#define EXACT		9007199254740992.0

#define FLAG_ENFORCING	1
#define FLAG_FIRST	2

#define KEY_LAYOUT	"1:{"
#define KEY_TAG_DIGITS	6

struct span
script_source(unsigned script)
{
	return span_str(script == SCRIPT_BUCKET ? script_bucket :
	    script_decide);
}

enum script
script_for(const struct question *question)
{
	const struct row *row = question->rows;

	if (question->nrows == 1 && row->enforcing && row->limits->n == 1 &&
	    row->policy->algorithm == ALGO_TOKEN_BUCKET)
		return SCRIPT_BUCKET;
	return SCRIPT_DECIDE;
}

static void
put_number(struct text *out, int64_t value)
{
	double number = (double)value;
	uint64_t bits;
	char octets[NUMBER];

	memcpy(&bits, &number, sizeof(bits));
	for (int i = 0; i < NUMBER; i++)
		octets[i] = (char)(bits >> (8 * i));
	text_append(out, span_of(octets, NUMBER));
}

static double
get_number(struct span numbers, size_t i)
{
	const unsigned char *p = (const unsigned char *)numbers.ptr +
	    i * NUMBER;
	uint64_t bits = 0;
	double number;

	for (int k = NUMBER - 1; k >= 0; k--)
		bits = bits << 8 | p[k];
	memcpy(&number, &bits, sizeof(number));
	return number;
}

static void
put_head(struct text *out, char kind, size_t n)
{
	char line[24] = { kind };
	size_t len = 1 + span_put_u64(line + 1, n);

	line[len++] = '\r';
	line[len++] = '\n';
	text_append(out, span_of(line, len));
}

static void
put_argument(struct text *out, struct span argument)
{
	put_head(out, '$', argument.len);
	text_append(out, argument);
	text_append(out, SPAN("\r\n"));
}

void
script_key(struct span prefix, const struct row *row, struct text *out)
{
	static const char hex[] = "0123456789abcdef";
	char tail[HASH_TEXT_LEN + 2 + KEY_TAG_DIGITS];
	char *p = tail + HASH_TEXT_LEN;

	hash_to_text(row->identity, tail);
	*p++ = '}';
	*p++ = ':';
	for (int i = KEY_TAG_DIGITS - 1; i >= 0; i--)
		*p++ = hex[row->policy->tag >> (4 * i) & 15];
	text_append(out, prefix);
	text_append(out, SPAN(KEY_LAYOUT));
	text_append(out, span_of(tail, sizeof(tail)));
}

static size_t
key_len(struct span prefix)
{
	return prefix.len + sizeof(KEY_LAYOUT) - 1 + HASH_TEXT_LEN + 2 +
	    KEY_TAG_DIGITS;
}

/* period, need, capacity, and what else the algorithm counts with. */
static void
put_rate(struct text *out, const struct rate *rate, enum algo_kind kind,
    int64_t cost)
{
	put_number(out, rate->period_us);
	if (kind == ALGO_TOKEN_BUCKET) {
		put_number(out, algo_min(cost, rate->burst) * rate->unit);
		put_number(out, rate->cap);
		put_number(out, rate->gain);
		put_number(out, rate->unit);
		put_number(out, rate->tick_us);
		return;
	}
	put_number(out, algo_min(cost, rate->count));
	put_number(out, rate->count);
	put_number(out, rate->sub_us);
	put_number(out, 0);
	put_number(out, 0);
}

/* The most that one request can cost: the log stores it. */
static int64_t
row_cost(const struct row *row)
{
	int64_t most = 0;

	for (unsigned i = 0; i < row->limits->n; i++)
		if (row->limits->rate[i].count > most)
			most = row->limits->rate[i].count;
	return algo_min(row->cost, most);
}

static void
put_row(struct text *out, const struct row *row)
{
	const struct policy *policy = row->policy;

	put_number(out, policy->algorithm);
	put_number(out, (row->enforcing ? FLAG_ENFORCING : 0) |
	    (policy->align_first ? FLAG_FIRST : 0));
	put_number(out, row_cost(row));
	put_number(out, row->limits->n);
	for (unsigned i = 0; i < row->limits->n; i++)
		put_rate(out, &row->limits->rate[i], policy->algorithm,
		    row->cost);
}

static void
put_keys(struct text *out, const struct question *question, struct span prefix)
{
	char digits[20];

	put_argument(out, span_of(digits,
	    span_put_u64(digits, question->nrows)));
	for (unsigned i = 0; i < question->nrows; i++) {
		put_head(out, '$', key_len(prefix));
		script_key(prefix, &question->rows[i], out);
		text_append(out, SPAN("\r\n"));
	}
}

static void
put_rows(struct text *out, const struct question *question, bool spend)
{
	size_t numbers = 1;

	for (unsigned i = 0; i < question->nrows; i++)
		numbers += ROW_NUMBERS +
		    question->rows[i].limits->n * RATE_NUMBERS;
	put_head(out, '$', numbers * NUMBER);
	put_number(out, spend);
	for (unsigned i = 0; i < question->nrows; i++)
		put_row(out, &question->rows[i]);
	text_append(out, SPAN("\r\n"));
}

void
script_encode(const struct question *question, bool spend, struct span prefix,
    struct span sha, struct text *out)
{
	enum script script = script_for(question);
	const struct row *row = question->rows;

	put_head(out, '*', 4 + question->nrows);
	put_argument(out, sha.len > 0 ? SPAN("EVALSHA") : SPAN("EVAL"));
	put_argument(out, sha.len > 0 ? sha : script_source(script));
	put_keys(out, question, prefix);
	if (script == SCRIPT_DECIDE) {
		put_rows(out, question, spend);
		return;
	}
	put_head(out, '$', (RATE_NUMBERS + 1) * NUMBER);
	put_rate(out, row->limits->rate, ALGO_TOKEN_BUCKET, row->cost);
	put_number(out, spend);
	text_append(out, SPAN("\r\n"));
}

static bool
is_whole(double number)
{
	return number >= 0 && number < EXACT &&
	    number == (double)(int64_t)number;
}

/* The verdict of a rate, checked: what a store sends is data. */
static bool
get_verdict(struct span reply, size_t at, int64_t limit, struct verdict *ret)
{
	double n[VERDICT_NUMBERS];

	for (size_t i = 0; i < VERDICT_NUMBERS; i++) {
		n[i] = get_number(reply, at + i);
		if (!is_whole(n[i]))
			return false;
	}
	*ret = (struct verdict){ .passed = n[0] != 0, .limit = limit,
	    .remaining = (int64_t)n[1], .pass_in = (int64_t)n[2],
	    .reset_in = (int64_t)n[3] };
	return n[0] <= 1 && ret->remaining <= limit &&
	    ret->passed == (ret->pass_in == 0);
}

static bool
get_row(struct span reply, size_t *at, struct row *row, bool fill)
{
	bool passed = true;

	for (unsigned i = 0; i < row->limits->n; i++) {
		int64_t limit = algo_capacity(row->policy->algorithm,
		    &row->limits->rate[i]);
		struct verdict verdict;

		if (!get_verdict(reply, *at, limit, &verdict))
			return false;
		*at += VERDICT_NUMBERS;
		passed = passed && verdict.passed;
		if (fill)
			row->verdicts[i] = verdict;
	}
	if (fill)
		row->passed = passed;
	return true;
}

enum err
script_decode(struct question *question, struct span reply,
    unsigned *ret_repairs)
{
	size_t numbers = REPLY_NUMBERS, at = REPLY_NUMBERS;

	for (unsigned i = 0; i < question->nrows; i++)
		numbers += question->rows[i].limits->n * VERDICT_NUMBERS;
	if (reply.len != numbers * NUMBER ||
	    !is_whole(get_number(reply, 0)) ||
	    !is_whole(get_number(reply, 1)) ||
	    get_number(reply, 1) > question->nrows)
		return ERR_SYNTAX;
	for (unsigned i = 0; i < question->nrows; i++)
		if (!get_row(reply, &at, &question->rows[i], false))
			return ERR_SYNTAX;
	at = REPLY_NUMBERS;
	for (unsigned i = 0; i < question->nrows; i++)
		get_row(reply, &at, &question->rows[i], true);
	question->now = (int64_t)get_number(reply, 0);
	*ret_repairs = (unsigned)get_number(reply, 1);
	return ERR_OK;
}
