#include "store/redis.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/breaker.h"
#include "store/calls.h"
#include "store/remember.h"

/* An idle connection is asked for a sign of life. */
#define HEALTH_US	CLOCK_SECOND

struct redis_store {
	struct store store;
	struct loop *loop;
	struct counters *counters;
	struct redis_conf conf;
	char address[ENDPOINT_TEXT_MAX];	/* for the log */
	struct link *link;
	struct calls calls;
	struct breaker breaker;
	struct remember *remember;
	struct call *healing[SCRIPT_COUNT];	/* carries the whole script */
	struct text command;

	/* The breaker has just opened: to be acted on outside of replies. */
	bool tripped;
	enum link_error trip_error;
	char trip_text[256];
	int64_t retry_in;
	struct loop_task trip;

	struct loop_timer retry;	/* open: connect again */
	struct loop_timer health;	/* closed: every HEALTH_US */
	bool heard;			/* a reply since the last look */
	bool away_told, refused_told;	/* logged since it went away */

	struct question probe;
	struct policy probe_policy;
	struct limits probe_limits;

	bool settled;
	void (*on_settled)(void *arg);
	void *settled_arg;
};

static struct redis_store *
self_of(const struct store *store)
{
	return LIST_ITEM(store, struct redis_store, store);
}

static enum answer
unknown_now(struct question *q)
{
	q->result = STORE_UNKNOWN;
	q->source = SOURCE_NONE;
	return ANSWER_NOW;
}

/* q: NULL when nobody waits. Be last: done may ask again. */
static void
tell_unknown(struct question *q)
{
	if (q == NULL)
		return;
	q->pending = NULL;
	unknown_now(q);
	q->done(q);
}

/* The call has ended. */
static void
put(struct redis_store *s, struct call *call)
{
	if (call->kind == CALL_QUESTION && s->healing[call->script] == call)
		s->healing[call->script] = NULL;
	calls_put(&s->calls, call);
}

/* Its place is free when done asks again. */
static void
put_unknown(struct redis_store *s, struct call *call)
{
	struct question *q = call->question;

	put(s, call);
	tell_unknown(q);
}

/* Open the breaker: from now on nothing is asked. The connection is dropped
 * and what waits is answered at the end of this turn, outside of replies. */
static void
trip(struct redis_store *s, enum link_error why, const char *text)
{
	enum breaker_why kind = why == LINK_REFUSED ? BREAKER_REFUSED :
	    why == LINK_DOWN ? BREAKER_SILENT : BREAKER_LOST;

	if (s->tripped)
		return;
	s->tripped = true;
	s->trip_error = why;
	snprintf(s->trip_text, sizeof(s->trip_text), "%s", text);
	if (s->breaker.closed)
		counter_add(s->counters, COUNT_STORE_UP, -1);
	s->retry_in = breaker_open(&s->breaker, kind, loop_now(s->loop));
	loop_defer(s->loop, &s->trip);
}

/* One line when it goes, one more only when people have to act on it. */
static void
tell_away(struct redis_store *s)
{
	bool refused = s->trip_error == LINK_REFUSED;

	if (s->away_told && (!refused || s->refused_told))
		return;
	log_state(LOG_WARN, "redis is away, trying again address=%s "
	    "why=\"%s\"", s->address, s->trip_text);
	s->away_told = true;
	s->refused_told = refused;
}

static void
settle(struct redis_store *s)
{
	void (*fn)(void *arg) = s->on_settled;

	s->settled = true;
	s->on_settled = NULL;
	if (fn != NULL)
		fn(s->settled_arg);
}

static void
part(struct question *q)
{
	struct call *call = q->pending;

	q->pending = NULL;
	if (call != NULL)
		call->question = NULL;
}

static void
answer_lost(struct redis_store *s)
{
	struct call *call;

	while ((call = calls_next_lost(&s->calls)) != NULL)
		put_unknown(s, call);
}

static void
act_on_trip(struct redis_store *s)
{
	loop_task_cancel(&s->trip);
	loop_timer_cancel(&s->health);
	calls_stop(&s->calls);
	part(&s->probe);
	link_close(s->link);
	/* What comes back may hold other counts. */
	remember_drop(s->remember);
	if (s->trip_error == LINK_LOST)
		counter_add(s->counters, COUNT_STORE_ERRORS_TOTAL, 1);
	tell_away(s);
	loop_timer_set(&s->retry, s->retry_in);
	s->tripped = false;
	settle(s);
	answer_lost(s);
}

