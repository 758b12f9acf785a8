#include "config/covers.h"

static bool
covers_path(const char *wide, const char *narrow)
{
	const size_t n = strlen(wide);

	/* "/a/" + "**" takes all that begins with "/a/", patterns too. */
	if (n >= 3 && strcmp(wide + n - 3, "/**") == 0 &&
	    strpbrk(wide, "*{") == wide + n - 2 &&
	    strncmp(wide, narrow, n - 2) == 0)
		return true;
	return strpbrk(narrow, "*{") == NULL &&
	    match_path(span_str(wide), span_str(narrow));
}

static bool
covers_host(const char *wide, const char *narrow)
{
	const struct span w = span_str(wide), n = span_str(narrow);

	if (span_equal_nocase(w, n))
		return true;
	if (!span_starts(w, SPAN("*.")) || n.len < w.len)
		return false;
	return span_equal_nocase(span_skip(w, 1),
	    span_skip(n, n.len - (w.len - 1)));
}

static bool
covers_value(enum match_kind kind, const char *wide, const char *narrow)
{
	if (strcmp(wide, narrow) == 0)
		return true;
	switch (kind) {
	case MATCH_PATH:
		return covers_path(wide, narrow);
	case MATCH_HOST:
		return covers_host(wide, narrow);
	case MATCH_HEADER:
	case MATCH_QUERY:
		return strchr(narrow, '*') == NULL &&
		    match_glob(span_str(wide), span_str(narrow));
	default:
		return false;
	}
}

/* Is the i-th of narrow's values within one of wide's? */
static bool
has_wider(const struct condition *wide, const struct condition *narrow,
    unsigned i)
{
	for (unsigned j = 0; j < wide->n; j++) {
		if (wide->kind == MATCH_CLIENT_IP ?
		    wide->cidrs[j].bits <= narrow->cidrs[i].bits &&
		    cidr_contains(&wide->cidrs[j], &narrow->cidrs[i].addr) :
		    covers_value(wide->kind, wide->values[j],
		    narrow->values[i]))
			return true;
	}
	return false;
}

/* All values of narrow within those of wide; no value at all means any. */
static bool
has_all(const struct condition *wide, const struct condition *narrow)
{
	if (wide->name != NULL && wide->n == 0)
		return true;
	if (narrow->name != NULL && narrow->n == 0)
		return false;
	for (unsigned i = 0; i < narrow->n; i++)
		if (!has_wider(wide, narrow, i))
			return false;
	return true;
}

static bool
is_same_part(const struct condition *a, const struct condition *b)
{
	if (a->kind != b->kind || a->negate != b->negate)
		return false;
	if (a->name == NULL)
		return true;
	return a->kind == MATCH_HEADER ?
	    span_equal_nocase(span_str(a->name), span_str(b->name)) :
	    strcmp(a->name, b->name) == 0;
}

static bool
is_implied(const struct condition *c, const struct match *narrow)
{
	for (unsigned i = 0; i < narrow->n; i++) {
		const struct condition *n = &narrow->conditions[i];

		/* What is excluded has to be excluded there as well. */
		if (is_same_part(c, n) &&
		    (c->negate ? has_all(n, c) : has_all(c, n)))
			return true;
	}
	return false;
}

bool
covers_match(const struct match *wide, const struct match *narrow)
{
	for (unsigned i = 0; i < wide->n; i++)
		if (!is_implied(&wide->conditions[i], narrow))
			return false;
	return true;
}

/* ---- what both take ---- */

static bool
is_about_same(const struct condition *a, const struct condition *b)
{
	struct condition same = *b;

	same.negate = a->negate;
	return is_same_part(a, &same);
}

/* Does one of the values take just one text? */
static bool
has_literal_beside(const struct condition *c, const struct condition *except)
{
	for (unsigned i = 0; c->kind != MATCH_CLIENT_IP && i < c->n; i++)
		if (strpbrk(c->values[i], "*{") == NULL &&
		    !has_wider(except, c, i))
			return true;
	return false;
}

static bool
has_common(const struct condition *a, const struct condition *b)
{
	if ((a->name != NULL && a->n == 0) || (b->name != NULL && b->n == 0))
		return true;
	for (unsigned i = 0; i < a->n; i++)
		if (has_wider(b, a, i))
			return true;
	for (unsigned i = 0; i < b->n; i++)
		if (has_wider(a, b, i))
			return true;
	return false;
}

static bool
is_compatible(const struct condition *a, const struct condition *b)
{
	if (!a->negate && !b->negate)
		return has_common(a, b);
	if (a->negate && b->negate)
		return true;
	if (a->negate)
		return is_compatible(b, a);
	/* Excluded whatever its value, or taken whatever its value. */
	if (b->name != NULL && b->n == 0)
		return false;
	return (a->name != NULL && a->n == 0) || has_literal_beside(a, b);
}

bool
covers_overlap(const struct match *a, const struct match *b)
{
	for (unsigned i = 0; i < a->n; i++)
		for (unsigned j = 0; j < b->n; j++)
			if (is_about_same(&a->conditions[i],
			    &b->conditions[j]) &&
			    !is_compatible(&a->conditions[i],
			    &b->conditions[j]))
				return false;
	return true;
}

const struct condition *
covers_find(const struct match *m, enum match_kind kind, const char *name)
{
	const struct condition want = { .kind = kind,
		.name = (char *)(uintptr_t)name };

	for (unsigned i = 0; i < m->n; i++)
		if (is_same_part(&want, &m->conditions[i]))
			return &m->conditions[i];
	return NULL;
}

bool
covers_has_value(const struct condition *c, const char *value)
{
	for (unsigned i = 0; i < c->n; i++)
		if (strcmp(c->values[i], value) == 0)
			return true;
	return false;
}
