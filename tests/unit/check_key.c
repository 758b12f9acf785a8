#include <stdlib.h>

#include "limit/key.h"
#include "limit/rules.h"
#include "limit/scratch.h"
#include "limit_request.h"

static struct key_rule rule;
static struct asked_request r;
static struct key_spec spec;

static void
setup(void)
{
	hash_init();
	hash_key_derive(&rule.secret, SPAN("secret"), "test");
	rule.ipv4_bits = 32;
	rule.ipv6_bits = 64;
	spec.n = 0;
}

static void
teardown(void)
{
	key_spec_fini(&spec);
}

/* "header:x-a,client_ip" */
static void
set_spec(const char *text)
{
	struct span rest = span_str(text), part;

	key_spec_fini(&spec);
	while (rest.len > 0 && span_split(&rest, ',', &part))
		ck_assert_int_eq(key_part_parse(part, &spec.parts[spec.n++]),
		    ERR_OK);
}

static struct hash128
identity(void)
{
	struct hash128 h;
	unsigned missing;

	ck_assert_int_eq(key_build(&spec, &rule, &r.req, &h, &missing),
	    ERR_OK);
	return h;
}

static struct hash128
identity_of(const char *line, const char *fields)
{
	asked_read(&r, line, fields, "192.0.2.1", NULL);
	return identity();
}

/* Index of the missing part, or -1. */
static int
missing_in(const char *line, const char *fields)
{
	struct hash128 h = { 1, 2 };
	unsigned missing = 99;

	asked_read(&r, line, fields, "192.0.2.1", NULL);
	if (key_build(&spec, &rule, &r.req, &h, &missing) == ERR_OK)
		return -1;
	ck_assert_uint_eq(h.lo, 1);
	ck_assert_uint_eq(h.hi, 2);
	return (int)missing;
}

static void
assert_same(struct hash128 a, struct hash128 b)
{
	ck_assert(hash_equal(a, b));
}

static void
assert_differ(struct hash128 a, struct hash128 b)
{
	ck_assert(!hash_equal(a, b));
}

/* ---- addresses ---- */

static const char *const proxies_text[] = { "127.0.0.0/8", "192.0.2.0/24" };
static struct cidr proxies[2];

/* The client behind 127.0.0.1 when X-Forwarded-For says so. */
static struct hash128
behind_proxy(const char *forwarded_for)
{
	struct http_client_rule client = { .from = HTTP_CLIENT_XFF,
	    .trusted = proxies, .ntrusted = 2 };
	char fields[512];

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(cidr_parse(span_str(proxies_text[i]),
		    &proxies[i]), ERR_OK);
	snprintf(fields, sizeof(fields), "X-Forwarded-For: %s\r\n",
	    forwarded_for);
	asked_read(&r, "GET /", fields, "127.0.0.1", &client);
	set_spec("client_ip");
	return identity();
}

START_TEST(f001_one_subscriber_is_a_prefix)
{
	struct hash128 first = behind_proxy("2001:db8:0:1::1");

	assert_same(first, behind_proxy("2001:db8:0:1::a"));
	assert_same(first, behind_proxy("2001:db8:0:1:ffff:ffff::"));
	assert_differ(first, behind_proxy("2001:db8:0:2::1"));
	rule.ipv6_bits = 56;
	assert_same(behind_proxy("2001:db8:0:100::"),
	    behind_proxy("2001:db8:0:1ff::"));
	rule.ipv4_bits = 24;
	assert_same(behind_proxy("198.51.100.1"),
	    behind_proxy("198.51.100.255"));
	assert_differ(behind_proxy("198.51.100.1"),
	    behind_proxy("198.51.101.1"));
}
END_TEST

START_TEST(f004_ports_and_brackets_are_not_part_of_it)
{
	assert_same(behind_proxy("198.51.100.7:50001"),
	    behind_proxy("198.51.100.7:50002"));
	assert_same(behind_proxy("198.51.100.7:50001"),
	    behind_proxy("198.51.100.7"));
	assert_same(behind_proxy("[2001:db8::7]:443"),
	    behind_proxy("2001:db8::7"));
}
END_TEST