static void
on_trip(struct loop_task *task)
{
	act_on_trip(LIST_ITEM(task, struct redis_store, trip));
}

static void
on_link_end(void *arg, enum link_error why, const char *text)
{
	struct redis_store *s = arg;

	trip(s, why, text);
	act_on_trip(s);
}

static void
on_retry(struct loop_timer *timer)
{
	link_open(LIST_ITEM(timer, struct redis_store, retry)->link);
}

/* By name, or whole when Redis has lost it. False: there is no connection, and
 * no reply will come. */
static bool
send_question(struct redis_store *s, struct call *call, bool whole)
{
	text_clear(&s->command);
	script_encode(call->question, call->spend, span_str(s->conf.prefix),
	    whole ? SPAN_EMPTY : link_script(s->link, call->script),
	    &s->command);
	return link_send(s->link, text_span(&s->command), &call->link);
}

static enum answer
ask(struct redis_store *s, struct question *q, bool spend, int64_t now)
{
	struct call *call = calls_get(&s->calls, CALL_QUESTION, now);

	call->question = q;
	call->spend = spend;
	call->script = script_for(q);
	call->epoch = remember_epoch(s->remember);
	if (!send_question(s, call, false)) {
		put(s, call);
		return unknown_now(q);
	}
	q->pending = call;
	calls_wait(&s->calls, call);
	return ANSWER_LATER;
}

/* A whole decision, on a key of its own. No request is ever a probe. */
static void
send_probe(struct redis_store *s)
{
	if (ask(s, &s->probe, true, loop_now(s->loop)) == ANSWER_NOW)
		trip(s, LINK_LOST, "cannot send");
}

static void
on_up(struct redis_store *s)
{
	counter_add(s->counters, COUNT_STORE_UP, 1);
	log_state(LOG_INFO, "redis answers address=%s", s->address);
	s->away_told = s->refused_told = false;
	loop_timer_set(&s->health, HEALTH_US);
	settle(s);
}

static void
on_probe(struct question *q)
{
	struct redis_store *s = LIST_ITEM(q, struct redis_store, probe);

	if (q->result != STORE_DECIDED)
		trip(s, LINK_DOWN, "no answer to a probe in time");
	else if (breaker_probe_good(&s->breaker, loop_now(s->loop)))
		on_up(s);
	else
		send_probe(s);
}

static void
on_link_ready(void *arg)
{
	struct redis_store *s = arg;

	counter_add(s->counters, COUNT_STORE_RECONNECTS_TOTAL, 1);
	send_probe(s);
}

/* A dead connection that nobody uses would else be found by a request. */
static void
on_health(struct loop_timer *timer)
{
	struct redis_store *s = LIST_ITEM(timer, struct redis_store, health);
	bool idle = !s->heard && s->calls.in_flight == 0;
	struct call *call;

	loop_timer_set(&s->health, HEALTH_US);
	s->heard = false;
	if (!idle)
		return;
	call = calls_get(&s->calls, CALL_PING, loop_now(s->loop));
	if (link_send(s->link, SPAN("*1\r\n$4\r\nPING\r\n"), &call->link))
		calls_wait(&s->calls, call);
	else
		put(s, call);
}

static void
on_miss(struct call *call)
{
	struct redis_store *s = call->owner;
	struct question *q = call->question;

	call->question = NULL;
	if (breaker_miss(&s->breaker))
		trip(s, LINK_DOWN, "no answers in time");
	if (q != NULL && q != &s->probe)
		counter_add(s->counters, COUNT_STORE_TIMEOUTS_TOTAL, 1);
	tell_unknown(q);
}

static void
on_hopeless(void *owner)
{
	trip(owner, LINK_DOWN, "an answer does not come");
}

/* Not run: Redis has lost its scripts. Only the first to notice sends the
 * text, the others follow it on the same connection. */
