#include "store/calls.h"

#include "base/mem.h"

static struct call *
first_of(const struct list *calls)
{
	struct list *l = list_first(calls);

	return l == NULL ? NULL : LIST_ITEM(l, struct call, place);
}

/* The timer is never later than the next moment to act. Too early is cheap,
 * so replies leave it alone. */
static void
arm(struct calls *calls)
{
	const struct call *next = first_of(&calls->waiting);
	const struct call *late = first_of(&calls->overdue);
	int64_t at = INT64_MAX, then;

	if (next != NULL)
		at = next->asked_at + calls->timeout_us;
	if (late != NULL) {
		then = late->asked_at + CALLS_HOPELESS * calls->timeout_us;
		at = then < at ? then : at;
	}
	if (at >= calls->timer_at)
		return;
	calls->timer_at = at;
	then = at - loop_now(calls->loop);
	loop_timer_set(&calls->timer, then > 0 ? then : 0);
}

static void
on_timer(struct loop_timer *timer)
{
	struct calls *calls = LIST_ITEM(timer, struct calls, timer);
	int64_t now = loop_now(calls->loop);
	struct call *call;

	calls->timer_at = INT64_MAX;
	while ((call = first_of(&calls->waiting)) != NULL &&
	    call->asked_at <= now - calls->timeout_us) {
		call->late = true;
		list_remove(&call->place);
		list_push_back(&calls->overdue, &call->place);
		calls->on_miss(call);
	}
	call = first_of(&calls->overdue);
	if (call != NULL &&
	    call->asked_at <= now - CALLS_HOPELESS * calls->timeout_us)
		calls->on_hopeless(calls->owner);
	else
		arm(calls);
}

void
calls_init(struct calls *calls)
{
	list_init(&calls->waiting);
	list_init(&calls->overdue);
	list_init(&calls->lost);
	list_init(&calls->spare);
	loop_timer_init(calls->loop, &calls->timer, on_timer);
	calls->timer_at = INT64_MAX;
	calls->in_flight = 0;
}

void
calls_fini(struct calls *calls)
{
	struct call *call;

	calls_stop(calls);
	while ((call = first_of(&calls->spare)) != NULL) {
		list_remove(&call->place);
		mem_free(call);
	}
}

struct call *
calls_get(struct calls *calls, enum call_kind kind, int64_t now)
{
	struct call *call = first_of(&calls->spare);

	if (call != NULL)
		list_remove(&call->place);
	else
		call = mem_alloc(sizeof(*call));
	*call = (struct call){ .link.on_reply = calls->on_reply,
	    .owner = calls->owner, .kind = kind, .asked_at = now };
	list_init(&call->place);
	calls->in_flight++;
	return call;
}

void
calls_put(struct calls *calls, struct call *call)
{
	list_remove(&call->place);
	list_push_front(&calls->spare, &call->place);
	calls->in_flight--;
}

void
calls_wait(struct calls *calls, struct call *call)
{
	list_push_back(&calls->waiting, &call->place);
	arm(calls);
}

void
calls_lost(struct calls *calls, struct call *call)
{
	list_remove(&call->place);
	list_push_back(&calls->lost, &call->place);
}

struct call *
calls_next_lost(struct calls *calls)
{
	return first_of(&calls->lost);
}

void
calls_stop(struct calls *calls)
{
	loop_timer_cancel(&calls->timer);
	calls->timer_at = INT64_MAX;
}
