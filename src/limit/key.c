#include "limit/key.h"

#include <endian.h>

#include "http/octet.h"
#include "http/target.h"
#include "limit/rules.h"
#include "limit/scratch.h"

/* Types beside the sources, which count from 0. */
#define TYPE_PEER	UINT64_C(0x100)
#define TYPE_CLASS	UINT64_C(0x101)
#define TYPE_SHORT	UINT64_C(0x200)		/* added to another */

#define SHORT_MAX	64	/* octets of a value that is hashed at once */

#define PRINTED		12	/* characters of a hash that people see */

static const struct {
	const char *name;
	bool named;
} sources[] = {
#define KEY(id, name, named) { name, named },
#include "limit/key.def"
#undef KEY
};

static const struct key_spec default_spec = {
	.parts = { { .source = KEY_CLIENT_IP } },
	.n = 1,
};

/* One part as it counts, in one byte order, so that all machines agree. */
struct record {
	uint64_t type, name, len;
	struct hash128 value;
};

_Static_assert(sizeof(struct record) == 40, "a record is hashed as octets");

/* A key of one part whose value is short: hashed at once, value and all. The
 * mark in its type tells it from any list of records. */
struct short_record {
	uint64_t type, name, len;
	char value[SHORT_MAX];
};

struct builder {
	const struct key_rule *rule;
	const struct request *req;
	bool peer;		/* stands in for what is missing */
	bool nested;		/* in the key of a caller class */
};

static const struct key_spec *
spec_or_default(const struct key_spec *spec)
{
	return spec->n > 0 ? spec : &default_spec;
}

static struct addr
masked(const struct addr *a, const struct key_rule *rule)
{
	return addr_mask(a, a->family == 4 ? rule->ipv4_bits :
	    rule->ipv6_bits);
}

/* ---- values ---- */

/* All lines of that name count, joined as RFC 9110, 5.3 says; which of them an
 * application takes is not known here. Empty ones are none. */
static bool
header_value(const struct http_head *head, struct span name,
    struct scratch *scratch, struct span *ret)
{
	const struct http_field *end = head->fields + head->nfields;
	size_t lines = 0, len = 0;
	char *buf, *p;

	for (const struct http_field *f = head->fields; f < end; f++) {
		if (f->value.len == 0 || !span_equal_nocase(f->name, name))
			continue;
		*ret = f->value;
		len += f->value.len + 2;
		lines++;
	}
	if (lines <= 1)
		return lines == 1;
	buf = p = scratch_room(scratch, len);
	for (const struct http_field *f = head->fields; f < end; f++) {
		if (f->value.len == 0 || !span_equal_nocase(f->name, name))
			continue;
		p = mempcpy(p, f->value.ptr, f->value.len);
		p = mempcpy(p, ", ", 2);
	}
	*ret = span_of(buf, len - 2);
	return true;
}

static bool
query_value(struct span query, struct span name, struct scratch *scratch,
    struct span *ret)
{
	return query.ptr != NULL && http_query_find(query, name,
	    scratch_room(scratch, query.len), ret);
}

/* The value of a part that is text; false: missing. */
static bool
text_value(const struct key_part *part, const struct request *req,
    struct scratch *scratch, struct span *ret)
{
	struct span s = SPAN_EMPTY;

	switch (part->source) {
	case KEY_HEADER:
		header_value(req->head, span_str(part->name), scratch, &s);
		break;
	case KEY_QUERY:
		query_value(req->query, span_str(part->name), scratch, &s);
		break;
	case KEY_COOKIE:
		http_cookie_find(req->head, span_str(part->name), &s);
		break;
	case KEY_HOST:
		s = req->host;
		break;
	case KEY_METHOD:
		s = req->method;
		break;
	case KEY_PATH:
		s = req->path;
		break;
	case KEY_ROUTE:
		if (req->route != NULL)
			s = span_str(req->route->name);
		break;
	default:
		break;
	}
	*ret = s;
	return s.len > 0;
}

