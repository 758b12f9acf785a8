#include <stdlib.h>

#include "base/list.h"
#include "limit/limiter.h"
#include "limit_request.h"

#define S INT64_C(1000000)
#define NOW (1000 * S)

/* ---- a store that says what the test wants ---- */

struct fake {
	struct store store;
	bool late, unknown;
	bool remembered;		/* only denials are filled */
	struct question *held;
	unsigned takes, peeks, cancels, reloads, nrows;
	struct row seen[4];		/* the rows of the last question */
	struct verdict says[4][2];	/* by policy->index */
};

static struct fake shared, local;

static void
answer(struct fake *f, struct question *q)
{
	if (f->unknown)
		return;
	q->result = STORE_DECIDED;
	q->source = SOURCE_REDIS;
	q->now = 7777;
	for (unsigned i = 0; i < q->nrows; i++) {
		struct row *row = &q->rows[i];

		row->passed = true;
		for (unsigned k = 0; k < row->limits->n; k++)
			row->passed &= f->says[row->policy->index][k].passed;
		if (row->passed && f->remembered)
			continue;
		memcpy(row->verdicts, f->says[row->policy->index],
		    sizeof(f->says[0]));
	}
}

static enum answer
put(struct store *store, struct question *q)
{
	struct fake *f = LIST_ITEM(store, struct fake, store);

	f->nrows = q->nrows;
	memcpy(f->seen, q->rows, q->nrows * sizeof(*q->rows));
	if (f->late) {
		f->held = q;
		q->pending = f;
		return ANSWER_LATER;
	}
	answer(f, q);
	return ANSWER_NOW;
}

static enum answer
fake_take(struct store *store, struct question *q, int64_t now)
{
	ck_assert_int_ge(now, NOW);
	LIST_ITEM(store, struct fake, store)->takes++;
	return put(store, q);
}

static enum answer
fake_peek(struct store *store, struct question *q, int64_t now)
{
	ck_assert_int_ge(now, NOW);
	LIST_ITEM(store, struct fake, store)->peeks++;
	return put(store, q);
}

static void
fake_cancel(struct store *store, struct question *q)
{
	struct fake *f = LIST_ITEM(store, struct fake, store);

	ck_assert_ptr_eq(f->held, q);
	f->held = NULL;
	q->pending = NULL;
	f->cancels++;
}

static void
fake_reloaded(struct store *store)
{
	LIST_ITEM(store, struct fake, store)->reloads++;
}

static const struct store_ops fake_ops = { .name = "fake",
	.take = fake_take, .peek = fake_peek, .cancel = fake_cancel,
	.reloaded = fake_reloaded };

static void
answer_late(struct fake *f)
{
	struct question *q = f->held;

	f->held = NULL;
	q->pending = NULL;
	answer(f, q);
	q->done(q);
}

/* ---- the scene ---- */

static struct asked_request r;
static struct rules rules;
static struct policy policies[4];
static char names[][4] = { "p0", "p1", "p2", "p3" };
static struct plan plan;
static struct route route;
static struct counters counters;
static struct limiter *limiter;
static struct decision d;
static int64_t clock_value;
static unsigned verdicts;

static int64_t
read_clock(void *arg)
{
	return *(int64_t *)arg;
}

static void
on_verdict(struct decision *decision)
{
	ck_assert_ptr_eq(decision, &d);
	ck_assert_str_eq(decision->owner, "owner");
	verdicts++;
}

static void
add_rate(struct limits *limits, int64_t n, int64_t period_us)
{
	limits->rate[limits->n++] = (struct rate){ .count = n, .burst = n,
	    .period_us = period_us };
}

static struct verdict
pass(int64_t limit, int64_t remaining, int64_t reset_in)
{
	return (struct verdict){ .passed = true, .limit = limit,
	    .remaining = remaining, .reset_in = reset_in };
}

static struct verdict
deny(int64_t limit, int64_t pass_in)
{
	return (struct verdict){ .limit = limit, .pass_in = pass_in,
	    .reset_in = pass_in };
}

