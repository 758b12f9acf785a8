#ifndef WEIR_STORE_BREAKER_H
#define WEIR_STORE_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * When to stop asking a store that does not answer, and when to try again.
 * Pure: told what happened and when, it says what to do. All times are
 * microseconds of one clock that never steps.
 *
 * Closed: calls are made. Open: none are; after breaker_delay the owner
 * connects and sends probes, one at a time; BREAKER_PROBES good ones close it.
 */

#define BREAKER_ROW	5	/* misses with no reply between: open */
#define BREAKER_WINDOW	100	/* of the last so many outcomes ... */
#define BREAKER_MISSES	50	/* ... so many missed: open */
#define BREAKER_PROBES	3

#define BREAKER_DELAY_MIN	INT64_C(5000)
#define BREAKER_DELAY_FIRST	INT64_C(100000)
#define BREAKER_DELAY_MAX	INT64_C(500000)
#define BREAKER_DELAY_REFUSED	INT64_C(5000000)
/* Closed for so long: the next trouble is a new one. */
#define BREAKER_STEADY		INT64_C(1000000)

enum breaker_why {
	BREAKER_LOST,		/* the connection is gone, another may work */
	BREAKER_SILENT,		/* no answers, or "not now" */
	BREAKER_REFUSED		/* credentials or rights: people must act */
};

struct breaker {
	bool closed;
	unsigned row;			/* misses since the last reply */
	uint8_t missed[BREAKER_WINDOW];	/* a ring of the last outcomes */
	unsigned at, misses;		/* next place; how many are set */
	unsigned good;			/* probes since it opened */
	int64_t delay;			/* the last one, 0: none yet */
	int64_t closed_at;
	uint64_t random;
};

/* Open, with no delay yet: the owner connects at once. */
void breaker_init(struct breaker *b, uint64_t seed);

/* A call was answered in time. */
void breaker_hit(struct breaker *b);
/* A call was answered too late: it was counted as missed before. */
void breaker_late(struct breaker *b);
/* A call's deadline passed. True: enough, open it. While it is open, neither
 * this nor the two above count. */
bool breaker_miss(struct breaker *b);

/*
 * Open, or stay open after a failed try. Returns the time to wait before the
 * next try: after a steady while the first follows a lost connection almost
 * at once; then it doubles from FIRST to MAX, with a fifth of jitter each way.
 */
int64_t breaker_open(struct breaker *b, enum breaker_why why, int64_t now);

/* A probe was answered in time. True: that was the last one, now closed. */
bool breaker_probe_good(struct breaker *b, int64_t now);

#endif
