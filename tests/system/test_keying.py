"""Who shares a count: the keying and security cases from the field."""
import socket
import threading

import pytest

from weirtest import Client, Origin, free_port

XFF = {"from": "x-forwarded-for", "trusted_proxies": ["127.0.0.1"]}


def per_ip(limit="3/1h", **more):
    return {"name": "per-ip", "key": "client_ip", "limit": limit, **more}


def forwarded(weir, *addresses, source=None, name="X-Forwarded-For"):
    with weir.client(source) as c:
        return [c.get("/", [(name, a)]).status for a in addresses]


def test_one_ipv6_subscriber_many_addresses(start, store):
    """F001."""
    weir = start([per_ip()], client_ip=XFF, store=store)
    seen = forwarded(weir, *(f"2001:db8:0:1::{i:x}" for i in range(1, 11)),
                     "2001:db8:0:2::1")
    assert seen == [200] * 3 + [429] * 7 + [200]


def test_exempt_list_does_not_merge_the_rest(start, store):
    """F002."""
    weir = start([per_ip(exempt=["127.0.0.9"])], store=store)
    assert weir.statuses(5, source="127.0.0.2") == [200] * 3 + [429] * 2
    assert weir.statuses(3, source="127.0.0.3") == [200] * 3
    with weir.client("127.0.0.9") as c:
        for _ in range(10):
            r = c.get()
            assert r.status == 200
            assert not [n for n, _ in r.fields
                        if n.lower().startswith("x-ratelimit")]


def test_header_key_is_used(start, store):
    """F003."""
    weir = start([{"name": "tenant", "key": "header:x-tenant",
                   "limit": "2/1h"}], store=store)
    with weir.client() as c:
        seen = [c.get("/", [("X-Tenant", t)]) for t in "ababab"]
    assert [r.status for r in seen] == [200] * 4 + [429] * 2
    assert seen[-1].get("x-ratelimit-policy") == "tenant"


def test_port_is_not_part_of_the_key(start, store):
    """F004."""
    weir = start([per_ip("2/1h")], client_ip=XFF, store=store)
    assert forwarded(weir, "198.51.100.7:50001", "198.51.100.7:50002",
                     "198.51.100.7:50003") == [200, 200, 429]
    assert forwarded(weir, "[2001:db8::7]:443", "[2001:db8::7]:444",
                     "2001:db8::7") == [200, 200, 429]


def test_number_of_proxies_changes(start):
    """F005."""
    weir = start([per_ip()], client_ip={
        "from": "x-forwarded-for",
        "trusted_proxies": ["127.0.0.0/8", "192.0.2.0/24"]})
    assert forwarded(weir, "198.51.100.7", "198.51.100.7, 192.0.2.1",
                     "198.51.100.7, 192.0.2.1, 192.0.2.2",
                     "198.51.100.7") == [200, 200, 200, 429]


def test_cdn_header_only_from_the_cdn(start, origin):
    """F006."""
    weir = start([per_ip("2/1h")], client_ip={
        "from": "header:CF-Connecting-IP", "trusted_proxies": ["127.0.0.1"]})
    name = "CF-Connecting-IP"
    assert forwarded(weir, *["198.51.100.1"] * 3, "198.51.100.2",
                     name=name) == [200, 200, 429, 200]
    del origin.requests[:]
    assert forwarded(weir, "198.51.100.9", "198.51.100.10", "198.51.100.9",
                     source="127.0.0.2", name=name) == [200, 200, 429]
    assert all(r.get(name) is None for r in origin.requests)


@pytest.mark.parametrize("action,expected", [
    ("peer", [200] * 3 + [429] * 2), ("skip", [200] * 5),
    ("deny", [400] * 5)])
def test_missing_key(start, store, action, expected):
    """F007: no setting puts all callers in one bucket."""
    weir = start([{"name": "k", "key": "header:x-api-key", "limit": "3/1h",
                   "on_missing_key": action}], store=store)
    assert weir.statuses(5, source="127.0.0.2") == expected
    other = weir.get(source="127.0.0.3")
    assert other.status == (400 if action == "deny" else 200)
    if action == "deny":
        assert b"x-api-key" in other.body


