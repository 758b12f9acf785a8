#ifndef WEIR_HTTP_HEAD_H
#define WEIR_HTTP_HEAD_H

#include "base/span.h"
#include "http/field.h"

#define HTTP_FIELDS_MAX 256	/* the most limits.header_fields may allow */

struct http_field {
	struct span name;	/* as received */
	struct span value;	/* OWS trimmed, no CR, LF or NUL */
	enum http_field_id id;	/* FIELD_OTHER when not in field.def */
};

enum http_method {
	HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_PUT, HTTP_DELETE, HTTP_CONNECT,
	HTTP_OPTIONS, HTTP_TRACE, HTTP_PATCH, HTTP_METHOD_OTHER
};

/*
 * A request or response head: views into the octets it was parsed from, which
 * must stay. Nothing here is owned.
 */
struct http_head {
	struct span raw;		/* whole head with its empty line */
	struct span method;		/* requests: as received */
	struct span target;		/* requests: as received */
	struct span reason;		/* responses; may be empty */
	enum http_method method_id;
	int status;			/* responses: 100..599, else 0 */
	int minor;			/* HTTP/1.minor, 0 or 1 */
	uint64_t seen;			/* HTTP_FIELD_BIT of every field's id */
	unsigned nfields;
	struct http_field fields[HTTP_FIELDS_MAX];
};

_Static_assert(FIELD_COUNT <= 64, "known fields are bits of a uint64_t");
#define HTTP_FIELD_BIT(id)	(UINT64_C(1) << (id))

/* First field of that kind, or NULL. */
const struct http_field *http_head_find(const struct http_head *head,
    enum http_field_id id);
/* First field of that name (case does not matter), or NULL. */
const struct http_field *http_head_find_name(const struct http_head *head,
    struct span name);
unsigned http_head_count(const struct http_head *head, enum http_field_id id);

/* True when a comma-separated field of that kind has the element (case does
 * not matter), on any of its lines. */
bool http_head_has_token(const struct http_head *head, enum http_field_id id,
    struct span token);

/* The octets moved from `from` to `to`, with equal content: let every view
 * follow. */
void http_head_rebase(struct http_head *head, const char *from,
    const char *to);

#endif
