"""What callers read: fields, waits, CORS, HEAD (section 4 of the contract)."""
import json
import re
import time

import pytest

from weirtest import Origin

ALGORITHMS = ["token_bucket", "sliding_log", "sliding_window", "fixed_window"]


def per_ip(limit="1/1h", **more):
    return {"name": "per-ip", "key": "client_ip", "limit": limit, **more}


def limit_fields(response):
    return {n.lower(): v for n, v in response.fields
            if n.lower().startswith("x-ratelimit")}


def test_wait_is_the_time_to_the_next_unit(start, store):
    """F014."""
    weir = start([per_ip("60/60s", burst=60)], store=store)
    with weir.client() as c:
        for _ in range(60):
            c.get()
        r = c.get()
        if r.status == 200:         # a second has passed meanwhile
            r = c.get()
        assert r.status == 429 and r.number("retry-after") in (1, 2)
        time.sleep(r.number("retry-after"))
        assert c.get().status == 200


def test_prefix_does_not_change_the_numbers(start, redis):
    """F015."""
    weir = start([per_ip("1/5s")], store={
        "redis": redis.url, "timeout": "2s", "prefix": "prod:weir:",
        "secret": {"env": "WEIR_TEST_SECRET"}})
    weir.get()
    r = weir.get()
    assert r.status == 429
    assert 1 <= r.number("retry-after") <= 5
    assert r.number("x-ratelimit-reset") == r.number("retry-after")
    assert all(k.startswith(b"prod:weir:") for k in redis.keys())


def test_reset_counts_down(start, store):
    """F016."""
    weir = start([per_ip("2/1h", algorithm="fixed_window", align="first")],
                 store=store)
    with weir.client() as c:
        assert [c.get().status for _ in range(2)] == [200, 200]
        first = c.get().number("x-ratelimit-reset")
        time.sleep(2)
        second = c.get().number("x-ratelimit-reset")
    assert first >= 3598
    assert 1 <= first - second <= 3


def test_fields_on_every_response(start, store):
    """F017."""
    weir = start([per_ip("10/1h")], store=store, workers=4)
    seen = [weir.get() for _ in range(12)]
    assert [r.number("x-ratelimit-limit") for r in seen] == [10] * 12
    assert [r.number("x-ratelimit-remaining") for r in seen] == [
        *range(9, -1, -1), 0, 0]


@pytest.mark.parametrize("upstream,expected", [
    ("replace", {"x-ratelimit-limit": "5"}),
    ("keep", {"x-ratelimit-limit": "999", "x-ratelimit-remaining": "998",
              "x-ratelimit-reset": "7"})])
def test_upstream_has_fields_too(start, origin, upstream, expected):
    """F018."""
    def script(c, r):
        c.respond(503 if r.target == "/503" else 200, headers=[
            ("X-RateLimit-Limit", 999), ("X-RateLimit-Remaining", 998),
            ("X-RateLimit-Reset", 7), ("Retry-After", 17)])
    origin.script = script
    weir = start([per_ip("5/1h")], headers={"upstream": upstream})
    r = weir.get()
    for name, value in expected.items():
        assert r.all(name) == [value]
    assert len(r.all("x-ratelimit-remaining")) == 1
    assert weir.get("/503").get("retry-after") == "17"


def test_the_denying_limit_is_described(start, store):
    """F019."""
    weir = start([{"name": "short", "key": "client_ip", "limit": "3/2s"},
                  {"name": "long", "key": "client_ip",
                   "limit": "1000/24h"}], store=store)
    with weir.client() as c:
        r = [c.get() for _ in range(4)][-1]
    assert r.status == 429
    assert limit_fields(r)["x-ratelimit-policy"] == "short"
    assert limit_fields(r)["x-ratelimit-limit"] == "3"
    assert r.number("x-ratelimit-remaining") == 0
    assert r.number("retry-after") <= 2


def test_reset_as_epoch(start):
    """F020."""
    weir = start([per_ip("2/60s")], headers={"reset": "epoch"})
    with weir.client() as c:
        r = c.get()
        assert re.fullmatch(r"\d{10}", r.get("x-ratelimit-reset"))
        assert time.time() - 2 <= r.number("x-ratelimit-reset") <= \
            time.time() + 62
        c.get()
        assert c.get().number("retry-after") <= 60


