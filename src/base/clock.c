#include "base/clock.h"

#include <time.h>

/* Written once by clock_init, before there are threads. */
static int64_t utc_offset;

static int64_t
read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * CLOCK_SECOND + ts.tv_nsec / 1000;
}

void
clock_init(void)
{
	utc_offset = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC);
}

int64_t
clock_now(void)
{
	return read_clock(CLOCK_MONOTONIC) + utc_offset;
}

int64_t
clock_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}
