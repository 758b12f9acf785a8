#include "store/shard.h"

#include "base/mem.h"

#define HOMES_MIN	64
/*
 * Slots after the last home. With 7 of 8 homes taken the last cluster outgrows
 * n slots with a probability of about exp(-n/4): here once in 10^14; then one
 * entry is evicted.
 */
#define SPILL		128
#define PAGE		4096
#define SAMPLE		16	/* candidates looked at for an eviction */
#define SAMPLE_VISITS	1024	/* slots visited for them, once one is found */
#define SWEEP_SAMPLE	64

static size_t
round_up(size_t n, size_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static size_t
table_octets(size_t homes)
{
	return round_up((homes + SPILL) * sizeof(struct slot), PAGE);
}

/* An eighth of the share is left to blocks and shapes, so that there is always
 * something to evict for one that needs room. */
static size_t
homes_within(size_t share)
{
	return (share - share / 8 - PAGE) / sizeof(struct slot) - SPILL;
}

size_t
shard_space(size_t share)
{
	return table_octets(homes_within(share));
}

/* What malloc takes for it on 64-bit machines: a word before, 16-aligned. */
size_t
shard_block_octets(size_t size)
{
	if (size <= SHARD_INLINE)
		return 0;
	return size < 24 ? 32 : round_up(size + 8, 16);
}

void
shard_init(struct shard *shard, void *space, size_t share)
{
	_Static_assert(SHARD_SHARE_MIN / 8 > SHARD_STATE_MAX + 16 +
	    sizeof(struct shape) + 16, "an empty shard holds any state");
	memset(shard, 0, sizeof(*shard));
	pthread_mutex_init(&shard->lock, NULL);
	shard->now = INT64_MIN;
	shard->slots = space;
	shard->homes = HOMES_MIN;
	shard->homes_max = homes_within(share);
	shard->bytes = table_octets(HOMES_MIN);
	shard->share = share;
}

static size_t
room_of(const struct shard *shard)
{
	return shard->homes + SPILL;
}

static size_t
home_of(const struct shard *shard, struct hash128 print)
{
	return (size_t)((unsigned __int128)print.hi * shard->homes >> 64);
}

/* The first slot from its home on that is empty or not below it. */
static size_t
first_not_below(const struct shard *shard, struct hash128 print)
{
	const size_t room = room_of(shard);
	size_t i = home_of(shard, print);

	while (i < room && shard->slots[i].shape != NULL &&
	    shard->slots[i].print.hi < print.hi)
		i++;
	return i;
}

struct slot *
shard_find(const struct shard *shard, struct hash128 print)
{
	const size_t room = room_of(shard);
	size_t i = first_not_below(shard, print);

	for (; i < room; i++) {
		struct slot *slot = &shard->slots[i];

		if (slot->shape == NULL || slot->print.hi != print.hi)
			return NULL;
		if (slot->print.lo == print.lo)
			return slot;
	}
	return NULL;
}

/* ---- shapes ---- */

static struct shape *
shape_ref(struct shard *shard, const struct algo *algo,
    const struct limits *limits)
{
	struct shape *shape = shard->shapes;

	while (shape != NULL && (shape->algo != algo ||
	    !limits_equal(&shape->limits, limits)))
		shape = shape->next;
	if (shape == NULL) {
		shape = mem_zalloc(sizeof(*shape));
		shape->algo = algo;
		shape->limits = *limits;
		shape->size = algo->size(limits);
		shape->next = shard->shapes;
		shard->shapes = shape;
		shard->bytes += shard_block_octets(sizeof(*shape));
	}
	shape->slots++;
	return shape;
}

static void
shape_unref(struct shard *shard, struct shape *shape)
{
	struct shape **link = &shard->shapes;

	if (--shape->slots > 0)
		return;
	while (*link != shape)
		link = &(*link)->next;
	*link = shape->next;
	shard->bytes -= shard_block_octets(sizeof(*shape));
	mem_free(shape);
}

/* ---- removing ---- */

/* Its memory only; the slot is neither emptied nor closed. */
static void
state_free(struct shard *shard, struct slot *slot)
{
	const size_t octets = shard_block_octets(slot->shape->size);

	if (octets > 0) {
		mem_free(slot->state.block);
		shard->blocks -= octets;
		shard->bytes -= octets;
	}
	shape_unref(shard, slot->shape);
}

/* Empty a slot, not closing the gap. */
static void
slot_drop(struct shard *shard, struct slot *slot)
{
	state_free(shard, slot);
	slot->shape = NULL;
	shard->count--;
}

/* Empty slot i and move what follows out of place one back. */
static void
slot_remove(struct shard *shard, size_t i)
{
	struct slot *slots = shard->slots;
	const size_t room = room_of(shard);
	size_t end = i + 1;

	slot_drop(shard, &slots[i]);
	while (end < room && slots[end].shape != NULL &&
	    home_of(shard, slots[end].print) < end)
		end++;
	memmove(&slots[i], &slots[i + 1], (end - i - 1) * sizeof(*slots));
	slots[end - 1].shape = NULL;
	shard->moves++;
}

static int64_t
fresh_at(struct slot *slot)
{
	const struct shape *shape = slot->shape;

	return shape->algo->fresh_at(&shape->limits, slot_state(slot));
}

void
shard_fini(struct shard *shard)
{
	for (size_t i = 0; i < room_of(shard); i++)
		if (shard->slots[i].shape != NULL)
			slot_drop(shard, &shard->slots[i]);
	pthread_mutex_destroy(&shard->lock);
}

/* ---- making room ---- */

static bool
kept(const struct keep *keep, const struct slot *slot)
{
	for (unsigned i = 0; i < keep->n; i++)
		if (hash_equal(keep->prints[i], slot->print))
			return true;
	return false;
}

/* The next slot to look at. */
static struct slot *
hand_next(struct shard *shard)
{
	shard->hand = shard->hand + 1 < room_of(shard) ? shard->hand + 1 : 0;
	return &shard->slots[shard->hand];
}

/*
 * Drop the first fresh entry of a sample, else the one that is fresh soonest:
 * the idle and little used leave first, the exhausted last. blocks: only those
 * that have one. False: there is none beside those kept.
 */
static bool
evict(struct shard *shard, bool blocks, const struct keep *keep)
{
	const size_t room = room_of(shard);
	unsigned seen = 0;
	size_t best = room;
	int64_t best_at = INT64_MAX;

	for (size_t visits = 0; visits < room && seen < SAMPLE &&
	    best_at > shard->now; visits++) {
		struct slot *slot;
		int64_t at;

		if (seen > 0 && visits >= SAMPLE_VISITS)
			break;
		slot = hand_next(shard);
		if (slot->shape == NULL || kept(keep, slot) ||
		    (blocks && slot->shape->size <= SHARD_INLINE))
			continue;
		at = fresh_at(slot);
		if (seen++ == 0 || at < best_at) {
			best = shard->hand;
			best_at = at;
		}
	}
	if (best == room)
		return false;
	if (best_at > shard->now)
		shard->evictions++;
	slot_remove(shard, best);
	return true;
}

/* The question's own entries leave only when they alone fill the shard. */
static bool
evict_any(struct shard *shard, bool blocks, const struct keep *keep)
{
	static const struct keep none = { NULL, 0 };

	return evict(shard, blocks, keep) || evict(shard, blocks, &none);
}

/* Room for `need` octets beside the table. An empty shard has it for any
 * state, as the table leaves an eighth of the share. */
static void
make_room(struct shard *shard, size_t need, const struct keep *keep)
{
	while (shard->bytes + need > shard->share &&
	    evict_any(shard, shard->blocks > 0, keep))
		;
}

/*
 * Put all slots from `from` on, which stand in order, where they belong, and
 * leave out the fresh ones. No slot goes to a later place than it has. After
 * grow has packed them at the end, that means: none is pushed out of the spill
 * by those before it. An entry and the k after it fit when k is below its
 * home's distance from the last home plus the spill; they did fit, and growth
 * only makes that distance greater.
 */
static void
settle(struct shard *shard, size_t from)
{
	struct slot *slots = shard->slots;
	size_t next = 0;

	for (size_t i = from; i < room_of(shard); i++) {
		size_t at;

		if (slots[i].shape == NULL)
			continue;
		at = home_of(shard, slots[i].print);
		at = at > next ? at : next;
		if (fresh_at(&slots[i]) <= shard->now) {
			slot_drop(shard, &slots[i]);
			continue;
		}
		if (at < i) {
			slots[at] = slots[i];
			slots[i].shape = NULL;
		}
		next = at + 1;
	}
	shard->moves++;
}

static void
grow(struct shard *shard, size_t homes)
{
	struct slot *slots = shard->slots;
	size_t from = homes + SPILL;

	/* Pack them at the far end, from where each moves forward again. */
	for (size_t i = room_of(shard); i-- > 0;) {
		if (slots[i].shape == NULL)
			continue;
		from--;
		slots[from] = slots[i];
		if (from != i)
			slots[i].shape = NULL;
	}
	shard->bytes += table_octets(homes) - table_octets(shard->homes);
	shard->homes = homes;
	settle(shard, from);
}

/* Are a quarter of the entries fresh, by a sample? */
static bool
many_fresh(struct shard *shard)
{
	const size_t room = room_of(shard);
	unsigned seen = 0, fresh = 0;

	for (size_t i = 0; i < room && seen < SWEEP_SAMPLE; i++) {
		struct slot *slot = hand_next(shard);

		if (slot->shape == NULL)
			continue;
		seen++;
		fresh += fresh_at(slot) <= shard->now;
	}
	return fresh > 0 && fresh >= seen / 4;
}

/* Greatest count: 7 of 8 homes. */
static size_t
count_max(const struct shard *shard)
{
	return shard->homes - shard->homes / 8;
}

/* The next size, a quarter more, or the present one if there is no room. At
 * 7/8 after and 7/10 before, a slot of 40 octets costs 46 to 58. */
static size_t
homes_next(const struct shard *shard)
{
	size_t homes = shard->homes + shard->homes / 4;

	if (homes < shard->homes + HOMES_MIN)
		homes = shard->homes + HOMES_MIN;
	if (homes > shard->homes_max)
		homes = shard->homes_max;
	if (shard->bytes + table_octets(homes) - table_octets(shard->homes) >
	    shard->share)
		return shard->homes;
	return homes;
}

/* Room for one slot more. */
static void
make_slot(struct shard *shard, const struct keep *keep)
{
	const size_t next = homes_next(shard), max = count_max(shard);

	if (shard->count < max)
		return;
	if (next > shard->homes) {
		if (many_fresh(shard))
			settle(shard, 0);
		/* Not worth the while if the sweep gave little. */
		if (shard->count > max - max / 8)
			grow(shard, next);
	}
	while (shard->count >= count_max(shard) &&
	    evict_any(shard, false, keep))
		;
}

/* ---- adding ---- */

/* Open a gap where the fingerprint belongs. */
static struct slot *
slot_open(struct shard *shard, struct hash128 print)
{
	struct slot *slots = shard->slots;
	const size_t room = room_of(shard);
	size_t at = first_not_below(shard, print), end = at;

	while (end < room && slots[end].shape != NULL)
		end++;
	if (end == room) {		/* the spill is full */
		end = room - 1;
		slot_drop(shard, &slots[end]);
		shard->evictions++;
		at = at < end ? at : end;
	}
	memmove(&slots[at + 1], &slots[at], (end - at) * sizeof(*slots));
	shard->count++;
	shard->moves++;
	return &slots[at];
}

int64_t *
shard_put(struct shard *shard, struct hash128 print, const struct algo *algo,
    const struct limits *limits, const struct keep *keep)
{
	const size_t size = algo->size(limits);
	const size_t octets = shard_block_octets(size);
	struct shape *shape;
	struct slot *slot;

	/* What leaves, leaves near what comes: as good as at random, the slots
	 * are in the cache, and the table stays evenly filled. */
	shard->hand = home_of(shard, print);
	make_room(shard, octets + shard_block_octets(sizeof(*shape)), keep);
	shape = shape_ref(shard, algo, limits);
	shard->bytes += octets;
	shard->blocks += octets;
	slot = shard_find(shard, print);
	if (slot != NULL) {
		state_free(shard, slot);
	} else {
		make_slot(shard, keep);
		slot = slot_open(shard, print);
	}
	slot->print = print;
	slot->shape = shape;
	if (octets > 0)
		slot->state.block = mem_zalloc(size);
	else
		memset(slot->state.here, 0, sizeof(slot->state.here));
	return slot_state(slot);
}