/* Two enforcing policies by client_ip, 10 a second, of which 4 are left. */
static void
setup(void)
{
	hash_init();
	rules = (struct rules){ .policies = policies, .npolicies = 2,
	    .plans = &plan, .nplans = 1, .instances = 4,
	    .key_rule = { .ipv4_bits = 32, .ipv6_bits = 64 } };
	for (unsigned i = 0; i < 4; i++) {
		policies[i] = (struct policy){ .name = names[i] };
		add_rate(&policies[i].limits, 10, S);
		shared.says[i][0] = shared.says[i][1] = pass(10, 4, S);
	}
	plan.name = names[0];
	add_rate(&plan.limits, 100, S);
	ck_assert_int_eq(rules_finish(&rules), ERR_OK);
	for (unsigned i = 0; i < 4; i++)
		policies[i].index = i;
	shared.store.ops = local.store.ops = &fake_ops;
	memcpy(local.says, shared.says, sizeof(local.says));
	clock_value = NOW + 5000;
	limiter = limiter_new(&shared.store, &local.store, &counters,
	    read_clock, &clock_value);
	decision_init(&d);
	d.owner = (void *)"owner";
	d.on_verdict = on_verdict;
	asked_read(&r, "GET /", "x-a: 1\r\n", "192.0.2.1", NULL);
}

static void
teardown(void)
{
	limiter_cancel(&d);
	decision_fini(&d);
	limiter_free(limiter);
}

static void
use_policies(unsigned n)
{
	rules.npolicies = n;
	ck_assert_int_eq(rules_finish(&rules), ERR_OK);
}

static void
ask(enum outcome outcome)
{
	ck_assert_int_eq(limiter_ask(limiter, &rules, &r.req, &d, NOW),
	    ANSWER_NOW);
	ck_assert_int_eq(d.outcome, outcome);
	ck_assert_uint_eq(verdicts, 0);
}

static void
assert_counted(enum counter id, int64_t n)
{
	ck_assert_int_eq(counter_get(&counters, id), n);
}

/* ---- what is asked ---- */

START_TEST(nothing_concerns)
{
	use_policies(0);
	ask(OUTCOME_PASS);
	ck_assert_ptr_null(d.policy);
	ck_assert_int_eq(d.source, SOURCE_NONE);
	ck_assert_int_eq(d.asked_at, NOW);
	ck_assert_int_eq(d.decided_at, NOW);
	ck_assert(!d.degraded);
	ck_assert_ptr_eq(d.rules, &rules);
	ck_assert_uint_eq(shared.takes, 0);
	assert_counted(COUNT_REQUESTS_ALLOWED_TOTAL, 1);
}
END_TEST

START_TEST(all_in_one_question)
{
	struct hash128 h;
	unsigned missing;

	use_policies(3);
	policies[1].mode = MODE_OFF;
	policies[2].mode = MODE_SHADOW;
	policies[2].cost = 3;
	route = (struct route){ .name = names[0], .cost = 5,
	    .has_cost = true };
	r.req.route = &route;
	ask(OUTCOME_PASS);
	ck_assert_uint_eq(shared.takes, 1);
	ck_assert_uint_eq(shared.nrows, 2);
	ck_assert_ptr_eq(shared.seen[0].policy, &policies[0]);
	ck_assert_ptr_eq(shared.seen[0].limits, &policies[0].limits);
	ck_assert_int_eq(shared.seen[0].cost, 5);
	ck_assert(shared.seen[0].enforcing);
	ck_assert_ptr_eq(shared.seen[1].policy, &policies[2]);
	ck_assert_int_eq(shared.seen[1].cost, 3);
	ck_assert(!shared.seen[1].enforcing);
	key_build(&policies[0].key, &rules.key_rule, &r.req, &h, &missing);
	ck_assert(hash_equal(shared.seen[0].identity, h));
	ck_assert_int_eq(d.source, SOURCE_REDIS);
	ck_assert_int_eq(d.store_now, 7777);
}
END_TEST

