#include "store/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "store/shard.h"

/*
 * Growing a shard halts those who ask it, so its size is bounded: a shard for
 * each MiB, which is 20,000 keys and a third of a millisecond. Above 4 GiB
 * shards become larger instead.
 */
#define SHARD_OCTETS	1048576
#define SHARDS_MIN	4
#define SHARDS_MAX	4096
#define PAGE		4096
#define BYTES_MIN	1048576

struct memory {
	struct store store;
	size_t bytes;
	size_t nshards;
	struct shard *shards;
	/* One mapping: the shards, and address space for each one's table. The
	 * pages appear as tables grow, which need not be copied therefore. */
	char *map;
	size_t map_octets;
	/* SHARD_STATE_MAX zeroes nobody can write: what an unseen key has. */
	void *unseen;
};

#define ROWS_INLINE	16	/* rows decided without allocation */

/* Where the state of one row lives. */
struct place {
	struct shard *shard;
	struct slot *slot;	/* NULL: unseen */
	uint64_t moves;		/* the shard's when slot was found */
};

/* One question while its shards are locked. */
struct step {
	const struct memory *memory;
	struct question *question;
	int64_t now;

	struct hash128 *prints;
	struct place *places;
	struct shard **locked;		/* distinct, ascending */
	unsigned nlocked;

	struct hash128 prints_inline[ROWS_INLINE];
	struct place places_inline[ROWS_INLINE];
	struct shard *locked_inline[ROWS_INLINE];
};

static const struct memory *
memory_of(const struct store *store)
{
	return (const struct memory *)(const void *)store;
}

/* ---- the shards of a question ---- */

/* A bijection in which each bit depends on all (the finish of SplitMix64). */
static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* An identity is as good as random; two policies move it to places that have
 * nothing to do with each other. */
static struct hash128
print_of(const struct row *row)
{
	const uint64_t tag = mix(row->policy->tag);

	return (struct hash128){ row->identity.lo ^ tag,
	    row->identity.hi ^ mix(tag) };
}

/* By lo, as the place within the shard is by hi. */
static struct shard *
shard_of(const struct memory *memory, struct hash128 print)
{
	return &memory->shards[(unsigned __int128)print.lo *
	    memory->nshards >> 64];
}

/* Add to the list of locks, in order, once. */
static void
lock_add(struct step *step, struct shard *shard)
{
	unsigned i = step->nlocked;

	while (i > 0 && step->locked[i - 1] > shard)
		i--;
	if (i > 0 && step->locked[i - 1] == shard)
		return;
	memmove(&step->locked[i + 1], &step->locked[i],
	    (step->nlocked - i) * sizeof(struct shard *));
	step->locked[i] = shard;
	step->nlocked++;
}

static void
step_reserve(struct step *step, unsigned n)
{
	step->prints = step->prints_inline;
	step->places = step->places_inline;
	step->locked = step->locked_inline;
	if (n > ROWS_INLINE) {
		step->prints = mem_alloc(n * sizeof(struct hash128));
		step->places = mem_alloc(n * sizeof(struct place));
		step->locked = mem_alloc(n * sizeof(struct shard *));
	}
}

/* All in one order, so two questions never wait for each other. */
static void
step_begin(struct step *step, const struct memory *memory,
    struct question *question, int64_t now)
{
	step->memory = memory;
	step->question = question;
	step->nlocked = 0;
	step_reserve(step, question->nrows);
	for (unsigned i = 0; i < question->nrows; i++) {
		step->prints[i] = print_of(&question->rows[i]);
		step->places[i].shard = shard_of(memory, step->prints[i]);
		lock_add(step, step->places[i].shard);
	}
	for (unsigned i = 0; i < step->nlocked; i++) {
		pthread_mutex_lock(&step->locked[i]->lock);
		if (step->locked[i]->now > now)
			now = step->locked[i]->now;
	}
	for (unsigned i = 0; i < step->nlocked; i++)
		step->locked[i]->now = now;
	step->now = now;
}

static void
step_end(struct step *step)
{
	for (unsigned i = step->nlocked; i-- > 0;)
		pthread_mutex_unlock(&step->locked[i]->lock);
	if (step->prints != step->prints_inline) {
		mem_free(step->prints);
		mem_free(step->places);
		mem_free(step->locked);
	}
}

/* The slot of row i, looked up again if it may have moved. */
static struct slot *
step_slot(struct step *step, unsigned i)
{
	struct place *place = &step->places[i];

	if (place->moves != place->shard->moves) {
		place->slot = shard_find(place->shard, step->prints[i]);
		place->moves = place->shard->moves;
	}
	return place->slot;
}

/* ---- judging ---- */

static const struct algo *
row_algo(const struct row *row)
{
	return algo_get(row->policy->algorithm);
}

static struct algo_ask
row_ask(const struct row *row, int64_t now)
{
	return (struct algo_ask){ .now = now, .cost = row->cost,
	    .align_first = row->policy->align_first };
}

