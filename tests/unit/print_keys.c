#include <stdio.h>

#include "config/config.h"

/* Prints the table of keys for tests/lint/manpages.sh: path, type, range,
 * default and help of one a line, with tabs between. */
int
main(void)
{
	struct text out = { .len = 0 };

	config_print_keys(&out);
	if (fputs(text_cstr(&out), stdout) == EOF || fflush(stdout) != 0)
		return 1;
	text_fini(&out);
	return 0;
}
