#include "base/counters.h"

#include <pthread.h>
#include <string.h>

#define NAME_MAX_LEN 40

static const struct row {
	const char *name;
	const char *help;
} rows[] = {
#define COUNTER(name, kind, help) { #name, help },
#include "base/counters.def"
#undef COUNTER
};

/* The preprocessor cannot lower the names of the table. */
static char names[COUNT_END][NAME_MAX_LEN];
static pthread_once_t named = PTHREAD_ONCE_INIT;

#define COUNTER(name, kind, help) \
	_Static_assert(sizeof(#name) <= NAME_MAX_LEN, "name of a counter");
#include "base/counters.def"
#undef COUNTER

static void
lower_names(void)
{
	for (size_t i = 0; i < COUNT_END; i++)
		for (const char *p = rows[i].name; *p != '\0'; p++)
			names[i][p - rows[i].name] =
			    *p == '_' ? '_' : (char)(*p | 0x20);
}

const char *
counter_name(enum counter id)
{
	pthread_once(&named, lower_names);
	return names[id];
}

const char *
counter_help(enum counter id)
{
	return rows[id].help;
}
