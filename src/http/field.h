#ifndef WEIR_HTTP_FIELD_H
#define WEIR_HTTP_FIELD_H

#include "base/span.h"

/* Known fields; field.def holds name, flags and RFC section of each. */
enum http_field_id {
	FIELD_OTHER,
	FIELD_ALIAS,	/* "Content_Length": what CGI, WSGI and their kin take
			   for a field that matters here; not sent upstream */
#define FIELD(id, name, flags) FIELD_##id,
#include "http/field.def"
#undef FIELD
	FIELD_COUNT
};

#define FIELD_HOP	0x01	/* hop-by-hop: never forwarded (9110, 7.6.1) */
#define FIELD_FRAMING	0x02	/* decides the body; always written anew */
#define FIELD_ONCE	0x04	/* a second line makes the message invalid */
#define FIELD_LIST	0x08	/* comma-separated list */
#define FIELD_PEER	0x10	/* says who the client is: removed unless the
				   peer is a trusted proxy */
#define FIELD_PROTECTED	0x20	/* Connection may not name it (row 13) */
#define FIELD_LIMIT	0x40	/* x-ratelimit-*: weir's answer to the caller */

extern const uint8_t http_field_flag_table[FIELD_COUNT];

/*
 * FIELD_OTHER when unknown. Case does not matter. FIELD_ALIAS when underscores
 * stand for the hyphens of a field that is hop-by-hop, frames the message, says
 * who the client is, or is protected.
 */
enum http_field_id http_field_lookup(struct span name);
/* As field.def writes it; empty for FIELD_OTHER and FIELD_ALIAS. */
struct span http_field_name(enum http_field_id id);

static inline unsigned
http_field_flags(enum http_field_id id)
{
	return http_field_flag_table[id];
}

#endif
