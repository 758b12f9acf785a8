#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/un.h>

#include "base/addr.h"

static const struct {
	const char *text;
	bool with_port;
	enum err e;
	const char *printed;
} addresses[] = {
	{ "192.0.2.1", false, ERR_OK, "192.0.2.1" },
	{ "0.0.0.0", false, ERR_OK, "0.0.0.0" },
	{ "255.255.255.255", false, ERR_OK, "255.255.255.255" },
	{ "2001:DB8::1", false, ERR_OK, "2001:db8::1" },
	{ "[2001:db8::1]", false, ERR_OK, "2001:db8::1" },
	{ "2001:db8:0:0:0:0:0:1", false, ERR_OK, "2001:db8::1" },
	{ "::", false, ERR_OK, "::" },
	{ "::1", false, ERR_OK, "::1" },
	{ "1::", false, ERR_OK, "1::" },
	/* One zero group alone is not shortened; of two runs the first is. */
	{ "1:0:3:4:5:6:7:8", false, ERR_OK, "1:0:3:4:5:6:7:8" },
	{ "1:0:0:4:5:0:0:8", false, ERR_OK, "1::4:5:0:0:8" },
	{ "1:0:0:4:0:0:0:8", false, ERR_OK, "1:0:0:4::8" },
	{ "1:2:3:4:5:6:0:0", false, ERR_OK, "1:2:3:4:5:6::" },
	{ "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, ERR_OK,
	    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" },
	/* IPv4-mapped in both writings */
	{ "::ffff:1.2.3.4", false, ERR_OK, "1.2.3.4" },
	{ "::ffff:c633:6407", false, ERR_OK, "198.51.100.7" },
	{ "[::FFFF:c633:6407]:1", true, ERR_OK, "198.51.100.7" },
	/* Not mapped, though alike */
	{ "::fffe:c633:6407", false, ERR_OK, "::fffe:c633:6407" },
	{ "::c633:6407", false, ERR_OK, "::c633:6407" },
	{ "64:ff9b::1.2.3.4", false, ERR_OK, "64:ff9b::102:304" },

	{ "192.0.2.1:443", true, ERR_OK, "192.0.2.1" },
	{ "192.0.2.1:0", true, ERR_OK, "192.0.2.1" },
	{ "[2001:db8::1]:65535", true, ERR_OK, "2001:db8::1" },
	{ "2001:db8::1:443", true, ERR_OK, "2001:db8::1:443" },
	{ "192.0.2.1", true, ERR_OK, "192.0.2.1" },
	{ "192.0.2.1:443", false, ERR_SYNTAX, NULL },
	{ "[2001:db8::1]:443", false, ERR_SYNTAX, NULL },
	{ "192.0.2.1:", true, ERR_SYNTAX, NULL },
	{ "192.0.2.1:65536", true, ERR_SYNTAX, NULL },
	{ "192.0.2.1:x", true, ERR_SYNTAX, NULL },
	{ "[::1]443", true, ERR_SYNTAX, NULL },
	{ "[::1]:443:1", true, ERR_SYNTAX, NULL },
	{ "[192.0.2.1]:443", true, ERR_SYNTAX, NULL },

	{ "", false, ERR_SYNTAX, NULL },
	{ "", true, ERR_SYNTAX, NULL },
	{ ":", true, ERR_SYNTAX, NULL },
	{ "[", true, ERR_SYNTAX, NULL },
	{ "[]", true, ERR_SYNTAX, NULL },
	{ "]", true, ERR_SYNTAX, NULL },
	{ "[::1", true, ERR_SYNTAX, NULL },
	{ "::1]", true, ERR_SYNTAX, NULL },
	{ " 192.0.2.1", false, ERR_SYNTAX, NULL },
	{ "192.0.2.1 ", false, ERR_SYNTAX, NULL },
	{ "192.0.2", false, ERR_SYNTAX, NULL },
	{ "192.0.2.256", false, ERR_SYNTAX, NULL },
	{ "192.0.2.01", false, ERR_SYNTAX, NULL },
	{ "192.0.2.0x1", false, ERR_SYNTAX, NULL },
	{ "3221225985", false, ERR_SYNTAX, NULL },
	{ "fe80::1%eth0", false, ERR_SYNTAX, NULL },
	{ "[fe80::1%1]", false, ERR_SYNTAX, NULL },
	{ "1::2::3", false, ERR_SYNTAX, NULL },
	{ "1:2:3:4:5:6:7:8:9", false, ERR_SYNTAX, NULL },
	{ "unknown", true, ERR_SYNTAX, NULL },
	{ "_hidden", true, ERR_SYNTAX, NULL },
	{ "0000000000000000000000000000000000000000000000000000000000::1",
	    true, ERR_SYNTAX, NULL },
};

START_TEST(parse)
{
	const struct addr untouched = { .family = 9 };
	struct addr a = untouched;
	char buf[ADDR_TEXT_MAX];
	enum err e = addr_parse(span_str(addresses[_i].text),
	    addresses[_i].with_port, &a);

	ck_assert_msg(e == addresses[_i].e, "%s: %s", addresses[_i].text,
	    err_text(e));
	if (e != ERR_OK) {
		ck_assert_int_eq(a.family, untouched.family);
		return;
	}
	ck_assert_uint_eq(addr_print(&a, buf), strlen(buf));
	ck_assert_str_eq(buf, addresses[_i].printed);
}
END_TEST

START_TEST(parse_nul_inside)
{
	struct addr a;

	ck_assert_int_eq(addr_parse(SPAN("1.2.3.4\0x"), true, &a), ERR_SYNTAX);
	ck_assert_int_eq(addr_parse(SPAN("::1\0"), true, &a), ERR_SYNTAX);
	ck_assert_int_eq(addr_parse((struct span){ NULL, 0 }, true, &a),
	    ERR_SYNTAX);
}
END_TEST

START_TEST(from_sockaddr)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct addr a, b;
	char buf[ADDR_TEXT_MAX];

	ck_assert_int_eq(inet_pton(AF_INET, "198.51.100.7", &in.sin_addr), 1);
	a = addr_from_sockaddr((struct sockaddr *)&in);
	ck_assert_int_eq(inet_pton(AF_INET6, "::ffff:198.51.100.7",
	    &in6.sin6_addr), 1);
	b = addr_from_sockaddr((struct sockaddr *)&in6);
	ck_assert(addr_equal(&a, &b));
	ck_assert_int_eq(b.family, 4);
	a = addr_from_sockaddr((struct sockaddr *)&un);
	ck_assert_int_eq(a.family, 0);
	ck_assert_uint_eq(addr_print(&a, buf), 4);
	ck_assert_str_eq(buf, "unix");
	ck_assert(!addr_equal(&a, &b));
	ck_assert(addr_equal(&a, &a));
}
END_TEST

