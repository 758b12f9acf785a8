#include "store/breaker.h"

#include <string.h>

void
breaker_init(struct breaker *b, uint64_t seed)
{
	memset(b, 0, sizeof(*b));
	b->random = seed | 1;		/* xorshift never leaves 0 */
}

static void
note(struct breaker *b, bool missed)
{
	b->misses += missed;
	b->misses -= b->missed[b->at];
	b->missed[b->at] = missed;
	b->at = (b->at + 1) % BREAKER_WINDOW;
}

/* What happens while it is open are echoes of what opened it, and probes. */
void
breaker_hit(struct breaker *b)
{
	if (!b->closed)
		return;
	b->row = 0;
	note(b, false);
}

void
breaker_late(struct breaker *b)
{
	b->row = 0;
}

bool
breaker_miss(struct breaker *b)
{
	if (!b->closed)
		return false;
	b->row++;
	note(b, true);
	return b->row >= BREAKER_ROW || b->misses >= BREAKER_MISSES;
}

static uint64_t
next_random(struct breaker *b)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return b->random;
}

/* Between 80 and 120 percent, so that weirs which lost the same server do not
 * come back in step. */
static int64_t
jitter(struct breaker *b, int64_t delay)
{
	int64_t fifth = delay / 5;

	return delay - fifth +
	    (int64_t)(next_random(b) % (uint64_t)(2 * fifth + 1));
}

static int64_t
next_delay(const struct breaker *b, enum breaker_why why, bool steady)
{
	if (why == BREAKER_REFUSED)
		return BREAKER_DELAY_REFUSED;
	if (steady)
		return why == BREAKER_LOST ? BREAKER_DELAY_MIN :
		    BREAKER_DELAY_FIRST;
	if (b->delay < BREAKER_DELAY_FIRST)
		return BREAKER_DELAY_FIRST;
	return b->delay >= BREAKER_DELAY_MAX / 2 ? BREAKER_DELAY_MAX :
	    2 * b->delay;
}

int64_t
breaker_open(struct breaker *b, enum breaker_why why, int64_t now)
{
	bool steady = b->closed && now - b->closed_at >= BREAKER_STEADY;

	b->delay = next_delay(b, why, steady);
	b->closed = false;
	b->good = 0;
	b->row = 0;
	b->misses = 0;
	memset(b->missed, 0, sizeof(b->missed));
	return jitter(b, b->delay);
}

bool
breaker_probe_good(struct breaker *b, int64_t now)
{
	if (b->closed || ++b->good < BREAKER_PROBES)
		return false;
	b->closed = true;
	b->closed_at = now;
	return true;
}
