#include "store/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <hiredis/async.h>
#include <hiredis/sds.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "base/mem.h"
#include "base/text.h"
#include "limit/script.h"

/* No reply of ours comes near this; what does is not for us. */
#define UNREAD_MAX	(4u << 20)

enum step_kind { STEP_AUTH, STEP_NAME, STEP_SELECT, STEP_LOAD };

/* A command between connecting and being ready. */
struct step {
	struct link_call call;
	struct link *link;
	enum step_kind kind;
	unsigned script;		/* STEP_LOAD */
};

struct link {
	struct loop *loop;
	const struct redis_conf *conf;
	struct link_owner owner;
	redisAsyncContext *ac;		/* NULL: no connection */
	struct loop_io io;
	struct loop_task flush, end;
	struct loop_timer timer;	/* until ready */

	bool blocked;			/* write again after LOOP_WRITE only */
	bool closing;			/* by link_close: tell nobody */
	/* How many commands were appended, written and replied to. */
	unsigned queued, written, replied;

	struct step steps[3 + SCRIPT_COUNT];
	unsigned nsteps, steps_done;
	char sha[SCRIPT_COUNT][40];
	struct text command;

	enum link_error why;
	char error[256];		/* "": none yet */
};

static const struct {
	struct span prefix;
	enum link_error meaning;
} meanings[] = {
#define MEANS(text, meaning) { { text, sizeof(text) - 1 }, meaning }
	MEANS("NOSCRIPT", LINK_NOSCRIPT),
	MEANS("LOADING", LINK_DOWN),
	MEANS("MASTERDOWN", LINK_DOWN),
	MEANS("CLUSTERDOWN", LINK_DOWN),
	MEANS("BUSY", LINK_DOWN),
	MEANS("ERR max number of clients", LINK_DOWN),
	MEANS("READONLY", LINK_REPLICA),
	MEANS("NOAUTH", LINK_REFUSED),
	MEANS("WRONGPASS", LINK_REFUSED),
	MEANS("NOPERM", LINK_REFUSED),
	MEANS("DENIED", LINK_REFUSED),
	/* An inner command without rights: Redis 7.0, newer ones, and what is
	 * left of the text of older ones. */
	MEANS("ERR The user executing the script can't", LINK_REFUSED),
	MEANS("ERR ACL failure in script", LINK_REFUSED),
	MEANS("The user executing the script can't", LINK_REFUSED),
#undef MEANS
};

/*
 * Before Redis 7 a script's error is wrapped, the server's in one way, that of
 * the script engine in another, and once more unless the script returned it:
 *	ERR Error running script (call to f_...): @user_script:9: -READONLY ...
 *	ERR Error running script (call to f_...): @user_script:9: @user_script:
 *	9: The user executing the script can't ...
 *	@user_script: 9: The user executing the script can't ...
 */
static struct span
unwrap(struct span text)
{
	const char *at;

	if (!span_starts(text, SPAN("ERR Error running script")) &&
	    !span_starts(text, SPAN("@user_script")))
		return text;
	at = memmem(text.ptr, text.len, ": -", 3);
	if (at != NULL)
		return span_skip(text, (size_t)(at + 3 - text.ptr));
	at = memmem(text.ptr, text.len, ": The ", 6);
	if (at != NULL)
		return span_skip(text, (size_t)(at + 2 - text.ptr));
	return text;
}

enum link_error
link_classify(struct span text)
{
	text = unwrap(text);
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
		if (span_starts(text, meanings[i].prefix))
			return meanings[i].meaning;
	return LINK_CALL;
}

static void
put_count(struct text *out, size_t n)
{
	text_append_char(out, '*');
	text_append_u64(out, n);
	text_append(out, SPAN("\r\n"));
}

static void
put_argument(struct text *out, struct span argument)
{
	text_append_char(out, '$');
	text_append_u64(out, argument.len);
	text_append(out, SPAN("\r\n"));
	text_append(out, argument);
	text_append(out, SPAN("\r\n"));
}

/* End the connection because of the first thing that went wrong. Inside a
 * reply hiredis frees the context when the reply is done with. */
static void
fail(struct link *link, enum link_error why, const char *text)
{
	if (link->error[0] == '\0') {
		link->why = why;
		snprintf(link->error, sizeof(link->error), "%s", text);
	}
	redisAsyncFree(link->ac);
}

/* With every command written replied to, whatever comes is the end: hiredis
 * would take it for the reply to the next one, or abort without one. */
static void
look_at_idle(struct link *link)
{
	char octet;
	ssize_t n = recv(loop_io_fd(&link->io), &octet, 1,
	    MSG_PEEK | MSG_DONTWAIT);

	if (n > 0)
		fail(link, LINK_LOST, "a reply to no command");
	else if (n == 0)
		fail(link, LINK_LOST, "closed by the server");
	else if (errno != EAGAIN && errno != EINTR)
		fail(link, LINK_LOST, strerror(errno));
}

static size_t
unread(const struct link *link)
{
	const redisReader *reader = link->ac->c.reader;

	return reader->len - reader->pos;
}

