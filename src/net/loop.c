#include "net/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

/* A call on its way from another thread. */
struct post {
	struct list link;
	void (*fn)(void *arg);
	void *arg;
};

/*
 * Timers are kept here and not in libevent: its timers run on the coarse
 * clock, 4 ms off, and its precise ones cost a system call every turn. One
 * timerfd, set anew only when the earliest moment becomes earlier, is exact
 * to the microsecond and free on the path of a request.
 */
struct loop {
	struct event_base *base;
	int64_t now;			/* of this turn, 0: not read yet */
	bool running;
	struct list tasks;
	struct list timers;		/* in order of due */
	struct list firing;
	int64_t armed;			/* what timer_io is set to */
	struct loop_io timer_io, wake_io;
	atomic_bool stop;
	pthread_mutex_t lock;		/* of posts */
	struct list posts;
};

static void
die(const char *what)
{
	log_error("%s failed error=\"%s\"", what, strerror(errno));
	abort();
}

static struct event_base *
base_new(void)
{
	struct event_config *conf = event_config_new();
	struct event_base *base;

	if (conf == NULL)
		die("event_config_new");
	event_config_set_flag(conf, EVENT_BASE_FLAG_NOLOCK);
	event_config_require_features(conf,
	    EV_FEATURE_ET | EV_FEATURE_O1 | EV_FEATURE_EARLY_CLOSE);
	base = event_base_new_with_config(conf);
	event_config_free(conf);
	if (base == NULL)
		die("event_base_new");
	return base;
}

static void
run_posts(struct loop *loop)
{
	struct list *l;

	for (;;) {
		pthread_mutex_lock(&loop->lock);
		l = list_first(&loop->posts);
		if (l != NULL)
			list_remove(l);
		pthread_mutex_unlock(&loop->lock);
		if (l == NULL)
			return;

		struct post *post = LIST_ITEM(l, struct post, link);

		post->fn(post->arg);
		mem_free(post);
	}
}

/* Both descriptors count: one read empties them. */
static void
drain_count(struct loop_io *io)
{
	uint64_t n;

	while (read(loop_io_fd(io), &n, sizeof(n)) < 0 && errno == EINTR)
		;
}

static void
on_wake(struct loop_io *io, unsigned what)
{
	(void)what;
	drain_count(io);
	run_posts(io->loop);
}

static void
on_timer(struct loop_io *io, unsigned what)
{
	struct loop *loop = io->loop;
	int64_t now = loop_now_fresh(loop);
	struct list *l;

	(void)what;
	drain_count(io);
	loop->armed = INT64_MAX;
	/* Set aside first: a timer set to 0 by a callback is for next time. */
	while ((l = list_first(&loop->timers)) != NULL &&
	    LIST_ITEM(l, struct loop_timer, link)->due <= now) {
		list_remove(l);
		list_push_back(&loop->firing, l);
	}
	while ((l = list_first(&loop->firing)) != NULL) {
		struct loop_timer *timer = LIST_ITEM(l, struct loop_timer,
		    link);

		list_remove(l);
		timer->fn(timer);
	}
}

struct loop *
loop_new(void)
{
	struct loop *loop = mem_zalloc(sizeof(*loop));
	int wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	int timer = timerfd_create(CLOCK_MONOTONIC,
	    TFD_NONBLOCK | TFD_CLOEXEC);

	if (wake < 0 || timer < 0)
		die("eventfd or timerfd_create");
	loop->base = base_new();
	loop->armed = INT64_MAX;
	list_init(&loop->tasks);
	list_init(&loop->timers);
	list_init(&loop->firing);
	list_init(&loop->posts);
	pthread_mutex_init(&loop->lock, NULL);
	if (loop_io_add_level(loop, &loop->wake_io, wake, on_wake) != ERR_OK ||
	    loop_io_add_level(loop, &loop->timer_io, timer, on_timer) !=
	    ERR_OK)
		die("epoll_ctl");
	return loop;
}

void
loop_free(struct loop *loop)
{
	int wake, timer;
	struct list *l;

	if (loop == NULL)
		return;
	wake = loop_io_fd(&loop->wake_io);
	timer = loop_io_fd(&loop->timer_io);
	loop_io_remove(&loop->wake_io);
	loop_io_remove(&loop->timer_io);
	close(wake);
	close(timer);
	while ((l = list_first(&loop->posts)) != NULL) {
		list_remove(l);
		mem_free(LIST_ITEM(l, struct post, link));
	}
	pthread_mutex_destroy(&loop->lock);
	event_base_free(loop->base);
	mem_free(loop);
}

static void
arm_timer(struct loop *loop)
{
	struct list *l = list_first(&loop->timers);
	struct itimerspec at = { 0 };
	int64_t due, delay;

	if (l == NULL)
		return;
	due = LIST_ITEM(l, struct loop_timer, link)->due;
	if (due >= loop->armed)
		return;
	delay = due - clock_now();
	if (delay < 1)
		delay = 1;		/* 0 would disarm */
	at.it_value.tv_sec = delay / CLOCK_SECOND;
	at.it_value.tv_nsec = delay % CLOCK_SECOND * 1000;
	if (timerfd_settime(loop_io_fd(&loop->timer_io), 0, &at, NULL) < 0)
		die("timerfd_settime");
	loop->armed = due;
}

