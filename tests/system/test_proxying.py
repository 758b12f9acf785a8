"""Forwarding: bodies, framing, pooling, retries, slow and broken peers."""
import fcntl
import hashlib
import os
import signal
import socket
import struct
import termios
import threading
import time

import pytest

from weirtest import Client, Closed, Origin, free_port, wait_for


def per_ip(limit="1000000/h", **more):
    return {"name": "per-ip", "key": "client_ip", "limit": limit, **more}


def chunked(data, size=1000):
    out = b""
    for i in range(0, len(data), size):
        part = data[i:i + size]
        out += b"%x\r\n%s\r\n" % (len(part), part)
    return out + b"0\r\n\r\n"


def test_keep_alive_on_both_sides(start, origin):
    weir = start([per_ip()])
    with weir.client() as c:
        for _ in range(20):
            assert c.get().body == b"ok"
    assert origin.connections == 1
    assert len(origin.requests) == 20


def test_pipelined_requests_are_answered_in_order(start, origin):
    origin.script = lambda c, r: c.respond(body=r.target.encode())
    weir = start([per_ip()])
    with weir.client() as c:
        c.send("".join(f"GET /{i} HTTP/1.1\r\nHost: a\r\n\r\n"
                       for i in range(50)))
        assert [c.read().body for _ in range(50)] == [
            f"/{i}".encode() for i in range(50)]


def test_http_10(start, origin):
    weir = start([per_ip()])
    with weir.client() as c:
        c.send("GET / HTTP/1.0\r\n\r\n")
        r = c.read()
        assert r.status == 200 and r.body == b"ok" and c.at_end()
    assert origin.requests[0].version == "HTTP/1.1"
    with weir.client() as c:        # RFC 9112, 9.3: never kept for a 1.0
        c.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        assert c.read().status == 200 and c.at_end()


@pytest.mark.parametrize("size", [0, 1, 100, 70_000, 3_000_000])
@pytest.mark.parametrize("coding", ["length", "chunked"])
def test_upload_arrives_whole(start, origin, size, coding):
    body = os.urandom(size)
    weir = start([per_ip()])
    with weir.client() as c:
        for _ in range(2):
            if coding == "length":
                r = c.request("POST", "/", body=body)
            else:
                r = c.request("POST", "/", [
                    ("Transfer-Encoding", "chunked")], body=chunked(body))
            assert r.status == 200
    assert [x.body for x in origin.requests] == [body, body]


@pytest.mark.parametrize("size", [0, 1, 100, 70_000, 5_000_000])
@pytest.mark.parametrize("coding", ["length", "chunked", "close"])
def test_download_arrives_whole(start, origin, size, coding):
    body = os.urandom(size)

    def script(c, r):
        if coding == "length":
            c.respond(body=body)
        elif coding == "chunked":
            c.send(b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n" +
                   chunked(body, 4093))
        else:
            c.send(b"HTTP/1.1 200 X\r\n\r\n" + body)
            raise Closed
    origin.script = script
    weir = start([per_ip()])
    with weir.client() as c:
        for _ in range(2):
            assert c.get().body == body
    with weir.client() as c:        # and to an old client
        c.send("GET / HTTP/1.0\r\n\r\n")
        r = c.read()
        assert r.get("transfer-encoding") is None and r.body == body


def test_request_in_single_octets(start, origin):
    weir = start([per_ip()])
    with weir.client() as c:
        for octet in (b"POST /a HTTP/1.1\r\nHost: a\r\n"
                      b"Transfer-Encoding: chunked\r\n\r\n"
                      b"3\r\nabc\r\n0\r\n\r\n"):
            c.send(bytes([octet]))
        assert c.read().status == 200
    assert origin.requests[0].body == b"abc"


def test_response_in_single_octets(start, origin):
    def script(c, r):
        for octet in (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                      b"\r\n3\r\nabc\r\n0\r\n\r\n"):
            c.send(bytes([octet]))
    origin.script = script
    weir = start([per_ip()])
    with weir.client() as c:
        assert [c.get().body, c.get().body] == [b"abc", b"abc"]