/*
 * One call reads once, at most 16 KiB, while the edge is told once: read until
 * there is nothing, or nothing more is to come. `closed`: the last octets are
 * followed by the end, which has to be met.
 */
static void
read_all(struct link *link, bool closed)
{
	unsigned before;

	if (link->replied == link->written) {
		look_at_idle(link);
		return;
	}
	do {
		before = link->replied;
		errno = 0;
		redisAsyncHandleRead(link->ac);
		if (link->ac == NULL)
			return;
		if (unread(link) > UNREAD_MAX) {
			fail(link, LINK_LOST, "a reply too large");
			return;
		}
		if (link->replied == link->written) {
			if (closed)
				look_at_idle(link);
			return;
		}
		/* Only without a reply errno is that of reading. */
	} while (errno != EAGAIN || before != link->replied);
}

/* All commands of the turn in one write. What does not fit waits for the
 * edge that tells of room. */
static void
write_all(struct link *link)
{
	link->written = link->queued;
	redisAsyncHandleWrite(link->ac);
	if (link->ac == NULL)
		return;
	link->blocked = sdslen(link->ac->c.obuf) > 0;
	if (link->blocked)
		loop_task_cancel(&link->flush);
}

static void
on_flush(struct loop_task *task)
{
	struct link *link = LIST_ITEM(task, struct link, flush);

	if (link->ac != NULL && !link->blocked)
		write_all(link);
}

static void
on_io(struct loop_io *io, unsigned what)
{
	struct link *link = LIST_ITEM(io, struct link, io);

	/* Also how hiredis learns that it is connected. */
	if ((what & LOOP_WRITE) && link->blocked)
		write_all(link);
	if (link->ac != NULL && (what & (LOOP_READ | LOOP_CLOSED)))
		read_all(link, (what & LOOP_CLOSED) != 0);
}

/* Hooks of hiredis. Reading is never switched off. */
static void
on_add_write(void *arg)
{
	struct link *link = arg;

	if (!link->blocked)
		loop_defer(link->loop, &link->flush);
}

/* The one place where the context is lost, whoever ended it: hiredis frees it
 * right after this. */
static void
on_cleanup(void *arg)
{
	struct link *link = arg;
	const redisContext *c = &link->ac->c;
	const char *text = c->err == REDIS_ERR_EOF ? "closed by the server" :
	    c->errstr[0] != '\0' ? c->errstr : "connection lost";

	loop_io_remove(&link->io);
	loop_task_cancel(&link->flush);
	loop_timer_cancel(&link->timer);
	if (link->error[0] == '\0') {
		link->why = LINK_LOST;
		snprintf(link->error, sizeof(link->error), "%s", text);
	}
	link->ac = NULL;
	if (!link->closing)
		loop_defer(link->loop, &link->end);
}

static void
on_end(struct loop_task *task)
{
	struct link *link = LIST_ITEM(task, struct link, end);

	link->owner.on_end(link->owner.arg, link->why, link->error);
}

static void
on_timer(struct loop_timer *timer)
{
	struct link *link = LIST_ITEM(timer, struct link, timer);

	fail(link, LINK_LOST, "connecting took too long");
}

static void
on_reply(redisAsyncContext *ac, void *reply, void *privdata)
{
	struct link *link = ac->data;
	struct link_call *call = privdata;

	link->replied++;
	/* The next reply in the buffer has no command. */
	if (reply != NULL && link->replied == link->written &&
	    unread(link) > 0) {
		fail(link, LINK_LOST, "more replies than commands");
		reply = NULL;
	}
	call->on_reply(call, reply);
}

bool
link_send(struct link *link, struct span command, struct link_call *call)
{
	if (link->ac == NULL || redisAsyncFormattedCommand(link->ac, on_reply,
	    call, command.ptr, command.len) != REDIS_OK)
		return false;
	link->queued++;
	return true;
}

/* An error reply to a step. Other texts may repeat the password. */
static void
step_error(struct step *step, struct span text)
{
	enum link_error why = link_classify(text);
	char line[256];

	if (step->kind == STEP_NAME)
		return;
	if (why != LINK_DOWN)
		why = LINK_REFUSED;
	if (step->kind == STEP_AUTH && why == LINK_REFUSED)
		snprintf(line, sizeof(line), "AUTH refused%s",
		    span_starts(text, SPAN("WRONGPASS")) ? ": WRONGPASS" : "");
	else
		snprintf(line, sizeof(line), "%.*s", SPAN_ARG(text));
	fail(step->link, why, line);
}

static void
on_step(struct link_call *call, const redisReply *reply)
{
	struct step *step = LIST_ITEM(call, struct step, call);
	struct link *link = step->link;

	if (reply == NULL || link->error[0] != '\0')
		return;
	if (reply->type == REDIS_REPLY_ERROR) {
		step_error(step, span_of(reply->str, reply->len));
	} else if (step->kind == STEP_LOAD) {
		if (reply->type == REDIS_REPLY_STRING &&
		    reply->len == sizeof(link->sha[0]))
			memcpy(link->sha[step->script], reply->str,
			    sizeof(link->sha[0]));
		else
			fail(link, LINK_LOST, "not the reply to SCRIPT LOAD");
	}
	if (link->error[0] == '\0' && ++link->steps_done == link->nsteps) {
		loop_timer_cancel(&link->timer);
		link->owner.on_ready(link->owner.arg);
	}
}

