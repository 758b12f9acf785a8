#ifndef WEIR_BASE_MEM_H
#define WEIR_BASE_MEM_H

#include <stddef.h>

/*
 * Allocation that cannot fail: sizes are bounded by the caller beforehand, so
 * a refusal is the machine's fault; it is reported on stderr and the process
 * aborts. Each result is freed by mem_free; zero octets give a valid pointer.
 */
void *mem_alloc(size_t size);
void *mem_zalloc(size_t size);			/* all bytes 0 */
void *mem_realloc(void *ptr, size_t size);	/* accepts NULL */
void *mem_dup(const void *ptr, size_t size);
char *mem_strdup(const char *str);
char *mem_strndup(const char *ptr, size_t len);	/* adds the final NUL */
void mem_free(void *ptr);			/* accepts NULL */

#endif
