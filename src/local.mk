# Every source, a block a folder. All but main.c are compiled once, into
# libweir.a, which the program and the tests link.

noinst_LIBRARIES += libweir.a
sbin_PROGRAMS += weir

weir_SOURCES = src/app/main.c
weir_LDADD = libweir.a $(WEIR_LIBS)

libweir_a_SOURCES =
libweir_a_SOURCES += \
	src/base/addr.c \
	src/base/addr.h \
	src/base/clock.c \
	src/base/clock.h \
	src/base/counters.c \
	src/base/counters.def \
	src/base/counters.h \
	src/base/err.c \
	src/base/err.def \
	src/base/err.h \
	src/base/hash.c \
	src/base/hash.h \
	src/base/list.h \
	src/base/log.c \
	src/base/log.h \
	src/base/mem.c \
	src/base/mem.h \
	src/base/span.c \
	src/base/span.h \
	src/base/text.c \
	src/base/text.h

libweir_a_SOURCES += \
	src/http/chunk.c \
	src/http/chunk.h \
	src/http/client.c \
	src/http/field.c \
	src/http/field.def \
	src/http/field.h \
	src/http/forward.c \
	src/http/forward.h \
	src/http/framing.c \
	src/http/framing.h \
	src/http/head.c \
	src/http/head.h \
	src/http/octet.c \
	src/http/octet.h \
	src/http/parse.c \
	src/http/parse.h \
	src/http/status.c \
	src/http/status.def \
	src/http/status.h \
	src/http/target.c \
	src/http/target.h

libweir_a_SOURCES += \
	src/limit/advert.c \
	src/limit/advert.h \
	src/limit/algo.c \
	src/limit/algo.def \
	src/limit/algo.h \
	src/limit/fixed_window.c \
	src/limit/key.c \
	src/limit/key.def \
	src/limit/key.h \
	src/limit/limiter.c \
	src/limit/limiter.h \
	src/limit/lookup.c \
	src/limit/match.c \
	src/limit/match.h \
	src/limit/question.c \
	src/limit/rate.c \
	src/limit/rate.h \
	src/limit/request.h \
	src/limit/rules.c \
	src/limit/rules.h \
	src/limit/scratch.h \
	src/limit/script.c \
	src/limit/script.h \
	src/limit/scripts.h \
	src/limit/sliding_log.c \
	src/limit/sliding_window.c \
	src/limit/store.h \
	src/limit/token_bucket.c \
	src/limit/verdict.c \
	src/limit/verdict.h

libweir_a_SOURCES += \
	src/net/deadline.c \
	src/net/deadline.h \
	src/net/dial.c \
	src/net/dial.h \
	src/net/listener.c \
	src/net/listener.h \
	src/net/loop.c \
	src/net/loop.h \
	src/net/resolve.c \
	src/net/resolve.h \
	src/net/stream.c \
	src/net/stream.h

libweir_a_SOURCES += \
	src/store/breaker.c \
	src/store/breaker.h \
	src/store/calls.c \
	src/store/calls.h \
	src/store/link.c \
	src/store/link.h \
	src/store/memory.c \
	src/store/memory.h \
	src/store/redis.c \
	src/store/redis.h \
	src/store/redis_conf.c \
	src/store/redis_conf.h \
	src/store/remember.c \
	src/store/remember.h \
	src/store/shard.c \
	src/store/shard.h

libweir_a_SOURCES += \
	src/config/budget.c \
	src/config/budget.h \
	src/config/check.c \
	src/config/check.h \
	src/config/config.c \
	src/config/config.h \
	src/config/covers.c \
	src/config/covers.h \
	src/config/emit.c \
	src/config/emit.h \
	src/config/env.c \
	src/config/env.h \
	src/config/findings.c \
	src/config/findings.def \
	src/config/findings.h \
	src/config/keys.c \
	src/config/load.c \
	src/config/load.h \
	src/config/lookups.c \
	src/config/lookups.h \
	src/config/nearest.c \
	src/config/nearest.h \
	src/config/schema.c \
	src/config/schema.h \
	src/config/source.c \
	src/config/source.h \
	src/config/type_limit.c \
	src/config/type_match.c \
	src/config/type_net.c \
	src/config/type_number.c \
	src/config/type_rules.c \
	src/config/type_scalar.c \
	src/config/type_section.c \
	src/config/type_store.c \
	src/config/types.h \
	src/config/url.c \
	src/config/url.h \
	src/config/yaml.c \
	src/config/yaml.h \
	src/config/yaml_read.c

libweir_a_SOURCES += \
	src/proxy/access.c \
	src/proxy/access.h \
	src/proxy/buf.c \
	src/proxy/buf.h \
	src/proxy/conn.c \
	src/proxy/conn.h \
	src/proxy/exchange.c \
	src/proxy/exchange.def \
	src/proxy/exchange.h \
	src/proxy/proxy.c \
	src/proxy/proxy.h \
	src/proxy/relay.c \
	src/proxy/relay.h \
	src/proxy/reply.c \
	src/proxy/reply.h \
	src/proxy/request.c \
	src/proxy/response.c \
	src/proxy/send.c \
	src/proxy/server.c \
	src/proxy/server.h \
	src/proxy/shared.h \
	src/proxy/upstream.c \
	src/proxy/upstream.h

libweir_a_SOURCES += \
	src/app/check.c \
	src/app/commands.h \
	src/app/demo.c \
	src/app/demo_client.c \
	src/app/demo_client.h \
	src/app/demo_upstream.c \
	src/app/demo_upstream.h \
	src/app/explain.c \
	src/app/listen.c \
	src/app/listen.h \
	src/app/options.c \
	src/app/options.h \
	src/app/run.c \
	src/app/server.c \
	src/app/server.h \
	src/app/stores.c \
	src/app/stores.h \
	src/app/worker.c \
	src/app/worker.h

# The Lua parts, joined into C strings
lua_parts = \
	src/limit/lua/bucket.lua \
	src/limit/lua/decide.lua \
	src/limit/lua/fixed_window.lua \
	src/limit/lua/prelude.lua \
	src/limit/lua/rows.lua \
	src/limit/lua/sliding_log.lua \
	src/limit/lua/sliding_window.lua \
	src/limit/lua/token_bucket.lua \
	src/limit/lua/token_bucket_row.lua
nodist_libweir_a_SOURCES = src/limit/scripts.c
BUILT_SOURCES += src/limit/scripts.c
CLEANFILES += src/limit/scripts.c
lua_embed = src/limit/lua/embed.sh src/limit/lua/scripts

src/limit/scripts.c: $(lua_parts) $(lua_embed)
	$(AM_V_at)$(MKDIR_P) src/limit
	$(AM_V_GEN)$(SHELL) $(srcdir)/src/limit/lua/embed.sh \
	    $(srcdir)/src/limit/lua/scripts >$@.tmp && mv $@.tmp $@

EXTRA_DIST += src/layers src/README.md $(lua_parts) $(lua_embed)
