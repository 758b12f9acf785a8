#include "harness/lua_runner.h"

#include <check.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "limit/script.h"

#define KEYS_MAX 16
#define ARGS_MAX 32

struct entry {
	struct text key, value;
	bool used, list;
	int64_t expires_ms;		/* by the server's clock; -1: never */
};

struct lua_runner {
	lua_State *lua;
	int64_t now;
	struct entry entries[KEYS_MAX];
	struct span declared[KEYS_MAX];
	unsigned ndeclared, writes;
	bool expire;
	struct span failing;		/* key, where text is set */
	const char *failing_text;
	struct text command, reply;
	char error[256];
};

static struct lua_runner *
self(lua_State *lua)
{
	struct lua_runner *r;

	lua_getfield(lua, LUA_REGISTRYINDEX, "runner");
	r = lua_touserdata(lua, -1);
	lua_pop(lua, 1);
	return r;
}

static struct span
string_at(lua_State *lua, int i)
{
	size_t len;
	const char *ptr = lua_tolstring(lua, i, &len);

	return span_of(ptr, len);
}

static struct entry *
find(const struct lua_runner *r, struct span key)
{
	for (unsigned i = 0; i < KEYS_MAX; i++) {
		const struct entry *e = &r->entries[i];

		if (!e->used || !span_equal(text_span(&e->key), key))
			continue;
		if (r->expire && e->expires_ms >= 0 &&
		    e->expires_ms <= r->now / 1000)
			return NULL;
		return (struct entry *)e;
	}
	return NULL;
}

static struct entry *
place(struct lua_runner *r, struct span key)
{
	unsigned i = 0;

	while (i < KEYS_MAX && r->entries[i].used &&
	    !span_equal(text_span(&r->entries[i].key), key))
		i++;
	if (i == KEYS_MAX)
		abort();
	text_clear(&r->entries[i].key);
	text_append(&r->entries[i].key, key);
	text_clear(&r->entries[i].value);
	r->entries[i].used = true;
	r->entries[i].list = false;
	return &r->entries[i];
}

/* A time to live as the script wrote it: digits and nothing else. */
static int64_t
ttl_argument(lua_State *lua, int i)
{
	int64_t ttl;

	if (span_to_i64(string_at(lua, i), 1, INT64_C(1) << 52, &ttl) != ERR_OK)
		luaL_error(lua, "bad time to live '%s'", lua_tostring(lua, i));
	return ttl;
}

static int
run_time(lua_State *lua, struct lua_runner *r)
{
	char number[32];

	lua_createtable(lua, 2, 0);
	snprintf(number, sizeof(number), "%lld", (long long)r->now / 1000000);
	lua_pushstring(lua, number);
	lua_rawseti(lua, -2, 1);
	snprintf(number, sizeof(number), "%lld", (long long)r->now % 1000000);
	lua_pushstring(lua, number);
	lua_rawseti(lua, -2, 2);
	return 1;
}

static int
run_get(lua_State *lua, struct lua_runner *r, bool guarded)
{
	const struct entry *e = find(r, string_at(lua, 2));
	const char *error = NULL;

	if (e != NULL && e->list)
		error = "WRONGTYPE Operation against a key holding the wrong "
		    "kind of value";
	if (r->failing_text != NULL &&
	    span_equal(r->failing, string_at(lua, 2)))
		error = r->failing_text;
	if (error != NULL && !guarded) {
		luaL_error(lua, "%s", error);
	} else if (error != NULL) {
		lua_newtable(lua);
		lua_pushstring(lua, error);
		lua_setfield(lua, -2, "err");
	} else if (e == NULL) {
		lua_pushboolean(lua, false);
	} else {
		lua_pushlstring(lua, text_cstr(&e->value), e->value.len);
	}
	return 1;
}