def test_limit_lowered_below_use(start, store):
    """F021."""
    config = {"store": store, "algorithm": "sliding_window"}
    weir = start([per_ip("10/4s", algorithm="sliding_window")], store=store)
    assert weir.statuses(8) == [200] * 8
    file = json.loads(weir.file.read_text())
    file["policies"] = [per_ip("3/4s", algorithm="sliding_window")]
    weir.reload(file)
    r = weir.get()
    assert r.status == 429
    assert r.number("x-ratelimit-limit") == 3
    assert r.number("x-ratelimit-remaining") == 0
    time.sleep(r.number("retry-after"))
    assert weir.get().status == 200
    assert config


def test_fields_can_be_left_out(start):
    """F022."""
    weir = start([per_ip()])
    weir.get()
    r = weir.get()
    assert r.status == 429 and len(limit_fields(r)) == 4
    weir = start([per_ip()], headers={"style": "none"})
    weir.get()
    r = weir.get()
    assert r.status == 429 and r.number("retry-after") >= 1
    assert not limit_fields(r)


def test_policy_field_can_be_left_out(start):
    weir = start([per_ip()], headers={"policy": False})
    assert "x-ratelimit-policy" not in limit_fields(weir.get())


def test_jitter_only_adds(start):
    weir = start([per_ip("1/100s")], headers={"retry_after_jitter": "50%"})
    weir.get()
    with weir.client() as c:
        seen = [c.get() for _ in range(40)]
    waits = [r.number("retry-after") for r in seen]
    resets = [r.number("x-ratelimit-reset") for r in seen]
    assert len(set(waits)) > 3
    assert all(r <= w <= r * 1.5 + 1 for w, r in zip(waits, resets))


@pytest.mark.parametrize("limit,most", [("1/2s", 2), ("1/1m", 60),
                                        ("1/1h", 3600), ("1/24h", 86400)])
def test_retry_after_is_whole_seconds(start, limit, most):
    """F080."""
    weir = start([per_ip(limit)])
    weir.get()
    (value,) = weir.get().all("retry-after")
    assert re.fullmatch(r"[1-9][0-9]*", value) and int(value) <= most


def test_thirty_days(start, store):
    """F036."""
    weir = start([per_ip("2/30d", algorithm="fixed_window",
                         align="first")], store=store)
    seen = [weir.get() for _ in range(3)]
    assert [r.status for r in seen] == [200, 200, 429]
    time.sleep(1.1)
    last = weir.get()
    assert last.status == 429
    assert 2591990 <= last.number("retry-after") <= 2592000


def test_denied_head_has_no_body(start, store):
    """F064: pipelined GET, HEAD, GET."""
    weir = start([per_ip()], store=store)
    with weir.client() as c:
        c.send("".join(f"{m} / HTTP/1.1\r\nHost: a\r\n\r\n"
                       for m in ("GET", "HEAD", "GET")))
        assert c.read("GET").status == 200
        head = c.read("HEAD")
        assert head.status == 429 and head.number("content-length") > 0
        last = c.read("GET")
        assert last.status == 429 and last.json()["status"] == 429


def test_denial_keeps_the_connection(start):
    weir = start([per_ip()])
    with weir.client() as c:
        assert [c.get().status for _ in range(5)] == [200] + [429] * 4


CORS = {"allow_origins": ["https://app.example.com"]}


def test_browser_code_can_read_the_denial(start):
    """F082."""
    weir = start([per_ip()], cors=CORS)
    app = [("Origin", "https://app.example.com")]
    with weir.client() as c:
        c.get("/", app)
        r = c.get("/", app)
        other = c.get("/", [("Origin", "https://evil.example")])
    assert r.status == 429
    assert r.get("access-control-allow-origin") == "https://app.example.com"
    assert "origin" in r.get("vary").lower()
    assert r.get("cache-control") == "no-store"
    exposed = r.get("access-control-expose-headers").lower()
    assert "retry-after" in exposed and "x-ratelimit-remaining" in exposed
    assert other.status == 429
    assert other.get("access-control-allow-origin") is None


def test_allowed_cross_origin_response_exposes_the_fields(start, origin):
    origin.script = lambda c, r: c.respond(headers=[
        ("Access-Control-Allow-Origin", "*"),
        ("Access-Control-Expose-Headers", "X-Own")])
    weir = start([per_ip("9/h")], cors=CORS)
    r = weir.get("/", [("Origin", "https://app.example.com")])
    exposed = ", ".join(r.all("access-control-expose-headers")).lower()
    assert "x-own" in exposed and "x-ratelimit-limit" in exposed