START_TEST(exempt_requests_are_not_asked_about)
{
	struct asked_match m;
	struct match exempt = *asked_match(&m, MATCH_CLIENT_IP, NULL,
	    "192.0.2.0/24", NULL);

	policies[0].exempt = policies[1].exempt = &exempt;
	policies[0].nexempt = 1;
	ask(OUTCOME_PASS);
	ck_assert_uint_eq(shared.nrows, 1);
	ck_assert_ptr_eq(d.policy, &policies[1]);
	policies[1].nexempt = 1;
	ask(OUTCOME_PASS);
	ck_assert_uint_eq(shared.takes, 1);
	ck_assert_ptr_null(d.policy);
}
END_TEST

START_TEST(a_plan_is_the_limit)
{
	use_policies(1);
	policies[0].limit_is_plan = true;
	ask(OUTCOME_PASS);
	ck_assert_uint_eq(shared.takes, 0);
	r.req.plan = &plan;
	ask(OUTCOME_PASS);
	ck_assert_uint_eq(shared.takes, 1);
	ck_assert_ptr_eq(shared.seen[0].limits, &plan.limits);
	ck_assert_ptr_eq(d.rate, &plan.limits.rate[0]);
}
END_TEST

/* ---- missing keys ---- */

static void
miss(enum on_missing_key action)
{
	ck_assert_int_eq(key_part_parse(SPAN("host"),
	    &policies[1].key.parts[0]), ERR_OK);
	ck_assert_int_eq(key_part_parse(SPAN("header:x-none"),
	    &policies[1].key.parts[1]), ERR_OK);
	policies[1].key.n = 2;
	policies[1].on_missing_key = action;
}

START_TEST(a_missing_key_may_skip)
{
	miss(MISSING_SKIP);
	ask(OUTCOME_PASS);
	ck_assert_uint_eq(shared.nrows, 1);
	ck_assert_ptr_eq(shared.seen[0].policy, &policies[0]);
	assert_counted(COUNT_LIMIT_MISSING_KEY_TOTAL, 1);
	key_spec_fini(&policies[1].key);
}
END_TEST

START_TEST(a_missing_key_may_deny)
{
	miss(MISSING_DENY);
	ask(OUTCOME_NO_KEY);
	ck_assert_uint_eq(shared.takes, 0);
	ck_assert_ptr_eq(d.policy, &policies[1]);
	ck_assert_uint_eq(d.missing_part, 1);
	ck_assert_uint_eq(d.question.nrows, 0);
	assert_counted(COUNT_LIMIT_MISSING_KEY_TOTAL, 1);
	assert_counted(COUNT_REQUESTS_ALLOWED_TOTAL, 0);
	assert_counted(COUNT_REQUESTS_LIMITED_TOTAL, 0);
	/* but a shadow never does */
	policies[1].mode = MODE_SHADOW;
	ask(OUTCOME_PASS);
	ck_assert_uint_eq(shared.nrows, 1);
	key_spec_fini(&policies[1].key);
}
END_TEST

START_TEST(a_missing_key_may_be_the_peer)
{
	struct hash128 first;

	miss(MISSING_PEER);
	ask(OUTCOME_PASS);
	ck_assert_uint_eq(shared.nrows, 2);
	first = shared.seen[1].identity;
	r.req.peer = asked_addr("192.0.2.2");
	ask(OUTCOME_PASS);
	ck_assert(!hash_equal(first, shared.seen[1].identity));
	/* a Unix peer has none: nobody shares a count */
	r.req.peer = asked_addr("");
	ask(OUTCOME_PASS);
	ck_assert_uint_eq(shared.nrows, 1);
	key_spec_fini(&policies[1].key);
}
END_TEST

/* ---- what binds ---- */

