#include "limit/verdict.h"

int64_t
verdict_seconds(int64_t us)
{
	if (us <= 1000000)
		return 1;
	return (us - 1) / 1000000 + 1;
}