static int
run_set(lua_State *lua, struct lua_runner *r)
{
	struct entry *e;

	if (lua_gettop(lua) != 5 ||
	    !span_equal(string_at(lua, 4), SPAN("PX")))
		luaL_error(lua, "SET without PX");
	e = place(r, string_at(lua, 2));
	text_append(&e->value, string_at(lua, 3));
	e->expires_ms = r->now / 1000 + ttl_argument(lua, 5);
	r->writes++;
	return 0;
}

static int
run_pexpire(lua_State *lua, struct lua_runner *r)
{
	struct entry *e = find(r, string_at(lua, 2));

	if (e != NULL)
		e->expires_ms = r->now / 1000 + ttl_argument(lua, 3);
	r->writes++;
	return 0;
}

static void
check_arguments(lua_State *lua, struct lua_runner *r)
{
	for (int i = 1; i <= lua_gettop(lua); i++)
		if (lua_type(lua, i) != LUA_TSTRING)
			luaL_error(lua, "argument %d is no string", i);
	if (lua_gettop(lua) < 2)
		return;
	for (unsigned i = 0; i < r->ndeclared; i++)
		if (span_equal(r->declared[i], string_at(lua, 2)))
			return;
	luaL_error(lua, "undeclared key %s", lua_tostring(lua, 2));
}

static int
command(lua_State *lua, bool guarded)
{
	struct lua_runner *r = self(lua);
	struct span name;

	check_arguments(lua, r);
	name = string_at(lua, 1);
	if (span_equal(name, SPAN("TIME")))
		return run_time(lua, r);
	if (span_equal(name, SPAN("GET")))
		return run_get(lua, r, guarded);
	if (span_equal(name, SPAN("SET")))
		return run_set(lua, r);
	if (span_equal(name, SPAN("PEXPIRE")))
		return run_pexpire(lua, r);
	if (!span_equal(name, SPAN("PTTL")))
		return luaL_error(lua, "no right to %s", lua_tostring(lua, 1));
	lua_pushnumber(lua, (lua_Number)lua_runner_ttl(r, string_at(lua, 2)));
	return 1;
}

static int
redis_call(lua_State *lua)
{
	return command(lua, false);
}

static int
redis_pcall(lua_State *lua)
{
	return command(lua, true);
}

/* Formats are "<" and then nothing but "d". */
static size_t
format(lua_State *lua)
{
	const char *text = luaL_checkstring(lua, 1);
	size_t n = strlen(text) - 1;

	if (text[0] != '<' || strspn(text + 1, "d") != n)
		luaL_error(lua, "unexpected format '%s'", text);
	return n;
}

static int
struct_pack(lua_State *lua)
{
	size_t n = format(lua);
	luaL_Buffer out;

	luaL_buffinit(lua, &out);
	for (size_t i = 0; i < n; i++) {
		double number = luaL_checknumber(lua, (int)i + 2);

		luaL_addlstring(&out, (const char *)&number, sizeof(number));
	}
	luaL_pushresult(&out);
	return 1;
}

static int
struct_unpack(lua_State *lua)
{
	size_t n = format(lua);
	size_t len;
	const char *data = luaL_checklstring(lua, 2, &len);
	size_t at = (size_t)luaL_optinteger(lua, 3, 1) - 1;

	if (at > len || len - at < n * sizeof(double))
		return luaL_error(lua, "data string too short");
	luaL_checkstack(lua, (int)n + 1, "too many results");
	for (size_t i = 0; i < n; i++) {
		double number;

		memcpy(&number, data + at, sizeof(number));
		lua_pushnumber(lua, number);
		at += sizeof(number);
	}
	lua_pushinteger(lua, (lua_Integer)at + 1);
	return (int)n + 1;
}

static int
undeclared(lua_State *lua)
{
	return luaL_error(lua, "undeclared global %s", lua_tostring(lua, 2));
}

static void
load_script(lua_State *lua, unsigned script)
{
	struct span source = script_source(script);

	if (luaL_loadbuffer(lua, source.ptr, source.len, "script") != 0) {
		fprintf(stderr, "%s\n", lua_tostring(lua, -1));
		abort();
	}
	lua_rawseti(lua, LUA_REGISTRYINDEX, 1000 + (int)script);
}

