#ifndef WEIR_BASE_TEXT_H
#define WEIR_BASE_TEXT_H

#include <stdarg.h>

#include "base/span.h"

/* A growable byte string that owns its octets. All zero bytes is empty. */
struct text {
	char *data;		/* NUL-terminated once anything was appended */
	size_t len;		/* without the NUL */
	size_t cap;
};

void text_init(struct text *t);
void text_fini(struct text *t);		/* frees; t is empty afterwards */
void text_clear(struct text *t);	/* keeps the room */
void text_append(struct text *t, struct span s);
void text_append_str(struct text *t, const char *str);
void text_append_char(struct text *t, char c);
void text_append_u64(struct text *t, uint64_t value);
void text_printf(struct text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *t, const char *fmt, va_list ap);

/* s as the inside of a JSON string: quotes, backslashes and control characters
 * (C0, DEL, C1) escaped; each octet that is not valid UTF-8 becomes \ufffd. The
 * surrounding quotes are the caller's. */
void text_append_json(struct text *t, struct span s);

/* Borrow; valid until the next change. "" when empty. */
struct span text_span(const struct text *t);
const char *text_cstr(const struct text *t);

/* Take the string out (mem_free it); t is empty afterwards. Never NULL. */
char *text_take(struct text *t);

#endif
