#ifndef WEIR_LIMIT_ADVERT_H
#define WEIR_LIMIT_ADVERT_H

#include "base/text.h"
#include "http/forward.h"
#include "limit/limiter.h"

enum header_style { HEADERS_X_RATELIMIT, HEADERS_NONE };
enum header_reset { RESET_DELTA, RESET_EPOCH };
enum header_upstream { UPSTREAM_REPLACE, UPSTREAM_KEEP };

struct headers_conf {
	enum header_style style;
	enum header_reset reset;
	bool policy;			/* x-ratelimit-policy */
	enum header_upstream upstream;
	unsigned retry_after_jitter;	/* percent, upward only, 0..100 */
};

/*
 * The x-ratelimit-* lines of a decision, CRLF each, written from its one
 * record; nothing when no policy applied, the style is none, or the outcome is
 * not PASS or LIMITED. wall_us: clock_wall(), for reset: epoch.
 */
void advert_put(const struct headers_conf *conf, const struct decision *d,
    int64_t wall_us, struct http_out *out);

/* Retry-After in whole seconds for LIMITED (with jitter, from random) and
 * STORE_AWAY (1). */
int64_t advert_retry_after(const struct headers_conf *conf,
    const struct decision *d, uint32_t random);

/*
 * The application/problem+json body for LIMITED, STORE_AWAY and NO_KEY
 * (RFC 9457), byte for byte as the manual shows it.
 */
void advert_put_body(const struct decision *d, int64_t retry_after,
    struct http_out *out);

#endif