static struct addr
addr_of(const char *text)
{
	struct addr a;

	ck_assert_int_eq(addr_parse(span_str(text), false, &a), ERR_OK);
	return a;
}

START_TEST(loopback)
{
	static const char *const yes[] = { "127.0.0.1", "127.255.0.9", "::1",
	    "::ffff:127.0.0.1" };
	static const char *const no[] = { "128.0.0.1", "::", "::2", "10.0.0.1",
	    "1::1" };
	struct addr a = { .family = 0 };

	ck_assert(!addr_is_loopback(&a));
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		a = addr_of(yes[i]);
		ck_assert(addr_is_loopback(&a));
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		a = addr_of(no[i]);
		ck_assert(!addr_is_loopback(&a));
	}
}
END_TEST

static void
expect_mask(const char *text, unsigned bits, const char *expected)
{
	struct addr a = addr_of(text), b = addr_of(expected);

	a = addr_mask(&a, bits);
	ck_assert_msg(addr_equal(&a, &b), "%s/%u", text, bits);
}

START_TEST(mask)
{
	struct addr unix_peer = { .family = 0 };

	expect_mask("255.255.255.255", 0, "0.0.0.0");
	expect_mask("255.255.255.255", 1, "128.0.0.0");
	expect_mask("255.255.255.255", 8, "255.0.0.0");
	expect_mask("255.255.255.255", 31, "255.255.255.254");
	expect_mask("255.255.255.255", 32, "255.255.255.255");
	expect_mask("255.255.255.255", 500, "255.255.255.255");
	expect_mask("2001:db8:1:2:3:4:5:6", 64, "2001:db8:1:2::");
	expect_mask("2001:db8:1:2:3:4:5:6", 127, "2001:db8:1:2:3:4:5:6");
	expect_mask("2001:db8:1:2:3:4:5:7", 127, "2001:db8:1:2:3:4:5:6");
	expect_mask("2001:db8:1:2:3:4:5:7", 129, "2001:db8:1:2:3:4:5:7");
	unix_peer = addr_mask(&unix_peer, 64);
	ck_assert_int_eq(unix_peer.family, 0);
}
END_TEST