START_TEST(the_least_that_is_left_binds)
{
	shared.says[0][0] = pass(100, 10, S);
	shared.says[1][0] = pass(10, 2, S);
	ask(OUTCOME_PASS);
	ck_assert_ptr_eq(d.policy, &policies[0]);
	shared.says[1][0] = pass(30, 2, S);
	ask(OUTCOME_PASS);
	ck_assert_ptr_eq(d.policy, &policies[1]);
	ck_assert_int_eq(d.verdict.limit, 30);
	ck_assert_int_eq(d.verdict.remaining, 2);
	ck_assert_ptr_eq(d.rate, &policies[1].limits.rate[0]);
	assert_counted(COUNT_REQUESTS_ALLOWED_TOTAL, 2);
}
END_TEST

START_TEST(ties_go_to_the_longest_reset_then_the_first)
{
	shared.says[0][0] = pass(100, 50, S);
	shared.says[1][0] = pass(10, 5, 2 * S);
	ask(OUTCOME_PASS);
	ck_assert_ptr_eq(d.policy, &policies[1]);
	shared.says[1][0] = pass(10, 5, S);
	ask(OUTCOME_PASS);
	ck_assert_ptr_eq(d.policy, &policies[0]);
}
END_TEST

START_TEST(great_numbers_compare)
{
	const int64_t big = INT64_C(1) << 52;

	/* Their products differ by 1. */
	shared.says[0][0] = pass(big, big - 1, S);
	shared.says[1][0] = pass(big - 1, big - 2, S);
	ask(OUTCOME_PASS);
	ck_assert_ptr_eq(d.policy, &policies[1]);
}
END_TEST

START_TEST(the_longest_wait_binds)
{
	use_policies(4);
	policies[3].mode = MODE_SHADOW;
	shared.says[0][0] = deny(10, 3 * S);
	shared.says[1][0] = deny(10, 9 * S);
	shared.says[2][0] = pass(10, 0, 99 * S);
	shared.says[3][0] = deny(10, 50 * S);
	ask(OUTCOME_LIMITED);
	ck_assert_ptr_eq(d.policy, &policies[1]);
	ck_assert_int_eq(d.verdict.pass_in, 9 * S);
	ck_assert(d.shadow_limited);
	ck_assert_ptr_eq(d.shadow_policy, &policies[3]);
	shared.says[0][0] = deny(10, 9 * S);
	ask(OUTCOME_LIMITED);
	ck_assert_ptr_eq(d.policy, &policies[0]);
	assert_counted(COUNT_REQUESTS_LIMITED_TOTAL, 2);
	assert_counted(COUNT_REQUESTS_ALLOWED_TOTAL, 0);
}
END_TEST

START_TEST(each_rate_of_a_list_competes)
{
	add_rate(&policies[1].limits, 5000, 3600 * S);
	shared.says[0][0] = pass(10, 4, S);
	shared.says[1][0] = pass(10, 5, S);
	shared.says[1][1] = pass(5000, 7, 900 * S);
	ask(OUTCOME_PASS);
	ck_assert_ptr_eq(d.policy, &policies[1]);
	ck_assert_ptr_eq(d.rate, &policies[1].limits.rate[1]);
	shared.says[1][0] = deny(10, 5 * S);
	ask(OUTCOME_LIMITED);
	ck_assert_ptr_eq(d.rate, &policies[1].limits.rate[0]);
	ck_assert_int_eq(d.verdict.pass_in, 5 * S);
	shared.says[1][1] = deny(5000, 6 * S);
	ask(OUTCOME_LIMITED);
	ck_assert_ptr_eq(d.rate, &policies[1].limits.rate[1]);
}
END_TEST

START_TEST(a_rate_that_passes_does_not_bind_a_denial)
{
	add_rate(&policies[1].limits, 5000, 3600 * S);
	shared.says[1][0] = pass(10, 0, S);
	shared.says[1][1] = deny(5000, 6 * S);
	ask(OUTCOME_LIMITED);
	ck_assert_ptr_eq(d.rate, &policies[1].limits.rate[1]);
	shared.says[1][0] = pass(10, 0, S);
	shared.says[1][0].pass_in = 99 * S;	/* nobody's business */
	ask(OUTCOME_LIMITED);
	ck_assert_ptr_eq(d.rate, &policies[1].limits.rate[1]);
}
END_TEST

