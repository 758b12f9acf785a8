#include "store/remember.h"

#include "base/mem.h"

#define SETS	1024u
#define WAYS	4u

struct entry {
	uint64_t tag;
	struct hash128 identity;
	const struct limits *limits;	/* compared, never followed */
	int64_t cost;
	int64_t until;			/* 0: free */
	int64_t told_at;		/* what the verdicts' times count from */
	int64_t store_now;		/* the store's clock at that time */
	struct verdict verdicts[RATES_MAX];
};

struct remember {
	unsigned epoch;
	/* Moments after this one need no look: nothing is remembered. */
	int64_t latest;
	struct entry sets[SETS][WAYS];
};

struct remember *
remember_new(void)
{
	return mem_zalloc(sizeof(struct remember));
}

void
remember_free(struct remember *r)
{
	mem_free(r);
}

void
remember_drop(struct remember *r)
{
	r->epoch++;
	if (r->latest == 0)
		return;			/* spare the untouched pages */
	memset(r->sets, 0, sizeof(r->sets));
	r->latest = 0;
}

unsigned
remember_epoch(const struct remember *r)
{
	return r->epoch;
}

/* Identities are keyed hashes: no caller can aim at a set. */
static struct entry *
set_of(struct remember *r, const struct row *row)
{
	return r->sets[(row->identity.lo ^ row->policy->tag) % SETS];
}

static bool
same_place(const struct entry *e, const struct row *row)
{
	return hash_equal(e->identity, row->identity) &&
	    e->tag == row->policy->tag && e->limits == row->limits;
}

/* Does the wait for a greater cost follow from that of a smaller one? */
static bool
wait_follows(const struct row *row)
{
	return row->limits->n == 1 &&
	    (row->policy->algorithm == ALGO_TOKEN_BUCKET ||
	    row->policy->algorithm == ALGO_FIXED_WINDOW);
}

static struct entry *
find(struct remember *r, const struct row *row, int64_t now)
{
	struct entry *set = set_of(r, row);
	struct entry *found = NULL;

	for (unsigned i = 0; i < WAYS; i++) {
		struct entry *e = &set[i];

		if (e->until <= now || e->cost > row->cost ||
		    !same_place(e, row))
			continue;
		if (e->cost == row->cost)
			return e;
		if (wait_follows(row))
			found = e;
	}
	return found;
}

/* The entry of equal cost, else a free one, else the one that ends first. */
static struct entry *
place_for(struct remember *r, const struct row *row)
{
	struct entry *set = set_of(r, row);
	struct entry *first = &set[0];

	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].cost == row->cost && same_place(&set[i], row))
			return &set[i];
		if (set[i].until < first->until)
			first = &set[i];
	}
	return first;
}

static int64_t
longest_wait(const struct row *row)
{
	int64_t wait = 0;

	for (unsigned i = 0; i < row->limits->n; i++)
		if (!row->verdicts[i].passed && row->verdicts[i].pass_in > wait)
			wait = row->verdicts[i].pass_in;
	return wait;
}

static void
put_row(struct remember *r, const struct question *q, const struct row *row,
    int64_t asked_at, int64_t now)
{
	int64_t wait = longest_wait(row);
	int64_t until = asked_at + (wait < REMEMBER_MAX ? wait : REMEMBER_MAX);
	struct entry *e;

	if (until <= now)
		return;
	e = place_for(r, row);
	e->tag = row->policy->tag;
	e->identity = row->identity;
	e->limits = row->limits;
	e->cost = row->cost;
	e->until = until;
	e->told_at = now;
	e->store_now = q->now;
	memcpy(e->verdicts, row->verdicts, sizeof(e->verdicts));
	if (until > r->latest)
		r->latest = until;
}

void
remember_put(struct remember *r, const struct question *q,
    unsigned epoch, int64_t asked_at, int64_t now)
{
	if (epoch != r->epoch)
		return;
	for (unsigned i = 0; i < q->nrows; i++)
		if (q->rows[i].enforcing && !q->rows[i].passed)
			put_row(r, q, &q->rows[i], asked_at, now);
}

/* How much longer than the entry's cost the row's cost takes to come back; at
 * most one tick too long. Products stay below 2^52: rate_prepare. */
static int64_t
extra_wait(const struct entry *e, const struct row *row)
{
	const struct rate *rate = &row->limits->rate[0];
	int64_t cost = row->cost < rate->burst ? row->cost : rate->burst;

	if (row->policy->algorithm != ALGO_TOKEN_BUCKET || cost <= e->cost)
		return 0;		/* all comes back at once, or no more */
	return ((cost - e->cost) * rate->unit + rate->gain - 1) / rate->gain *
	    rate->tick_us;
}

static int64_t
less(int64_t us, int64_t elapsed)
{
	return us > elapsed ? us - elapsed : 0;
}

static void
fill_row(const struct entry *e, struct row *row, int64_t now)
{
	int64_t elapsed = now > e->told_at ? now - e->told_at : 0;
	int64_t extra = extra_wait(e, row);

	row->passed = false;
	for (unsigned i = 0; i < row->limits->n; i++) {
		struct verdict *v = &row->verdicts[i];

		*v = e->verdicts[i];
		v->reset_in = less(v->reset_in + extra, elapsed);
		if (v->passed)
			continue;
		v->pass_in = less(v->pass_in + extra, elapsed);
		/* A shorter rate of a list may pass again before its row. */
		v->passed = v->pass_in == 0;
	}
}

/* The first of the live entries that concern the question, or NULL. */
static const struct entry *
known_denial(struct remember *r, const struct question *q, int64_t now)
{
	const struct entry *known = NULL;

	for (unsigned i = 0; i < q->nrows && known == NULL; i++)
		if (q->rows[i].enforcing)
			known = find(r, &q->rows[i], now);
	return known;
}

bool
remember_find(struct remember *r, struct question *q, int64_t now)
{
	const struct entry *known;

	if (now >= r->latest)
		return false;
	known = known_denial(r, q, now);
	if (known == NULL)
		return false;
	for (unsigned i = 0; i < q->nrows; i++) {
		struct row *row = &q->rows[i];
		const struct entry *e = row->enforcing ?
		    find(r, row, now) : NULL;

		row->passed = e == NULL;
		if (e != NULL)
			fill_row(e, row, now);
	}
	q->result = STORE_DECIDED;
	q->source = SOURCE_REMEMBERED;
	q->now = known->store_now +
	    (now > known->told_at ? now - known->told_at : 0);
	return true;
}