static const struct {
	const char *text;
	enum err e;
	const char *printed;
	int bits;
} cidrs[] = {
	{ "10.0.0.0/8", ERR_OK, "10.0.0.0", 8 },
	{ "0.0.0.0/0", ERR_OK, "0.0.0.0", 0 },
	{ "192.0.2.1", ERR_OK, "192.0.2.1", 32 },
	{ "192.0.2.1/32", ERR_OK, "192.0.2.1", 32 },
	{ "2001:db8::/32", ERR_OK, "2001:db8::", 32 },
	{ "::/0", ERR_OK, "::", 0 },
	{ "::1", ERR_OK, "::1", 128 },
	{ "::ffff:10.0.0.0/104", ERR_OK, "10.0.0.0", 8 },
	{ "::ffff:0:0/96", ERR_OK, "0.0.0.0", 0 },
	{ "::ffff:10.0.0.1", ERR_OK, "10.0.0.1", 32 },
	{ "::ffff:10.0.0.0/8", ERR_RANGE, NULL, 0 },
	{ "::ffff:10.0.0.1/104", ERR_RANGE, NULL, 0 },
	{ "::ffff:10.0.0.0/129", ERR_RANGE, NULL, 0 },
	{ "10.0.0.1/8", ERR_RANGE, NULL, 0 },
	{ "10.1.0.0/15", ERR_RANGE, NULL, 0 },
	{ "192.0.2.1/31", ERR_RANGE, NULL, 0 },
	{ "1.0.0.0/0", ERR_RANGE, NULL, 0 },
	{ "2001:db8::1/32", ERR_RANGE, NULL, 0 },
	{ "10.0.0.0/33", ERR_RANGE, NULL, 0 },
	{ "::/129", ERR_RANGE, NULL, 0 },
	{ "10.0.0.0/99999999999999999999", ERR_RANGE, NULL, 0 },
	{ "10.0.0.0/", ERR_SYNTAX, NULL, 0 },
	{ "10.0.0.0/-1", ERR_SYNTAX, NULL, 0 },
	{ "10.0.0.0/8/8", ERR_SYNTAX, NULL, 0 },
	{ "10.0.0.0/255.0.0.0", ERR_SYNTAX, NULL, 0 },
	{ "/8", ERR_SYNTAX, NULL, 0 },
	{ "", ERR_SYNTAX, NULL, 0 },
	{ "10.0.0.0:80/8", ERR_SYNTAX, NULL, 0 },
	{ "localhost", ERR_SYNTAX, NULL, 0 },
};

