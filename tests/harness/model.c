#include "harness/model.h"

#include "base/mem.h"

void
model_init(struct model *m)
{
	*m = (struct model){ .repairs = 0 };
}

void
model_fini(struct model *m)
{
	for (unsigned i = 0; i < MODEL_ROWS; i++)
		mem_free(m->places[i].state);
}

static void *
load(const struct model_place *place, const struct algo *algo,
    const struct limits *is)
{
	void *state;

	if (place->state != NULL && limits_equal(&place->limits, is))
		return mem_dup(place->state, algo->size(is));
	state = mem_zalloc(algo->size(is));
	if (place->state != NULL)
		algo->convert(&place->limits, place->state, is, state);
	return state;
}

/* Takes state. */
static void
keep(struct model_place *place, const struct limits *limits, void *state)
{
	mem_free(place->state);
	place->state = state;
	place->limits = *limits;
}

static void
finish(struct model *m, unsigned i, struct row *row, void *state,
    struct algo_ask ask, bool allowed, bool repaired, bool spend)
{
	const struct algo *algo = algo_get(row->policy->algorithm);
	bool spent = allowed && row->passed;

	if (spend && spent)
		algo->spend(row->limits, state, &ask);
	if (row->passed && !spent) {
		ask.cost = 0;
		algo->peek(row->limits, state, &ask, row->verdicts);
	}
	if (spend && (spent || repaired))
		keep(&m->places[i], row->limits, state);
	else
		mem_free(state);
	m->repairs += spend && repaired;
}

void
model_decide(struct model *m, struct question *q, int64_t now, bool spend)
{
	void *states[MODEL_ROWS];
	bool repaired[MODEL_ROWS], allowed = true;
	struct algo_ask ask = { .now = now };

	m->repairs = 0;
	for (unsigned i = 0; i < q->nrows; i++) {
		struct row *row = &q->rows[i];
		const struct algo *algo = algo_get(row->policy->algorithm);
		size_t size = algo->size(row->limits);
		void *before;

		states[i] = load(&m->places[i], algo, row->limits);
		before = mem_dup(states[i], size);
		ask.cost = row->cost;
		ask.align_first = row->policy->align_first;
		row->passed = algo->peek(row->limits, states[i], &ask,
		    row->verdicts);
		repaired[i] = memcmp(before, states[i], size) != 0;
		mem_free(before);
		allowed = allowed && (row->passed || !row->enforcing);
	}
	for (unsigned i = 0; i < q->nrows; i++) {
		ask.cost = q->rows[i].cost;
		ask.align_first = q->rows[i].policy->align_first;
		finish(m, i, &q->rows[i], states[i], ask, allowed, repaired[i],
		    spend);
	}
}

int64_t
model_fresh_at(const struct model *m, unsigned place, enum algo_kind kind)
{
	const struct model_place *p = &m->places[place];

	return p->state == NULL ? 0 :
	    algo_get(kind)->fresh_at(&p->limits, p->state);
}