START_TEST(f005_the_number_of_proxies_does_not_matter)
{
	struct hash128 bare = behind_proxy("198.51.100.7");

	assert_same(bare, behind_proxy("198.51.100.7, 192.0.2.1"));
	assert_same(bare, behind_proxy("198.51.100.7, 192.0.2.1, 127.0.0.9"));
	assert_differ(bare, behind_proxy("198.51.100.8, 192.0.2.1"));
	/* All trusted: the leftmost. */
	assert_same(behind_proxy("192.0.2.5, 192.0.2.6"),
	    behind_proxy("192.0.2.5"));
}
END_TEST

START_TEST(f009_mapped_addresses_are_ipv4)
{
	struct hash128 v4 = behind_proxy("198.51.100.7");

	assert_same(v4, behind_proxy("::ffff:198.51.100.7"));
	assert_same(v4, behind_proxy("::ffff:c633:6407"));
	assert_differ(v4, behind_proxy("::ffff:198.51.100.8"));
}
END_TEST

START_TEST(f086_what_the_caller_wrote_on_the_left_does_not_count)
{
	struct hash128 true_one = behind_proxy("198.51.100.7");

	assert_same(true_one, behind_proxy("203.0.113.1, 198.51.100.7"));
	assert_same(true_one, behind_proxy("203.0.113.2, 198.51.100.7"));
}
END_TEST

START_TEST(families_never_collide)
{
	struct hash128 v4, v6;

	rule.ipv6_bits = 128;
	set_spec("client_ip");
	asked_read(&r, "GET /", "", "1.2.3.4", NULL);
	v4 = identity();
	asked_read(&r, "GET /", "", "102:304::", NULL);
	v6 = identity();
	assert_differ(v4, v6);
}
END_TEST

START_TEST(a_unix_peer_has_no_address)
{
	struct hash128 h;
	unsigned missing;

	set_spec("host,client_ip");
	asked_read(&r, "GET /", "", "", NULL);
	ck_assert_int_eq(key_build(&spec, &rule, &r.req, &h, &missing),
	    ERR_NOT_FOUND);
	ck_assert_uint_eq(missing, 1);
	ck_assert_int_eq(key_build_peer(&spec, &rule, &r.req, &h, &missing),
	    ERR_NOT_FOUND);
}
END_TEST

/* ---- fields, parameters, cookies ---- */

START_TEST(f011_tuples_never_collide)
{
	static const char *const pairs[][2] = {
		{ "a:b", "c" }, { "a", "b:c" }, { "a b", "c" }, { "a", "b c" },
		{ "{x}", "1" }, { "{x}", "2" },
		{ "\xc3\xa9", "\xc3\xbc" }, { "a:b|c", "d" },
		{ "a", "b|c:d" }, { "c", "a:b" }, { "a, b", "c" },
		{ "ab", "c" }, { "a", "bc" },
	};
	const size_t n = sizeof(pairs) / sizeof(pairs[0]);
	struct hash128 ids[sizeof(pairs) / sizeof(pairs[0])];
	char fields[128];

	set_spec("header:x-a,header:x-b");
	for (int turn = 0; turn < 2; turn++) {
		for (size_t i = 0; i < n; i++) {
			struct hash128 h;

			snprintf(fields, sizeof(fields),
			    "x-a: %s\r\nx-b: %s\r\n", pairs[i][0],
			    pairs[i][1]);
			h = identity_of("GET /", fields);
			if (turn == 1)
				assert_same(h, ids[i]);
			for (size_t k = 0; turn == 0 && k < i; k++)
				assert_differ(h, ids[k]);
			ids[i] = h;
		}
	}
}
END_TEST

/* Values of 64 octets and fewer are hashed in another way than longer ones. */
START_TEST(lengths_never_collide)
{
	struct hash128 ids[130];
	char value[131], fields[160];

	set_spec("header:x-a");
	memset(value, 'a', sizeof(value));
	for (int len = 1; len <= 130; len++) {
		const int i = len - 1;

		snprintf(fields, sizeof(fields), "x-a: %.*s\r\n", len,
		    value);
		ids[i] = identity_of("GET /", fields);
		assert_same(ids[i], identity_of("GET /a", fields));
		for (int k = 0; k < i; k++)
			assert_differ(ids[i], ids[k]);
	}
}
END_TEST