/* Those that are queued now; what they queue waits for the next turn. */
static void
run_tasks(struct loop *loop)
{
	struct list mark, *l;

	if (list_empty(&loop->tasks))
		return;
	list_push_back(&loop->tasks, &mark);
	while ((l = list_first(&loop->tasks)) != &mark) {
		struct loop_task *task = LIST_ITEM(l, struct loop_task, link);

		list_remove(l);
		task->fn(task);
	}
	list_remove(&mark);
}

void
loop_run(struct loop *loop)
{
	loop->running = true;
	while (!atomic_load_explicit(&loop->stop, memory_order_acquire)) {
		int flags = EVLOOP_ONCE;

		if (!list_empty(&loop->tasks))
			flags |= EVLOOP_NONBLOCK;
		arm_timer(loop);
		loop->now = 0;
		if (event_base_loop(loop->base, flags) < 0)
			die("event_base_loop");
		run_tasks(loop);
	}
	loop->running = false;
	atomic_store(&loop->stop, false);
}

static void
wake(struct loop *loop)
{
	uint64_t one = 1;

	/* EAGAIN: it is awake already. */
	while (write(loop_io_fd(&loop->wake_io), &one, sizeof(one)) < 0 &&
	    errno == EINTR)
		;
}

void
loop_stop(struct loop *loop)
{
	atomic_store_explicit(&loop->stop, true, memory_order_release);
	wake(loop);
}

int64_t
loop_now(struct loop *loop)
{
	if (loop->now == 0 || !loop->running)
		loop->now = clock_now();
	return loop->now;
}

int64_t
loop_now_fresh(struct loop *loop)
{
	return loop->now = clock_now();
}

static void
on_event(evutil_socket_t fd, short what, void *arg)
{
	struct loop_io *io = arg;
	unsigned bits = 0;

	(void)fd;
	if (what & EV_READ)
		bits |= LOOP_READ;
	if (what & EV_WRITE)
		bits |= LOOP_WRITE;
	if (what & EV_CLOSED)
		bits |= LOOP_CLOSED;
	io->fn(io, bits);
}

static enum err
io_add(struct loop *loop, struct loop_io *io, int fd, short what,
    void (*fn)(struct loop_io *io, unsigned what))
{
	io->fn = fn;
	io->loop = NULL;
	if (event_assign(&io->event, loop->base, fd, what, on_event, io) < 0 ||
	    event_add(&io->event, NULL) < 0)
		return ERR_SYSTEM;
	io->loop = loop;
	return ERR_OK;
}

enum err
loop_io_add(struct loop *loop, struct loop_io *io, int fd,
    void (*fn)(struct loop_io *io, unsigned what))
{
	return io_add(loop, io, fd,
	    EV_READ | EV_WRITE | EV_CLOSED | EV_ET | EV_PERSIST, fn);
}

enum err
loop_io_add_level(struct loop *loop, struct loop_io *io, int fd,
    void (*fn)(struct loop_io *io, unsigned what))
{
	return io_add(loop, io, fd, EV_READ | EV_PERSIST, fn);
}

void
loop_io_remove(struct loop_io *io)
{
	if (io->loop == NULL)
		return;
	event_del(&io->event);
	io->loop = NULL;
}

int
loop_io_fd(const struct loop_io *io)
{
	return event_get_fd(&io->event);
}

void
loop_timer_init(struct loop *loop, struct loop_timer *timer,
    void (*fn)(struct loop_timer *timer))
{
	list_init(&timer->link);
	timer->due = 0;
	timer->loop = loop;
	timer->fn = fn;
}

void
loop_timer_set(struct loop_timer *timer, int64_t delay_us)
{
	struct loop *loop = timer->loop;
	struct list *pos;

	list_remove(&timer->link);
	timer->due = loop_now(loop) + delay_us;
	for (pos = loop->timers.prev; pos != &loop->timers; pos = pos->prev)
		if (LIST_ITEM(pos, struct loop_timer, link)->due <= timer->due)
			break;
	list_insert_after(pos, &timer->link);
}

void
loop_timer_cancel(struct loop_timer *timer)
{
	list_remove(&timer->link);
}

void
loop_task_init(struct loop_task *task, void (*fn)(struct loop_task *task))
{
	list_init(&task->link);
	task->fn = fn;
}

void
loop_defer(struct loop *loop, struct loop_task *task)
{
	if (list_empty(&task->link))
		list_push_back(&loop->tasks, &task->link);
}

void
loop_task_cancel(struct loop_task *task)
{
	list_remove(&task->link);
}

void
loop_post(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	struct post *post = mem_alloc(sizeof(*post));

	post->fn = fn;
	post->arg = arg;
	pthread_mutex_lock(&loop->lock);
	list_push_back(&loop->posts, &post->link);
	pthread_mutex_unlock(&loop->lock);
	wake(loop);
}