bool
key_value(const struct key_spec *spec, const struct request *req,
    struct scratch *scratch, struct span *ret)
{
	char *buf;

	spec = spec_or_default(spec);
	if (spec->n != 1)
		return false;
	if (spec->parts[0].source != KEY_CLIENT_IP)
		return text_value(&spec->parts[0], req, scratch, ret);
	if (req->client.family == 0)
		return false;
	buf = scratch_room(scratch, ADDR_TEXT_MAX);
	*ret = span_of(buf, addr_print(&req->client, buf));
	return true;
}

/* ---- identities ---- */

/* A part as it was found, its value somewhere in the request or a scratch. */
struct found {
	uint64_t type, name;
	struct span value;
};

static void
put_record(const struct builder *b, const struct found *f, struct record *ret)
{
	struct hash128 h = hash_keyed(&b->rule->secret, f->value.ptr,
	    f->value.len);

	ret->type = htole64(f->type);
	ret->name = htole64(f->name);
	ret->len = htole64(f->value.len);
	ret->value.lo = htole64(h.lo);
	ret->value.hi = htole64(h.hi);
}

static bool
find_addr(const struct builder *b, uint64_t type, const struct addr *addr,
    struct scratch *scratch, struct found *ret)
{
	struct addr a = masked(addr, b->rule);
	const size_t len = a.family == 4 ? 4 : sizeof(a.bytes);

	if (a.family == 0)
		return false;
	*ret = (struct found){ .type = type, .value = span_of(
	    memcpy(scratch_room(scratch, len), a.bytes, len), len) };
	return true;
}

static enum err put_parts(const struct builder *b,
    const struct key_spec *spec, struct record *out, unsigned *ret_missing);

/* The class, and what the class counts by. */
static bool
find_caller(const struct builder *b, struct scratch *scratch,
    struct found *ret)
{
	const struct caller *caller = b->req->caller;
	struct builder inner = *b;
	struct record *records;
	const struct key_spec *spec;
	unsigned missing;
	size_t len;

	if (b->nested || caller == NULL)
		return false;
	spec = spec_or_default(&caller->key);
	inner.nested = true;
	len = (1 + spec->n) * sizeof(*records);
	records = (struct record *)(void *)scratch_room(scratch, len);
	put_record(b, &(struct found){ .type = TYPE_CLASS,
	    .value = span_str(caller->name) }, &records[0]);
	if (put_parts(&inner, spec, &records[1], &missing) != ERR_OK)
		return false;
	*ret = (struct found){ .type = KEY_CALLER,
	    .value = span_of((const char *)records, len) };
	return true;
}

static bool
find_own(const struct builder *b, const struct key_part *part,
    struct scratch *scratch, struct found *ret)
{
	switch (part->source) {
	case KEY_CALLER:
		return find_caller(b, scratch, ret);
	case KEY_CLIENT_IP:
		return find_addr(b, KEY_CLIENT_IP, &b->req->client, scratch,
		    ret);
	default:
		break;
	}
	*ret = (struct found){ .type = part->source, .name = part->name_hash,
	    .value = SPAN_EMPTY };
	/* "No route" is where a request may be, and no route is named so:
	 * names are not empty. */
	if (part->source == KEY_ALL ||
	    (part->source == KEY_ROUTE && b->req->route == NULL))
		return true;
	return text_value(part, b->req, scratch, &ret->value);
}

static bool
find_part(const struct builder *b, const struct key_part *part,
    struct scratch *scratch, struct found *ret)
{
	return find_own(b, part, scratch, ret) || (b->peer &&
	    find_addr(b, TYPE_PEER, &b->req->peer, scratch, ret));
}

static bool
put_part(const struct builder *b, const struct key_part *part,
    struct record *ret)
{
	struct scratch scratch;
	struct found found;
	bool is_there;