START_TEST(of_a_remembered_denial_only_what_was_denied_counts)
{
	shared.says[0][0] = deny(10, 50 * S);
	ask(OUTCOME_LIMITED);
	ck_assert_ptr_eq(d.policy, &policies[0]);
	/* What the row said about the last request is still in it. */
	shared.remembered = true;
	shared.says[0][0] = pass(10, 5, S);
	shared.says[1][0] = deny(10, 2 * S);
	ask(OUTCOME_LIMITED);
	ck_assert_int_eq(d.question.rows[0].verdicts[0].pass_in, 50 * S);
	ck_assert_ptr_eq(d.policy, &policies[1]);
	ck_assert_int_eq(d.verdict.pass_in, 2 * S);
}
END_TEST

START_TEST(shadows_neither_deny_nor_bind)
{
	policies[0].mode = policies[1].mode = MODE_SHADOW;
	shared.says[1][0] = deny(10, 50 * S);
	ask(OUTCOME_PASS);
	ck_assert_ptr_null(d.policy);
	ck_assert(d.shadow_limited);
	ck_assert_ptr_eq(d.shadow_policy, &policies[1]);
	shared.says[0][0] = deny(10, S);
	ask(OUTCOME_PASS);
	ck_assert_ptr_eq(d.shadow_policy, &policies[0]);
	shared.says[0][0] = shared.says[1][0] = pass(10, 1, S);
	ask(OUTCOME_PASS);
	ck_assert(!d.shadow_limited);
	ck_assert_ptr_null(d.shadow_policy);
	assert_counted(COUNT_REQUESTS_ALLOWED_TOTAL, 3);
}
END_TEST

/* ---- late answers ---- */

static void
ask_late(void)
{
	shared.late = true;
	ck_assert_int_eq(limiter_ask(limiter, &rules, &r.req, &d, NOW),
	    ANSWER_LATER);
	ck_assert_uint_eq(verdicts, 0);
}

START_TEST(an_answer_may_come_late)
{
	shared.says[1][0] = deny(10, 2 * S);
	ask_late();
	answer_late(&shared);
	ck_assert_uint_eq(verdicts, 1);
	ck_assert_int_eq(d.outcome, OUTCOME_LIMITED);
	ck_assert_ptr_eq(d.policy, &policies[1]);
	ck_assert_int_eq(d.asked_at, NOW);
	ck_assert_int_eq(d.decided_at, clock_value);
	assert_counted(COUNT_REQUESTS_LIMITED_TOTAL, 1);
	limiter_cancel(&d);
	ck_assert_uint_eq(shared.cancels, 0);
}
END_TEST

START_TEST(a_question_may_be_cancelled)
{
	ask_late();
	limiter_cancel(&d);
	ck_assert_uint_eq(shared.cancels, 1);
	limiter_cancel(&d);
	ck_assert_uint_eq(shared.cancels, 1);
	ck_assert_uint_eq(verdicts, 0);
	assert_counted(COUNT_REQUESTS_ALLOWED_TOTAL, 0);
	/* and the decision is of use again */
	shared.late = false;
	ask(OUTCOME_PASS);
}
END_TEST

START_TEST(cancel_before_anything)
{
	struct decision none;

	memset(&none, 0, sizeof(none));
	limiter_cancel(&none);
	ck_assert_uint_eq(shared.cancels, 0);
}
END_TEST

/* ---- the store is away ---- */

