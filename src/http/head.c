#include "http/head.h"

const struct http_field *
http_head_find(const struct http_head *head, enum http_field_id id)
{
	const struct http_field *f = head->fields;

	if (!(head->seen & HTTP_FIELD_BIT(id)))
		return NULL;
	while (f->id != id)
		f++;
	return f;
}

const struct http_field *
http_head_find_name(const struct http_head *head, struct span name)
{
	const struct http_field *end = head->fields + head->nfields;

	for (const struct http_field *f = head->fields; f < end; f++)
		if (span_equal_nocase(f->name, name))
			return f;
	return NULL;
}

unsigned
http_head_count(const struct http_head *head, enum http_field_id id)
{
	unsigned n = 0;

	for (unsigned i = 0; i < head->nfields; i++)
		n += head->fields[i].id == id;
	return n;
}

static bool
list_has(struct span list, struct span token)
{
	struct span element;

	while (span_next_element(&list, &element))
		if (span_equal_nocase(element, token))
			return true;
	return false;
}

bool
http_head_has_token(const struct http_head *head, enum http_field_id id,
    struct span token)
{
	for (unsigned i = 0; i < head->nfields; i++)
		if (head->fields[i].id == id &&
		    list_has(head->fields[i].value, token))
			return true;
	return false;
}

/* Views of constants, such as an empty reason, stay where they are. */
static void
rebase(struct span *s, struct span raw, const char *to)
{
	uintptr_t at = (uintptr_t)s->ptr - (uintptr_t)raw.ptr;

	if (at <= raw.len)
		s->ptr = to + at;
}

void
http_head_rebase(struct http_head *head, const char *from, const char *to)
{
	struct span raw = head->raw;
	const char *start = to + (raw.ptr - from);

	rebase(&head->method, raw, start);
	rebase(&head->target, raw, start);
	rebase(&head->reason, raw, start);
	for (unsigned i = 0; i < head->nfields; i++) {
		rebase(&head->fields[i].name, raw, start);
		rebase(&head->fields[i].value, raw, start);
	}
	head->raw.ptr = start;
}
