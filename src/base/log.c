#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define HELD_LINES	16
#define HOLD_US		(5 * CLOCK_SECOND)

static const struct {
	const char *name;
	int priority;			/* of syslog(3) */
} levels[LOG_LEVELS] = {
	[LOG_ERROR] = { "error", 3 },
	[LOG_WARN] = { "warn", 4 },
	[LOG_INFO] = { "info", 6 },
	[LOG_DEBUG] = { "debug", 7 },
};

/* A line printed lately, and how often it came again since. */
struct held {
	char text[LOG_TEXT_MAX + 1];
	size_t len;
	enum log_level level;
	int64_t since;			/* printed; 0: slot unused */
	uint64_t repeats;
};

static _Atomic int current_level = LOG_INFO;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct held held[HELD_LINES];	/* under lock */

void
log_set_level(enum log_level level)
{
	atomic_store_explicit(&current_level, (int)level,
	    memory_order_relaxed);
}

enum log_level
log_get_level(void)
{
	return (enum log_level)atomic_load_explicit(&current_level,
	    memory_order_relaxed);
}

enum err
log_parse_level(struct span name, enum log_level *ret)
{
	for (int i = 0; i < LOG_LEVELS; i++) {
		if (span_equal(name, span_str(levels[i].name))) {
			*ret = (enum log_level)i;
			return ERR_OK;
		}
	}
	return ERR_SYNTAX;
}

const char *
log_level_name(enum log_level level)
{
	return levels[level].name;
}

/* A desktop session leaves the variable in shells whose stderr is a terminal,
 * so the name alone says nothing (systemd.exec(5)). */
static bool
stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char name[48];
	struct stat st;

	if (stream == NULL || fstat(STDERR_FILENO, &st) != 0)
		return false;
	snprintf(name, sizeof(name), "%ju:%ju", (uintmax_t)st.st_dev,
	    (uintmax_t)st.st_ino);
	return strcmp(stream, name) == 0;
}

/* The beginning of a line; at most 40 octets. */
static size_t
put_head(char *buf, size_t cap, enum log_level level)
{
	int64_t now = clock_wall();
	time_t seconds = (time_t)(now / CLOCK_SECOND);
	struct tm tm;
	size_t n;

	if (stderr_is_journal())
		return (size_t)snprintf(buf, cap, "<%d>",
		    levels[level].priority);
	gmtime_r(&seconds, &tm);
	n = strftime(buf, cap, "%Y-%m-%dT%H:%M:%S", &tm);
	return n + (size_t)snprintf(buf + n, cap - n, ".%03dZ %s ",
	    (int)(now / CLOCK_MS % 1000), levels[level].name);
}

/* A line that cannot be written is lost: there is nobody left to tell. */
static void
write_all(struct span line)
{
	while (line.len > 0) {
		ssize_t n = write(STDERR_FILENO, line.ptr, line.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		line = span_skip(line, (size_t)n);
	}
}

/* One write a line, so that lines of several processes do not mix. */
static void
print_line(enum log_level level, struct span text, uint64_t repeats)
{
	char buf[LOG_TEXT_MAX + 128];
	size_t n = put_head(buf, 64, level);

	memcpy(buf + n, text.ptr, text.len);
	n += text.len;
	if (repeats > 0)
		n += (size_t)snprintf(buf + n, 48, " ... repeated %ju time%s",
		    (uintmax_t)repeats, repeats == 1 ? "" : "s");
	buf[n++] = '\n';
	write_all(span_of(buf, n));
}

static void
print_repeats(struct held *h)
{
	if (h->repeats > 0)
		print_line(h->level, span_of(h->text, h->len), h->repeats);
	h->repeats = 0;
}

static struct held *
find_held(enum log_level level, struct span text)
{
	for (struct held *h = held; h < held + HELD_LINES; h++)
		if (h->since != 0 && h->level == level &&
		    span_equal(span_of(h->text, h->len), text))
			return h;
	return NULL;
}

static struct held *
oldest_held(void)
{
	struct held *oldest = held;

	for (struct held *h = held; h < held + HELD_LINES; h++)
		if (h->since < oldest->since)
			oldest = h;
	return oldest;
}

/* Print text or count it. */
static void
submit(enum log_level level, struct span text, int64_t now)
{
	struct held *h = find_held(level, text);

	if (h != NULL && now - h->since < HOLD_US) {
		h->repeats++;
		return;
	}
	if (h == NULL)
		h = oldest_held();
	print_repeats(h);
	print_line(level, text, 0);
	memcpy(h->text, text.ptr, text.len);
	h->len = text.len;
	h->level = level;
	h->since = now;
}

/* Copy text so that it stays one line whatever a peer put into it; at most
 * LOG_TEXT_MAX octets, and one behind them. */
static size_t
sanitise(char *ret, const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;
		bool control = c < 0x20 || c == 0x7f;

		if (n + (control ? 4 : 1) > LOG_TEXT_MAX)
			break;
		if (control)
			n += (size_t)snprintf(ret + n, 5, "\\x%02x", c);
		else
			ret[n++] = *text;
	}
	return n;
}

/* Under lock. */
static void
flush_repeats(int64_t now)
{
	for (struct held *h = held; h < held + HELD_LINES; h++) {
		/* A line that keeps coming prints its count alone. */
		if (h->repeats > 0)
			h->since = now;
		print_repeats(h);
	}
}

/* The text of a line, in LOG_TEXT_MAX + 1 octets. */
static __attribute__((format(printf, 2, 0))) struct span
format(char *ret, const char *fmt, va_list ap)
{
	char raw[LOG_TEXT_MAX + 1];

	vsnprintf(raw, sizeof(raw), fmt, ap);
	return span_of(ret, sanitise(ret, raw));
}

void
log_write(enum log_level level, const char *fmt, ...)
{
	int saved = errno;
	char text[LOG_TEXT_MAX + 1];
	struct span line;
	va_list ap;

	if (level > log_get_level())
		return;
	va_start(ap, fmt);
	line = format(text, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&lock);
	submit(level, line, clock_now());
	pthread_mutex_unlock(&lock);
	errno = saved;
}

void
log_state(enum log_level level, const char *fmt, ...)
{
	int saved = errno;
	char text[LOG_TEXT_MAX + 1];
	struct span line;
	va_list ap;

	if (level > log_get_level())
		return;
	va_start(ap, fmt);
	line = format(text, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&lock);
	flush_repeats(clock_now());
	print_line(level, line, 0);
	pthread_mutex_unlock(&lock);
	errno = saved;
}

void
log_flush_repeats(void)
{
	pthread_mutex_lock(&lock);
	flush_repeats(clock_now());
	pthread_mutex_unlock(&lock);
}