static bool
heal(struct redis_store *s, struct call *call)
{
	bool whole = s->healing[call->script] == NULL;

	if (call->healed)
		return false;
	call->healed = true;
	if (!send_question(s, call, whole))
		return false;
	if (whole) {
		counter_add(s->counters, COUNT_STORE_NOSCRIPT_TOTAL, 1);
		s->healing[call->script] = call;
	}
	return true;
}

/* One call failed: the server lives, so this is no reason not to ask again,
 * and good enough for a probe. */
static void
fail_call(struct redis_store *s, struct call *call, const char *text)
{
	struct question *q = call->question;

	log_warn("redis answered with an error address=%s error=\"%s\"",
	    s->address, text);
	if (q != &s->probe) {
		put_unknown(s, call);
		return;
	}
	put(s, call);
	q->pending = NULL;
	q->result = STORE_DECIDED;
	q->done(q);
}

static void
on_error(struct redis_store *s, struct call *call, struct span text)
{
	enum link_error why = link_classify(text);
	char line[256];

	if (why == LINK_NOSCRIPT) {
		if (call->question == NULL) {
			put(s, call);
			return;
		}
		if (heal(s, call))
			return;
		why = LINK_CALL;
	}
	counter_add(s->counters, COUNT_STORE_ERRORS_TOTAL, 1);
	snprintf(line, sizeof(line), "%.*s", SPAN_ARG(text));
	/* Who may not PING may still decide. */
	if (why == LINK_CALL || (call->kind == CALL_PING && why != LINK_DOWN)) {
		fail_call(s, call, line);
		return;
	}
	trip(s, why, line);
	put_unknown(s, call);
}

static bool
is_denied(const struct question *q)
{
	for (unsigned i = 0; i < q->nrows; i++)
		if (q->rows[i].enforcing && !q->rows[i].passed)
			return true;
	return false;
}

/* Names the policies of all rows, as the reply does not tell which it was. */
static void
note_repairs(struct redis_store *s, const struct question *q, unsigned n)
{
	char names[256] = "";
	size_t len = 0;

	if (n == 0)
		return;
	counter_add(s->counters, COUNT_STORE_REPAIRS_TOTAL, n);
	for (unsigned i = 0; i < q->nrows && len < sizeof(names); i++) {
		const char *name = q->rows[i].policy->name;

		len += (size_t)snprintf(names + len, sizeof(names) - len,
		    "%s%s", i == 0 ? "" : ",",
		    name != NULL ? name : "(probe)");
	}
	log_warn("a damaged key was healed address=%s policy=%s", s->address,
	    names);
}

/* False: not an answer to the question. */
static bool
decide(struct redis_store *s, struct call *call, const redisReply *reply)
{
	struct question *q = call->question;
	unsigned repairs;

	if (reply->type != REDIS_REPLY_STRING || script_decode(q,
	    span_of(reply->str, reply->len), &repairs) != ERR_OK)
		return false;
	note_repairs(s, q, repairs);
	q->result = STORE_DECIDED;
	q->source = SOURCE_REDIS;
	if (call->spend && is_denied(q))
		remember_put(s->remember, q, call->epoch, call->asked_at,
		    loop_now_fresh(s->loop));
	put(s, call);
	q->pending = NULL;
	q->done(q);
	return true;
}

static void
on_reply(struct link_call *link, const redisReply *reply)
{
	struct call *call = LIST_ITEM(link, struct call, link);
	struct redis_store *s = call->owner;

	if (reply == NULL) {
		calls_lost(&s->calls, call);
		return;
	}
	/* Signs of life that were asked for do not make it busy. */
	s->heard |= call->kind == CALL_QUESTION;
	if (call->late)
		breaker_late(&s->breaker);
	else
		breaker_hit(&s->breaker);
	if (reply->type == REDIS_REPLY_ERROR) {
		on_error(s, call, span_of(reply->str, reply->len));
	} else if (call->question == NULL) {
		put(s, call);
	} else if (!decide(s, call, reply)) {
		trip(s, LINK_LOST, "not an answer to the question");
		put_unknown(s, call);
	}
}

static enum answer
ask_if_up(struct redis_store *s, struct question *q, bool spend, int64_t now)
{
	if (!s->breaker.closed)
		return unknown_now(q);
	if (s->calls.in_flight >= s->conf.max_in_flight) {
		counter_add(s->counters, COUNT_STORE_OVERFLOWS_TOTAL, 1);
		return unknown_now(q);
	}
	counter_add(s->counters, COUNT_STORE_REQUESTS_TOTAL, 1);
	return ask(s, q, spend, now);
}

