"""Trouble that users of comparable products met, as far as other things than
counting, Redis and files go. Each docstring names its case."""
import re
import signal
import threading
import time

import pytest

from pressure import flood, head, sanitized
from weirtest import Client, Closed, Origin, run, wait_for


def per_ip(limit="1/1h", **more):
    return {"name": "per-ip", "key": "client_ip", "limit": limit, **more}


def test_denials_do_not_flood_the_log(start):
    """F074: 20,000 denials are news for the access log only."""
    weir = start([per_ip("1/60s"), per_ip("1/1h", name="other")])
    before = len(weir.log().splitlines())
    counts = flood(weir.address, [head()] * 20000)
    assert counts == {200: 1, 429: 19999}
    assert {e["decision"] for e in weir.access(20000)[1:]} == {"limited"}
    news = weir.log().splitlines()[before:]
    assert len(news) <= 6
    assert not [line for line in news if " error " in line]


def test_malformed_requests_do_not_flood_the_log(start):
    """F074, with the other thing that anybody can cause."""
    weir = start([per_ip("1/1h")])
    for _ in range(500):
        with weir.client() as c:
            c.send("nonsense\r\n\r\n")
            assert c.read().status == 400
    assert len(weir.log().splitlines()) < 50
    assert weir.statuses(2) == [200, 429]


@pytest.mark.parametrize("upload", [
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"])
def test_http_2_preface(start, origin, upload):
    """F085: a short clean error, a close, and no unit spent."""
    weir = start([per_ip()])
    with weir.client() as c:
        c.send(upload)
        begin = time.monotonic()
        r = c.read()
        assert r.status in (400, 505)
        assert r.get("connection") == "close" and len(r.body) < 1000
        assert c.at_end()
        assert time.monotonic() - begin < 5
    assert not origin.requests
    assert weir.statuses(2) == [200, 429]


def test_a_denial_can_be_explained(start, redis):
    """F079, without what later versions add: the response, the access log and
    explain tell of the same policy, key, limit and wait."""
    store = {"redis": redis.url, "timeout": "2s",
             "secret": {"env": "WEIR_TEST_SECRET"}}
    weir = start([per_ip("100/h", name="first"),
                  {"name": "second", "key": "header:x-tenant",
                   "limit": "2/1h"},
                  {"name": "third", "key": "all", "limit": "1000/h"}],
                 store=store)
    tenant = [("x-tenant", "acme")]
    for _ in range(2):
        assert weir.get("/", tenant).status == 200
    r = weir.get("/", tenant)
    code, said, _ = run("explain", "-c", weir.file, "GET", "/", "-H",
                        "x-tenant: acme", env=weir.env)
    entry = weir.access(3)[-1]
    assert r.status == entry["status"] == 429 and code == 10
    assert r.get("x-ratelimit-policy") == "second" == entry["policy"]
    assert r.json()["violated-policies"] == ["second"]
    assert r.number("x-ratelimit-limit") == 2 == entry["limit"]
    wait = r.number("retry-after")
    assert wait == entry["retry_after_s"] == entry["reset_s"]
    assert "acme" not in entry["key"] and entry["key"]
    explained = dict(re.findall(r"(?m)^\s*([\w-]+): (.*)$", said))
    assert explained["x-ratelimit-policy"] == "second"
    assert explained["x-ratelimit-limit"] == "2"
    assert abs(int(explained["Retry-After"]) - wait) <= 1
    assert entry["key"] in said and "acme" not in said


def test_new_connections_are_refused_while_draining(start, origin):
    """F077, the second half."""
    inside, go_on = threading.Event(), threading.Event()

    def script(c, r):
        if r.target == "/slow":
            inside.set()
            go_on.wait(20)
        c.respond()
    origin.script = script
    weir = start([per_ip("100/h")], workers=2)
    with weir.client() as busy:
        busy.send(head("/slow"))
        assert inside.wait(10)
        weir.process.send_signal(signal.SIGTERM)
        wait_for(lambda: refused(weir), "a connection to be refused")
        assert refused(weir) and weir.process.poll() is None
        go_on.set()
        assert busy.read().status == 200 and busy.at_end()
    assert weir.process.wait(20) == 0


def refused(weir):
    """A connection is refused or at least reset, not left hanging."""
    try:
        with Client(weir.address, timeout=5) as c:
            c.get()
        return False
    except (ConnectionError, Closed):
        return True


def test_silent_redis_keeps_memory_flat(start, redis):
    """F041, the last part: nothing piles up while Redis hangs."""
    weir = start([per_ip("1000000/h", on_store_error="allow")],
                 store={"redis": redis.url, "timeout": "50ms",
                        "secret": {"env": "WEIR_TEST_SECRET"}},
                 log={"access": "none"})
    flood(weir.address, [head()] * 500)
    redis.pause()
    flood(weir.address, [head()] * 500)
    before = weir.rss()
    counts = flood(weir.address, [head()] * 5000)
    assert counts == {200: 5000}
    assert sanitized() or weir.rss() - before < 1 << 20
    redis.resume()


def test_upstreams_own_429_is_not_retried(start, closing):
    """F084, with another server that could be tried."""
    def script(c, r):
        c.respond(429, b"slow down", [("Retry-After", 17),
                                      ("Content-Type", "text/x-own")])
    origins = [closing(Origin(script)) for _ in range(2)]
    weir = start([per_ip("2/1h")], upstream=None, upstreams={
        "api": {"servers": [o.url for o in origins]}},
        routes=[{"name": "all", "upstream": "api"}])
    r = weir.get()
    assert (r.status, r.get("retry-after"), r.body) == (
        429, "17", b"slow down")
    assert r.get("content-type") == "text/x-own"
    assert r.number("x-ratelimit-remaining") == 1
    assert sum(len(o.requests) for o in origins) == 1


def test_exit_tells_what_a_restart_may_cure(tmp_path):
    """F078 and F057."""
    file = tmp_path / "weir.yaml"
    file.write_text("listen: 192.0.2.1:1\nupstream: http://127.0.0.1:1\n")
    assert run("run", "-c", file)[0] == 1
    file.write_text("listen: 192.0.2.1\nupstream: http://127.0.0.1:1\n")
    assert run("run", "-c", file)[0] == 78