START_TEST(cidr_parses)
{
	struct cidr c = { .bits = 200 };
	char buf[ADDR_TEXT_MAX];
	enum err e = cidr_parse(span_str(cidrs[_i].text), &c);

	ck_assert_msg(e == cidrs[_i].e, "%s: %s", cidrs[_i].text, err_text(e));
	if (e != ERR_OK) {
		ck_assert_int_eq(c.bits, 200);
		return;
	}
	addr_print(&c.addr, buf);
	ck_assert_str_eq(buf, cidrs[_i].printed);
	ck_assert_int_eq(c.bits, cidrs[_i].bits);
}
END_TEST

static struct cidr
cidr_of(const char *text)
{
	struct cidr c;

	ck_assert_int_eq(cidr_parse(span_str(text), &c), ERR_OK);
	return c;
}

static bool
contains(const char *net, const char *address)
{
	struct cidr c = cidr_of(net);
	struct addr a = addr_of(address);

	return cidr_contains(&c, &a);
}

START_TEST(cidr_holds)
{
	struct cidr all4 = cidr_of("0.0.0.0/0"), all6 = cidr_of("::/0");
	struct cidr set[2] = { cidr_of("10.0.0.0/8"), cidr_of("fd00::/8") };
	struct addr a, none = { .family = 0 };

	ck_assert(contains("10.0.0.0/8", "10.255.255.255"));
	ck_assert(!contains("10.0.0.0/8", "11.0.0.0"));
	ck_assert(contains("192.0.2.128/25", "192.0.2.128"));
	ck_assert(!contains("192.0.2.128/25", "192.0.2.127"));
	ck_assert(contains("10.0.0.0/8", "::ffff:10.1.2.3"));
	ck_assert(contains("2001:db8::/33", "2001:db8:7fff::1"));
	ck_assert(!contains("2001:db8::/33", "2001:db8:8000::1"));
	ck_assert(!contains("::/0", "1.2.3.4"));
	ck_assert(!contains("0.0.0.0/0", "::1"));
	ck_assert(!cidr_contains(&all4, &none));
	ck_assert(!cidr_contains(&all6, &none));
	a = addr_of("fd12::1");
	ck_assert(cidr_any_contains(set, 2, &a));
	ck_assert(!cidr_any_contains(set, 1, &a));
	ck_assert(!cidr_any_contains(NULL, 0, &a));
}
END_TEST

#define P10 "/234567890"
#define P100 P10 P10 P10 P10 P10 P10 P10 P10 P10 P10

static const struct {
	const char *text;
	enum err e;
	const char *printed;	/* NULL: as text */
} endpoints[] = {
	{ "127.0.0.1:80", ERR_OK, NULL },
	{ "0.0.0.0:0", ERR_OK, NULL },
	{ "127.0.0.1:65535", ERR_OK, NULL },
	{ "[::1]:80", ERR_OK, NULL },
	{ "[::]:8080", ERR_OK, NULL },
	{ "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", ERR_OK, NULL },
	{ "[::ffff:1.2.3.4]:80", ERR_OK, "1.2.3.4:80" },
	{ "unix:/run/weir/http.sock", ERR_OK, NULL },
	{ "unix:/", ERR_OK, NULL },
	{ "unix:" P100 "/234567", ERR_OK, NULL },	/* 107 */
	{ "unix:" P100 "/2345678", ERR_RANGE, NULL },	/* 108 */
	{ "unix:" P100 P100, ERR_RANGE, NULL },
	{ "unix:", ERR_SYNTAX, NULL },
	{ "unix:relative", ERR_SYNTAX, NULL },
	{ "unix:@abstract", ERR_SYNTAX, NULL },
	{ "unix", ERR_SYNTAX, NULL },
	{ "127.0.0.1:65536", ERR_RANGE, NULL },
	{ "[::1]:99999999999999999999", ERR_RANGE, NULL },
	{ "127.0.0.1", ERR_SYNTAX, NULL },
	{ "127.0.0.1:", ERR_SYNTAX, NULL },
	{ "127.0.0.1:http", ERR_SYNTAX, NULL },
	{ "127.0.0.1:-1", ERR_SYNTAX, NULL },
	{ "[::1]", ERR_SYNTAX, NULL },
	{ "[::1]80", ERR_SYNTAX, NULL },
	{ "[::1]:80x", ERR_SYNTAX, NULL },
	{ "[127.0.0.1]:80", ERR_SYNTAX, NULL },
	{ "::1:80", ERR_SYNTAX, NULL },
	{ "localhost:80", ERR_SYNTAX, NULL },
	{ "*:80", ERR_SYNTAX, NULL },
	{ ":80", ERR_SYNTAX, NULL },
	{ "80", ERR_SYNTAX, NULL },
	{ "", ERR_SYNTAX, NULL },
};