def test_head_and_bodiless_statuses(start, origin):
    def script(c, r):
        if r.method == "HEAD":
            c.send(b"HTTP/1.1 200 X\r\nContent-Length: 1234\r\n\r\n")
        else:
            c.respond(int(r.target[1:]))
    origin.script = script
    weir = start([per_ip()])
    with weir.client() as c:
        r = c.request("HEAD", "/")
        assert r.number("content-length") == 1234
        assert c.get("/204").status == 204
        assert c.get("/304").status == 304
        assert c.get("/200").body == b"ok"


def test_interim_responses(start, origin):
    def script(c, r):
        c.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        c.respond()
    origin.script = script
    weir = start([per_ip()])
    with weir.client() as c:
        assert c.get().status == 200
        assert [i.status for i in c.interim] == [103]
    with weir.client() as c:
        c.send("GET / HTTP/1.0\r\n\r\n")
        assert c.read().status == 200 and not c.interim


def test_expect_continue_follows_the_verdict(start, closing):
    got = []

    def serve(c):
        r = c.read_request_head()
        c.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        got.append(c._take(int(r.get("content-length"))))
        c.respond()
        c._more()
    origin = closing(Origin(on_connection=serve))
    weir = start([per_ip("1/1h")], upstream=origin.url)
    head = ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
            "Expect: 100-continue\r\n\r\n")
    with weir.client() as c:
        c.send(head)
        assert c.read_head().status == 100
        c.send("hello")
        assert c.read().status == 200
        c.send(head)
        r = c.read()
        assert r.status == 429 and not c.interim
    assert got == [b"hello"]


@pytest.mark.parametrize("framing", ["expect", "length", "chunked"])
def test_denied_upload(start, framing):
    """F067: the client always reads a whole 429."""
    weir = start([per_ip("1/1h")])
    weir.get()
    with weir.client() as c:
        head = "POST / HTTP/1.1\r\nHost: a\r\n"
        if framing == "chunked":
            head += "Transfer-Encoding: chunked\r\n\r\n"
        else:
            head += "Content-Length: 50000000\r\n"
            head += ("Expect: 100-continue\r\n" if framing == "expect"
                     else "") + "\r\n"
        c.send(head)
        if framing != "expect":
            part = b"x" * 100_000
            if framing == "chunked":
                part = b"%x\r\n%s\r\n" % (len(part), part)
            try:
                for _ in range(500):
                    c.send(part)
            except OSError:
                pass                # closed: the answer must still be there
        r = c.read()
        assert r.status == 429 and r.json()["status"] == 429
        assert not c.interim
    assert weir.get().status == 429


def test_refused_upload_costs_one_head(start, origin):
    weir = start([per_ip("1/1h")])
    weir.get()
    with weir.client() as c:
        r = c.request("POST", "/", body=b"x" * 1000)
        assert r.status == 429
        assert c.get().status == 429        # a small body was drained
    assert len(origin.requests) == 1


def test_upstream_closes_idle_connections(start, closing):
    """F066: a stale pooled connection is retried, never a 502."""
    def serve(c):
        c.read_request()
        c.respond()
        time.sleep(0.05)
    origin = closing(Origin(on_connection=serve))
    weir = start([per_ip()], upstream=origin.url)
    with weir.client() as c:
        for _ in range(30):
            assert c.get().status == 200
            time.sleep(0.05)


def test_non_idempotent_requests_are_not_repeated(start, closing):
    seen = []

    def serve(c):
        r = c.read_request()
        seen.append(r.target)
        if r.target == "/warm":
            c.respond()
            r = c.read_request()
            seen.append(r.target)
        # the second request on this connection is swallowed
    origin = closing(Origin(on_connection=serve))
    weir = start([per_ip()], upstream=origin.url)
    with weir.client() as c:
        assert c.get("/warm").status == 200
        assert c.request("POST", "/once", body=b"x").status == 502
    assert seen.count("/once") == 1


def test_one_client_request_one_unit(start, origin):
    """F069: the first address refuses."""
    weir = start([per_ip("5/1h")], upstream="api", upstreams={"api": {
        "servers": [f"http://127.0.0.1:{free_port()}", origin.url],
        "balance": "round_robin"}})
    with weir.client() as c:
        assert [c.get().status for _ in range(6)] == [200] * 5 + [429]
    assert len(origin.requests) == 5


