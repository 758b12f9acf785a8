#ifndef WEIR_NET_DEADLINE_H
#define WEIR_NET_DEADLINE_H

#include "base/list.h"
#include "net/loop.h"

/*
 * Timeouts of very many things at the price of a list link. Things with the
 * same timeout form a class; each class is one list in order of deadline,
 * because the newest is always the last. One timer serves all classes and is
 * looked at when the earliest head is due, at most ten times a second.
 */
struct deadline;

struct deadlines {
	struct loop *loop;
	struct loop_timer timer;
	struct list classes;
	int64_t wake_at;		/* INT64_MAX: timer not set */
};

struct deadline_class {
	struct list link, items;	/* private */
	struct deadlines *all;
	int64_t timeout_us;		/* may change: a shorter one may come
					   late for those already waiting */
	void (*fn)(struct deadline *d);	/* d is out of the class by then */
};

struct deadline {
	struct list link;		/* private */
	struct deadline_class *class;	/* NULL: not set */
	int64_t due;
};

void deadlines_init(struct deadlines *all, struct loop *loop);
void deadlines_fini(struct deadlines *all);
/* Run what is due; the timer does this. */
void deadlines_run(struct deadlines *all, int64_t now);

void deadline_class_init(struct deadlines *all, struct deadline_class *class,
    int64_t timeout_us, void (*fn)(struct deadline *d));
/* No deadline may be in it. */
void deadline_class_fini(struct deadline_class *class);

void deadline_init(struct deadline *d);
/* Due at now + timeout of that class, instead of any earlier setting. */
void deadline_set(struct deadline *d, struct deadline_class *class,
    int64_t now);
void deadline_clear(struct deadline *d);	/* twice is harmless */

#endif
