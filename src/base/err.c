#include "base/err.h"

static const char *const texts[] = {
#define ERR(name, text) [ERR_##name] = text,
#include "base/err.def"
#undef ERR
};

const char *
err_text(enum err e)
{
	if ((unsigned)e >= ERR_COUNT)
		return "unknown error";
	return texts[e];
}
