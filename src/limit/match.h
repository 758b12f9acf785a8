#ifndef WEIR_LIMIT_MATCH_H
#define WEIR_LIMIT_MATCH_H

#include "base/addr.h"
#include "limit/request.h"

/* Which requests something is for. All conditions must hold; none: all. */

enum match_kind {
	MATCH_PATH, MATCH_METHOD, MATCH_HOST, MATCH_HEADER, MATCH_QUERY,
	MATCH_CLIENT_IP, MATCH_CALLER, MATCH_ROUTE, MATCH_PLAN
};

/* One of values must fit (with negate: none). Strings are owned. */
struct condition {
	enum match_kind kind;
	bool negate;
	char *name;		/* HEADER, QUERY: which one */
	char **values;		/* all but CLIENT_IP */
	struct cidr *cidrs;	/* CLIENT_IP */
	unsigned n;		/* of values or cidrs; HEADER and QUERY with 0:
				   present, whatever its value */
};

struct match {
	struct condition *conditions;
	unsigned n;
};

/*
 * Path patterns: literal; "*" inside a segment stands for any octets but "/",
 * "{name}" for one whole segment that is not empty; a last segment "**" for
 * any rest, none included ("/a/" + "**" fits "/a", "/a/" and "/a/b/c"). Compared
 * to the normalised path, octet by octet. Host patterns: literal or a leading
 * "*." for one or more labels, without case. Header and query values:
 * "*" stands for any run of octets. Method: exactly.
 */
bool match_test(const struct match *m, const struct request *req);
/* The index of the first condition that fails, or -1 (for explain). */
int match_first_failing(const struct match *m, const struct request *req);
const char *match_kind_name(enum match_kind kind);

bool match_path(struct span pattern, struct span path);
bool match_glob(struct span pattern, struct span text);
/* ERR_SYNTAX with *ret_why for a pattern that could never match a normalised
 * path: no leading "/", "**" not last, "//", "." or ".." segments, "?", "#", a
 * "{" without "}", a percent escape of an unreserved octet. */
enum err match_check_path(struct span pattern, const char **ret_why);

void match_fini(struct match *m);

#endif
