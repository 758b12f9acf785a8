# Compiled tests: one program a source file, linked with all of weir.
LDADD = tests/libharness.a libweir.a $(WEIR_LIBS) $(CHECK_LIBS)

# What several tests share: stand-ins for peers, expected verdicts.
check_LIBRARIES += tests/libharness.a
tests_libharness_a_SOURCES = \
	tests/harness/asking.c \
	tests/harness/asking.h \
	tests/harness/config_env.c \
	tests/harness/config_env.h \
	tests/harness/fake_redis.c \
	tests/harness/fake_redis.h \
	tests/harness/redis_server.c \
	tests/harness/redis_server.h \
	tests/harness/vectors.c \
	tests/harness/vectors.h
if HAVE_LUA
tests_libharness_a_SOURCES += \
	tests/harness/lua_runner.c \
	tests/harness/lua_runner.h \
	tests/harness/model.c \
	tests/harness/model.h
endif
AM_CPPFLAGS += -I$(srcdir)/tests

# The program from outside: takes longest, so the others run beside it.
TESTS += tests/system/run.sh
EXTRA_DIST += tests/system/run.sh

missing_tools =
if HAVE_CHECK
unit_tests = \
	tests/unit/check_access \
	tests/unit/check_addr \
	tests/unit/check_advert \
	tests/unit/check_algo \
	tests/unit/check_breaker \
	tests/unit/check_buf \
	tests/unit/check_chunk \
	tests/unit/check_config \
	tests/unit/check_config_errors \
	tests/unit/check_config_lookup \
	tests/unit/check_config_warnings \
	tests/unit/check_counters \
	tests/unit/check_deadline \
	tests/unit/check_field \
	tests/unit/check_forward \
	tests/unit/check_framing \
	tests/unit/check_hash \
	tests/unit/check_key \
	tests/unit/check_limiter \
	tests/unit/check_list \
	tests/unit/check_log \
	tests/unit/check_lookup \
	tests/unit/check_loop \
	tests/unit/check_match \
	tests/unit/check_memory \
	tests/unit/check_memory_bound \
	tests/unit/check_parse \
	tests/unit/check_rate \
	tests/unit/check_relay \
	tests/unit/check_remember \
	tests/unit/check_reply \
	tests/unit/check_rules \
	tests/unit/check_shard \
	tests/unit/check_span \
	tests/unit/check_target \
	tests/unit/check_text \
	tests/redis/check_faults \
	tests/redis/check_redis
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
else
missing_tools += check-is-missing
endif

# What Lua decides, compared with what C decides
if HAVE_CHECK
if HAVE_LUA
lua_tests = \
	tests/unit/check_lua \
	tests/unit/check_lua_random \
	tests/unit/check_vectors \
	tests/redis/check_script
tests_unit_check_lua_LDADD = $(LDADD) $(LUA_LIBS)
tests_unit_check_lua_random_LDADD = $(LDADD) $(LUA_LIBS)
tests_unit_check_vectors_LDADD = $(LDADD) $(LUA_LIBS)
tests_redis_check_script_LDADD = $(LDADD) $(LUA_LIBS)
check_PROGRAMS += $(lua_tests)
TESTS += $(lua_tests)
else
missing_tools += lua-is-missing
endif
endif

# Fuzz targets: linked with libFuzzer, or with a driver that replays a corpus.
# Both only replay in "make check"; to fuzz, run the program by hand.
fuzz_targets = \
	tests/fuzz/fuzz_chunk \
	tests/fuzz/fuzz_config \
	tests/fuzz/fuzz_forwarded \
	tests/fuzz/fuzz_lookup \
	tests/fuzz/fuzz_request \
	tests/fuzz/fuzz_response \
	tests/fuzz/fuzz_target
if FUZZERS
fuzz_engine = $(FUZZ_ENGINE)
else
check_LIBRARIES += tests/fuzz/libreplay.a
tests_fuzz_libreplay_a_SOURCES = tests/fuzz/replay.c
fuzz_engine = tests/fuzz/libreplay.a
endif
tests_fuzz_fuzz_config_LDADD = $(fuzz_engine) libweir.a $(WEIR_LIBS)
tests_fuzz_fuzz_lookup_LDADD = $(fuzz_engine) libweir.a $(WEIR_LIBS)
tests_fuzz_fuzz_chunk_LDADD = $(fuzz_engine) libweir.a $(WEIR_LIBS)
tests_fuzz_fuzz_forwarded_LDADD = $(fuzz_engine) libweir.a $(WEIR_LIBS)
tests_fuzz_fuzz_request_LDADD = $(fuzz_engine) libweir.a $(WEIR_LIBS)
tests_fuzz_fuzz_response_LDADD = $(fuzz_engine) libweir.a $(WEIR_LIBS)
tests_fuzz_fuzz_target_LDADD = $(fuzz_engine) libweir.a $(WEIR_LIBS)
check_PROGRAMS += $(fuzz_targets)
TESTS += $(fuzz_targets)

.PHONY: check-fuzz
check-fuzz:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(fuzz_targets)'

# Scripts: rules of the source
script_tests = \
	tests/lint/layers.sh \
	tests/lint/exports.sh \
	tests/lint/manpages.sh
TESTS += $(script_tests)
check_PROGRAMS += tests/unit/print_keys
tests_unit_print_keys_LDADD = libweir.a $(WEIR_LIBS)


TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)
LOG_COMPILER = $(SHELL) $(srcdir)/tests/run.sh
AM_TESTS_ENVIRONMENT = \
	WEIR='$(abs_builddir)/weir'; export WEIR; \
	PRINT_KEYS='$(abs_builddir)/tests/unit/print_keys'; \
	export PRINT_KEYS; \
	WEIR_OBJECTS='$(libweir_a_OBJECTS)'; export WEIR_OBJECTS; \
	WEIR_SANITIZERS='$(SANITIZERS)'; export WEIR_SANITIZERS; \
	UBSAN_OPTIONS=print_stacktrace=1; export UBSAN_OPTIONS; \
	TSAN_OPTIONS=halt_on_error=1; export TSAN_OPTIONS;

check-local: $(missing_tools)

check-is-missing:
	@echo "Unit tests need check 0.15.2 or newer (Debian: apt install" \
	    "check). Configure again with it." >&2; exit 1

lua-is-missing:
	@echo "Tests of the scripts need Lua 5.1 (Debian: apt install" \
	    "liblua5.1-0-dev). Configure again with it." >&2; exit 1

EXTRA_DIST += $(script_tests) tests/run.sh
EXTRA_DIST += tests/system tests/harness/pressure.py tests/harness/weirtest.py tests/vectors tests/fuzz/corpus tests/fuzz/replay.c tests/unit/http_feed.h tests/unit/limit_request.h tests/unit/memory_ask.h