static void
send_step(struct link *link, enum step_kind kind, unsigned script,
    const struct span *args, size_t n)
{
	struct step *step = &link->steps[link->nsteps++];

	*step = (struct step){ .call = { on_step }, .link = link,
	    .kind = kind, .script = script };
	text_clear(&link->command);
	put_count(&link->command, n);
	for (size_t i = 0; i < n; i++)
		put_argument(&link->command, args[i]);
	link_send(link, text_span(&link->command), &step->call);
}

static void
send_auth(struct link *link)
{
	const struct redis_conf *conf = link->conf;
	struct span args[3] = { SPAN("AUTH") };
	size_t n = 1;

	if (conf->password == NULL)
		return;
	if (conf->username != NULL)
		args[n++] = span_str(conf->username);
	args[n++] = span_str(conf->password);
	send_step(link, STEP_AUTH, 0, args, n);
}

static void
send_select(struct link *link)
{
	char number[20];
	struct span args[2] = { SPAN("SELECT") };

	if (link->conf->database == 0)
		return;
	args[1] = span_of(number,
	    span_put_u64(number, (uint64_t)link->conf->database));
	send_step(link, STEP_SELECT, 0, args, 2);
}

/* All in one write, as soon as there is a connection. */
static void
send_steps(struct link *link)
{
	link->nsteps = link->steps_done = 0;
	send_auth(link);
	send_step(link, STEP_NAME, 0, (struct span[]){ SPAN("CLIENT"),
	    SPAN("SETNAME"), SPAN("weir") }, 3);
	send_select(link);
	for (unsigned i = 0; i < SCRIPT_COUNT; i++)
		send_step(link, STEP_LOAD, i, (struct span[]){ SPAN("SCRIPT"),
		    SPAN("LOAD"), script_source(i) }, 3);
}

/* Never a name: hiredis would ask the resolver and wait for it. */
static redisAsyncContext *
connect_to(const struct endpoint *e)
{
	const void *any = &e->ss;
	const struct sockaddr_in6 *in6 = any;
	const struct sockaddr_in *in = any;
	const struct sockaddr_un *un = any;
	char host[INET6_ADDRSTRLEN] = "";

	if (e->ss.ss_family == AF_UNIX)
		return redisAsyncConnectUnix(un->sun_path);
	if (e->ss.ss_family == AF_INET6)
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
	else
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
	return redisAsyncConnect(host, (int)endpoint_port(e));
}

/* It could not even begin. */
static void
give_up(struct link *link, redisAsyncContext *ac, const char *text)
{
	link->why = LINK_LOST;
	snprintf(link->error, sizeof(link->error), "%s", text);
	if (ac != NULL)
		redisAsyncFree(ac);
	loop_defer(link->loop, &link->end);
}

/* Children of weir must not hold the connection; TCP_NODELAY is hiredis's own
 * doing. */
static void
adopt(struct link *link, redisAsyncContext *ac)
{
	fcntl(ac->c.fd, F_SETFD, FD_CLOEXEC);
	if (loop_io_add(link->loop, &link->io, ac->c.fd, on_io) != ERR_OK) {
		give_up(link, ac, strerror(errno));
		return;
	}
	link->ac = ac;
	ac->data = link;
	ac->ev.data = link;
	ac->ev.addWrite = on_add_write;
	ac->ev.cleanup = on_cleanup;
	loop_timer_set(&link->timer, link->conf->connect_timeout_us);
	send_steps(link);
}

void
link_open(struct link *link)
{
	redisAsyncContext *ac;

	link->error[0] = '\0';
	link->closing = false;
	link->queued = link->written = link->replied = 0;
	/* To hiredis the first write means connected, so wait for the edge. */
	link->blocked = true;
	ac = connect_to(&link->conf->address);
	if (ac == NULL)
		give_up(link, NULL, "no context");
	else if (ac->err != 0)
		give_up(link, ac, ac->errstr);
	else
		adopt(link, ac);
}

void
link_close(struct link *link)
{
	link->closing = true;
	loop_task_cancel(&link->end);
	if (link->ac != NULL)
		redisAsyncFree(link->ac);
}

struct link *
link_new(struct loop *loop, const struct redis_conf *conf,
    const struct link_owner *owner)
{
	struct link *link = mem_zalloc(sizeof(*link));

	link->loop = loop;
	link->conf = conf;
	link->owner = *owner;
	loop_task_init(&link->flush, on_flush);
	loop_task_init(&link->end, on_end);
	loop_timer_init(loop, &link->timer, on_timer);
	text_init(&link->command);
	return link;
}

void
link_free(struct link *link)
{
	if (link == NULL)
		return;
	link_close(link);
	loop_timer_cancel(&link->timer);
	text_fini(&link->command);
	mem_free(link);
}

struct span
link_script(const struct link *link, unsigned script)
{
	return span_of(link->sha[script], sizeof(link->sha[script]));
}