def test_preflight_is_free(start, store, origin):
    """F083."""
    weir = start([per_ip("2/1h")], store=store)
    preflight = [("Origin", "https://app.example.com"),
                 ("Access-Control-Request-Method", "POST")]
    with weir.client() as c:
        assert [c.request("OPTIONS", "/", preflight).status
                for _ in range(5)] == [200] * 5
        assert [c.get().status for _ in range(3)] == [200, 200, 429]
        assert [c.request("OPTIONS", "/", preflight).status
                for _ in range(2)] == [200] * 2
        # an OPTIONS that is no preflight counts
        assert c.request("OPTIONS", "/").status == 429


def test_upstreams_own_429(start, origin):
    """F084."""
    origin.script = lambda c, r: c.respond(429, b"slow down", [
        ("Retry-After", 17)])
    weir = start([per_ip("100/s")])
    r = weir.get()
    assert (r.status, r.get("retry-after"), r.body) == (
        429, "17", b"slow down")
    assert len(origin.requests) == 1
    (entry,) = weir.access(1)
    assert entry["status"] == 429 and entry["decision"] == "allowed"


def test_unknown_key_can_be_refused(start, tmp_path):
    file = tmp_path / "keys.map"
    file.write_text("# none yet\n")
    weir = start([{"name": "plan", "key": "caller", "limit": "plan"}],
                 lookups={"keys": {"file": str(file)}},
                 plans={"p": {"limit": "1/s"}},
                 callers=[{"name": "keyed", "match": {
                     "header": {"x-api-key": "*"}},
                     "key": "header:x-api-key", "lookup": "keys",
                     "unknown": "deny"}])
    r = weir.get("/", [("x-api-key", "sk_unknown")])
    assert r.status == 401
    assert b"sk_unknown" not in r.body
    assert weir.get().status == 200


def test_shadow_counts_but_never_denies(start, store):
    weir = start([per_ip("100/h", name="real"),
                  per_ip("2/1h", name="next", mode="shadow"),
                  per_ip("1/1h", name="asleep", mode="off")], store=store)
    seen = [weir.get() for _ in range(4)]
    assert [r.status for r in seen] == [200] * 4
    assert {r.get("x-ratelimit-policy") for r in seen} == {"real"}
    assert [e["decision"] for e in weir.access(4)] == [
        "allowed"] * 2 + ["shadow_limited"] * 2


def test_route_costs_and_exemptions(start, store):
    weir = start([per_ip("10/1h")], store=store, routes=[
        {"name": "search", "match": {"path": "/search"}, "cost": 5},
        {"name": "health", "match": {"path": "/healthz"},
         "policies": "none"}])
    with weir.client() as c:
        assert c.get("/search").number("x-ratelimit-remaining") == 5
        assert c.get("/").number("x-ratelimit-remaining") == 4
        r = c.get("/search")
        assert r.status == 429 and r.number("x-ratelimit-remaining") == 4
        assert c.get("/").number("x-ratelimit-remaining") == 3
        for _ in range(20):         # F076
            assert c.get("/healthz").status == 200


def test_several_rates_in_one_policy(start, store):
    weir = start([per_ip(["3/2s", "5/1h"])], store=store)
    with weir.client() as c:
        seen = [c.get() for _ in range(4)]
        assert [r.status for r in seen] == [200] * 3 + [429]
        assert seen[-1].number("x-ratelimit-limit") == 3
        time.sleep(seen[-1].number("retry-after"))
        while (r := c.get()).status == 200 or \
                r.number("x-ratelimit-limit") == 3:
            if r.status == 429:
                time.sleep(r.number("retry-after"))
        assert r.number("x-ratelimit-limit") == 5
        assert r.number("retry-after") > 60


def test_no_route_and_no_upstream_is_404(start, closing):
    other = closing(Origin())
    weir = start([], upstream=None, upstreams={
        "api": {"servers": [other.url]}}, routes=[
        {"name": "a", "match": {"path": "/a/**"}, "upstream": "api"}])
    assert weir.get("/a/x").status == 200
    r = weir.get("/b")
    assert r.status == 404 and r.get("content-type")
