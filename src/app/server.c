#include "app/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "app/listen.h"
#include "app/options.h"
#include "app/worker.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/memory.h"

/* Descriptors besides those of client connections: log, loops, Redis. */
#define SPARE_FDS	64

enum stage { STAGE_SERVING, STAGE_DELAYED, STAGE_DRAINING, STAGE_DONE };

struct server {
	struct config *config;
	struct listeners *listeners;
	struct store *memory;
	struct worker **workers;
	unsigned nworkers;
	unsigned adopts;		/* and drains, posted to each worker */
	_Atomic int64_t connections;
	_Atomic unsigned drained;	/* workers */
	int access_fd;
	int signal_fd, wake_fd;
	enum stage stage;
	int64_t stage_ends;		/* DELAYED, DRAINING */
	int exit_code;
};

static unsigned
count_workers(const struct config *config)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (config->workers > 0)
		return config->workers;
	return cores > 0 ? (unsigned)cores : 1;
}

/* Two descriptors a connection: the client's and the upstream's. */
static void
raise_descriptors(const struct config *config)
{
	const rlim_t want = (rlim_t)config->limits.connections * 2 + SPARE_FDS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	if (limit.rlim_cur < want && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = want < limit.rlim_max ? want :
		    limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
			log_warn("cannot raise the descriptor limit error=%s",
			    strerror(errno));
		getrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur < want)
		log_write(limit.rlim_cur < config->limits.connections ?
		    LOG_WARN : LOG_INFO, "%llu descriptors may not be enough for "
		    "limits.connections: %u; raise LimitNOFILE to %llu",
		    (unsigned long long)limit.rlim_cur,
		    config->limits.connections, (unsigned long long)want);
}

static enum err
open_access(const struct log_conf *conf, int *ret_fd)
{
	if (conf->access_path == NULL) {
		*ret_fd = -1;
		return ERR_OK;
	}
	if (strcmp(conf->access_path, "stdout") == 0) {
		*ret_fd = STDOUT_FILENO;
		return ERR_OK;
	}
	*ret_fd = open(conf->access_path,
	    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	if (*ret_fd >= 0)
		return ERR_OK;
	log_error("cannot open the access log path=%s error=%s",
	    conf->access_path, strerror(errno));
	return ERR_SYSTEM;
}

/*
 * The new file takes the old descriptor's place, so that no worker notices and
 * no line is lost.
 */
static void
reopen_access(struct server *s)
{
	int fd;

	if (s->access_fd <= STDERR_FILENO ||
	    open_access(&s->config->log, &fd) != ERR_OK)
		return;
	if (dup3(fd, s->access_fd, O_CLOEXEC) < 0)
		log_error("cannot reopen the access log error=%s",
		    strerror(errno));
	close(fd);
	log_info("access log reopened path=%s", s->config->log.access_path);
}

static void
wake(void *arg)
{
	const struct server *s = arg;
	const uint64_t one = 1;

	if (write(s->wake_fd, &one, sizeof(one)) < 0)
		log_warn("cannot wake the main thread error=%s",
		    strerror(errno));
}

static void
on_worker_drained(void *arg)
{
	struct server *s = arg;

	atomic_fetch_add(&s->drained, 1);
	wake(s);
}

static void
start_workers(struct server *s)
{
	const struct worker_env env = { .memory = s->memory,
	    .connections = &s->connections, .workers = s->nworkers,
	    .access_fd = s->access_fd, .on_adopted = wake,
	    .on_drained = on_worker_drained, .arg = s };

	s->workers = mem_zalloc(s->nworkers * sizeof(*s->workers));
	for (unsigned i = 0; i < s->nworkers; i++)
		s->workers[i] = worker_start(&env, i, s->config);
}

static void
adopt_all(struct server *s)
{
	for (unsigned i = 0; i < s->nworkers; i++)
		worker_adopt(s->workers[i], s->config,
		    listeners_fds(s->listeners, i));
	s->adopts++;
}

static bool
all_adopted(const struct server *s)
{
	for (unsigned i = 0; i < s->nworkers; i++)
		if (worker_adopted(s->workers[i]) < s->adopts)
			return false;
	return true;
}

static void
let_go_of_listeners(struct server *s)
{
	if (!all_adopted(s))
		return;
	if (s->stage == STAGE_DRAINING)
		listeners_close(s->listeners);
	else
		listeners_sweep(s->listeners);
}

static void
handled_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGHUP);
	sigaddset(ret, SIGUSR1);
	sigaddset(ret, SIGUSR2);
}