START_TEST(types_and_names_count)
{
	struct hash128 header, other, query, cookie, path, parts;

	set_spec("header:x-a");
	header = identity_of("GET /v?x-a=v", "x-a: v\r\nx-b: v\r\n"
	    "Cookie: x-a=v\r\n");
	set_spec("header:x-b");
	other = identity();
	set_spec("query:x-a");
	query = identity();
	set_spec("cookie:x-a");
	cookie = identity();
	set_spec("path");
	path = identity_of("GET /v", "x-a: /v\r\n");
	set_spec("header:x-a");
	assert_differ(identity(), path);
	assert_differ(header, other);
	assert_differ(header, query);
	assert_differ(header, cookie);
	assert_differ(query, cookie);
	set_spec("header:x-a,header:x-b");
	parts = identity_of("GET /", "x-a: 1\r\nx-b: 2\r\n");
	set_spec("header:x-b,header:x-a");
	assert_differ(parts, identity());
}
END_TEST

START_TEST(the_secret_counts)
{
	struct hash128 one;

	set_spec("header:x-a");
	one = identity_of("GET /", "x-a: v\r\n");
	hash_key_derive(&rule.secret, SPAN("other"), "test");
	assert_differ(one, identity());
}
END_TEST

START_TEST(all_lines_of_a_header_count)
{
	struct hash128 one;

	set_spec("header:x-a");
	one = identity_of("GET /", "x-a: 1\r\n");
	assert_same(one, identity_of("GET /", "X-A: 1\r\nX-B: 2\r\n"));
	assert_same(one, identity_of("GET /", "X-A:\r\nX-A: 1\r\n"));
	assert_differ(one, identity_of("GET /", "x-a: 1\r\nx-a: 2\r\n"));
	assert_same(identity_of("GET /", "x-a: 1\r\nx-a: 2\r\n"),
	    identity_of("GET /", "x-a: 1, 2\r\n"));
	assert_differ(identity_of("GET /", "x-a: 1\r\nx-a: 2\r\n"),
	    identity_of("GET /", "x-a: 2\r\nx-a: 1\r\n"));
}
END_TEST

START_TEST(lines_longer_than_the_stack_room)
{
	static char fields[20000];
	struct hash128 one;
	int n;

	n = snprintf(fields, sizeof(fields), "x-a: %06000d\r\n", 1);
	n += snprintf(fields + n, sizeof(fields) - (size_t)n,
	    "x-a: %06000d\r\n", 2);
	set_spec("header:x-a");
	one = identity_of("GET /", fields);
	assert_same(one, identity());
	fields[n - 3] = '3';
	assert_differ(one, identity_of("GET /", fields));
}
END_TEST

START_TEST(parameters_are_decoded_and_the_first_counts)
{
	struct hash128 one;

	set_spec("query:k");
	one = identity_of("GET /?k=a+b", "");
	assert_same(one, identity_of("GET /x?z=1&k=%61%20b&k=c", ""));
	assert_differ(one, identity_of("GET /?k=a%2Bb", ""));
	assert_differ(one, identity_of("GET /?k=c&k=a+b", ""));
}
END_TEST

START_TEST(what_is_empty_is_missing)
{
	set_spec("host,header:x-a");
	ck_assert_int_eq(missing_in("GET /", ""), 1);
	ck_assert_int_eq(missing_in("GET /", "x-a:\r\n"), 1);
	ck_assert_int_eq(missing_in("GET /", "x-a: \r\nx-a:\r\n"), 1);
	ck_assert_int_eq(missing_in("GET /", "x-a: 1\r\n"), -1);
	set_spec("query:k");
	ck_assert_int_eq(missing_in("GET /", ""), 0);
	ck_assert_int_eq(missing_in("GET /?", ""), 0);
	ck_assert_int_eq(missing_in("GET /?k", ""), 0);
	ck_assert_int_eq(missing_in("GET /?k=", ""), 0);
	ck_assert_int_eq(missing_in("GET /?kk=1", ""), 0);
	ck_assert_int_eq(missing_in("GET /?k=0", ""), -1);
	set_spec("cookie:s");
	ck_assert_int_eq(missing_in("GET /", ""), 0);
	ck_assert_int_eq(missing_in("GET /", "Cookie: s=\r\n"), 0);
	ck_assert_int_eq(missing_in("GET /", "Cookie: s=\"\"\r\n"), 0);
	ck_assert_int_eq(missing_in("GET /", "Cookie: a=1; s=1\r\n"), -1);
	set_spec("host");
	asked_read(&r, "GET /", "", "192.0.2.1", NULL);
	r.req.host = SPAN_EMPTY;
	ck_assert_int_eq(key_build(&spec, &rule, &r.req, &(struct hash128){
	    0 }, &(unsigned){ 0 }), ERR_NOT_FOUND);
}
END_TEST