START_TEST(away_and_local)
{
	shared.unknown = true;
	local.says[1][0] = deny(2, 5 * S);
	ask(OUTCOME_LIMITED);
	ck_assert(d.degraded);
	ck_assert_int_eq(d.source, SOURCE_LOCAL);
	ck_assert_uint_eq(local.takes, 1);
	ck_assert_uint_eq(local.nrows, 2);
	/* the share of one of four weirs */
	ck_assert_ptr_eq(local.seen[0].limits, &policies[0].local_limits);
	ck_assert_int_eq(local.seen[0].limits->rate[0].count, 2);
	ck_assert_ptr_eq(d.rate, &policies[1].local_limits.rate[0]);
	assert_counted(COUNT_STORE_FALLBACK_TOTAL, 1);
	assert_counted(COUNT_REQUESTS_LIMITED_TOTAL, 1);
	/* the next answer of the store is not degraded */
	shared.unknown = false;
	ask(OUTCOME_PASS);
	ck_assert(!d.degraded);
	ck_assert_int_eq(d.source, SOURCE_REDIS);
}
END_TEST

START_TEST(away_with_a_plan)
{
	use_policies(1);
	policies[0].limit_is_plan = true;
	r.req.plan = &plan;
	shared.unknown = true;
	ask(OUTCOME_PASS);
	ck_assert_ptr_eq(local.seen[0].limits, &plan.local_limits);
	ck_assert_int_eq(local.seen[0].limits->rate[0].count, 25);
}
END_TEST

START_TEST(away_and_allow)
{
	shared.unknown = true;
	policies[0].on_store_error = STORE_ERROR_ALLOW;
	ask(OUTCOME_PASS);
	ck_assert_uint_eq(local.nrows, 1);
	ck_assert_ptr_eq(local.seen[0].policy, &policies[1]);
	ck_assert_ptr_eq(d.policy, &policies[1]);
	policies[1].on_store_error = STORE_ERROR_ALLOW;
	ask(OUTCOME_PASS);
	ck_assert_uint_eq(local.takes, 1);
	ck_assert_ptr_null(d.policy);
	ck_assert(d.degraded);
	ck_assert_int_eq(d.source, SOURCE_NONE);
	assert_counted(COUNT_STORE_FALLBACK_TOTAL, 2);
	assert_counted(COUNT_REQUESTS_ALLOWED_TOTAL, 2);
}
END_TEST

START_TEST(away_and_deny)
{
	shared.unknown = true;
	policies[1].on_store_error = STORE_ERROR_DENY;
	ask(OUTCOME_STORE_AWAY);
	ck_assert_uint_eq(local.takes, 0);
	ck_assert_ptr_eq(d.policy, &policies[1]);
	ck_assert(d.degraded);
	assert_counted(COUNT_STORE_FALLBACK_TOTAL, 1);
	assert_counted(COUNT_REQUESTS_ALLOWED_TOTAL, 0);
	assert_counted(COUNT_REQUESTS_LIMITED_TOTAL, 0);
	/* but a shadow never denies, whatever it says */
	policies[1].mode = MODE_SHADOW;
	ask(OUTCOME_PASS);
	ck_assert_uint_eq(local.nrows, 1);
	/* nor does what does not concern the request */
	policies[1].mode = MODE_OFF;
	ask(OUTCOME_PASS);
}
END_TEST

START_TEST(away_and_late)
{
	shared.unknown = true;
	ask_late();
	answer_late(&shared);
	ck_assert_uint_eq(verdicts, 1);
	ck_assert_int_eq(d.outcome, OUTCOME_PASS);
	ck_assert_int_eq(d.source, SOURCE_LOCAL);
	ck_assert_uint_eq(local.takes, 1);
	ck_assert_int_eq(d.decided_at, clock_value);
}
END_TEST

START_TEST(away_and_nothing_local)
{
	limiter_free(limiter);
	limiter = limiter_new(&shared.store, NULL, &counters, read_clock,
	    &clock_value);
	shared.unknown = true;
	ask(OUTCOME_PASS);
	ck_assert(d.degraded);
	ck_assert_ptr_null(d.policy);
}
END_TEST

/* ---- the rest ---- */