@pytest.mark.parametrize("balance", ["round_robin", "least_requests"])
def test_both_servers_get_their_share(start, closing, balance):
    origins = [closing(Origin()) for _ in range(2)]
    weir = start([per_ip()], upstream="api", upstreams={"api": {
        "servers": [o.url for o in origins], "balance": balance}})
    clients = [weir.client() for _ in range(4)]
    for _ in range(10):
        for c in clients:
            assert c.get().status == 200
    for c in clients:
        c.close()
    assert all(len(o.requests) >= 5 for o in origins)


def test_upstream_down_and_slow(start, closing):
    weir = start([per_ip()], upstream=f"http://127.0.0.1:{free_port()}")
    begin = time.monotonic()
    assert weir.get().status in (502, 503)
    assert time.monotonic() - begin < 5
    silent = closing(Origin(script=lambda c, r: c._more()))
    weir = start([per_ip()], upstream="api", upstreams={"api": {
        "servers": [silent.url], "response_timeout": "300ms"}})
    r = weir.get()
    assert r.status == 504
    (entry,) = weir.access(1)
    assert entry["status"] == 504 and "timeout" in entry["error"]


@pytest.mark.parametrize("answer", [
    b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
    b"Content-Length: 6\r\n\r\nhello", b"HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n folded\r\n\r\n", b"", b"HTTP/1.1 200 OK\r\nA: b"])
def test_bad_responses_are_502(start, closing, answer):
    def serve(c):
        c.read_request()
        c.send(answer)
    origin = closing(Origin(on_connection=serve))
    weir = start([per_ip()], upstream=origin.url)
    assert weir.get().status == 502


def test_truncated_response_is_not_passed_off_as_whole(start, closing):
    def serve(c):
        r = c.read_request()
        if r.target == "/length":
            c.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        else:
            c.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                   b"4\r\nhalf\r\n")
    origin = closing(Origin(on_connection=serve))
    weir = start([per_ip()], upstream=origin.url)
    for path in ("/length", "/chunked"):
        with weir.client() as c, pytest.raises((Closed, ConnectionError)):
            c.get(path)


def test_events_arrive_as_they_are_sent(start, closing):
    """F068."""
    step = threading.Semaphore(0)

    def script(c, r):
        c.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
               b"Transfer-Encoding: chunked\r\n\r\n")
        for i in range(5):
            step.acquire()
            c.send(b"8\r\ndata: %d\n\r\n" % i)
        c.send(b"0\r\n\r\n")
    origin = closing(Origin(script))
    weir = start([per_ip()], upstream=origin.url)
    with weir.client() as c:
        c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        c.read_head()
        for i in range(5):
            step.release()
            while b"data: %d\n" % i not in c.buffer:
                c._more()


def test_client_abort_cancels_upstream_work(start, closing):
    ended = threading.Event()
    began = threading.Event()

    def script(c, r):
        began.set()
        try:
            c._more()
        except (Closed, OSError):
            ended.set()
            raise
    origin = closing(Origin(script))
    weir = start([per_ip()], upstream=origin.url)
    with weir.client() as c:
        c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert began.wait(10)
        c.abort()
    assert ended.wait(10)


def test_half_closed_client_gets_its_answer(start, origin):
    weir = start([per_ip()])
    with weir.client() as c:
        c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        c.sock.shutdown(socket.SHUT_WR)
        assert c.read().status == 200


def test_slow_reader_does_not_fill_memory(start, closing):
    """F095 in small: back-pressure reaches the origin."""
    sent = [0]
    part = b"x" * 65536

    def script(c, r):
        c.sock.settimeout(1.5)
        c.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (1 << 30))
        try:
            while True:
                c.sock.sendall(part)
                sent[0] += len(part)
        except OSError:
            pass
    origin = closing(Origin(script))
    weir = start([per_ip()], upstream=origin.url)
    before = weir.rss()
    clients = [weir.client(rcvbuf=16384) for _ in range(5)]
    for c in clients:
        c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        c.read_head()

    def stalled():
        now = sent[0]
        time.sleep(0.3)
        return sent[0] == now
    wait_for(stalled, "the origin to be held back", 30)
    assert weir.rss() - before < 10 << 20
    for c in clients:
        c.close()


