#include "harness/fake_redis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

struct fake_conn {
	struct list link;
	struct fake_redis *fake;
	struct loop_io io;
	struct loop_task bury;
	struct text in, out;
	bool closed;
};

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "fake_redis: %s: %s\n", what, strerror(errno));
	abort();
}

static void
on_bury(struct loop_task *task)
{
	struct fake_conn *c = LIST_ITEM(task, struct fake_conn, bury);

	text_fini(&c->in);
	text_fini(&c->out);
	mem_free(c);
}

void
fake_close(struct fake_conn *c)
{
	int fd = loop_io_fd(&c->io);

	if (c->closed)
		return;
	c->closed = true;
	list_remove(&c->link);
	loop_io_remove(&c->io);
	close(fd);
	/* Its commands may still be being read. */
	loop_defer(c->fake->loop, &c->bury);
}

/* What the client does not take yet waits for it. */
static void
flush(struct fake_conn *c)
{
	struct span rest = text_span(&c->out);
	struct text left;
	ssize_t n;

	while (rest.len > 0) {
		n = send(loop_io_fd(&c->io), rest.ptr, rest.len, MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			break;
		/* It has gone: reading will tell. */
		rest = n < 0 ? SPAN_EMPTY : span_skip(rest, (size_t)n);
	}
	text_init(&left);
	text_append(&left, rest);
	text_fini(&c->out);
	c->out = left;
}

void
fake_send(struct fake_conn *c, struct span octets)
{
	if (c->closed)
		return;
	text_append(&c->out, octets);
	flush(c);
}

bool
fake_is_decision(const struct fake_command *command)
{
	return command->n > 0 && span_starts(command->words[0], SPAN("EVAL"));
}

static void
put_number(struct text *out, double number)
{
	text_append(out, span_of((const char *)&number, sizeof(number)));
}

/* One row with one rate: now, mended, passed, remaining, pass_in, reset_in. */
static void
send_pass(struct fake_conn *c)
{
	struct text out;

	text_init(&out);
	text_append(&out, SPAN("$48\r\n"));
	put_number(&out, (double)clock_now());
	put_number(&out, 0);
	put_number(&out, 1);
	put_number(&out, 3);
	put_number(&out, 0);
	put_number(&out, 1000000);
	text_append(&out, SPAN("\r\n"));
	fake_send(c, text_span(&out));
	text_fini(&out);
}

void
fake_answer(struct fake_redis *f, struct fake_conn *c,
    const struct fake_command *command)
{
	(void)f;
	if (fake_is_decision(command))
		send_pass(c);
	else if (span_equal(command->words[0], SPAN("SCRIPT")))
		fake_send(c, SPAN("$40\r\n"
		    "0123456789012345678901234567890123456789\r\n"));
	else
		fake_send(c, SPAN("+OK\r\n"));
}

/* A number up to the end of its line, behind a mark. */
static bool
get_number(struct span *rest, char mark, int64_t *ret)
{
	ptrdiff_t end = span_index(*rest, '\n');

	if (end < 0)
		return false;
	if (rest->ptr[0] != mark || span_to_i64(span_of(rest->ptr + 1,
	    (size_t)end - 2), 0, 1 << 20, ret) != ERR_OK)
		die("not a command");
	*rest = span_skip(*rest, (size_t)end + 1);
	return true;
}

static bool
get_command(struct span *rest, struct fake_command *ret)
{
	struct span s = *rest;
	int64_t n, len;

	if (!get_number(&s, '*', &n))
		return false;
	ret->n = 0;
	for (; n > 0; n--) {
		if (!get_number(&s, '$', &len) || s.len < (size_t)len + 2)
			return false;
		if (ret->n < FAKE_WORDS_MAX)
			ret->words[ret->n++] = span_of(s.ptr, (size_t)len);
		s = span_skip(s, (size_t)len + 2);
	}
	*rest = s;
	return true;
}

static void
serve(struct fake_conn *c)
{
	struct fake_redis *f = c->fake;
	struct span rest = text_span(&c->in);
	struct fake_command command;
	struct text left;

	while (!c->closed && rest.len > 0 && get_command(&rest, &command)) {
		f->evals += span_equal(command.words[0], SPAN("EVAL"));
		f->evalshas += span_equal(command.words[0], SPAN("EVALSHA"));
		if (f->on_command == NULL || !f->on_command(f, c, &command))
			fake_answer(f, c, &command);
	}
	text_init(&left);
	text_append(&left, rest);
	text_fini(&c->in);
	c->in = left;
}

static void
on_data(struct loop_io *io, unsigned what)
{
	struct fake_conn *c = LIST_ITEM(io, struct fake_conn, io);
	char buf[65536];
	ssize_t n;

	if (what & LOOP_WRITE)
		flush(c);
	while (!c->closed && !c->fake->deaf) {
		n = read(loop_io_fd(io), buf, sizeof(buf));
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			fake_close(c);
			return;
		}
		text_append(&c->in, span_of(buf, (size_t)n));
		serve(c);
	}
}

static void
on_connect(struct loop_io *io, unsigned what)
{
	struct fake_redis *f = LIST_ITEM(io, struct fake_redis, io);
	int fd = accept4(loop_io_fd(io), NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct fake_conn *c;

	(void)what;
	if (fd < 0)
		return;
	f->connects++;
	if (f->drop) {
		close(fd);
		return;
	}
	c = mem_zalloc(sizeof(*c));
	c->fake = f;
	loop_task_init(&c->bury, on_bury);
	list_push_front(&f->conns, &c->link);
	if (loop_io_add(f->loop, &c->io, fd, on_data) != ERR_OK)
		die("loop_io_add");
}

struct fake_conn *
fake_newest(struct fake_redis *f)
{
	struct list *l = list_first(&f->conns);

	return l == NULL ? NULL : LIST_ITEM(l, struct fake_conn, link);
}

void
fake_listen_again(struct fake_redis *f)
{
	f->deaf = false;
	LIST_EACH_SAFE(l, &f->conns)
		on_data(&LIST_ITEM(l, struct fake_conn, link)->io, LOOP_READ);
}

void
fake_redis_begin(struct fake_redis *f, struct loop *loop)
{
	char text[128];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    0);

	memset(f, 0, sizeof(*f));
	f->loop = loop;
	list_init(&f->conns);
	snprintf(f->folder, sizeof(f->folder), "/tmp/weir-fake-XXXXXX");
	if (fd < 0 || mkdtemp(f->folder) == NULL)
		die("begin");
	snprintf(f->path, sizeof(f->path), "%s/sock", f->folder);
	snprintf(text, sizeof(text), "unix:%s", f->path);
	if (endpoint_parse(span_str(text), &f->address) != ERR_OK ||
	    bind(fd, (struct sockaddr *)&f->address.ss, f->address.len) < 0 ||
	    listen(fd, 64) < 0 ||
	    loop_io_add_level(loop, &f->io, fd, on_connect) != ERR_OK)
		die("listen");
}

void
fake_redis_end(struct fake_redis *f)
{
	int fd = loop_io_fd(&f->io);

	LIST_EACH_SAFE(l, &f->conns) {
		struct fake_conn *c = LIST_ITEM(l, struct fake_conn, link);

		fake_close(c);
		loop_task_cancel(&c->bury);
		on_bury(&c->bury);
	}
	loop_io_remove(&f->io);
	close(fd);
	unlink(f->path);
	rmdir(f->folder);
}
