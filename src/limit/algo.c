#include "limit/algo.h"

#define ALGO(id, name) extern const struct algo algo_##id;
#include "limit/algo.def"
#undef ALGO

static const struct algo *const algos[] = {
#define ALGO(id, name) &algo_##id,
#include "limit/algo.def"
#undef ALGO
};

const struct algo *
algo_get(enum algo_kind kind)
{
	return algos[kind];
}

enum err
algo_by_name(struct span name, enum algo_kind *ret)
{
	for (unsigned i = 0; i < ALGO_COUNT; i++) {
		if (span_equal(name, span_str(algos[i]->name))) {
			*ret = (enum algo_kind)i;
			return ERR_OK;
		}
	}
	return ERR_NOT_FOUND;
}

int64_t
algo_capacity(enum algo_kind kind, const struct rate *rate)
{
	return kind == ALGO_TOKEN_BUCKET ? rate->burst : rate->count;
}

bool
limits_equal(const struct limits *a, const struct limits *b)
{
	if (a->n != b->n)
		return false;
	for (unsigned i = 0; i < a->n; i++)
		if (a->rate[i].count != b->rate[i].count ||
		    a->rate[i].period_us != b->rate[i].period_us ||
		    a->rate[i].burst != b->rate[i].burst)
			return false;
	return true;
}

bool
algo_judge(algo_judge_fn *judge, const struct limits *limits, void *state,
    const struct algo_ask *ask, struct verdict *ret)
{
	struct algo_ask nothing = *ask;
	bool all = true;

	for (unsigned i = 0; i < limits->n; i++) {
		judge(limits, i, state, ask, &ret[i]);
		all = all && ret[i].passed;
	}
	if (all)
		return true;
	nothing.cost = 0;
	for (unsigned i = 0; i < limits->n; i++)
		if (ret[i].passed)
			judge(limits, i, state, &nothing, &ret[i]);
	return false;
}

int
algo_pair(const struct limits *was, int64_t period_us)
{
	for (unsigned i = 0; i < was->n; i++)
		if (was->rate[i].period_us == period_us)
			return (int)i;
	return -1;
}