def test_two_opinions_on_where_a_request_ends(start, origin):
    """F091."""
    weir = start([per_ip("100/h")])
    hidden = "GET /admin HTTP/1.1\r\nHost: a\r\n\r\n"
    for fields in (f"Content-Length: {len(hidden)}\r\n"
                   "Transfer-Encoding: chunked",
                   "Transfer-Encoding: chunked\r\n"
                   f"Content-Length: {len(hidden)}",
                   f"Content-Length: 0\r\nContent-Length: {len(hidden)}"):
        with weir.client() as c:
            c.send(f"POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n"
                   f"0\r\n\r\n{hidden}")
            assert c.read().status == 400
            assert c.at_end()
    assert origin.requests == []
    assert weir.get().number("x-ratelimit-remaining") == 99


@pytest.mark.parametrize("head,status", [
    ("GET / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: b\0c\r\n\r\n", 400),
    ("GET / HTTP/1.1\nHost: a\n\n", 400),
    ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ("\x16\x03\x01\x02\x00\x01", 400),
    ("GET /" + "a" * 9000 + " HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: " + "b" * 40000 + "\r\n\r\n", 431),
    ("GET / HTTP/1.1\r\nHost: a\r\n" + "A: b\r\n" * 101 + "\r\n", 431),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
     501),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: "
     "99999999999999999999\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\n\r\n", 417),
    ("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", (405, 501)),
    ("TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", (405, 501)),
    ("GET /../x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nVia: 1.1 weir\r\n\r\n", 508),
])
def test_malformed_requests(start, origin, head, status):
    weir = start([per_ip()])
    with weir.client() as c:
        c.send(head)
        r = c.read()
        assert r.status in (status if isinstance(status, tuple)
                            else (status,))
        assert r.number("content-length") == len(r.body)
    assert origin.requests == []
    assert weir.get().status == 200


def test_hop_by_hop_fields_are_removed(start, origin):
    weir = start([per_ip()])
    weir.get("/", [("Connection", "close, X-Secret"), ("X-Secret", "1"),
                   ("Keep-Alive", "5"), ("Proxy-Connection", "close"),
                   ("TE", "gzip"), ("X-Kept", "2")])
    (r,) = origin.requests
    for name in ("X-Secret", "Keep-Alive", "Proxy-Connection", "TE"):
        assert r.get(name) is None
    assert r.get("X-Kept") == "2"
    assert r.get("Via") == "1.1 weir"
    assert r.get("X-Forwarded-Proto") == "http"
    assert r.get("X-Forwarded-Host") == "test.example"
    assert r.get("X-Real-IP") == "127.0.0.1"


def test_headers_one_octet_at_a_time(start, origin):
    """F092: the time for a head counts from its first octet."""
    weir = start([per_ip()], limits={"header_timeout": "1s"})
    slow = [weir.client() for _ in range(50)]
    begin = time.monotonic()
    alive = list(slow)
    text = b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 1000
    for i in range(40):
        for c in list(alive):
            try:
                c.send(text[i:i + 1])
            except OSError:
                alive.remove(c)
        assert weir.get().status == 200
        time.sleep(0.1)
        if time.monotonic() - begin > 3:
            break
    for c in slow:
        try:
            assert c.read().status == 408
        except (Closed, ConnectionError):
            pass
        c.close()


def test_stalled_body_is_given_up(start, origin):
    weir = start([per_ip()], limits={"body_timeout": "500ms"})
    with weir.client() as c:
        c.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab")
        try:
            assert c.read().status == 408
        except (Closed, ConnectionError):
            pass
    wait_for(lambda: not origin.open, "the upstream connection to end")


def test_idle_connections_are_closed(start):
    weir = start([per_ip()], limits={"idle_timeout": "500ms"})
    with weir.client() as c:
        assert c.get().status == 200
        assert c.at_end()


def test_body_limit(start, origin):
    weir = start([per_ip()], limits={"body_bytes": "10KiB"})
    with weir.client() as c:
        assert c.request("POST", "/", body=b"x" * 10240).status == 200
        assert c.request("POST", "/", body=b"x" * 10241).status == 413
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    with weir.client() as c:            # with the head, in one segment
        c.send(head + chunked(b"x" * 20000))
        assert c.read().status == 413
    with weir.client() as c:
        c.send(head)
        try:
            c.send(chunked(b"x" * 20000))
        except OSError:
            pass
        try:
            assert c.read().status == 413
        except (Closed, ConnectionError):
            pass
    assert len(origin.requests) == 1


