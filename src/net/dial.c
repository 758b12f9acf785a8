#include "net/dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

static int
start(int fd, const struct endpoint *to)
{
	int one = 1;

	if (to->ss.ss_family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(fd, (const struct sockaddr *)&to->ss, to->len) == 0 ||
	    errno == EINPROGRESS || errno == EINTR)
		return 0;
	return errno;
}

enum err
dial(struct loop *loop, struct stream *stream, const struct endpoint *to,
    void (*on_event)(struct stream *stream))
{
	int fd, error;

	fd = socket(to->ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK |
	    SOCK_CLOEXEC, 0);
	if (fd < 0)
		return ERR_SYSTEM;
	error = start(fd, to);
	if (error == 0)
		return stream_open(loop, stream, fd, false, on_event);
	close(fd);
	errno = error;
	return error == ECONNREFUSED || error == ENOENT || error == EAGAIN ?
	    ERR_REFUSED : ERR_SYSTEM;
}