/*
 * The state of a slot as one of the row's limits, owned by the caller. slot:
 * NULL for unseen. Allocates: only for what is rare, numbers that have changed
 * and rows that share a key.
 */
static void *
state_for(struct slot *slot, const struct row *row)
{
	const struct algo *algo = row_algo(row);
	void *state = mem_zalloc(algo->size(row->limits));

	if (slot == NULL || slot->shape->algo != algo)
		return state;
	if (slot_fits(slot, algo, row->limits))
		memcpy(state, slot_state(slot), slot->shape->size);
	else
		algo->convert(&slot->shape->limits, slot_state(slot),
		    row->limits, state);
	return state;
}

static bool
same_key(const struct step *step, unsigned i, unsigned j)
{
	return hash_equal(step->prints[i], step->prints[j]);
}

/*
 * Judge a row whose key others before it have too: by the state that they
 * leave behind if all is spent.
 */
static void
judge_twin(struct step *step, unsigned last)
{
	struct row *rows = step->question->rows;
	const struct algo *algo = row_algo(&rows[last]);
	const struct limits *was = rows[last].limits;
	void *state = state_for(step_slot(step, last), &rows[last]);

	for (unsigned i = 0; i <= last; i++) {
		struct algo_ask ask = row_ask(&rows[i], step->now);

		if (!same_key(step, i, last) || (i < last && !rows[i].passed))
			continue;
		if (!limits_equal(was, rows[i].limits)) {
			void *next = mem_zalloc(algo->size(rows[i].limits));

			algo->convert(was, state, rows[i].limits, next);
			mem_free(state);
			state = next;
			was = rows[i].limits;
		}
		if (i < last)
			algo->spend(was, state, &ask);
		else
			rows[i].passed = algo->peek(was, state, &ask,
			    rows[i].verdicts);
	}
	mem_free(state);
}

static bool
has_twin(const struct step *step, unsigned last)
{
	for (unsigned i = 0; i < last; i++)
		if (same_key(step, i, last))
			return true;
	return false;
}

static void
judge_row(struct step *step, unsigned i)
{
	struct row *row = &step->question->rows[i];
	struct place *place = &step->places[i];
	const struct algo *algo = row_algo(row);
	const struct algo_ask ask = row_ask(row, step->now);
	struct slot *slot = shard_find(place->shard, step->prints[i]);
	void *state = step->memory->unseen;
	void *made = NULL;

	place->slot = slot;
	place->moves = place->shard->moves;
	if (has_twin(step, i)) {
		judge_twin(step, i);
		return;
	}
	if (slot != NULL && slot_fits(slot, algo, row->limits))
		state = slot_state(slot);
	else if (slot != NULL)
		state = made = state_for(slot, row);
	row->passed = algo->peek(row->limits, state, &ask, row->verdicts);
	mem_free(made);
}

/* Another row denies: a row that would have passed tells what is there, as
 * nothing is spent. */
static void
tell_unspent(struct step *step, unsigned i)
{
	struct row *row = &step->question->rows[i];
	const struct algo *algo = row_algo(row);
	struct algo_ask ask = row_ask(row, step->now);
	struct slot *slot = step_slot(step, i);
	void *state = step->memory->unseen;
	void *made = NULL;

	ask.cost = 0;
	if (slot != NULL && slot_fits(slot, algo, row->limits))
		state = slot_state(slot);
	else if (slot != NULL)
		state = made = state_for(slot, row);
	algo->peek(row->limits, state, &ask, row->verdicts);
	mem_free(made);
}

/* Do all enforcing rows pass? */
static bool
judge(struct step *step)
{
	bool passes = true;

	for (unsigned i = 0; i < step->question->nrows; i++) {
		const struct row *row = &step->question->rows[i];

		judge_row(step, i);
		if (row->enforcing && !row->passed)
			passes = false;
	}
	for (unsigned i = 0; !passes && i < step->question->nrows; i++)
		if (step->question->rows[i].passed)
			tell_unspent(step, i);
	return passes;
}

/* ---- spending ---- */

static void
spend_row(struct step *step, unsigned i)
{
	const struct row *row = &step->question->rows[i];
	const struct algo *algo = row_algo(row);
	const struct algo_ask ask = row_ask(row, step->now);
	const struct keep keep = { step->prints, step->question->nrows };
	struct slot *slot = step_slot(step, i);
	int64_t *state;
	void *made = NULL;

	if (slot != NULL && slot_fits(slot, algo, row->limits)) {
		algo->spend(row->limits, slot_state(slot), &ask);
		return;
	}
	if (slot != NULL)
		made = state_for(slot, row);
	state = shard_put(step->places[i].shard, step->prints[i], algo,
	    row->limits, &keep);
	if (made != NULL)
		memcpy(state, made, algo->size(row->limits));
	mem_free(made);
	algo->spend(row->limits, state, &ask);
}

