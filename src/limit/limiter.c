#include "limit/limiter.h"

#include "base/list.h"
#include "base/mem.h"

struct limiter {
	struct store *store, *local;
	struct counters *counters;
	int64_t (*clock)(void *);
	void *clock_arg;
	/* The policies that concern the request at hand; kept for its room. */
	const struct policy **concerned;
	unsigned cap;
};

struct limiter *
limiter_new(struct store *store, struct store *local,
    struct counters *counters, int64_t (*clock_fn)(void *), void *clock_arg)
{
	struct limiter *l = mem_zalloc(sizeof(*l));

	l->store = store;
	l->local = local;
	l->counters = counters;
	l->clock = clock_fn;
	l->clock_arg = clock_arg;
	return l;
}

void
limiter_free(struct limiter *limiter)
{
	if (limiter == NULL)
		return;
	mem_free(limiter->concerned);
	mem_free(limiter);
}

void
limiter_set_store(struct limiter *limiter, struct store *store)
{
	limiter->store = store;
}

void
limiter_reloaded(struct limiter *limiter)
{
	limiter->store->ops->reloaded(limiter->store);
	if (limiter->local != NULL && limiter->local != limiter->store)
		limiter->local->ops->reloaded(limiter->local);
}

void
decision_init(struct decision *d)
{
	memset(d, 0, sizeof(*d));
	question_init(&d->question);
}

void
decision_fini(struct decision *d)
{
	question_fini(&d->question);
}

static void
count(const struct decision *d, enum counter id)
{
	if (!d->peeking)
		counter_add(d->limiter->counters, id, 1);
}

/* ---- the question ---- */

static unsigned
find_concerned(struct limiter *l, const struct rules *rules,
    const struct request *req)
{
	unsigned n = 0;

	if (l->cap < rules->npolicies) {
		l->cap = rules->npolicies;
		l->concerned = mem_realloc(l->concerned,
		    l->cap * sizeof(const struct policy *));
	}
	for (unsigned i = 0; i < rules->npolicies; i++)
		if (policy_concerns(&rules->policies[i], req) == CONCERN_YES)
			l->concerned[n++] = &rules->policies[i];
	return n;
}

enum keyed { KEYED, KEY_SKIPPED, KEY_DENIED };

static enum keyed
find_identity(struct decision *d, const struct policy *policy,
    const struct request *req, struct hash128 *ret)
{
	const struct key_rule *rule = &d->rules->key_rule;
	unsigned missing;

	if (key_build(&policy->key, rule, req, ret, &missing) == ERR_OK)
		return KEYED;
	count(d, COUNT_LIMIT_MISSING_KEY_TOTAL);
	if (policy->on_missing_key == MISSING_PEER &&
	    key_build_peer(&policy->key, rule, req, ret, &missing) == ERR_OK)
		return KEYED;
	/* A shadow policy never denies. */
	if (policy->on_missing_key != MISSING_DENY ||
	    policy->mode != MODE_ENFORCE)
		return KEY_SKIPPED;
	d->outcome = OUTCOME_NO_KEY;
	d->policy = policy;
	d->missing_part = missing;
	return KEY_DENIED;
}

/* False: a part of a key is missing, and the request is refused for it. */
static bool
put_rows(struct decision *d, const struct request *req, unsigned n)
{
	struct question *q = &d->question;

	question_reserve(q, n);
	for (unsigned i = 0; i < n; i++) {
		const struct policy *policy = d->limiter->concerned[i];
		struct row *row = &q->rows[q->nrows];

		switch (find_identity(d, policy, req, &row->identity)) {
		case KEY_SKIPPED:
			continue;
		case KEY_DENIED:
			q->nrows = 0;
			return false;
		case KEYED:
			break;
		}
		row->policy = policy;
		row->limits = policy->limit_is_plan ? &req->plan->limits :
		    &policy->limits;
		row->cost = policy_cost(policy, req);
		row->enforcing = policy->mode == MODE_ENFORCE;
		row->passed = false;
		q->nrows++;
	}
	return true;
}

/* ---- the binding policy ---- */

static void
choose(struct decision *d, const struct row *row, unsigned rate)
{
	d->policy = row->policy;
	d->rate = &row->limits->rate[rate];
	d->verdict = row->verdicts[rate];
}

/* Rates are offered in the order of the file, so a tie stays with the first. */
static void
offer_denial(struct decision *d, const struct row *row, unsigned rate)
{
	const struct verdict *v = &row->verdicts[rate];

	if (!v->passed &&
	    (d->policy == NULL || v->pass_in > d->verdict.pass_in))
		choose(d, row, rate);
}

static void
offer_pass(struct decision *d, const struct row *row, unsigned rate)
{
	const struct verdict *v = &row->verdicts[rate], *best = &d->verdict;
	__int128 here, there;

	if (d->policy == NULL) {
		choose(d, row, rate);
		return;
	}
	/* remaining / limit, compared without a division */
	here = (__int128)v->remaining * best->limit;
	there = (__int128)best->remaining * v->limit;
	if (here < there || (here == there && v->reset_in > best->reset_in))
		choose(d, row, rate);
}

static bool
is_limited(const struct question *q)
{
	for (unsigned i = 0; i < q->nrows; i++)
		if (q->rows[i].enforcing && !q->rows[i].passed)
			return true;
	return false;
}

