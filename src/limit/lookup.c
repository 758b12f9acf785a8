#include "limit/rules.h"

#include "base/mem.h"

#define SHA_LEN 32

struct entry {
	unsigned char sha256[SHA_LEN];
	const struct plan *plan;
	int64_t until;
	bool used;
};

/* Open addressing, at most three quarters full. */
struct lookup {
	char *name;
	struct entry *entries;
	size_t cap;			/* a power of 2 */
	size_t count;
};

struct lookup *
lookup_new(const char *name)
{
	struct lookup *lookup = mem_zalloc(sizeof(*lookup));

	lookup->name = mem_strdup(name);
	lookup->cap = 16;
	lookup->entries = mem_zalloc(lookup->cap * sizeof(struct entry));
	return lookup;
}

void
lookup_free(struct lookup *lookup)
{
	if (lookup == NULL)
		return;
	mem_free(lookup->entries);
	mem_free(lookup->name);
	mem_free(lookup);
}

const char *
lookup_name(const struct lookup *lookup)
{
	return lookup->name;
}

size_t
lookup_count(const struct lookup *lookup)
{
	return lookup->count;
}

/* Where it is, or the free place where it would go. */
static struct entry *
find(const struct lookup *lookup, const unsigned char *sha256)
{
	uint64_t at;

	/* The sum is a hash already: any octets of it spread evenly. */
	memcpy(&at, sha256, sizeof(at));
	for (;; at++) {
		struct entry *e = &lookup->entries[at & (lookup->cap - 1)];

		if (!e->used || memcmp(e->sha256, sha256, SHA_LEN) == 0)
			return e;
	}
}

static void
grow(struct lookup *lookup)
{
	struct entry *old = lookup->entries;
	size_t n = lookup->cap;

	lookup->cap *= 2;
	lookup->entries = mem_zalloc(lookup->cap * sizeof(struct entry));
	for (size_t i = 0; i < n; i++)
		if (old[i].used)
			*find(lookup, old[i].sha256) = old[i];
	mem_free(old);
}

enum err
lookup_add(struct lookup *lookup, const unsigned char sha256[32],
    const struct plan *plan, int64_t until)
{
	struct entry *e = find(lookup, sha256);

	if (e->used)
		return ERR_AMBIGUOUS;
	memcpy(e->sha256, sha256, SHA_LEN);
	e->plan = plan;
	e->until = until;
	e->used = true;
	if (++lookup->count > lookup->cap / 4 * 3)
		grow(lookup);
	return ERR_OK;
}

bool
lookup_find(const struct lookup *lookup, struct span key, int64_t now,
    const struct plan **ret_plan)
{
	unsigned char sha256[SHA_LEN];
	const struct entry *e;

	hash_sha256(key, sha256);
	e = find(lookup, sha256);
	if (!e->used || now > e->until)
		return false;
	*ret_plan = e->plan;
	return true;
}
