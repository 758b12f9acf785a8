#include "harness/redis_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

#define WORDS_MAX 48

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "redis_server: %s: %s\n", what, strerror(errno));
	abort();
}

static unsigned
free_port(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&in, sizeof(in)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&in, &len) < 0)
		die("no free port");
	close(fd);
	return ntohs(in.sin_port);
}

static void
run(struct redis_server *r, int out, const char *const *extra)
{
	char port[16];
	const char *words[WORDS_MAX] = { "redis-server", "--port", port,
		"--bind", "127.0.0.1", "--unixsocket", r->path, "--save", "",
		"--dir", r->folder };
	size_t n = 11;

	snprintf(port, sizeof(port), "%u", r->port);
	while (extra != NULL && *extra != NULL && n + 1 < WORDS_MAX)
		words[n++] = *extra++;
	/* A test that fails exits at once: the server must not outlive it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(out, STDOUT_FILENO);
	execvp(words[0], (char **)(void *)words);
	_exit(127);
}

/* It says so on its standard output. */
static void
await_ready(int in)
{
	char line[512];
	FILE *f = fdopen(in, "r");

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strstr(line, "connections at") != NULL ||
		    strstr(line, "Ready to accept") != NULL)
			return;		/* and keep it: it goes on talking */
	die("redis-server did not start (is it installed?)");
}

void
redis_server_start(struct redis_server *r, const char *const *extra)
{
	int out[2];

	unlink(r->path);
	if (pipe2(out, O_CLOEXEC) < 0)
		die("pipe");
	r->pid = fork();
	if (r->pid < 0)
		die("fork");
	if (r->pid == 0)
		run(r, out[1], extra);
	close(out[1]);
	await_ready(out[0]);
}

void
redis_server_begin(struct redis_server *r, bool tcp, const char *const *extra)
{
	const char *parent = getenv("TMPDIR");
	char text[128];

	memset(r, 0, sizeof(*r));
	snprintf(r->folder, sizeof(r->folder), "%s/weir-redis-XXXXXX",
	    parent != NULL && strlen(parent) < 32 ? parent : "/tmp");
	if (mkdtemp(r->folder) == NULL)
		die("mkdtemp");
	snprintf(r->path, sizeof(r->path), "%s/sock", r->folder);
	snprintf(text, sizeof(text), "unix:%s", r->path);
	if (endpoint_parse(span_str(text), &r->address) != ERR_OK)
		die(text);
	if (tcp)
		r->port = free_port();
	redis_server_start(r, extra);
}

void
redis_server_signal(struct redis_server *r, int number)
{
	if (kill(r->pid, number) < 0)
		die("kill");
}

void
redis_server_kill(struct redis_server *r)
{
	redis_server_signal(r, SIGKILL);
	waitpid(r->pid, NULL, 0);
	r->pid = 0;
}

void
redis_server_end(struct redis_server *r)
{
	if (r->pid != 0)
		redis_server_kill(r);
	unlink(r->path);
	rmdir(r->folder);
}

static void
print(struct text *out, const redisReply *reply)
{
	switch (reply->type) {
	case REDIS_REPLY_INTEGER:
		text_printf(out, "%lld", reply->integer);
		break;
	case REDIS_REPLY_NIL:
		text_append_str(out, "(nil)");
		break;
	case REDIS_REPLY_ERROR:
		text_append_char(out, '-');
		/* fall through */
	case REDIS_REPLY_STRING:
	case REDIS_REPLY_STATUS:
		text_append(out, span_of(reply->str, reply->len));
		break;
	case REDIS_REPLY_ARRAY:
		for (size_t i = 0; i < reply->elements; i++) {
			if (i > 0)
				text_append_char(out, ' ');
			print(out, reply->element[i]);
		}
		break;
	default:
		die("unknown reply");
	}
}

const char *
redis_server_do(struct redis_server *r, const char *fmt, ...)
{
	static char buf[8192];
	struct text out;
	redisContext *c = redisConnectUnix(r->path);
	redisReply *reply;
	char command[1024];
	va_list ap;

	if (c == NULL || c->err != 0)
		die("cannot connect");
	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	text_init(&out);
	/* redisCommand splits at spaces; no test needs '%' in a command. */
	reply = redisCommand(c, command);
	if (reply == NULL)
		die(command);
	print(&out, reply);
	snprintf(buf, sizeof(buf), "%s", text_cstr(&out));
	text_fini(&out);
	freeReplyObject(reply);
	redisFree(c);
	return buf;
}

long
redis_server_cpu_us(const struct redis_server *r)
{
	char path[64];
	unsigned long long ns;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)r->pid);
	f = fopen(path, "r");
	if (f == NULL || fscanf(f, "%llu", &ns) != 1)
		die(path);
	fclose(f);
	return (long)(ns / 1000);
}
