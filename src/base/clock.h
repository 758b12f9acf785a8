#ifndef WEIR_BASE_CLOCK_H
#define WEIR_BASE_CLOCK_H

#include <stdint.h>

/*
 * Microseconds since 1970 that never step: the monotonic clock plus its
 * offset to UTC, read once by clock_init. All decisions use this one.
 */
void clock_init(void);
int64_t clock_now(void);

/* The wall clock, which may step; only for what people read (log times, the
 * Date field, reset as an epoch). */
int64_t clock_wall(void);

#define CLOCK_SECOND INT64_C(1000000)
#define CLOCK_MS     INT64_C(1000)

#endif