void
server_block_signals(void)
{
	sigset_t set;

	handled_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static enum err
open_signals(struct server *s)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	server_block_signals();
	handled_signals(&set);
	s->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	s->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (s->signal_fd >= 0 && s->wake_fd >= 0)
		return ERR_OK;
	log_error("cannot open signals error=%s", strerror(errno));
	return ERR_SYSTEM;
}

enum err
server_start(struct config *config, struct server **ret)
{
	struct server *s = mem_zalloc(sizeof(*s));
	char *why = NULL;

	s->config = config_ref(config);
	s->access_fd = s->signal_fd = s->wake_fd = -1;
	s->nworkers = count_workers(config);
	s->listeners = listeners_new(s->nworkers);
	log_set_level(config->log.level);
	raise_descriptors(config);
	if (open_signals(s) != ERR_OK ||
	    open_access(&config->log, &s->access_fd) != ERR_OK)
		goto fail;
	if (listeners_open(s->listeners, config, &why) != ERR_OK) {
		log_error("%s", why);
		mem_free(why);
		goto fail;
	}
	s->memory = memory_store_new(config->store.memory_bytes);
	start_workers(s);
	adopt_all(s);
	log_info("serving listeners=%u policies=%u store=%s workers=%u",
	    config->nlistens, config->rules.npolicies,
	    config->store.kind == STORE_REDIS ? config->store.redis_text :
	    "memory", s->nworkers);
	*ret = s;
	return ERR_OK;
fail:
	server_free(s);
	return ERR_SYSTEM;
}

/* What a running process cannot change; the rest of the file is adopted. */
static void
warn_fixed(const struct server *s, const struct config *now)
{
	const struct log_conf *a = &s->config->log, *b = &now->log;
	const bool same_path = a->access_path == NULL ||
	    b->access_path == NULL ? a->access_path == b->access_path :
	    strcmp(a->access_path, b->access_path) == 0;

	if (count_workers(now) != s->nworkers)
		log_warn("workers: takes effect at the next start");
	if (!same_path || a->access_format != b->access_format)
		log_warn("log.access: takes effect at the next start");
	if (s->config->store.memory_bytes != now->store.memory_bytes)
		log_warn("store.memory: takes effect at the next start");
}

static void
log_findings(const struct findings *found)
{
	for (unsigned i = 0; i < found->n; i++) {
		const struct finding *f = &found->items[i];
		const enum log_level level = f->severity == SEVERITY_ERROR ?
		    LOG_ERROR : LOG_WARN;

		if (f->line > 0)
			log_write(level, "%s:%u:%u: [%s] %s", f->file,
			    f->line, f->column, f->code, f->message);
		else
			log_write(level, "%s: [%s] %s", f->file, f->code,
			    f->message);
	}
}

static void
reload(struct server *s)
{
	struct findings found = { 0 };
	struct config *config = NULL, *old = s->config;
	char *why = NULL;
	enum err e = config_load(s->config->path, &found, &config);

	log_findings(&found);
	findings_fini(&found);
	if (e == ERR_OK && (e = listeners_open(s->listeners, config,
	    &why)) != ERR_OK) {
		log_error("%s", why);
		mem_free(why);
	}
	if (e != ERR_OK) {
		log_state(LOG_ERROR, "reload failed, the old configuration "
		    "stays path=%s", s->config->path);
		config_unref(config);
		return;
	}
	warn_fixed(s, config);
	log_set_level(config->log.level);
	s->config = config;
	adopt_all(s);
	config_unref(old);
	log_state(LOG_INFO, "reloaded path=%s policies=%u reloads=%u",
	    config->path, config->rules.npolicies, s->adopts - 1);
}

