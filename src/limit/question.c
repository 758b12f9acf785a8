#include "limit/store.h"

#include "base/mem.h"

void
question_init(struct question *question)
{
	memset(question, 0, sizeof(*question));
}

void
question_fini(struct question *question)
{
	mem_free(question->rows);
	question_init(question);
}

void
question_reserve(struct question *question, unsigned n)
{
	if (n <= question->cap)
		return;
	mem_free(question->rows);
	question->rows = mem_zalloc(n * sizeof(*question->rows));
	question->cap = n;
	question->nrows = 0;
}
