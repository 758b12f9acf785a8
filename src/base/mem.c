#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* stdio may itself want memory, but stderr is unbuffered and this is the
 * last thing the process says. */
static void *
checked(void *ptr, size_t size)
{
	if (ptr == NULL) {
		fprintf(stderr, "weir: out of memory (%zu octets)\n", size);
		abort();
	}
	return ptr;
}

/* malloc(0) may return NULL, which would look like a refusal. */
static size_t
at_least_one(size_t size)
{
	return size > 0 ? size : 1;
}

void *
mem_alloc(size_t size)
{
	return checked(malloc(at_least_one(size)), size);
}

void *
mem_zalloc(size_t size)
{
	return checked(calloc(1, at_least_one(size)), size);
}

void *
mem_realloc(void *ptr, size_t size)
{
	return checked(realloc(ptr, at_least_one(size)), size);
}

void *
mem_dup(const void *ptr, size_t size)
{
	void *copy = mem_alloc(size);

	if (size > 0)
		memcpy(copy, ptr, size);
	return copy;
}

char *
mem_strdup(const char *str)
{
	return mem_dup(str, strlen(str) + 1);
}

char *
mem_strndup(const char *ptr, size_t len)
{
	char *copy;

	if (len == SIZE_MAX)
		checked(NULL, len);
	copy = mem_alloc(len + 1);
	if (len > 0)
		memcpy(copy, ptr, len);
	copy[len] = '\0';
	return copy;
}

void
mem_free(void *ptr)
{
	free(ptr);
}
