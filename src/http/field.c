#include "http/field.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static const struct span names[FIELD_COUNT] = {
	[FIELD_OTHER] = { "", 0 },
	[FIELD_ALIAS] = { "", 0 },
#define FIELD(id, name, flags) [FIELD_##id] = { name, sizeof(name) - 1 },
#include "http/field.def"
#undef FIELD
};

const uint8_t http_field_flag_table[FIELD_COUNT] = {
	[FIELD_OTHER] = 0,
	[FIELD_ALIAS] = FIELD_HOP,
#define FIELD(id, name, flags) [FIELD_##id] = (flags),
#include "http/field.def"
#undef FIELD
};

/*
 * One octet of hash a name, computed by the compiler, 16 compared at a time:
 * no table to build, and a new row needs nothing else. Collisions only cost a
 * comparison.
 */
#define HASH(len, first, last) \
	((uint8_t)((len) * 7 + ((first) | 32) * 3 + ((last) | 32)))
#define BLOCK 16

static const uint8_t hashes[(FIELD_COUNT + BLOCK - 1) / BLOCK * BLOCK] = {
#define FIELD(id, name, flags) \
	[FIELD_##id] = HASH(sizeof(name) - 1, (name)[0], \
	    (name)[sizeof(name) - 2]),
#include "http/field.def"
#undef FIELD
};

/* Bit i: row `from` + i of this block has the hash. */
static inline unsigned
block_match(unsigned from, uint8_t hash)
{
#ifdef __SSE2__
	__m128i rows = _mm_loadu_si128((const void *)(hashes + from));

	return (unsigned)_mm_movemask_epi8(
	    _mm_cmpeq_epi8(rows, _mm_set1_epi8((char)hash)));
#else
	unsigned mask = 0;

	for (unsigned i = 0; i < BLOCK; i++)
		mask |= (unsigned)(hashes[from + i] == hash) << i;
	return mask;
#endif
}

static inline unsigned char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 32) :
	    (unsigned char)c;
}

/* Is name that row's, with or without underscores for hyphens? */
static bool
same_name(struct span name, struct span row, bool *ret_alias)
{
	bool alias = false;

	*ret_alias = false;
	if (memcmp(name.ptr, row.ptr, row.len) == 0)
		return true;
	for (size_t i = 0; i < row.len; i++) {
		if (lower(name.ptr[i]) == lower(row.ptr[i]))
			continue;
		if (name.ptr[i] != '_' || row.ptr[i] != '-')
			return false;
		alias = true;
	}
	*ret_alias = alias;
	return true;
}

static enum http_field_id
alias_of(enum http_field_id id)
{
	unsigned matters = FIELD_HOP | FIELD_FRAMING | FIELD_PEER |
	    FIELD_PROTECTED;

	return http_field_flags(id) & matters ? FIELD_ALIAS : FIELD_OTHER;
}

enum http_field_id
http_field_lookup(struct span name)
{
	uint8_t hash;
	unsigned mask;

	if (name.len == 0)
		return FIELD_OTHER;
	hash = HASH(name.len, name.ptr[0], name.ptr[name.len - 1]);
	for (unsigned from = 0; from < FIELD_COUNT; from += BLOCK) {
		for (mask = block_match(from, hash); mask; mask &= mask - 1) {
			unsigned id = from + (unsigned)__builtin_ctz(mask);
			bool alias;

			if (id >= FIELD_COUNT || names[id].len != name.len ||
			    !same_name(name, names[id], &alias))
				continue;
			return alias ? alias_of(id) : id;
		}
	}
	return FIELD_OTHER;
}

struct span
http_field_name(enum http_field_id id)
{
	return names[id];
}