static struct hash128
peer_identity(const char *fields, const char *peer)
{
	struct hash128 h;
	unsigned missing;

	asked_read(&r, "GET /", fields, peer, NULL);
	ck_assert_int_eq(key_build_peer(&spec, &rule, &r.req, &h, &missing),
	    ERR_OK);
	return h;
}

START_TEST(f007_a_peer_stands_in_for_what_is_missing)
{
	struct hash128 peer;

	set_spec("header:x-a");
	peer = peer_identity("", "127.0.0.2");
	assert_same(peer, peer_identity("", "127.0.0.2"));
	assert_differ(peer, peer_identity("", "127.0.0.3"));
	/* It can be forged neither as text nor as a client. */
	assert_differ(peer, peer_identity("x-a: 127.0.0.2\r\n", "127.0.0.2"));
	set_spec("client_ip");
	assert_differ(peer, peer_identity("", "127.0.0.2"));
	/* Nothing missing: the same as ever. */
	set_spec("header:x-a");
	assert_same(peer_identity("x-a: 1\r\n", "127.0.0.2"),
	    identity_of("GET /", "x-a: 1\r\n"));
	/* Only the missing part is replaced. */
	set_spec("header:x-a,header:x-b");
	assert_differ(peer_identity("x-a: 1\r\n", "127.0.0.2"),
	    peer_identity("x-a: 2\r\n", "127.0.0.2"));
	assert_differ(peer_identity("x-a: 1\r\n", "127.0.0.2"),
	    peer_identity("x-b: 1\r\n", "127.0.0.2"));
}
END_TEST

/* ---- caller, route, all ---- */

static const char *
printed(void)
{
	static char buf[512];
	struct text t = { .len = 0 };

	key_print(&spec, &rule, &r.req, &t);
	snprintf(buf, sizeof(buf), "%s", text_cstr(&t));
	text_fini(&t);
	return buf;
}

static struct caller
class(const char *name, const char *part)
{
	struct caller c = { .name = (char *)name };

	if (part != NULL) {
		c.key.n = 1;
		ck_assert_int_eq(key_part_parse(span_str(part),
		    &c.key.parts[0]), ERR_OK);
	}
	return c;
}

START_TEST(a_caller_is_a_class_and_its_key)
{
	struct caller live = class("live", "header:x-a");
	struct caller test = class("test", "header:x-a");
	struct caller anonymous = class("anonymous", NULL);
	struct hash128 h;

	set_spec("caller");
	asked_read(&r, "GET /", "x-a: 1\r\n", "192.0.2.1", NULL);
	r.req.caller = &live;
	h = identity();
	r.req.caller = &test;
	assert_differ(h, identity());
	r.req.caller = &anonymous;
	assert_differ(h, identity());
	h = identity();
	asked_read(&r, "GET /", "x-a: 2\r\n", "192.0.2.1", NULL);
	r.req.caller = &anonymous;
	assert_same(h, identity());
	asked_read(&r, "GET /", "x-a: 2\r\n", "192.0.2.2", NULL);
	r.req.caller = &anonymous;
	assert_differ(h, identity());
	key_spec_fini(&live.key);
	key_spec_fini(&test.key);
}
END_TEST

START_TEST(a_caller_may_lack_its_key)
{
	struct caller live = class("live", "header:x-a");
	struct hash128 h, other;
	unsigned missing;

	set_spec("all,caller");
	asked_read(&r, "GET /", "", "192.0.2.1", NULL);
	r.req.caller = &live;
	ck_assert_int_eq(key_build(&spec, &rule, &r.req, &h, &missing),
	    ERR_NOT_FOUND);
	ck_assert_uint_eq(missing, 1);
	ck_assert_int_eq(key_build_peer(&spec, &rule, &r.req, &h, &missing),
	    ERR_OK);
	r.req.peer = asked_addr("192.0.2.2");
	ck_assert_int_eq(key_build_peer(&spec, &rule, &r.req, &other,
	    &missing), ERR_OK);
	assert_differ(h, other);
	key_spec_fini(&live.key);
}
END_TEST

/* The check refuses such a class; it must not recurse for ever all the same. */
START_TEST(a_class_cannot_count_by_itself)
{
	struct caller loop = class("loop", "caller");
	struct hash128 h;
	unsigned missing;

	set_spec("caller");
	asked_read(&r, "GET /", "", "192.0.2.1", NULL);
	r.req.caller = &loop;
	ck_assert_int_eq(key_build(&spec, &rule, &r.req, &h, &missing),
	    ERR_NOT_FOUND);
	ck_assert_str_eq(printed(), "loop:-");
}
END_TEST

