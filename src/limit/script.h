#ifndef WEIR_LIMIT_SCRIPT_H
#define WEIR_LIMIT_SCRIPT_H

#include "limit/store.h"

/*
 * A question as one call of a script that runs where shared counters live, and
 * its reply. Only values and texts: who sends them is a store.
 */
enum script {
	SCRIPT_BUCKET,		/* one enforcing token_bucket row, one rate */
	SCRIPT_DECIDE,		/* everything else */
	SCRIPT_COUNT
};

/* The Lua source, to be loaded. script: below SCRIPT_COUNT. */
struct span script_source(unsigned script);

/* Which one answers the question (nrows >= 1). */
enum script script_for(const struct question *question);

/*
 * Append the whole command in wire format: EVALSHA with sha (40 hexadecimal
 * digits, of script_for's), or EVAL with the source when sha is empty. Not
 * spend: judge only, write nothing at all.
 */
void script_encode(const struct question *question, bool spend,
    struct span prefix, struct span sha, struct text *out);

/*
 * Fill now and every row out of the reply's octets. *ret_repairs: values found
 * damaged or without expiry and put right. ERR_SYNTAX: not a reply to this
 * question; nothing is filled.
 */
enum err script_decode(struct question *question, struct span reply,
    unsigned *ret_repairs);

/* Append the key a row's state is stored under. */
void script_key(struct span prefix, const struct row *row, struct text *out);

#endif
