#ifndef WEIR_LIMIT_REQUEST_H
#define WEIR_LIMIT_REQUEST_H

#include "base/addr.h"
#include "http/head.h"

struct caller;
struct plan;
struct route;

/*
 * A request as the limiter sees it. The first part is filled by whoever has
 * the request, the second by rules_classify. All views are borrowed and stay
 * for as long as the decision about it is open.
 */
struct request {
	const struct http_head *head;	/* for header and cookie parts */
	struct span method;
	struct span host;		/* http_host_normalise; may be empty */
	struct span path;		/* http_target_normalise */
	struct span query;		/* as received; ptr NULL: none */
	struct addr client;		/* http_client_addr */
	struct addr peer;		/* the connection's other end */

	const struct caller *caller;	/* never NULL once classified */
	const struct plan *plan;	/* NULL: none */
	const struct route *route;	/* NULL: no route matched */
};

#endif