def test_both_families_count(start):
    """F008."""
    if not socket.has_ipv6:
        pytest.skip("no IPv6")
    port4, port6 = free_port(), free_port("::1")
    weir = start([per_ip()], wait=False,
                 listen=[f"127.0.0.1:{port4}", f"[::1]:{port6}"])
    weir.wait_for_log("serving ")
    for address in (("127.0.0.1", port4), ("::1", port6)):
        with Client(address) as c:
            assert [c.get().status for _ in range(5)] == \
                [200] * 3 + [429] * 2


def test_ipv4_on_a_dual_stack_socket(start):
    """F009."""
    port = free_port("::")
    weir = start([per_ip()], listen=f"[::]:{port}", wait=False)
    weir.wait_for_log("serving ")
    for source, expected in (("127.0.0.2", [200] * 3 + [429]),
                             ("127.0.0.3", [200] * 3)):
        with Client(("127.0.0.1", port), source) as c:
            assert [c.get().status for _ in expected] == expected


def test_mapped_addresses_are_ipv4(start):
    """F009, part two."""
    weir = start([per_ip()], client_ip=XFF)
    assert forwarded(weir, "::ffff:198.51.100.7", "::ffff:c633:6407",
                     "198.51.100.7", "198.51.100.7") == [200] * 3 + [429]


def test_two_policies_on_one_key(start, store):
    """F010."""
    weir = start([per_ip("5/1h", name="read", match={"method": "GET"}),
                  per_ip("2/1h", name="write", match={"method": "POST"})],
                 store=store)
    with weir.client() as c:
        assert [c.get().status for _ in range(5)] == [200] * 5
        assert [c.request("POST").status for _ in range(2)] == [200] * 2
        assert c.get().get("x-ratelimit-policy") == "read"
        r = c.request("POST")
        assert (r.status, r.get("x-ratelimit-policy")) == (429, "write")


def test_odd_characters_in_keys(start, store):
    """F011."""
    weir = start([{"name": "two", "key": ["header:x-a", "header:x-b"],
                   "limit": "1/1h"}], store=store)
    pairs = [("a:b", "c"), ("a", "b:c"), ("a b", "c"), ("a", "b c"),
             ("{x}", "1"), ("{x}", "2"),
             ("é".encode().decode("latin-1"), "ü".encode().decode("latin-1"))]
    with weir.client() as c:
        for expected in (200, 429):
            assert [c.get("/", [("x-a", a), ("x-b", b)]).status
                    for a, b in pairs] == [expected] * len(pairs)


def test_two_nodes_one_budget(start, redis, tmp_path, closing):
    """F012: another order of keys, another upstream, one count."""
    store = {"redis": redis.url, "timeout": "2s",
             "secret": {"env": "WEIR_TEST_SECRET"}}
    other = closing(Origin())
    one = start([per_ip("6/1h")], store=store)
    two = start([{"limit": "6/1h", "key": "client_ip", "name": "per-ip"}],
                store=store, upstream=other.url)
    seen = [w.get().status for _ in range(5) for w in (one, two)]
    assert seen == [200] * 6 + [429] * 4


def test_one_policy_on_several_routes(start, store):
    """F013."""
    weir = start([{"name": "k", "key": "header:x-api-key", "limit": "4/1h"}],
                 store=store, routes=[
        {"name": "a", "match": {"path": "/a"}},
        {"name": "b", "match": {"path": "/b"}}])
    with weir.client() as c:
        seen = [c.get(path, [("x-api-key", "k")]).status
                for path in ["/a"] * 3 + ["/b"] * 3]
    assert seen == [200] * 4 + [429] * 2


def test_forged_left_part(start, origin):
    """F086."""
    weir = start([per_ip()], client_ip=XFF)
    assert forwarded(weir, *(f"203.0.113.{n}, 198.51.100.7"
                             for n in range(6))) == [200] * 3 + [429] * 3
    assert {e["key"] for e in weir.access(6)} == {"198.51.100.7"}


def test_forged_without_proxies(start, origin):
    """F087."""
    weir = start([per_ip()])
    with weir.client("127.0.0.2") as c:
        seen = [c.get("/", [("X-Forwarded-For", f"203.0.113.{n}"),
                            ("X-Real-IP", f"203.0.113.{n}"),
                            ("Forwarded", f"for=203.0.113.{n}")]).status
                for n in range(6)]
    assert seen == [200] * 3 + [429] * 3
    for r in origin.requests:
        assert r.all("X-Forwarded-For") == ["127.0.0.2"]
        assert r.get("Forwarded") is None
        assert b"203.0.113" not in r.raw_head