static void
judge(struct decision *d)
{
	const struct question *q = &d->question;
	const bool limited = is_limited(q);

	d->outcome = limited ? OUTCOME_LIMITED : OUTCOME_PASS;
	for (unsigned i = 0; i < q->nrows; i++) {
		const struct row *row = &q->rows[i];

		if (!row->enforcing) {
			if (!row->passed && !d->shadow_limited)
				d->shadow_policy = row->policy;
			d->shadow_limited |= !row->passed;
			continue;
		}
		if (limited && row->passed)
			continue;
		for (unsigned k = 0; k < row->limits->n; k++) {
			if (limited)
				offer_denial(d, row, k);
			else
				offer_pass(d, row, k);
		}
	}
}

/* ---- while the store is away ---- */

static const struct policy *
find_denying(const struct question *q)
{
	for (unsigned i = 0; i < q->nrows; i++)
		if (q->rows[i].enforcing &&
		    q->rows[i].policy->on_store_error == STORE_ERROR_DENY)
			return q->rows[i].policy;
	return NULL;
}

static const struct limits *
local_limits(const struct row *row)
{
	return row->policy->limit_is_plan ?
	    &LIST_ITEM(row->limits, const struct plan, limits)->local_limits :
	    &row->policy->local_limits;
}

/* Leave the rows that are counted here; all others pass. */
static void
keep_local(struct question *q)
{
	unsigned n = 0;

	for (unsigned i = 0; i < q->nrows; i++) {
		if (q->rows[i].policy->on_store_error != STORE_ERROR_LOCAL)
			continue;
		q->rows[n] = q->rows[i];
		q->rows[n].limits = local_limits(&q->rows[n]);
		n++;
	}
	q->nrows = n;
}

static enum answer
put_question(const struct decision *d, struct store *store,
    struct question *q, int64_t now)
{
	q->result = STORE_UNKNOWN;
	q->source = SOURCE_NONE;
	q->now = 0;
	return d->peeking ? store->ops->peek(store, q, now) :
	    store->ops->take(store, q, now);
}

/* False: nobody decided; the outcome is set. */
static bool
fall_back(struct decision *d, int64_t now)
{
	struct limiter *l = d->limiter;
	struct question *q = &d->question;

	d->degraded = true;
	count(d, COUNT_STORE_FALLBACK_TOTAL);
	d->policy = find_denying(q);
	if (d->policy != NULL) {
		d->outcome = OUTCOME_STORE_AWAY;
		return false;
	}
	keep_local(q);
	if (q->nrows == 0 || l->local == NULL)
		return false;
	/* A memory store answers at once. */
	put_question(d, l->local, q, now);
	if (q->result == STORE_UNKNOWN)
		return false;
	q->source = SOURCE_LOCAL;
	return true;
}

/* ---- asking ---- */

static void
conclude(struct decision *d, int64_t now)
{
	const struct question *q = &d->question;

	if (q->result == STORE_DECIDED || fall_back(d, now)) {
		d->source = q->source;
		d->store_now = q->now;
		judge(d);
	}
	if (d->outcome == OUTCOME_PASS)
		count(d, COUNT_REQUESTS_ALLOWED_TOTAL);
	else if (d->outcome == OUTCOME_LIMITED)
		count(d, COUNT_REQUESTS_LIMITED_TOTAL);
}

static void
on_done(struct question *question)
{
	struct decision *d = LIST_ITEM(question, struct decision, question);
	const struct limiter *l = d->limiter;

	d->open = false;
	d->decided_at = l->clock(l->clock_arg);
	conclude(d, d->decided_at);
	d->on_verdict(d);
}

static void
reset(struct decision *d, struct limiter *limiter, const struct rules *rules,
    bool peeking, int64_t now)
{
	d->limiter = limiter;
	d->rules = rules;
	d->peeking = peeking;
	d->open = false;
	d->outcome = OUTCOME_PASS;
	d->policy = d->shadow_policy = NULL;
	d->rate = NULL;
	d->verdict = (struct verdict){ .passed = true };
	d->missing_part = 0;
	d->shadow_limited = d->degraded = false;
	d->source = SOURCE_NONE;
	d->asked_at = d->decided_at = now;
	d->store_now = 0;
	d->question.nrows = 0;
	d->question.done = on_done;
}

static enum answer
ask(struct limiter *limiter, const struct rules *rules,
    const struct request *req, struct decision *d, int64_t now, bool peeking)
{
	struct question *q = &d->question;

	reset(d, limiter, rules, peeking, now);
	if (!put_rows(d, req, find_concerned(limiter, rules, req)))
		return ANSWER_NOW;
	if (q->nrows == 0) {
		count(d, COUNT_REQUESTS_ALLOWED_TOTAL);
		return ANSWER_NOW;
	}
	if (put_question(d, limiter->store, q, now) == ANSWER_LATER) {
		d->open = true;
		return ANSWER_LATER;
	}
	conclude(d, now);
	return ANSWER_NOW;
}

enum answer
limiter_ask(struct limiter *limiter, const struct rules *rules,
    struct request *req, struct decision *d, int64_t now)
{
	return ask(limiter, rules, req, d, now, false);
}

enum answer
limiter_peek(struct limiter *limiter, const struct rules *rules,
    struct request *req, struct decision *d, int64_t now)
{
	return ask(limiter, rules, req, d, now, true);
}

void
limiter_cancel(struct decision *d)
{
	struct store *store;

	if (!d->open)
		return;
	store = d->limiter->store;
	d->open = false;
	store->ops->cancel(store, &d->question);
}