	scratch_init(&scratch);
	is_there = find_part(b, part, &scratch, &found);
	if (is_there)
		put_record(b, &found, ret);
	scratch_fini(&scratch);
	return is_there;
}

static enum err
put_parts(const struct builder *b, const struct key_spec *spec,
    struct record *out, unsigned *ret_missing)
{
	for (unsigned i = 0; i < spec->n; i++) {
		if (put_part(b, &spec->parts[i], &out[i]))
			continue;
		*ret_missing = i;
		return ERR_NOT_FOUND;
	}
	return ERR_OK;
}

static struct hash128
hash_short(const struct builder *b, const struct found *f)
{
	struct short_record r;

	r.type = htole64(f->type | TYPE_SHORT);
	r.name = htole64(f->name);
	r.len = htole64(f->value.len);
	memcpy(r.value, f->value.ptr, f->value.len);
	return hash_keyed(&b->rule->secret, &r,
	    offsetof(struct short_record, value) + f->value.len);
}

static enum err
build_single(const struct builder *b, const struct key_part *part,
    struct hash128 *ret, unsigned *ret_missing)
{
	struct scratch scratch;
	struct found found;
	struct record record;
	bool is_there;

	scratch_init(&scratch);
	is_there = find_part(b, part, &scratch, &found);
	if (is_there && found.value.len <= SHORT_MAX) {
		*ret = hash_short(b, &found);
	} else if (is_there) {
		put_record(b, &found, &record);
		*ret = hash_keyed(&b->rule->secret, &record, sizeof(record));
	} else {
		*ret_missing = 0;
	}
	scratch_fini(&scratch);
	return is_there ? ERR_OK : ERR_NOT_FOUND;
}

static enum err
build(const struct builder *b, const struct key_spec *spec,
    struct hash128 *ret, unsigned *ret_missing)
{
	struct record records[KEY_PARTS_MAX];
	enum err e;

	spec = spec_or_default(spec);
	if (spec->n == 1)
		return build_single(b, &spec->parts[0], ret, ret_missing);
	if ((e = put_parts(b, spec, records, ret_missing)) != ERR_OK)
		return e;
	*ret = hash_keyed(&b->rule->secret, records,
	    spec->n * sizeof(records[0]));
	return ERR_OK;
}

enum err
key_build(const struct key_spec *spec, const struct key_rule *rule,
    const struct request *req, struct hash128 *ret, unsigned *ret_missing)
{
	const struct builder b = { .rule = rule, .req = req };

	return build(&b, spec, ret, ret_missing);
}

enum err
key_build_peer(const struct key_spec *spec, const struct key_rule *rule,
    const struct request *req, struct hash128 *ret, unsigned *ret_missing)
{
	const struct builder b = { .rule = rule, .req = req, .peer = true };

	return build(&b, spec, ret, ret_missing);
}

/* ---- for people ---- */

static void
print_addr(const struct addr *addr, const struct key_rule *rule,
    struct text *out)
{
	struct addr a = masked(addr, rule);
	const unsigned bits = a.family == 4 ? rule->ipv4_bits :
	    rule->ipv6_bits;
	char buf[ADDR_TEXT_MAX];

	text_append(out, span_of(buf, addr_print(&a, buf)));
	if (bits < (a.family == 4 ? 32 : 128)) {
		text_append_char(out, '/');
		text_append_u64(out, bits);
	}
}

static void
print_value(const struct key_part *part, const struct key_rule *rule,
    const struct request *req, struct text *out)
{
	char hash[HASH_TEXT_LEN];
	struct scratch scratch;
	struct span value;

	scratch_init(&scratch);
	if (!text_value(part, req, &scratch, &value)) {
		text_append_char(out, '-');
	} else if (sources[part->source].named) {
		hash_to_text(hash_keyed(&rule->secret, value.ptr, value.len),
		    hash);
		text_append(out, SPAN("h:"));
		text_append(out, span_of(hash, PRINTED));
	} else {
		text_append(out, value);
	}
	scratch_fini(&scratch);
}

