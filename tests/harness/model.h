#ifndef WEIR_HARNESS_MODEL_H
#define WEIR_HARNESS_MODEL_H

#include "limit/store.h"

/*
 * The C algorithms as the simplest store there can be: a place a row, in the
 * order of the question, and like Redis it converts a state to new limits only
 * when it writes.
 */
#define MODEL_ROWS 4

struct model {
	struct model_place {
		struct limits limits;	/* the state was written under them */
		void *state;		/* NULL: never seen */
	} places[MODEL_ROWS];
	unsigned repairs;		/* of the last decision */
};

void model_init(struct model *m);
void model_fini(struct model *m);
void model_decide(struct model *m, struct question *q, int64_t now,
    bool spend);
/* When the state of that place means nothing any more. */
int64_t model_fresh_at(const struct model *m, unsigned place,
    enum algo_kind kind);

#endif