struct lua_runner *
lua_runner_new(void)
{
	static const luaL_Reg redis[] = {
		{ "call", redis_call }, { "pcall", redis_pcall }, { NULL, NULL }
	}, packing[] = {
		{ "pack", struct_pack }, { "unpack", struct_unpack },
		{ NULL, NULL }
	};
	struct lua_runner *r = mem_zalloc(sizeof(*r));

	r->expire = true;
	r->lua = luaL_newstate();
	luaL_openlibs(r->lua);
	lua_pushlightuserdata(r->lua, r);
	lua_setfield(r->lua, LUA_REGISTRYINDEX, "runner");
	luaL_register(r->lua, "redis", redis);
	luaL_register(r->lua, "struct", packing);
	lua_pop(r->lua, 2);
	for (unsigned i = 0; i < SCRIPT_COUNT; i++)
		load_script(r->lua, i);
	lua_newtable(r->lua);
	lua_pushcfunction(r->lua, undeclared);
	lua_setfield(r->lua, -2, "__index");
	lua_pushcfunction(r->lua, undeclared);
	lua_setfield(r->lua, -2, "__newindex");
	lua_setmetatable(r->lua, LUA_GLOBALSINDEX);
	return r;
}

void
lua_runner_free(struct lua_runner *r)
{
	for (unsigned i = 0; i < KEYS_MAX; i++) {
		text_fini(&r->entries[i].key);
		text_fini(&r->entries[i].value);
	}
	text_fini(&r->command);
	text_fini(&r->reply);
	lua_close(r->lua);
	mem_free(r);
}

void
lua_runner_set_now(struct lua_runner *r, int64_t now)
{
	r->now = now;
}

struct span
lua_runner_sha(unsigned script)
{
	return script == SCRIPT_BUCKET ?
	    SPAN("0000000000000000000000000000000000000000") :
	    SPAN("1111111111111111111111111111111111111111");
}

static size_t
wire_number(struct span *rest, char kind)
{
	ptrdiff_t end = span_index(*rest, '\r');
	int64_t n;

	if (end < 1 || rest->ptr[0] != kind || span_to_i64(span_of(
	    rest->ptr + 1, (size_t)end - 1), 0, 1 << 20, &n) != ERR_OK)
		abort();
	*rest = span_skip(*rest, (size_t)end + 2);
	return (size_t)n;
}

static unsigned
wire_parse(struct span wire, struct span *args)
{
	size_t n = wire_number(&wire, '*');

	if (n > ARGS_MAX)
		abort();
	for (size_t i = 0; i < n; i++) {
		size_t len = wire_number(&wire, '$');

		if (wire.len < len + 2 ||
		    memcmp(wire.ptr + len, "\r\n", 2) != 0)
			abort();
		args[i] = span_of(wire.ptr, len);
		wire = span_skip(wire, len + 2);
	}
	if (wire.len != 0)
		abort();
	return (unsigned)n;
}

/* KEYS and ARGV are set raw: the script must not set globals, Redis may. */
static void
set_table(lua_State *lua, const char *name, const struct span *items,
    unsigned n)
{
	lua_pushstring(lua, name);
	lua_createtable(lua, (int)n, 0);
	for (unsigned i = 0; i < n; i++) {
		lua_pushlstring(lua, items[i].ptr, items[i].len);
		lua_rawseti(lua, -2, (int)i + 1);
	}
	lua_rawset(lua, LUA_GLOBALSINDEX);
}

static void
push_script(struct lua_runner *r, struct span verb, struct span script)
{
	unsigned i = 0;
	bool whole = span_equal(verb, SPAN("EVAL"));

	if (!whole && !span_equal(verb, SPAN("EVALSHA")))
		abort();
	while (i < SCRIPT_COUNT && !span_equal(script,
	    whole ? script_source(i) : lua_runner_sha(i)))
		i++;
	if (i == SCRIPT_COUNT)
		abort();
	lua_rawgeti(r->lua, LUA_REGISTRYINDEX, 1000 + (int)i);
}

