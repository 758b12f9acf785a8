#ifndef WEIR_NET_LOOP_H
#define WEIR_NET_LOOP_H

#include <event2/event_struct.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"

/* One event_base and one thread. Nothing here may be called from another
 * thread but loop_post and loop_stop. */
struct loop;

struct loop *loop_new(void);
void loop_free(struct loop *loop);
/* Serve until loop_stop. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/* Microseconds (clock_now), read once per turn by the first who asks. */
int64_t loop_now(struct loop *loop);
/* Read the clock anew, for measuring inside a turn. */
int64_t loop_now_fresh(struct loop *loop);

#define LOOP_READ	1u
#define LOOP_WRITE	2u
#define LOOP_CLOSED	4u	/* the peer has finished sending: read to 0 */

/*
 * A descriptor that is watched: edge-triggered, added once, untouched until
 * removed. fn may remove it. The descriptor is the caller's to close, after
 * loop_io_remove.
 */
struct loop_io {
	struct event event;		/* private */
	struct loop *loop;
	void (*fn)(struct loop_io *io, unsigned what);
};

enum err loop_io_add(struct loop *loop, struct loop_io *io, int fd,
    void (*fn)(struct loop_io *io, unsigned what));
/* Level-triggered reading only, for listeners. */
enum err loop_io_add_level(struct loop *loop, struct loop_io *io, int fd,
    void (*fn)(struct loop_io *io, unsigned what));
void loop_io_remove(struct loop_io *io);	/* twice is harmless */
int loop_io_fd(const struct loop_io *io);

/* A one-shot timer; few of them (connections use net/deadline). */
struct loop_timer {
	struct list link;		/* private */
	int64_t due;			/* private */
	struct loop *loop;
	void (*fn)(struct loop_timer *timer);
};

void loop_timer_init(struct loop *loop, struct loop_timer *timer,
    void (*fn)(struct loop_timer *timer));
/* delay_us >= 0, counted from loop_now; replaces an earlier setting. fn never
 * runs early, and sees a loop_now that has passed the moment set. */
void loop_timer_set(struct loop_timer *timer, int64_t delay_us);
void loop_timer_cancel(struct loop_timer *timer);	/* twice is harmless */

/*
 * Run fn once at the end of the current turn (or at once when called between
 * turns: at the end of the next). Queuing a queued task changes nothing. fn
 * may queue it again, for the next turn.
 */
struct loop_task {
	struct list link;		/* private */
	void (*fn)(struct loop_task *task);
};

void loop_task_init(struct loop_task *task,
    void (*fn)(struct loop_task *task));
void loop_defer(struct loop *loop, struct loop_task *task);
void loop_task_cancel(struct loop_task *task);	/* twice is harmless */

/* From any thread: run fn(arg) in the loop's thread, soon, in order. */
void loop_post(struct loop *loop, void (*fn)(void *arg), void *arg);

#endif
