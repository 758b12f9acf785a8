#ifndef WEIR_LIMIT_SCRATCH_H
#define WEIR_LIMIT_SCRATCH_H

#include "base/mem.h"

#define SCRATCH_OCTETS 8192	/* the default bound of a request target */

/*
 * Room for one decoded value. It lives on the stack; only where the
 * configuration allows longer heads than usual is memory asked for.
 */
struct scratch {
	char *heap;
	_Alignas(8) char stack[SCRATCH_OCTETS];
};

/* The array is left as it is: clearing it would cost more than its use. */
static inline void
scratch_init(struct scratch *s)
{
	s->heap = NULL;
}

static inline void
scratch_fini(struct scratch *s)
{
	mem_free(s->heap);
}

/* Room for n octets, 8-aligned; what was there before is lost. */
static inline char *
scratch_room(struct scratch *s, size_t n)
{
	if (n <= sizeof(s->stack))
		return s->stack;
	mem_free(s->heap);
	s->heap = mem_alloc(n);
	return s->heap;
}

#endif
