#include "app/demo_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "http/framing.h"
#include "http/parse.h"

#define ANSWER_MAX	65536

static int
open_connection(const struct demo_client *c)
{
	struct sockaddr_in from = { .sin_family = AF_INET };
	struct sockaddr_in to = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)c->port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct timeval patience = { .tv_sec = 5 };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	inet_pton(AF_INET, c->from, &from.sin_addr);
	if (bind(fd, (struct sockaddr *)&from, sizeof(from)) == 0 &&
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	close(fd);
	return -1;
}

static void
note(struct demo_client *c, const struct http_head *head)
{
	const struct http_field *wait =
	    http_head_find(head, FIELD_RETRY_AFTER);
	int64_t seconds;

	atomic_fetch_add(head->status == 429 ? &c->limited :
	    head->status < 400 ? &c->passed : &c->failed, 1);
	if (head->status == 429 && wait != NULL &&
	    span_to_i64(wait->value, 0, 86400, &seconds) == ERR_OK)
		atomic_store(&c->retry_after, seconds);
}

/* Read one answer whole; false: the connection is of no more use. */
static bool
read_answer(struct demo_client *c, int fd)
{
	static _Thread_local char buf[ANSWER_MAX];
	static _Thread_local struct http_head head;
	const struct http_limits limits = { ANSWER_MAX, 8192, 100 };
	size_t len = 0, scanned = 0, used = 0;
	int64_t length = 0;
	enum err e = ERR_AGAIN;

	while (e == ERR_AGAIN || len < used + (size_t)length) {
		const ssize_t n = recv(fd, buf + len, sizeof(buf) - len, 0);

		if (n <= 0)
			return false;
		len += (size_t)n;
		if (e == ERR_AGAIN)
			e = http_parse_response(span_of(buf, len), &limits,
			    &scanned, &head, &used);
		if (e == ERR_AGAIN)
			continue;
		if (e != ERR_OK || http_response_framing(&head, HTTP_GET,
		    &length) != ERR_OK || length < 0)
			return false;
	}
	note(c, &head);
	return http_is_persistent(&head);
}

static void
one_request(struct demo_client *c, int *fd)
{
	char request[160];
	const int len = snprintf(request, sizeof(request),
	    "GET /hello?from=%s HTTP/1.1\r\nHost: demo\r\n\r\n", c->name);

	if (*fd < 0)
		*fd = open_connection(c);
	atomic_fetch_add(&c->sent, 1);
	if (*fd >= 0 && send(*fd, request, (size_t)len, MSG_NOSIGNAL) == len &&
	    read_answer(c, *fd))
		return;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void *
client_main(void *arg)
{
	struct demo_client *c = arg;
	int fd = -1;

	while (!atomic_load(&c->stop)) {
		for (int i = 0; i < c->burst; i++)
			one_request(c, &fd);
		usleep((useconds_t)c->pause_ms * 1000);
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

int
demo_client_start(struct demo_client *client)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, client_main, client) != 0)
		return -1;
	pthread_detach(thread);
	return 0;
}
