#ifndef WEIR_HARNESS_LUA_RUNNER_H
#define WEIR_HARNESS_LUA_RUNNER_H

#include "limit/store.h"

/*
 * The shipped scripts under Lua 5.1, with `redis` and `struct` played by C and
 * a few keys in memory. As a real server would, it stops a script that touches
 * an undeclared global or key, a command it has no right to, or that passes a
 * number where Redis 7.2 would garble it.
 */
struct lua_runner;

struct lua_runner *lua_runner_new(void);
void lua_runner_free(struct lua_runner *r);

/* How TIME answers, in microseconds since 1970. */
void lua_runner_set_now(struct lua_runner *r, int64_t now);

/* The name of a loaded script, for script_encode. */
struct span lua_runner_sha(unsigned script);

/*
 * Run a command as script_encode writes it. The reply's octets stay until the
 * next call; ptr NULL: the script failed or
 * returned an error, lua_runner_error tells which.
 */
struct span lua_runner_call(struct lua_runner *r, struct span command);
const char *lua_runner_error(const struct lua_runner *r);

/* Encode, run and decode: the rows of q are filled. Fails the running check
 * test when the script does, or its reply is malformed. */
void lua_runner_ask(struct lua_runner *r, struct question *q, bool spend,
    unsigned *ret_repairs);

/* Put a value under a key. ttl_ms -1: without expiry. */
void lua_runner_put(struct lua_runner *r, struct span key, struct span value,
    int64_t ttl_ms);
/* Put a list there: GET fails. */
void lua_runner_put_list(struct lua_runner *r, struct span key,
    int64_t ttl_ms);
/* From now on GET of this key fails with the text, as error tables hold it;
 * NULL: of none. Both borrowed. */
void lua_runner_fail_get(struct lua_runner *r, struct span key,
    const char *text);
/* ptr NULL: no such key, or a list. */
struct span lua_runner_value(const struct lua_runner *r, struct span key);
/* As PTTL: -2: no such key, -1: no expiry. */
int64_t lua_runner_ttl(const struct lua_runner *r, struct span key);

/* How many SET and PEXPIRE the last call ran. */
unsigned lua_runner_writes(const struct lua_runner *r);
/* Forget all keys. */
void lua_runner_flush(struct lua_runner *r);
/* Do keys go when their time is over? At first they do. */
void lua_runner_expire(struct lua_runner *r, bool expire);

#endif