def test_rotating_made_up_keys(start, store):
    """F088."""
    weir = start([{"name": "per-key", "key": "header:x-api-key",
                   "limit": "3/s"}, per_ip("10/1h")], store=store)
    with weir.client() as c:
        seen = [c.get("/", [("X-API-Key", f"guess{n}")]) for n in range(30)]
    assert [r.status for r in seen].count(200) == 10
    assert {r.get("x-ratelimit-policy") for r in seen[10:]} == {"per-ip"}


def test_other_spellings_of_a_path(start, store):
    """F089: matched alike, forwarded unchanged."""
    weir = start([per_ip("2/1h", name="login",
                         match={"path": "/login/**"})], store=store)
    spellings = ["/login", "/%6Cogin", "/login/", "//login", "/./login",
                 "/a/../login", "/login?x=1"]
    with weir.client() as c:
        seen = [c.get(path).status for path in spellings]
    assert seen == [200, 200] + [429] * 5


def test_forwarded_target_is_untouched(start, origin):
    weir = start([per_ip("100/h")])
    targets = ["/%6Cogin", "/a/../b//c?x=%20&&", "/;p=1", "/a%2fb"]
    with weir.client() as c:
        for t in targets:
            assert c.get(t).status == 200
    assert [r.target for r in origin.requests] == targets


def test_api_key_is_never_stored_in_clear(start, redis):
    """F090."""
    secret = "sk_test_4f9c0d"
    store = {"redis": redis.url, "timeout": "2s",
             "secret": {"env": "WEIR_TEST_SECRET"}}
    policy = {"name": "k", "key": "header:x-api-key", "limit": "2/1h"}
    weirs = [start([policy], store=store) for _ in range(2)]
    monitored = []
    ready = threading.Event()

    def monitor():
        with socket.create_connection(("127.0.0.1", redis.port)) as s:
            s.sendall(b"MONITOR\r\n")
            s.settimeout(5)
            try:
                while data := s.recv(65536):
                    monitored.append(data)
                    ready.set()
                    if b"the-end" in data:
                        return
            except TimeoutError:
                pass
    thread = threading.Thread(target=monitor)
    thread.start()
    assert ready.wait(5)
    seen = [w.get("/", [("X-API-Key", secret)]) for w in (*weirs, weirs[0])]
    assert [r.status for r in seen] == [200, 200, 429]
    redis.cli("PING", "the-end")
    thread.join()
    everything = b"".join(monitored) + b" ".join(redis.keys()) + b" ".join(
        redis.cli("GET", k) for k in redis.keys())
    for weir in weirs:
        everything += weir.log().encode() + weir.access_file.read_bytes()
    for r in seen:
        everything += r.body
    assert b"EVALSHA" in everything.upper()
    assert secret.encode() not in everything


def test_key_in_the_log_is_masked_and_stable(start):
    weir = start([{"name": "k", "key": "header:x-api-key", "limit": "9/h"}])
    for key in ("sk_a", "sk_a", "sk_b"):
        weir.get("/", [("x-api-key", key)])
    keys = [e["key"] for e in weir.access(3)]
    assert keys[0] == keys[1] != keys[2]
    assert all(k.startswith("h:") and "sk_" not in k for k in keys)


def test_composite_query_cookie_host_keys(start, store):
    weir = start([{"name": "c", "key": ["query:tenant", "cookie:sid", "host"],
                   "limit": "1/1h", "on_missing_key": "skip"}], store=store)

    def ask(path, cookie, host):
        with weir.client() as c:
            return c.request("GET", path, [("Cookie", cookie)],
                             host=host).status
    assert ask("/?tenant=a", "sid=1", "h") == 200
    assert ask("/x?b=1&tenant=%61", "z=2; sid=1", "H:80") == 429
    assert ask("/?tenant=b", "sid=1", "h") == 200
    assert ask("/?tenant=a", "sid=2", "h") == 200
    assert ask("/?tenant=a", "sid=1", "other") == 200
    for _ in range(3):      # a part is missing: not concerned
        assert ask("/", "sid=1", "h") == 200
