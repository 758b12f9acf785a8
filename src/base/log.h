#ifndef WEIR_BASE_LOG_H
#define WEIR_BASE_LOG_H

#include <stdbool.h>

#include "base/span.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_LEVELS };

/*
 * weir's own log, to stderr: one line an event, "key=value" behind the text.
 * With $JOURNAL_STREAM naming stderr (systemd.exec(5)) each line begins with
 * its <N> priority, otherwise with the time in UTC and the level. A line equal
 * to one of the last seconds is held back and counted; the count follows
 * ("... repeated 41 times"). Control octets print as \xNN, and a text over
 * LOG_TEXT_MAX octets is cut. Thread safe. The level and what is held back are
 * the process's only mutable globals.
 */
#define LOG_TEXT_MAX 1023

void log_set_level(enum log_level level);
enum log_level log_get_level(void);
/* "error", "warn", "info", "debug"; ERR_SYNTAX: anything else. */
enum err log_parse_level(struct span name, enum log_level *ret);
const char *log_level_name(enum log_level level);

void log_write(enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
#define log_error(...)	log_write(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)	log_write(LOG_WARN, __VA_ARGS__)
#define log_info(...)	log_write(LOG_INFO, __VA_ARGS__)
#define log_debug(...) \
	do { \
		if (log_get_level() >= LOG_DEBUG) \
			log_write(LOG_DEBUG, __VA_ARGS__); \
	} while (0)

/*
 * A change of state: never held back, and written after the counts of all that
 * was, so that what stands last is how things are. For what happens seldom.
 */
void log_state(enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Print the counts of lines still held back; at exit, and every few seconds. */
void log_flush_repeats(void);

#endif