START_TEST(no_route_is_a_place_of_its_own)
{
	struct route route = { .name = (char *)"search" };
	struct hash128 none;

	set_spec("route");
	asked_read(&r, "GET /", "", "192.0.2.1", NULL);
	none = identity();
	r.req.route = &route;
	assert_differ(none, identity());
	set_spec("all");
	assert_differ(none, identity());
}
END_TEST

START_TEST(no_parts_mean_client_ip)
{
	struct hash128 h;

	asked_read(&r, "GET /", "", "192.0.2.1", NULL);
	h = identity();
	set_spec("client_ip");
	assert_same(h, identity());
}
END_TEST

/* The same on every machine and in every version: shared stores rest on it. */
START_TEST(identities_are_stable)
{
	char text[HASH_TEXT_LEN + 1] = "";

	set_spec("client_ip,header:x-a,query:q");
	hash_to_text(identity_of("GET /?q=1", "x-a: v\r\n"), text);
	ck_assert_str_eq(text, "HR882-WJyBezK5v1aEDmfA");
}
END_TEST

/* ---- for people ---- */

START_TEST(secrets_are_masked)
{
	char first[64];

	set_spec("header:x-a");
	asked_read(&r, "GET /", "x-a: sk_live_1\r\n", "192.0.2.1", NULL);
	snprintf(first, sizeof(first), "%s", printed());
	ck_assert_uint_eq(strlen(first), 14);
	ck_assert_int_eq(strncmp(first, "h:", 2), 0);
	ck_assert_ptr_null(strstr(first, "sk"));
	ck_assert_str_eq(first, printed());
	asked_read(&r, "GET /", "x-a: sk_live_2\r\n", "192.0.2.1", NULL);
	ck_assert_str_ne(first, printed());
	set_spec("query:k,cookie:s");
	asked_read(&r, "GET /?k=secret", "Cookie: s=secret\r\n",
	    "192.0.2.1", NULL);
	ck_assert_ptr_null(strstr(printed(), "secret"));
}
END_TEST

START_TEST(what_is_no_secret_is_shown)
{
	struct route route = { .name = (char *)"search" };
	struct caller anonymous = class("anonymous", NULL);

	asked_read(&r, "GET /a", "", "192.0.2.1", NULL);
	r.req.caller = &anonymous;
	set_spec("client_ip,host,method,path,route,all");
	ck_assert_str_eq(printed(), "192.0.2.1+example.com+GET+/a+-+all");
	r.req.route = &route;
	set_spec("route,caller,header:x-none");
	ck_assert_str_eq(printed(), "search+anonymous:192.0.2.1+-");
	set_spec("client_ip");
	asked_read(&r, "GET /a", "", "2001:db8::7", NULL);
	ck_assert_str_eq(printed(), "2001:db8::/64");
	asked_read(&r, "GET /a", "", "", NULL);
	ck_assert_str_eq(printed(), "-");
}
END_TEST

START_TEST(values_for_lookups)
{
	struct scratch scratch;
	struct span value;

	scratch_init(&scratch);
	set_spec("header:x-a");
	asked_read(&r, "GET /", "x-a: 1\r\nx-a: 2\r\n", "2001:db8::7", NULL);
	ck_assert(key_value(&spec, &r.req, &scratch, &value));
	ck_assert(span_equal(value, SPAN("1, 2")));
	set_spec("client_ip");
	ck_assert(key_value(&spec, &r.req, &scratch, &value));
	ck_assert(span_equal(value, SPAN("2001:db8::7")));
	set_spec("header:x-none");
	ck_assert(!key_value(&spec, &r.req, &scratch, &value));
	set_spec("header:x-a,host");
	ck_assert(!key_value(&spec, &r.req, &scratch, &value));
	set_spec("all");
	ck_assert(!key_value(&spec, &r.req, &scratch, &value));
	scratch_fini(&scratch);
}
END_TEST

/* ---- the language ---- */

