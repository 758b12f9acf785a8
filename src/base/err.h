#ifndef WEIR_BASE_ERR_H
#define WEIR_BASE_ERR_H

/* Errors are values; functions that can fail return one. */
enum err {
#define ERR(name, text) ERR_##name,
#include "base/err.def"
#undef ERR
	ERR_COUNT
};

/* A short English text, lower case, no full stop. Never NULL. */
const char *err_text(enum err e);

#endif