static void print_spec(const struct key_spec *spec,
    const struct key_rule *rule, const struct request *req, bool nested,
    struct text *out);

static void
print_part(const struct key_part *part, const struct key_rule *rule,
    const struct request *req, bool nested, struct text *out)
{
	if (part->source == KEY_ALL) {
		text_append(out, SPAN("all"));
	} else if (part->source == KEY_CLIENT_IP && req->client.family != 0) {
		print_addr(&req->client, rule, out);
	} else if (part->source == KEY_CALLER && req->caller != NULL &&
	    !nested) {
		text_append_str(out, req->caller->name);
		text_append_char(out, ':');
		print_spec(&req->caller->key, rule, req, true, out);
	} else {
		print_value(part, rule, req, out);
	}
}

static void
print_spec(const struct key_spec *spec, const struct key_rule *rule,
    const struct request *req, bool nested, struct text *out)
{
	spec = spec_or_default(spec);
	for (unsigned i = 0; i < spec->n; i++) {
		if (i > 0)
			text_append_char(out, '+');
		print_part(&spec->parts[i], rule, req, nested, out);
	}
}

void
key_print(const struct key_spec *spec, const struct key_rule *rule,
    const struct request *req, struct text *out)
{
	print_spec(spec, rule, req, false, out);
}

/* ---- the language ---- */

static enum err
find_source(struct span name, enum key_source *ret)
{
	for (unsigned i = 0; i < KEY_SOURCES; i++) {
		if (span_equal(name, span_str(sources[i].name))) {
			*ret = (enum key_source)i;
			return ERR_OK;
		}
	}
	return ERR_NOT_FOUND;
}

static bool
is_token(struct span s)
{
	const char *end = s.ptr + s.len;

	return s.len > 0 && http_octet_skip(s.ptr, end, OCTET_TOKEN) == end;
}

enum err
key_part_parse(struct span text, struct key_part *ret)
{
	ptrdiff_t colon = span_index(text, ':');
	struct span name = SPAN_EMPTY;
	struct key_part part = { .name = NULL };
	enum err e;

	if (colon >= 0) {
		name = span_skip(text, (size_t)colon + 1);
		text.len = (size_t)colon;
	}
	if ((e = find_source(text, &part.source)) != ERR_OK)
		return e;
	if (sources[part.source].named != (colon >= 0) ||
	    (colon >= 0 && !is_token(name)))
		return ERR_SYNTAX;
	if (colon >= 0)
		part.name = mem_strndup(name.ptr, name.len);
	if (part.source == KEY_HEADER)
		for (char *p = part.name; *p != '\0'; p++)
			if (*p >= 'A' && *p <= 'Z')
				*p |= 32;
	if (part.name != NULL)
		part.name_hash = hash_name(span_str(part.name));
	*ret = part;
	return ERR_OK;
}

void
key_part_print(const struct key_part *part, struct text *out)
{
	text_append_str(out, sources[part->source].name);
	if (part->name != NULL) {
		text_append_char(out, ':');
		text_append_str(out, part->name);
	}
}

const char *
key_source_name(enum key_source source)
{
	return sources[source].name;
}

void
key_spec_fini(struct key_spec *spec)
{
	for (unsigned i = 0; i < spec->n; i++)
		mem_free(spec->parts[i].name);
	spec->n = 0;
}

uint64_t
key_spec_hash(const struct key_spec *spec)
{
	struct text t = { .len = 0 };
	uint64_t h;

	spec = spec_or_default(spec);
	for (unsigned i = 0; i < spec->n; i++) {
		key_part_print(&spec->parts[i], &t);
		text_append_char(&t, ' ');	/* no token has one */
	}
	h = hash_name(text_span(&t));
	text_fini(&t);
	return h;
}