static void
begin_drain(struct server *s)
{
	log_state(LOG_INFO, "draining timeout_s=%lld",
	    (long long)(s->config->drain_timeout_us / CLOCK_SECOND));
	s->stage = STAGE_DRAINING;
	s->stage_ends = clock_now() + s->config->drain_timeout_us;
	for (unsigned i = 0; i < s->nworkers; i++)
		worker_drain(s->workers[i]);
	s->adopts++;
}

static void
stop(struct server *s)
{
	if (s->stage != STAGE_SERVING) {
		log_state(LOG_WARN, "stopped at once");
		s->exit_code = EXIT_RUNTIME;
		s->stage = STAGE_DONE;
		return;
	}
	if (s->config->drain_delay_us == 0) {
		begin_drain(s);
		return;
	}
	s->stage = STAGE_DELAYED;
	s->stage_ends = clock_now() + s->config->drain_delay_us;
}

static void
take_signals(struct server *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof(info)) ==
	    (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP && s->stage == STAGE_SERVING)
			reload(s);
		else if (info.ssi_signo == SIGUSR1)
			reopen_access(s);
		else if (info.ssi_signo == SIGUSR2)
			log_warn("replacing the program (USR2) is not "
			    "supported yet");
		else if (info.ssi_signo == SIGTERM ||
		    info.ssi_signo == SIGINT)
			stop(s);
	}
}

static void
check_stage(struct server *s)
{
	if (s->stage == STAGE_DELAYED && clock_now() >= s->stage_ends)
		begin_drain(s);
	if (s->stage != STAGE_DRAINING)
		return;
	if (atomic_load(&s->drained) >= s->nworkers) {
		s->stage = STAGE_DONE;
	} else if (clock_now() >= s->stage_ends) {
		log_state(LOG_WARN,
		    "drain timeout: requests in progress are cut");
		s->stage = STAGE_DONE;
	}
}

/* Milliseconds until something is due without a signal. */
static int
wait_ms(const struct server *s)
{
	int64_t left = CLOCK_SECOND;

	if (s->stage != STAGE_SERVING && s->stage_ends - clock_now() < left)
		left = s->stage_ends - clock_now();
	return left <= 0 ? 0 : (int)(left / CLOCK_MS) + 1;
}

int
server_run(struct server *s, int (*tick)(void *), void *arg)
{
	struct pollfd fds[2] = {
		{ .fd = s->signal_fd, .events = POLLIN },
		{ .fd = s->wake_fd, .events = POLLIN },
	};
	int64_t next_tick = clock_now() + CLOCK_SECOND;
	uint64_t wakes;

	while (s->stage != STAGE_DONE) {
		if (poll(fds, 2, wait_ms(s)) < 0 && errno != EINTR)
			break;
		take_signals(s);
		if (read(s->wake_fd, &wakes, sizeof(wakes)) < 0 &&
		    errno != EAGAIN)
			log_warn("wake error=%s", strerror(errno));
		let_go_of_listeners(s);
		if (clock_now() >= next_tick) {
			next_tick = clock_now() + CLOCK_SECOND;
			log_flush_repeats();
			if (tick != NULL && s->stage == STAGE_SERVING &&
			    tick(arg) != 0)
				stop(s);
		}
		check_stage(s);
	}
	return s->exit_code;
}

int64_t
server_count(const struct server *s, enum counter id)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < s->nworkers; i++)
		sum += counter_get(worker_counters(s->workers[i]), id);
	return sum;
}

void
server_free(struct server *s)
{
	for (unsigned i = 0; s->workers != NULL && i < s->nworkers; i++)
		worker_stop(s->workers[i]);
	mem_free(s->workers);
	listeners_free(s->listeners);
	if (s->memory != NULL)
		s->memory->ops->free(s->memory);
	if (s->access_fd > STDERR_FILENO)
		close(s->access_fd);
	if (s->signal_fd >= 0)
		close(s->signal_fd);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	config_unref(s->config);
	log_flush_repeats();
	mem_free(s);
}
