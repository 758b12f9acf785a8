#ifndef WEIR_NET_RESOLVE_H
#define WEIR_NET_RESOLVE_H

#include "base/addr.h"
#include "net/loop.h"

/*
 * A name becomes addresses without the loop waiting for it: the system's
 * resolver is asked in a thread that lives as long as the question.
 */
struct resolve;

#define RESOLVE_MAX 8		/* addresses of one name */

/*
 * fn follows from the loop, once, unless resolve_cancel comes first; n is 0
 * when the name has no address or nobody could be asked, and why tells.
 */
struct resolve *resolve_start(struct loop *loop, const char *host,
    unsigned port, void (*fn)(void *arg, const struct endpoint *list,
    unsigned n, const char *why), void *arg);
void resolve_cancel(struct resolve *r);		/* accepts NULL */

#endif
