#include "net/deadline.h"

#define GRAIN_US	100000	/* no more often than this */

static void
on_timer(struct loop_timer *timer)
{
	struct deadlines *all = LIST_ITEM(timer, struct deadlines, timer);

	deadlines_run(all, loop_now(all->loop));
}

void
deadlines_init(struct deadlines *all, struct loop *loop)
{
	all->loop = loop;
	all->wake_at = INT64_MAX;
	list_init(&all->classes);
	loop_timer_init(loop, &all->timer, on_timer);
}

void
deadlines_fini(struct deadlines *all)
{
	loop_timer_cancel(&all->timer);
}

static void
run_class(struct deadline_class *class, int64_t now)
{
	struct list *l;

	while ((l = list_first(&class->items)) != NULL) {
		struct deadline *d = LIST_ITEM(l, struct deadline, link);

		if (d->due > now)
			return;
		deadline_clear(d);
		class->fn(d);
	}
}

static void
wake_at(struct deadlines *all, int64_t due, int64_t now)
{
	if (due < now + GRAIN_US)
		due = now + GRAIN_US;
	if (due >= all->wake_at)
		return;
	all->wake_at = due;
	loop_timer_set(&all->timer, due - now);
}

void
deadlines_run(struct deadlines *all, int64_t now)
{
	int64_t next = INT64_MAX;

	LIST_EACH_SAFE(l, &all->classes)
		run_class(LIST_ITEM(l, struct deadline_class, link), now);
	all->wake_at = INT64_MAX;
	LIST_EACH(l, &all->classes) {
		struct list *first = list_first(
		    &LIST_ITEM(l, struct deadline_class, link)->items);

		if (first != NULL &&
		    LIST_ITEM(first, struct deadline, link)->due < next)
			next = LIST_ITEM(first, struct deadline, link)->due;
	}
	if (next != INT64_MAX)
		wake_at(all, next, now);
}

void
deadline_class_init(struct deadlines *all, struct deadline_class *class,
    int64_t timeout_us, void (*fn)(struct deadline *d))
{
	class->all = all;
	class->timeout_us = timeout_us;
	class->fn = fn;
	list_init(&class->items);
	list_push_back(&all->classes, &class->link);
}

void
deadline_class_fini(struct deadline_class *class)
{
	list_remove(&class->link);
}

void
deadline_init(struct deadline *d)
{
	list_init(&d->link);
	d->class = NULL;
	d->due = 0;
}

void
deadline_set(struct deadline *d, struct deadline_class *class, int64_t now)
{
	if (d->class != NULL)
		list_remove(&d->link);
	d->class = class;
	d->due = now + class->timeout_us;
	list_push_back(&class->items, &d->link);
	if (d->due < class->all->wake_at)
		wake_at(class->all, d->due, now);
}

void
deadline_clear(struct deadline *d)
{
	if (d->class == NULL)
		return;
	list_remove(&d->link);
	d->class = NULL;
}
