"""Heavier tools of the black-box tests: floods, a relay that cuts, and clocks
that lie."""
import glob
import itertools
import pathlib
import random
import re
import selectors
import socket
import struct
import threading
import time

from weirtest import WEIR, Closed

STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
STATUS_SIZE = 13


def sanitized():
    """Whether the program was built with a sanitizer: then its memory and
    speed are not its own."""
    program = pathlib.Path(WEIR).read_bytes()
    return any(name in program for name in (b"__asan_init", b"__tsan_init"))


def faketime(offset, file=None):
    """Environment of a process whose wall clock is off by offset ("-2s"); a
    file makes that adjustable. The monotonic clock stays true. None when the
    library is missing, or the program would not bear it."""
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not found or sanitized():
        return None
    env = {"LD_PRELOAD": found[0], "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    if file is None:
        return {**env, "FAKETIME": offset}
    file.write_text(offset)
    return {**env, "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1"}


# -------------------------------------------------------------------- flood

def head(path="/", **fields):
    """One request without a body."""
    lines = [f"GET {path} HTTP/1.1", "Host: test.example"]
    lines += [f"{name.replace('_', '-')}: {value}"
              for name, value in fields.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def dial(address):
    sock = socket.create_connection(address, timeout=60)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def read_statuses(sock, n):
    """Of the next n answers. Only status lines are looked at, so a body must
    not contain what looks like one."""
    seen, tail = [], b""
    while len(seen) < n:
        data = sock.recv(1 << 18)
        if not data:
            raise Closed(f"closed after {len(seen)} answers")
        data, end = tail + data, 0
        for match in STATUS.finditer(data):
            seen.append(int(match[1]))
            end = match.end()
        tail = data[max(end, len(data) - STATUS_SIZE + 1):]
    return seen


def flood(address, heads, batch=200):
    """Send all on one connection, pipelined; how many of each status."""
    counts, heads = {}, iter(heads)
    with dial(address) as sock:
        while part := list(itertools.islice(heads, batch)):
            sock.sendall(b"".join(part))
            for status in read_statuses(sock, len(part)):
                counts[status] = counts.get(status, 0) + 1
    return counts


class OpenLoop:
    """Requests at a steady pace over many connections, however long the
    answers take. answers: (how long, status)."""

    def __init__(self, address, connections, request):
        self.selector = selectors.DefaultSelector()
        self.request, self.answers = request, []
        self.free, self.sent = [], {}
        for _ in range(connections):
            sock = dial(address)
            self.selector.register(sock, selectors.EVENT_READ)
            self.free.append(sock)

    def _take(self):
        for key, _ in self.selector.select(0.001):
            match = STATUS.match(key.fileobj.recv(65536))
            assert match, "an answer in pieces"
            took = time.monotonic() - self.sent.pop(key.fileobj)
            self.answers.append((took, int(match[1])))
            self.free.append(key.fileobj)

    def run(self, n, seconds):
        """n requests within that time, later when the machine is slow."""
        begin, sent = time.monotonic(), 0
        while len(self.answers) < n:
            due = (time.monotonic() - begin) / seconds * n
            while sent < min(n, due) and self.free:
                sock = self.free.pop(0)
                self.sent[sock] = time.monotonic()
                sock.sendall(self.request)
                sent += 1
            self._take()

    def close(self):
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()


# -------------------------------------------------------------------- relay

class CuttingRelay:
    """TCP in front of a server; every connection is reset after a random
    number of octets, in whatever direction they go."""

    def __init__(self, to, seed, most):
        self.to, self.most, self.cuts = to, most, 0
        self.rng = random.Random(seed)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=(near,),
                             daemon=True).start()

    def _relay(self, near):
        try:
            with near, socket.create_connection(
                    ("127.0.0.1", self.to)) as far:
                self._pump(near, far, self.rng.randrange(self.most))
        except OSError:
            pass

    def _pump(self, near, far, left):
        with selectors.DefaultSelector() as selector:
            selector.register(near, selectors.EVENT_READ, far)
            selector.register(far, selectors.EVENT_READ, near)
            while True:
                for key, _ in selector.select():
                    data = key.fileobj.recv(65536)
                    if not data:
                        return
                    key.data.sendall(data[:left])
                    if len(data) >= left:
                        self.cuts += 1
                        near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                        struct.pack("ii", 1, 0))
                        return
                    left -= len(data)

    def close(self):
        self.listener.close()