static void
spend(struct step *step)
{
	for (unsigned i = 0; i < step->question->nrows; i++)
		if (step->question->rows[i].passed)
			spend_row(step, i);
}

static enum answer
decide(const struct store *store, struct question *question, int64_t now,
    bool spending)
{
	struct step step;

	step_begin(&step, memory_of(store), question, now);
	if (judge(&step) && spending)
		spend(&step);
	step_end(&step);
	question->result = STORE_DECIDED;
	question->source = SOURCE_MEMORY;
	question->now = step.now;
	return ANSWER_NOW;
}

/* ---- the store ---- */

static enum answer
memory_take(struct store *store, struct question *question, int64_t now)
{
	return decide(store, question, now, true);
}

static enum answer
memory_peek(struct store *store, struct question *question, int64_t now)
{
	return decide(store, question, now, false);
}

/* No question is ever pending. */
static void
memory_cancel(struct store *store, struct question *question)
{
	(void)store;
	(void)question;
}

/* Numbers are compared by value at each decision, nothing rests on old ones. */
static void
memory_reloaded(struct store *store)
{
	(void)store;
}

static void
memory_free(struct store *store)
{
	struct memory *memory = (struct memory *)(void *)store;

	for (size_t i = 0; i < memory->nshards; i++)
		shard_fini(&memory->shards[i]);
	munmap(memory->map, memory->map_octets);
	munmap(memory->unseen, SHARD_STATE_MAX);
	mem_free(memory);
}

static const struct store_ops memory_ops = {
	.name = "memory",
	.take = memory_take,
	.cancel = memory_cancel,
	.reloaded = memory_reloaded,
	.peek = memory_peek,
	.free = memory_free,
};

/* Zeroes that take no memory until written. A refusal ends the process, as
 * one of mem_alloc does. */
static void *
map_zeroes(size_t octets, int protection)
{
	void *map = mmap(NULL, octets, protection,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED) {
		fprintf(stderr, "weir: out of memory (%zu octets)\n", octets);
		abort();
	}
	/* Huge pages would be resident long before they are counted. Not all
	 * kernels have them, so a refusal is no fault. */
	(void)madvise(map, octets, MADV_NOHUGEPAGE);
	return map;
}

static size_t
shards_for(size_t bytes)
{
	const size_t n = bytes / SHARD_OCTETS;

	return n < SHARDS_MIN ? SHARDS_MIN : n > SHARDS_MAX ? SHARDS_MAX : n;
}

static size_t
header_octets(size_t nshards)
{
	return (nshards * sizeof(struct shard) + PAGE - 1) / PAGE * PAGE;
}

size_t
memory_store_min_bytes(void)
{
	return BYTES_MIN;
}

struct store *
memory_store_new(size_t bytes)
{
	struct memory *memory = mem_zalloc(sizeof(*memory));
	const size_t n = shards_for(bytes);
	/* A page for this record. */
	const size_t share = (bytes - header_octets(n) - PAGE) / n;
	const size_t space = shard_space(share);

	_Static_assert(SHARDS_MIN * SHARD_SHARE_MIN + 2 * PAGE <= BYTES_MIN,
	    "the least store has room for its shards");
	memory->store.ops = &memory_ops;
	memory->bytes = bytes;
	memory->nshards = n;
	memory->map_octets = header_octets(n) + n * space;
	memory->map = map_zeroes(memory->map_octets, PROT_READ | PROT_WRITE);
	memory->unseen = map_zeroes(SHARD_STATE_MAX, PROT_READ);
	memory->shards = (struct shard *)(void *)memory->map;
	for (size_t i = 0; i < n; i++)
		shard_init(&memory->shards[i],
		    memory->map + header_octets(n) + i * space, share);
	return &memory->store;
}

size_t
memory_store_key_bytes(size_t state_octets)
{
	return 64 + shard_block_octets(state_octets);
}

size_t
memory_store_limit(const struct store *store)
{
	return memory_of(store)->bytes;
}

/* Each shard as it is when its turn comes. */
struct sums {
	size_t bytes, keys;
	int64_t evictions;
};

static struct sums
sum_up(const struct memory *memory)
{
	struct sums sums = { header_octets(memory->nshards) + PAGE, 0, 0 };

	for (size_t i = 0; i < memory->nshards; i++) {
		struct shard *shard = &memory->shards[i];

		pthread_mutex_lock(&shard->lock);
		sums.bytes += shard->bytes;
		sums.keys += shard->count;
		sums.evictions += shard->evictions;
		pthread_mutex_unlock(&shard->lock);
	}
	return sums;
}

size_t
memory_store_bytes(const struct store *store)
{
	return sum_up(memory_of(store)).bytes;
}

size_t
memory_store_keys(const struct store *store)
{
	return sum_up(memory_of(store)).keys;
}

int64_t
memory_store_evictions(const struct store *store)
{
	return sum_up(memory_of(store)).evictions;
}
