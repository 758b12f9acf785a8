#ifndef WEIR_LIMIT_RATE_H
#define WEIR_LIMIT_RATE_H

#include "base/err.h"
#include "base/span.h"
#include "base/text.h"
#include "limit/verdict.h"

/*
 * `count` units in `period_us`; `burst` at once (token_bucket only). The rest
 * is derived by rate_prepare: a token is `unit` units, each tick gives `gain`
 * units, the bucket holds `cap` = burst * unit.
 */
struct rate {
	int64_t count;		/* 1.. */
	int64_t period_us;	/* 1000..  (1 ms or more) */
	int64_t burst;		/* 1..; = count unless the author says */

	int64_t tick_us;	/* 1, 1000 or 1000000 */
	int64_t gain, unit;	/* coprime: count/gcd, ticks of a period/gcd */
	int64_t cap;		/* burst * unit, below 2^52 */
	int64_t sub_us;		/* sliding_window: ceil(period_us / 8) */
};

struct limits {
	unsigned n;			/* 0: no limit at all */
	struct rate rate[RATES_MAX];	/* no two of equal period */
};

/*
 * Fill the derived part: the finest of the three ticks that divides the period
 * and keeps every product below 2^52 (so that C and Lua doubles agree to the
 * unit). ERR_RANGE: none does.
 */
enum err rate_prepare(struct rate *rate);

/*
 * "10/s", "600/m", "5000/h", "3/10s", "1000000/d", "2/30d"; the number 1..10^12,
 * the period a duration of ms, s, m, h, d from 1 ms to 366 d. burst := count,
 * nothing prepared. ERR_SYNTAX, ERR_RANGE.
 */
enum err rate_parse(struct span text, struct rate *ret);
/* The shortest form that parses back: "10/s", "3/10s". */
void rate_print(const struct rate *rate, struct text *out);

/* "20ms", "15m", "1h"; unit needed: us, ms, s, m, h, d. Months and years are
 * refused as ambiguous. ERR_SYNTAX, ERR_RANGE (above 366 d). */
enum err duration_parse(struct span text, int64_t *ret_us);
void duration_print(int64_t us, struct text *out);

#endif
