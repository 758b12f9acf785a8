#include "net/stream.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static void
on_io(struct loop_io *io, unsigned what)
{
	struct stream *s = LIST_ITEM(io, struct stream, io);

	if (what & LOOP_READ)
		s->can_read = true;
	if (what & LOOP_WRITE)
		s->can_write = true;
	if (what & LOOP_CLOSED)
		s->can_read = s->hup = true;
	s->on_event(s);
}

enum err
stream_open(struct loop *loop, struct stream *s, int fd, bool connected,
    void (*on_event)(struct stream *stream))
{
	enum err e;

	s->on_event = on_event;
	s->can_read = s->hup = false;
	s->can_write = connected;
	e = loop_io_add(loop, &s->io, fd, on_io);
	if (e != ERR_OK)
		close(fd);
	return e;
}

enum err
stream_read(struct stream *s, char *buf, size_t cap, size_t *ret_len)
{
	ssize_t n;

	do
		n = recv(loop_io_fd(&s->io), buf, cap, 0);
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		/* A short read has emptied it; only an end may be left, and
		 * that was told. */
		if ((size_t)n < cap && !s->hup)
			s->can_read = false;
		*ret_len = (size_t)n;
		return ERR_OK;
	}
	s->can_read = false;
	if (n == 0)
		return ERR_CLOSED;
	return errno == EAGAIN ? ERR_AGAIN : ERR_SYSTEM;
}

enum err
stream_write(struct stream *s, struct span data, size_t *ret_len)
{
	ssize_t n;

	*ret_len = 0;
	if (!s->can_write || data.len == 0)
		return ERR_OK;
	do
		n = send(loop_io_fd(&s->io), data.ptr, data.len, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN)
		return ERR_SYSTEM;
	if (n < 0)
		n = 0;
	if ((size_t)n < data.len)
		s->can_write = false;
	*ret_len = (size_t)n;
	return ERR_OK;
}

void
stream_shutdown(struct stream *s)
{
	shutdown(loop_io_fd(&s->io), SHUT_WR);
}

void
stream_close(struct stream *s, bool reset)
{
	const struct linger now = { .l_onoff = 1, .l_linger = 0 };
	int fd;

	if (s->io.loop == NULL)
		return;
	fd = loop_io_fd(&s->io);
	loop_io_remove(&s->io);
	if (reset)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
	s->can_read = s->can_write = false;
}

int
stream_error(struct stream *s)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(loop_io_fd(&s->io), SOL_SOCKET, SO_ERROR, &error,
	    &len) < 0)
		return errno;
	return error;
}

bool
stream_is_stale(struct stream *s)
{
	char c;

	return s->hup || s->can_read ||
	    recv(loop_io_fd(&s->io), &c, 1, MSG_PEEK) >= 0 || errno != EAGAIN;
}
