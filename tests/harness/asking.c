#include "harness/asking.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "limit/script.h"

static void
on_settled(void *arg)
{
	struct asking *a = arg;

	a->settled = true;
}

void
asking_limit(struct asking *a, enum algo_kind algorithm, int64_t count,
    int64_t period_us)
{
	struct rate *rate = &a->limits.rate[0];

	a->policy = (struct policy){ .name = (char *)(uintptr_t)"p",
	    .tag = hash_name(SPAN("p")) + algorithm, .algorithm = algorithm };
	a->limits = (struct limits){ .n = 1 };
	rate->count = rate->burst = count;
	rate->period_us = period_us;
	if (rate_prepare(rate) != ERR_OK)
		abort();
}

void
asking_begin(struct asking *a, struct loop *loop,
    const struct redis_conf *conf)
{
	memset(a, 0, sizeof(*a));
	asking_limit(a, ALGO_TOKEN_BUCKET, 5, 3600 * CLOCK_SECOND);
	a->loop = loop != NULL ? loop : loop_new();
	a->store = redis_store_new(a->loop, conf, &a->counters);
	redis_store_on_settled(a->store, on_settled, a);
}

void
asking_end(struct asking *a, bool loop_too)
{
	if (a->store != NULL)
		a->store->ops->free(a->store);
	if (loop_too)
		loop_free(a->loop);
}

struct wait {
	struct loop_timer timer;
	bool (*cond)(void *);
	void *arg;
	int64_t until;
	bool met;
};

static void
on_look(struct loop_timer *timer)
{
	struct wait *w = LIST_ITEM(timer, struct wait, timer);

	w->met = w->cond(w->arg);
	if (w->met || clock_now() >= w->until)
		loop_stop(timer->loop);
	else
		loop_timer_set(timer, 1000);
}

bool
asking_until(struct loop *loop, bool (*cond)(void *), void *arg, int64_t us)
{
	struct wait w = { .cond = cond, .arg = arg,
	    .until = clock_now() + us };

	loop_timer_init(loop, &w.timer, on_look);
	loop_timer_set(&w.timer, 0);
	loop_run(loop);
	loop_timer_cancel(&w.timer);
	return w.met;
}

static bool
is_up(void *arg)
{
	return redis_store_up(((struct asking *)arg)->store);
}

static bool
is_down(void *arg)
{
	return !is_up(arg);
}

static bool
never(void *arg)
{
	(void)arg;
	return false;
}

bool
asking_until_up(struct asking *a, int64_t us)
{
	return asking_until(a->loop, is_up, a, us);
}

bool
asking_until_down(struct asking *a, int64_t us)
{
	return asking_until(a->loop, is_down, a, us);
}

void
asking_pause(struct loop *loop, int64_t us)
{
	asking_until(loop, never, NULL, us);
}

static void
take_in(struct asked *q)
{
	const struct question *question = &q->question;

	q->times++;
	q->took_us = clock_now() - q->asked_at;
	if (question->result == STORE_UNKNOWN)
		q->said = SAID_UNKNOWN;
	else
		q->said = question->rows[0].passed ? SAID_PASS : SAID_DENY;
}

static void
on_done(struct question *question)
{
	struct asked *q = LIST_ITEM(question, struct asked, question);

	take_in(q);
	if (q->then != NULL)
		q->then(q);
}

void
asked_init(struct asked *q, struct asking *a)
{
	memset(q, 0, sizeof(*q));
	q->asking = a;
	question_init(&q->question);
	question_reserve(&q->question, 1);
	q->question.done = on_done;
}

void
asked_fini(struct asked *q)
{
	question_fini(&q->question);
}

void
asked_send(struct asked *q, uint64_t who, int64_t cost)
{
	struct asking *a = q->asking;

	q->said = SAID_NOTHING;
	q->question.nrows = 1;
	q->question.rows[0] = (struct row){ .policy = &a->policy,
	    .limits = &a->limits, .identity = { who, ~who }, .cost = cost,
	    .enforcing = true };
	q->asked_at = clock_now();
	q->at_once = a->store->ops->take(a->store, &q->question,
	    loop_now(a->loop)) == ANSWER_NOW;
	if (q->at_once)
		take_in(q);
}

void
asked_cancel(struct asked *q)
{
	q->asking->store->ops->cancel(q->asking->store, &q->question);
}

struct several {
	struct asked *q;
	size_t n;
};

static bool
all_said(void *arg)
{
	struct several *s = arg;

	for (; s->n > 0; s->q++, s->n--)
		if (s->q->said == SAID_NOTHING)
			return false;
	return true;
}

bool
asked_wait(struct asked *q, size_t n)
{
	struct several s = { q, n };

	return asking_until(q->asking->loop, all_said, &s, 5 * CLOCK_SECOND);
}

char
asking_one(struct asking *a, uint64_t who, int64_t cost)
{
	struct asked q;

	asked_init(&q, a);
	asked_send(&q, who, cost);
	asked_wait(&q, 1);
	asked_fini(&q);
	return "?PDU"[q.said];
}

const char *
asking_row(struct asking *a, uint64_t who, size_t n)
{
	static char buf[256];
	size_t i;

	for (i = 0; i < n && i + 1 < sizeof(buf); i++)
		buf[i] = asking_one(a, who, 1);
	buf[i] = '\0';
	return buf;
}

int64_t
asking_count(const struct asking *a, enum counter id)
{
	return counter_get(&a->counters, id);
}

const char *
asking_key(struct asking *a, const char *prefix, uint64_t who)
{
	static char buf[256];
	struct row row = { .policy = &a->policy, .limits = &a->limits,
	    .identity = { who, ~who } };
	struct text key;

	text_init(&key);
	script_key(span_str(prefix), &row, &key);
	snprintf(buf, sizeof(buf), "%s", text_cstr(&key));
	text_fini(&key);
	return buf;
}
