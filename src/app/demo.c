#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/commands.h"
#include "app/demo_client.h"
#include "app/demo_upstream.h"
#include "app/options.h"
#include "app/server.h"
#include "base/clock.h"

/*
 * weir demo: an API, weir before it, and three callers, in one process. The
 * file it writes is the one it runs with.
 */

static const char usage[] =
    "usage: weir demo [--port 8080] [--seconds N] [--no-traffic]\n"
    "A built-in API, weir in front of it and three synthetic callers: watch\n"
    "requests pass and be limited. Writes weir.demo.yaml. Ctrl-C ends it.\n";

#define DEMO_FILE	"weir.demo.yaml"
#define DEMO_MARK	"# Written by weir demo"
#define UPSTREAM_PORT	9000

static const char demo_yaml[] =
    DEMO_MARK ", anew each time. Copy it, change a number, and:\n"
    "#   weir run -c my.yaml\n"
    "listen: 127.0.0.1:%d\n"
    "upstream: http://127.0.0.1:%d      # your API\n"
    "policies:\n"
    "  - name: per-ip\n"
    "    key: client_ip                   # who shares a count\n"
    "    limit: 5/s                       # on average\n"
    "    burst: 10                        # at once\n"
    "log: {access: none, level: warn}     # the table is the log here\n";

struct demo {
	struct server *server;
	struct demo_client clients[3];
	unsigned nclients;
	int seconds;			/* left; -1: no end */
	bool terminal, wide, drawn;
};

#define WIDE	80			/* columns that the whole table needs */

/* A file of the user's own is left alone. */
static int
write_file(int port, int upstream)
{
	char line[sizeof(DEMO_MARK)] = "";
	FILE *file = fopen(DEMO_FILE, "r");

	if (file != NULL) {
		const bool ours = fgets(line, sizeof(line), file) != NULL &&
		    strcmp(line, DEMO_MARK) == 0;

		fclose(file);
		if (!ours) {
			fprintf(stderr, "weir: " DEMO_FILE " is not from an "
			    "earlier demo; move it away first\n");
			return -1;
		}
	}
	file = fopen(DEMO_FILE, "w");
	if (file == NULL || fprintf(file, demo_yaml, port, upstream) < 0 ||
	    fclose(file) != 0) {
		fprintf(stderr, "weir: cannot write " DEMO_FILE ": %s\n",
		    strerror(errno));
		return -1;
	}
	return 0;
}

static void
introduce(int port, int upstream)
{
	printf("weir listens on 127.0.0.1:%d; the API behind it on %d; the "
	    "policy in " DEMO_FILE "\n"
	    "policy per-ip: 5 requests a second and caller, 10 at once\n\n"
	    "try, in another terminal (you are a caller of your own):\n"
	    "  curl -i http://127.0.0.1:%d/hello\n"
	    "  for i in $(seq 15); do curl -s -o /dev/null "
	    "-w '%%{http_code} ' http://127.0.0.1:%d/; done\n"
	    "  curl -i http://127.0.0.1:%d/status/503\n\n",
	    port, upstream, port, port, port);
	fflush(stdout);
}

/* Too narrow, and the lines would wrap and not be drawn over. */
static bool
is_wide(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
	    size.ws_col == 0 || size.ws_col >= WIDE;
}

static void
draw_client(const struct demo *d, const struct demo_client *c)
{
	const int64_t limited = atomic_load(&c->limited);
	char wait[32] = "-";

	if (limited > 0)
		snprintf(wait, sizeof(wait), "%lld s",
		    (long long)atomic_load(&c->retry_after));
	printf("%-8s %-11s ", c->name, c->from);
	if (d->wide)
		printf("%-22s ", c->habit);
	printf("%7lld %7lld %7lld   %s\n", (long long)atomic_load(&c->sent),
	    (long long)atomic_load(&c->passed), (long long)limited, wait);
}

/* On a terminal the table is drawn over the last one. */
static void
draw(struct demo *d)
{
	if (d->terminal && d->drawn)
		printf("\033[%uA", d->nclients + 3);
	printf("%-8s %-11s ", "caller", "from");
	if (d->wide)
		printf("%-22s ", "sends");
	printf("%7s %7s %7s   %s\n", "sent", "passed", "429",
	    d->wide ? "Retry-After" : "wait");
	for (unsigned i = 0; i < d->nclients; i++)
		draw_client(d, &d->clients[i]);
	printf("\nall callers: %lld passed, %lld limited   \n",
	    (long long)server_count(d->server, COUNT_REQUESTS_ALLOWED_TOTAL),
	    (long long)server_count(d->server, COUNT_REQUESTS_LIMITED_TOTAL));
	fflush(stdout);
	d->drawn = true;
}

static int
tick(void *arg)
{
	struct demo *d = arg;
	bool last;

	if (d->seconds > 0)
		d->seconds--;
	last = d->seconds == 0;
	if (d->terminal || last)
		draw(d);
	return last;
}

static void
start_clients(struct demo *d, int port)
{
	static const struct demo_client kinds[] = {
		{ .name = "polite", .habit = "2 a second",
		    .from = "127.0.0.2", .burst = 1, .pause_ms = 500 },
		{ .name = "bursty", .habit = "10 at once, then 3 s",
		    .from = "127.0.0.3", .burst = 10, .pause_ms = 3000 },
		{ .name = "greedy", .habit = "50 a second",
		    .from = "127.0.0.4", .burst = 1, .pause_ms = 20 },
	};

	for (unsigned i = 0; i < 3; i++) {
		struct demo_client *c = &d->clients[d->nclients++];

		c->name = kinds[i].name;
		c->habit = kinds[i].habit;
		c->from = kinds[i].from;
		c->burst = kinds[i].burst;
		c->pause_ms = kinds[i].pause_ms;
		c->port = port;
		demo_client_start(c);
	}
}

static int
serve(const struct options *o, int port)
{
	static struct demo demo;	/* client threads outlive this call */
	struct config *config = command_load(DEMO_FILE, false);
	enum err e;
	int code;

	if (config == NULL)
		return EXIT_CONFIG_;
	e = server_start(config, &demo.server);
	config_unref(config);
	if (e != ERR_OK)
		return EXIT_RUNTIME;
	demo.seconds = o->seconds;
	demo.terminal = isatty(STDOUT_FILENO) != 0;
	demo.wide = is_wide();
	if (!o->no_traffic)
		start_clients(&demo, port);
	code = server_run(demo.server, tick, &demo);
	for (unsigned i = 0; i < demo.nclients; i++)
		atomic_store(&demo.clients[i].stop, true);
	server_free(demo.server);
	return code;
}

int
command_demo(int argc, char **argv)
{
	struct options o;
	int port, upstream;
	int code = options_read(argc, argv, "pSn", usage, &o);

	if (code == -1)
		code = options_no_more(&o);
	if (code != -1)
		return code;
	server_block_signals();		/* before the first thread */
	upstream = demo_upstream_start(o.port == UPSTREAM_PORT ?
	    UPSTREAM_PORT + 1 : UPSTREAM_PORT);
	port = demo_free_port(o.port);
	if (port < 0 || upstream < 0) {
		fprintf(stderr, "weir: no free port from %d on\n", o.port);
		return EXIT_RUNTIME;
	}
	if (port != o.port)
		printf("port %d is taken, using %d\n", o.port, port);
	if (upstream != UPSTREAM_PORT)
		printf("the API takes port %d instead of %d\n", upstream,
		    UPSTREAM_PORT);
	if (write_file(port, upstream) != 0)
		return EXIT_RUNTIME;
	introduce(port, upstream);
	return serve(&o, port);
}