def test_connection_ceiling(start):
    weir = start([per_ip()], limits={"connections": 5})
    clients = [weir.client() for _ in range(5)]
    for c in clients:
        assert c.get().status == 200
    with weir.client() as extra:
        try:
            extra.get()
        except (Closed, ConnectionError):
            pass
    for c in clients:
        c.close()
    wait_for(lambda: _passes(weir), "a place to come free")


def _passes(weir):
    try:
        return weir.get().status == 200
    except (Closed, ConnectionError):
        return False


def test_out_of_descriptors(start):
    """F073: no spin, and it recovers."""
    weir = start([per_ip()], wrap=("prlimit", "--nofile=64:64"),
                 limits={"connections": 1000})
    clients = []
    for _ in range(100):
        c = weir.client()
        c.send("G")                 # so that deferred accept wakes weir
        clients.append(c)
    before = weir.cpu()
    time.sleep(2)
    assert weir.cpu() - before < 1.0
    assert len(weir.log().splitlines()) < 40
    for c in clients:
        c.close()
    wait_for(lambda: _passes(weir), "descriptors to come free")


def test_unix_listener_and_upstream_host(start, tmp_path):
    path = str(tmp_path / "http.sock")
    weir = start([{"name": "k", "key": "header:x-k", "limit": "1/h"}],
                 listen=f"unix:{path}", wait=False)
    weir.wait_for_log("serving ")
    with Client(path) as c:
        assert [c.get("/", [("x-k", "1")]).status for _ in range(2)] == [
            200, 429]


def test_unix_upstream(start, tmp_path, closing):
    path = str(tmp_path / "api.sock")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(5)
    seen = []

    def serve():
        from weirtest import OriginConnection
        try:
            while True:
                sock, _ = listener.accept()
                c = OriginConnection(sock)
                try:
                    while True:
                        seen.append(c.read_request())
                        c.respond()
                except (Closed, OSError):
                    sock.close()
        except OSError:
            pass
    threading.Thread(target=serve, daemon=True).start()
    weir = start([per_ip()], upstream="api",
                 upstreams={"api": {"servers": [f"unix:{path}"]}})
    assert weir.statuses(3) == [200] * 3
    listener.close()
    assert len(seen) == 3


def test_large_upload_digest(start, origin):
    body = os.urandom(20_000_000)
    weir = start([per_ip()])
    with weir.client() as c:
        assert c.request("PUT", "/", body=body).status == 200
    assert hashlib.sha256(origin.requests[0].body).digest() == \
        hashlib.sha256(body).digest()


def test_timeout_after_a_reload(start, closing):
    """The last request of an old configuration ends by that one's timeout."""
    silent = closing(Origin(script=lambda c, r: c._more()))
    upstreams = {"u": {"servers": [silent.url], "response_timeout": "300ms"}}
    weir = start([per_ip()], upstream="u", upstreams=upstreams)
    with weir.client() as c:
        c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_for(lambda: silent.requests, "the request upstream")
        weir.reload()
        assert c.read().status == 504
        assert c.get().status == 504


def test_much_body_behind_a_large_head(start, origin, tmp_path):
    path = str(tmp_path / "http.sock")
    weir = start([per_ip()], listen=f"unix:{path}", wait=False,
                 limits={"header_bytes": "260KiB"})
    weir.wait_for_log("serving ")
    body = os.urandom(400_000)
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 400000\r\nX: "
    head += b"y" * ((256 << 10) + 96 - len(head)) + b"\r\n\r\n"
    first = (256 << 10) - 300           # its buffer is full to a few octets
    with Client(path) as c:
        c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        c.send(head[:first])
        wait_for(lambda: _unsent(c.sock) == 0, "the beginning to be read")
        weir.process.send_signal(signal.SIGSTOP)    # the rest comes at once
        sender = threading.Thread(target=c.send, args=(head[first:] + body,))
        sender.start()
        wait_for(lambda: _unsent(c.sock) > 150_000, "the socket to be full")
        weir.process.send_signal(signal.SIGCONT)
        assert c.read().status == 200
        sender.join()
    assert origin.requests[0].body == body