START_TEST(endpoint_parses)
{
	struct endpoint ep = { .len = 9999 };
	char buf[ENDPOINT_TEXT_MAX];
	const char *text = endpoints[_i].text;
	enum err e = endpoint_parse(span_str(text), &ep);

	ck_assert_msg(e == endpoints[_i].e, "%s: %s", text, err_text(e));
	if (e != ERR_OK) {
		ck_assert_uint_eq(ep.len, 9999);
		return;
	}
	ck_assert_uint_eq(endpoint_print(&ep, buf, sizeof(buf)), strlen(buf));
	ck_assert_str_eq(buf, endpoints[_i].printed != NULL ?
	    endpoints[_i].printed : text);
	ck_assert(endpoint_equal(&ep, &ep));
}
END_TEST

static struct endpoint
endpoint_of(const char *text)
{
	struct endpoint e;

	ck_assert_int_eq(endpoint_parse(span_str(text), &e), ERR_OK);
	return e;
}

START_TEST(endpoint_details)
{
	struct endpoint a = endpoint_of("127.0.0.1:80");
	struct endpoint b = endpoint_of("127.0.0.1:81");
	struct endpoint six = endpoint_of("[::1]:80");
	struct endpoint u = endpoint_of("unix:/a"), v = endpoint_of("unix:/ab");
	char buf[ENDPOINT_TEXT_MAX];

	ck_assert_uint_eq(a.len, sizeof(struct sockaddr_in));
	ck_assert_uint_eq(six.len, sizeof(struct sockaddr_in6));
	ck_assert_uint_eq(u.len, offsetof(struct sockaddr_un, sun_path) + 3);
	ck_assert(!endpoint_equal(&a, &b));
	ck_assert(!endpoint_equal(&a, &six));
	ck_assert(!endpoint_equal(&u, &v));
	ck_assert(!endpoint_equal(&u, &a));
	ck_assert_uint_eq(endpoint_port(&a), 80);
	ck_assert_uint_eq(endpoint_port(&six), 80);
	ck_assert_uint_eq(endpoint_port(&u), 0);
	endpoint_set_port(&a, 81);
	ck_assert(endpoint_equal(&a, &b));
	endpoint_set_port(&six, 65535);
	ck_assert_uint_eq(endpoint_port(&six), 65535);
	endpoint_set_port(&u, 5);
	ck_assert_uint_eq(endpoint_port(&u), 0);
	/* A peer that never bound its socket has a family and no path. */
	u.len = sizeof(sa_family_t);
	endpoint_print(&u, buf, sizeof(buf));
	ck_assert_str_eq(buf, "unix:");
	ck_assert_uint_eq(endpoint_print(&b, buf, 5), 4);
	ck_assert_str_eq(buf, "127.");
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

int
main(void)
{
	Suite *suite = suite_create("addr");
	TCase *tc = tcase_create("addr");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, parse, 0, ROWS(addresses));
	tcase_add_test(tc, parse_nul_inside);
	tcase_add_test(tc, from_sockaddr);
	tcase_add_test(tc, loopback);
	tcase_add_test(tc, mask);
	tcase_add_loop_test(tc, cidr_parses, 0, ROWS(cidrs));
	tcase_add_test(tc, cidr_holds);
	tcase_add_loop_test(tc, endpoint_parses, 0, ROWS(endpoints));
	tcase_add_test(tc, endpoint_details);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