static enum answer
redis_take(struct store *store, struct question *q, int64_t now)
{
	struct redis_store *s = self_of(store);

	if (remember_find(s->remember, q, now)) {
		counter_add(s->counters, COUNT_STORE_REMEMBERED_TOTAL, 1);
		return ANSWER_NOW;
	}
	return ask_if_up(s, q, true, now);
}

static enum answer
redis_peek(struct store *store, struct question *q, int64_t now)
{
	return ask_if_up(self_of(store), q, false, now);
}

static void
redis_cancel(struct store *store, struct question *q)
{
	(void)store;		/* the call knows which one it was asked of */
	part(q);
}

static void
redis_reloaded(struct store *store)
{
	remember_drop(self_of(store)->remember);
}

static void
redis_free(struct store *store)
{
	struct redis_store *s = self_of(store);

	if (s->breaker.closed)
		counter_add(s->counters, COUNT_STORE_UP, -1);
	s->breaker.closed = false;
	loop_timer_cancel(&s->retry);
	loop_timer_cancel(&s->health);
	loop_task_cancel(&s->trip);
	part(&s->probe);
	link_close(s->link);
	answer_lost(s);
	link_free(s->link);
	calls_fini(&s->calls);
	remember_free(s->remember);
	question_fini(&s->probe);
	text_fini(&s->command);
	redis_conf_fini(&s->conf);
	mem_free(s);
}

static const struct store_ops redis_ops = {
	.name = "redis",
	.take = redis_take,
	.cancel = redis_cancel,
	.reloaded = redis_reloaded,
	.peek = redis_peek,
	.free = redis_free
};

/* One unit out of a million a second, under an identity nobody has. */
static void
init_probe(struct redis_store *s)
{
	struct rate *rate = &s->probe_limits.rate[0];

	s->probe_limits.n = 1;
	rate->count = rate->burst = 1000000;
	rate->period_us = CLOCK_SECOND;
	rate_prepare(rate);
	s->probe_policy.algorithm = ALGO_TOKEN_BUCKET;
	question_init(&s->probe);
	question_reserve(&s->probe, 1);
	s->probe.nrows = 1;
	s->probe.rows[0] = (struct row){ .policy = &s->probe_policy,
	    .limits = &s->probe_limits, .cost = 1, .enforcing = true };
	s->probe.done = on_probe;
}

static void
init_calls(struct redis_store *s)
{
	s->calls.loop = s->loop;
	s->calls.timeout_us = s->conf.timeout_us;
	s->calls.on_reply = on_reply;
	s->calls.on_miss = on_miss;
	s->calls.on_hopeless = on_hopeless;
	s->calls.owner = s;
	calls_init(&s->calls);
}

struct store *
redis_store_new(struct loop *loop, const struct redis_conf *conf,
    struct counters *counters)
{
	struct redis_store *s = mem_zalloc(sizeof(*s));
	struct link_owner owner = { on_link_ready, on_link_end, s };
	uint64_t seed;

	s->store.ops = &redis_ops;
	s->loop = loop;
	s->counters = counters;
	redis_conf_copy(conf, &s->conf);
	endpoint_print(&conf->address, s->address, sizeof(s->address));
	hash_random(&seed, sizeof(seed));
	breaker_init(&s->breaker, seed);
	s->remember = remember_new();
	text_init(&s->command);
	loop_timer_init(loop, &s->retry, on_retry);
	loop_timer_init(loop, &s->health, on_health);
	loop_task_init(&s->trip, on_trip);
	init_calls(s);
	init_probe(s);
	s->link = link_new(loop, &s->conf, &owner);
	link_open(s->link);
	return &s->store;
}

bool
redis_store_settled(const struct store *store)
{
	return self_of(store)->settled;
}

void
redis_store_on_settled(struct store *store, void (*fn)(void *arg), void *arg)
{
	struct redis_store *s = self_of(store);

	s->on_settled = fn;
	s->settled_arg = arg;
}

bool
redis_store_up(const struct store *store)
{
	return self_of(store)->breaker.closed;
}
