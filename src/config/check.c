#include "config/check.h"

void
check_all(struct load *load)
{
	(void)load;
}