def _unsent(sock):
    return struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ,
                                          b"\0" * 4))[0]


def test_drain_ends_with_the_last_octet(start, closing, tmp_path):
    """A whole response waits for its client, who then keeps the connection."""
    path, body = str(tmp_path / "http.sock"), b"z" * 250_000
    large = closing(Origin(script=lambda c, r: c.respond(body=body)))
    weir = start([per_ip()], listen=f"unix:{path}", wait=False,
                 upstream=large.url, drain={"timeout": "20s"})
    weir.wait_for_log("serving ")
    with Client(path) as c:
        c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        weir.access(1)
        weir.process.send_signal(signal.SIGTERM)
        weir.wait_for_log("draining ")
        assert c.read().body == body
        assert c.at_end()
        assert weir.process.wait(10) == 0
    assert "drain timeout" not in weir.log()


def test_upstream_that_answers_before_it_is_asked(start, closing):
    """Its answer and its end are there when the connection is, and no further
    event tells of them."""
    def on_connection(c):
        c.respond(503, headers={"Connection": "close"})
        c.sock.shutdown(socket.SHUT_WR)
        c.sock.recv(1)
        time.sleep(3)
    hasty = closing(Origin(on_connection=on_connection))
    weir = start([{"name": "k", "key": "header:x-k", "limit": "1/h"}],
                 upstream="u", upstreams={"u": {
                     "servers": [hasty.url], "response_timeout": "2s"}})
    with weir.client() as busy, weir.client() as c:
        busy.get("/", [("x-k", "1")])
        weir.process.send_signal(signal.SIGSTOP)    # all in one turn
        c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        busy.send("GET / HTTP/1.1\r\nHost: a\r\nx-k: 1\r\n\r\n" * 2000)
        weir.process.send_signal(signal.SIGCONT)
        assert c.read().status == 503


def test_silent_server_is_passed_over(start, origin, closing):
    """A connect that is not answered goes on to the next server."""
    full = socket.create_server(("127.0.0.1", 0), backlog=0)
    fillers = []
    for _ in range(4):              # fill its queue: further SYNs get nothing
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(full.getsockname())
        fillers.append(s)
    weir = start([per_ip()], upstream="api", upstreams={"api": {
        "servers": [f"http://127.0.0.1:{full.getsockname()[1]}", origin.url],
        "balance": "round_robin", "connect_timeout": "300ms"}})
    with weir.client() as c:
        assert [c.get().status for _ in range(4)] == [200] * 4
    alone = start([per_ip()], upstream="api", upstreams={"api": {
        "servers": [f"http://127.0.0.1:{full.getsockname()[1]}"],
        "connect_timeout": "300ms"}})
    assert alone.get().status == 504
    for s in [full, *fillers]:
        s.close()


def test_lingering_connections_give_way(start):
    """Refused uploads that trickle on do not keep others out."""
    weir = start([per_ip("1/1h")], limits={"connections": 5})
    weir.get(source="127.0.0.2")
    slow = [weir.client("127.0.0.2") for _ in range(5)]
    for c in slow:
        c.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900000000"
               "\r\n\r\nx")
        assert c.read().status == 429
    for _ in range(3):
        for c in slow:
            try:
                c.send("x")
            except OSError:
                pass
        assert weir.get(source="127.0.0.3").status in (200, 429)
    for c in slow:
        c.close()


def test_sampling_keeps_failures(start, tmp_path):
    path = tmp_path / "sampled"
    weir = start([per_ip()], upstream=f"http://127.0.0.1:{free_port()}",
                 log={"access": {"path": str(path), "format": "json",
                                 "sample": 0.0}})
    assert weir.get().status == 502
    assert weir.stop() == 0
    assert len(path.read_text().splitlines()) == 1


def test_fields_about_the_client_from_strangers(start, origin):
    weir = start([per_ip()])
    names = ["X-Forwarded-Ssl", "X-Forwarded-Scheme", "X-Forwarded-Protocol",
             "X-Forwarded-Server", "Front-End-Https", "X-Original-URL",
             "X-Rewrite-URL", "X-Forwarded-Port", "X-Forwarded-Prefix",
             "True-Client-IP", "Client-Cert"]
    weir.get("/", [(n, "forged") for n in names])
    assert b"forged" not in origin.requests[0].raw_head
