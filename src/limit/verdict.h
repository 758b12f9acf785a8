#ifndef WEIR_LIMIT_VERDICT_H
#define WEIR_LIMIT_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#define RATES_MAX 4		/* rates under one policy */

/*
 * The answer of one rate. Times are microseconds from the moment of the
 * decision by the deciding store's clock, so they need no common clock.
 */
struct verdict {
	bool passed;
	int64_t limit;		/* capacity in units of cost: burst for
				   token_bucket, count otherwise */
	int64_t remaining;	/* units left after this request, >= 0 */
	int64_t pass_in;	/* 0 when passed; else the earliest moment at
				   which this very request passes, if nobody
				   spends meanwhile; > 0 */
	int64_t reset_in;	/* denied: pass_in; allowed: until the whole
				   capacity is back; fixed_window: until the
				   window ends */
};

/* Whole seconds, rounded up, at least 1: Retry-After and reset. */
int64_t verdict_seconds(int64_t us);

#endif