START_TEST(peeking_spends_and_counts_nothing)
{
	shared.says[1][0] = deny(10, S);
	ck_assert_int_eq(limiter_peek(limiter, &rules, &r.req, &d, NOW),
	    ANSWER_NOW);
	ck_assert_int_eq(d.outcome, OUTCOME_LIMITED);
	ck_assert_uint_eq(d.question.nrows, 2);
	shared.unknown = true;
	miss(MISSING_SKIP);
	ck_assert_int_eq(limiter_peek(limiter, &rules, &r.req, &d, NOW),
	    ANSWER_NOW);
	ck_assert_int_eq(d.outcome, OUTCOME_PASS);
	ck_assert_uint_eq(shared.takes + local.takes, 0);
	ck_assert_uint_eq(shared.peeks, 2);
	ck_assert_uint_eq(local.peeks, 1);
	for (int id = 0; id < COUNT_END; id++)
		assert_counted((enum counter)id, 0);
	key_spec_fini(&policies[1].key);
}
END_TEST

START_TEST(a_decision_is_used_again)
{
	shared.says[0][0] = deny(10, S);
	ask(OUTCOME_LIMITED);
	use_policies(0);
	ask(OUTCOME_PASS);
	ck_assert_ptr_null(d.policy);
	ck_assert_ptr_null(d.rate);
	ck_assert_int_eq(d.store_now, 0);
	ck_assert_uint_eq(d.question.nrows, 0);
}
END_TEST

START_TEST(rows_are_kept_for_reuse)
{
	struct row *rows;

	ask(OUTCOME_PASS);
	rows = d.question.rows;
	use_policies(1);
	ask(OUTCOME_PASS);
	use_policies(2);
	ask(OUTCOME_PASS);
	ck_assert_ptr_eq(d.question.rows, rows);
	use_policies(4);
	ask(OUTCOME_PASS);
	ck_assert_uint_eq(d.question.nrows, 4);
}
END_TEST

START_TEST(stores_learn_of_a_reload)
{
	limiter_reloaded(limiter);
	ck_assert_uint_eq(shared.reloads, 1);
	ck_assert_uint_eq(local.reloads, 1);
	limiter_free(limiter);
	limiter = limiter_new(&shared.store, &shared.store, &counters,
	    read_clock, &clock_value);
	limiter_reloaded(limiter);
	ck_assert_uint_eq(shared.reloads, 2);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("limiter");
	TCase *t = tcase_create("limiter");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nothing_concerns);
	tcase_add_test(t, all_in_one_question);
	tcase_add_test(t, exempt_requests_are_not_asked_about);
	tcase_add_test(t, a_plan_is_the_limit);
	tcase_add_test(t, a_missing_key_may_skip);
	tcase_add_test(t, a_missing_key_may_deny);
	tcase_add_test(t, a_missing_key_may_be_the_peer);
	tcase_add_test(t, the_least_that_is_left_binds);
	tcase_add_test(t, ties_go_to_the_longest_reset_then_the_first);
	tcase_add_test(t, great_numbers_compare);
	tcase_add_test(t, the_longest_wait_binds);
	tcase_add_test(t, each_rate_of_a_list_competes);
	tcase_add_test(t, a_rate_that_passes_does_not_bind_a_denial);
	tcase_add_test(t,
	    of_a_remembered_denial_only_what_was_denied_counts);
	tcase_add_test(t, shadows_neither_deny_nor_bind);
	tcase_add_test(t, an_answer_may_come_late);
	tcase_add_test(t, a_question_may_be_cancelled);
	tcase_add_test(t, cancel_before_anything);
	tcase_add_test(t, away_and_local);
	tcase_add_test(t, away_with_a_plan);
	tcase_add_test(t, away_and_allow);
	tcase_add_test(t, away_and_deny);
	tcase_add_test(t, away_and_late);
	tcase_add_test(t, away_and_nothing_local);
	tcase_add_test(t, peeking_spends_and_counts_nothing);
	tcase_add_test(t, a_decision_is_used_again);
	tcase_add_test(t, rows_are_kept_for_reuse);
	tcase_add_test(t, stores_learn_of_a_reload);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
