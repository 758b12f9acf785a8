#ifndef WEIR_NET_LISTENER_H
#define WEIR_NET_LISTENER_H

#include <sys/socket.h>

#include "net/loop.h"

/*
 * A listening socket that is watched. When the process or the machine has run
 * out of descriptors or memory it rests for a while, so that the loop does
 * not spin.
 */
struct listener {
	struct loop_io io;		/* private */
	struct loop_timer rest;		/* private */
	struct loop *loop;
	int fd;
	/* Takes fd, a non-blocking socket. */
	void (*on_accept)(struct listener *l, int fd,
	    const struct sockaddr *peer);
	void (*on_error)(struct listener *l, int error);
	void *owner;
};

/* Borrows fd until listener_stop. The callbacks and owner are set before. */
enum err listener_start(struct loop *loop, struct listener *l, int fd);
void listener_stop(struct listener *l);	/* twice is harmless */

#endif