START_TEST(parts_parse_and_print)
{
	static const char *const good[] = { "caller", "client_ip",
	    "header:x-api-key", "query:TenantId", "cookie:SID", "host",
	    "method", "path", "route", "all" };
	struct text t = { .len = 0 };
	struct key_part part;

	ck_assert_uint_eq(sizeof(good) / sizeof(good[0]), KEY_SOURCES);
	for (unsigned i = 0; i < KEY_SOURCES; i++) {
		ck_assert_int_eq(key_part_parse(span_str(good[i]), &part),
		    ERR_OK);
		ck_assert_uint_eq(part.source, i);
		ck_assert(span_starts(span_str(good[i]),
		    span_str(key_source_name(part.source))));
		text_clear(&t);
		key_part_print(&part, &t);
		ck_assert_str_eq(text_cstr(&t), good[i]);
		mem_free(part.name);
	}
	ck_assert_int_eq(key_part_parse(SPAN("header:X-API-Key"), &part),
	    ERR_OK);
	ck_assert_str_eq(part.name, "x-api-key");
	mem_free(part.name);
	text_fini(&t);
}
END_TEST

START_TEST(parts_that_are_none)
{
	struct key_part part = { .name = NULL };

	ck_assert_int_eq(key_part_parse(SPAN("ip"), &part), ERR_NOT_FOUND);
	ck_assert_int_eq(key_part_parse(SPAN(""), &part), ERR_NOT_FOUND);
	ck_assert_int_eq(key_part_parse(SPAN("Header:x"), &part),
	    ERR_NOT_FOUND);
	ck_assert_int_eq(key_part_parse(SPAN("header"), &part), ERR_SYNTAX);
	ck_assert_int_eq(key_part_parse(SPAN("header:"), &part), ERR_SYNTAX);
	ck_assert_int_eq(key_part_parse(SPAN("header:x y"), &part),
	    ERR_SYNTAX);
	ck_assert_int_eq(key_part_parse(SPAN("header:x:y"), &part),
	    ERR_SYNTAX);
	ck_assert_int_eq(key_part_parse(SPAN("host:x"), &part), ERR_SYNTAX);
	ck_assert_int_eq(key_part_parse(SPAN("all:"), &part), ERR_SYNTAX);
	ck_assert_ptr_null(part.name);
}
END_TEST

START_TEST(spec_hashes)
{
	uint64_t one, two;

	set_spec("header:a,header:b");
	one = key_spec_hash(&spec);
	set_spec("header:a,header:b");
	ck_assert_uint_eq(one, key_spec_hash(&spec));
	set_spec("header:b,header:a");
	two = key_spec_hash(&spec);
	ck_assert_uint_ne(one, two);
	set_spec("header:a");
	ck_assert_uint_ne(one, key_spec_hash(&spec));
	set_spec("query:a,header:b");
	ck_assert_uint_ne(one, key_spec_hash(&spec));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("key");
	TCase *t = tcase_create("key");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, f001_one_subscriber_is_a_prefix);
	tcase_add_test(t, f004_ports_and_brackets_are_not_part_of_it);
	tcase_add_test(t, f005_the_number_of_proxies_does_not_matter);
	tcase_add_test(t, f009_mapped_addresses_are_ipv4);
	tcase_add_test(t,
	    f086_what_the_caller_wrote_on_the_left_does_not_count);
	tcase_add_test(t, families_never_collide);
	tcase_add_test(t, a_unix_peer_has_no_address);
	tcase_add_test(t, f011_tuples_never_collide);
	tcase_add_test(t, lengths_never_collide);
	tcase_add_test(t, types_and_names_count);
	tcase_add_test(t, the_secret_counts);
	tcase_add_test(t, all_lines_of_a_header_count);
	tcase_add_test(t, lines_longer_than_the_stack_room);
	tcase_add_test(t, parameters_are_decoded_and_the_first_counts);
	tcase_add_test(t, what_is_empty_is_missing);
	tcase_add_test(t, f007_a_peer_stands_in_for_what_is_missing);
	tcase_add_test(t, a_caller_is_a_class_and_its_key);
	tcase_add_test(t, a_caller_may_lack_its_key);
	tcase_add_test(t, a_class_cannot_count_by_itself);
	tcase_add_test(t, no_route_is_a_place_of_its_own);
	tcase_add_test(t, no_parts_mean_client_ip);
	tcase_add_test(t, identities_are_stable);
	tcase_add_test(t, secrets_are_masked);
	tcase_add_test(t, what_is_no_secret_is_shown);
	tcase_add_test(t, values_for_lookups);
	tcase_add_test(t, parts_parse_and_print);
	tcase_add_test(t, parts_that_are_none);
	tcase_add_test(t, spec_hashes);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
