#include "net/listener.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

#define REST_US		100000
#define BATCH		64	/* accepted in one go, so that others run too */

static void on_readable(struct loop_io *io, unsigned what);

static void
on_rested(struct loop_timer *timer)
{
	struct listener *l = LIST_ITEM(timer, struct listener, rest);

	if (loop_io_add_level(l->loop, &l->io, l->fd, on_readable) != ERR_OK)
		loop_timer_set(timer, REST_US);
}

static bool
is_exhausted(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS ||
	    error == ENOMEM;
}

static void
take_rest(struct listener *l, int error)
{
	log_error("cannot accept connections, resting error=\"%s\"%s",
	    strerror(error),
	    error == EMFILE ? " (no descriptors left, see LimitNOFILE)" : "");
	loop_io_remove(&l->io);
	loop_timer_set(&l->rest, REST_US);
}

static void
on_readable(struct loop_io *io, unsigned what)
{
	struct listener *l = LIST_ITEM(io, struct listener, io);

	(void)what;
	for (int i = 0; i < BATCH && l->io.loop != NULL; i++) {
		struct sockaddr_storage peer;
		socklen_t len = sizeof(peer);
		int error;
		int fd = accept4(l->fd, (struct sockaddr *)&peer, &len,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			l->on_accept(l, fd, (struct sockaddr *)&peer);
			continue;
		}
		if (errno == EAGAIN)
			return;
		/* Others are troubles of that one connection. */
		error = errno;
		l->on_error(l, error);
		if (is_exhausted(error))
			take_rest(l, error);
	}
}

enum err
listener_start(struct loop *loop, struct listener *l, int fd)
{
	l->loop = loop;
	l->fd = fd;
	loop_timer_init(loop, &l->rest, on_rested);
	return loop_io_add_level(loop, &l->io, fd, on_readable);
}

void
listener_stop(struct listener *l)
{
	loop_io_remove(&l->io);
	loop_timer_cancel(&l->rest);
}