struct span
lua_runner_call(struct lua_runner *r, struct span wire)
{
	struct span args[ARGS_MAX], nothing = { NULL, 0 };
	unsigned n = wire_parse(wire, args);
	int64_t nkeys;

	r->writes = 0;
	if (n < 3 || span_to_i64(args[2], 1, KEYS_MAX, &nkeys) != ERR_OK ||
	    n < 3 + (unsigned)nkeys)
		abort();
	r->ndeclared = (unsigned)nkeys;
	memcpy(r->declared, args + 3, r->ndeclared * sizeof(args[0]));
	set_table(r->lua, "KEYS", args + 3, r->ndeclared);
	set_table(r->lua, "ARGV", args + 3 + nkeys, n - 3 - r->ndeclared);
	push_script(r, args[0], args[1]);
	if (lua_pcall(r->lua, 0, 1, 0) != 0 ||
	    lua_type(r->lua, -1) != LUA_TSTRING) {
		if (lua_istable(r->lua, -1)) {
			lua_getfield(r->lua, -1, "err");
			lua_replace(r->lua, -2);
		}
		snprintf(r->error, sizeof(r->error), "%s",
		    lua_type(r->lua, -1) == LUA_TSTRING ?
		    lua_tostring(r->lua, -1) : "the reply is no string");
		lua_pop(r->lua, 1);
		return nothing;
	}
	text_clear(&r->reply);
	text_append(&r->reply, string_at(r->lua, -1));
	lua_pop(r->lua, 1);
	return text_span(&r->reply);
}

const char *
lua_runner_error(const struct lua_runner *r)
{
	return r->error;
}

void
lua_runner_ask(struct lua_runner *r, struct question *q, bool spend,
    unsigned *ret_repairs)
{
	struct span reply;

	text_clear(&r->command);
	script_encode(q, spend, SPAN("weir:"), lua_runner_sha(script_for(q)),
	    &r->command);
	reply = lua_runner_call(r, text_span(&r->command));
	if (reply.ptr == NULL)
		ck_abort_msg("%s", r->error);
	if (script_decode(q, reply, ret_repairs) != ERR_OK)
		ck_abort_msg("a reply of %zu octets does not decode",
		    reply.len);
}

static struct entry *
put(struct lua_runner *r, struct span key, int64_t ttl_ms)
{
	struct entry *e = place(r, key);

	e->expires_ms = ttl_ms < 0 ? -1 : r->now / 1000 + ttl_ms;
	return e;
}

void
lua_runner_put(struct lua_runner *r, struct span key, struct span value,
    int64_t ttl_ms)
{
	text_append(&put(r, key, ttl_ms)->value, value);
}

void
lua_runner_put_list(struct lua_runner *r, struct span key, int64_t ttl_ms)
{
	put(r, key, ttl_ms)->list = true;
}

void
lua_runner_fail_get(struct lua_runner *r, struct span key, const char *text)
{
	r->failing = key;
	r->failing_text = text;
}

struct span
lua_runner_value(const struct lua_runner *r, struct span key)
{
	const struct entry *e = find(r, key);

	return e == NULL || e->list ? (struct span){ NULL, 0 } :
	    text_span(&e->value);
}

int64_t
lua_runner_ttl(const struct lua_runner *r, struct span key)
{
	const struct entry *e = find(r, key);

	if (e == NULL)
		return -2;
	if (e->expires_ms < 0)
		return -1;
	/* Without expiry its time may be over. */
	return e->expires_ms < r->now / 1000 ? 0 :
	    e->expires_ms - r->now / 1000;
}

unsigned
lua_runner_writes(const struct lua_runner *r)
{
	return r->writes;
}

void
lua_runner_flush(struct lua_runner *r)
{
	for (unsigned i = 0; i < KEYS_MAX; i++)
		r->entries[i].used = false;
}

void
lua_runner_expire(struct lua_runner *r, bool expire)
{
	r->expire = expire;
}
