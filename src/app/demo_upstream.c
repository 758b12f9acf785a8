#include "app/demo_upstream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "http/chunk.h"
#include "http/framing.h"
#include "http/parse.h"
#include "http/status.h"

#define PORTS_TRIED	100
#define INPUT_MAX	65536

/* One connection: what was read and not used yet. */
struct peer {
	int fd;
	size_t len;
	struct http_head head;
	char input[INPUT_MAX];
};

static int
listen_at(int port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int one = 1;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == 0 &&
	    listen(fd, 128) == 0)
		return fd;
	close(fd);
	return -1;
}

int
demo_free_port(int port)
{
	for (int i = 0; i < PORTS_TRIED && port + i < 65536; i++) {
		const int fd = listen_at(port + i);

		if (fd >= 0) {
			close(fd);
			return port + i;
		}
	}
	return -1;
}

static bool
fill(struct peer *p)
{
	ssize_t n;

	if (p->len == INPUT_MAX)
		return false;
	do {
		n = recv(p->fd, p->input + p->len, INPUT_MAX - p->len, 0);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	p->len += (size_t)n;
	return true;
}

static void
consume(struct peer *p, size_t n)
{
	p->len -= n;
	memmove(p->input, p->input + n, p->len);
}

/* Read a body away; its length, or -1 when the peer went. */
static int64_t
skip_body(struct peer *p, int64_t length)
{
	struct http_chunk chunk = { 0 };
	struct span body;
	bool done = false;
	int64_t total = 0;

	while (length == HTTP_CHUNKED ? !done : total < length) {
		struct span in = span_of(p->input, p->len);

		if (p->len == 0) {
			if (!fill(p))
				return -1;
			continue;
		}
		if (length != HTTP_CHUNKED) {
			body = in;
			if ((int64_t)body.len > length - total)
				body.len = (size_t)(length - total);
			in = span_skip(in, body.len);
		} else if (http_chunk_next(&chunk, &in, &body, &done) !=
		    ERR_OK) {
			return -1;
		}
		total += (int64_t)body.len;
		consume(p, p->len - in.len);
	}
	return total;
}

static int
status_for(struct span target)
{
	int64_t status;

	if (span_equal(target, SPAN("/slow")))
		sleep(2);
	if (span_starts(target, SPAN("/status/")) &&
	    span_to_i64(span_skip(target, 8), 200, 599, &status) == ERR_OK)
		return (int)status;
	return 200;
}

static bool
answer(int fd, const struct text *echo, int status, bool head_only)
{
	struct text out = { 0 };
	const struct span phrase = http_status_phrase(status);
	ssize_t sent;
	bool whole;

	text_printf(&out, "HTTP/1.1 %d %.*s\r\n", status, SPAN_ARG(phrase));
	if (status == 204 || status == 304)
		text_append_str(&out, "\r\n");
	else
		text_printf(&out, "Content-Type: application/json\r\n"
		    "Content-Length: %zu\r\n\r\n", echo->len);
	if (!head_only && status != 204 && status != 304)
		text_append(&out, text_span(echo));
	sent = send(fd, out.data, out.len, MSG_NOSIGNAL);
	whole = sent == (ssize_t)out.len;
	text_fini(&out);
	return whole;
}

/* One request and its answer; false: the connection is over. */
static bool
serve_one(struct peer *p)
{
	const struct http_limits limits = { INPUT_MAX, 8192, 100 };
	struct text echo = { 0 };
	size_t scanned = 0, used;
	int64_t length;
	int status;
	bool more, head_only;
	enum err e;

	while ((e = http_parse_request(span_of(p->input, p->len), &limits,
	    &scanned, &p->head, &used)) == ERR_AGAIN)
		if (!fill(p))
			return false;
	if (e != ERR_OK || http_request_framing(&p->head, &length) != ERR_OK)
		return false;
	more = http_is_persistent(&p->head);
	head_only = p->head.method_id == HTTP_HEAD;
	status = status_for(p->head.target);
	text_append_str(&echo, "{\"method\":\"");
	text_append_json(&echo, p->head.method);
	text_append_str(&echo, "\",\"target\":\"");
	text_append_json(&echo, p->head.target);
	consume(p, used);
	length = skip_body(p, length);
	text_printf(&echo, "\",\"body_bytes\":%lld}\n", (long long)length);
	more = length >= 0 && answer(p->fd, &echo, status, head_only) && more;
	text_fini(&echo);
	return more;
}

static void *
serve_peer(void *arg)
{
	struct peer *p = arg;

	while (serve_one(p))
		;
	close(p->fd);
	mem_free(p);
	return NULL;
}

static void *
accept_peers(void *arg)
{
	const int listener = (int)(intptr_t)arg;

	for (;;) {
		const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		struct peer *p;
		pthread_t thread;

		if (fd < 0) {
			usleep(10000);
			continue;
		}
		p = mem_alloc(sizeof(*p));
		p->fd = fd;
		p->len = 0;
		if (pthread_create(&thread, NULL, serve_peer, p) == 0) {
			pthread_detach(thread);
			continue;
		}
		close(fd);
		mem_free(p);
	}
	return NULL;
}

int
demo_upstream_start(int port)
{
	pthread_t thread;
	int fd;

	port = demo_free_port(port);
	if (port < 0 || (fd = listen_at(port)) < 0)
		return -1;
	if (pthread_create(&thread, NULL, accept_peers,
	    (void *)(intptr_t)fd) != 0)
		return -1;
	pthread_detach(thread);
	return port;
}
