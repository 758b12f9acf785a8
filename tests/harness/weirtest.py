"""What the black-box tests need: the built weir, a scripted origin, a private
Redis, and a client that speaks HTTP/1.1 through a raw socket.

Everything listens on loopback ports the kernel picks and is ended by pid.
"""
import collections
import json
import os
import pathlib
import random
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time

WEIR = os.environ.get("WEIR", str(pathlib.Path(__file__).resolve()
                                  .parents[2] / "build" / "weir"))
PATIENCE = 20.0         # bound of every wait for an event, in seconds


PORTS = range(20000, 32000)         # below what kernels hand out themselves
_reserved = collections.deque()     # newest first
_next_port = random.randrange(len(PORTS))


def free_port(host="127.0.0.1"):
    """A TCP port that stays free until it is bound: the UDP port of the same
    number is taken as a sign to other test runs, and no port the kernel
    chooses comes from there."""
    global _next_port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for _ in PORTS:
        port = PORTS[_next_port]
        _next_port = (_next_port + 1) % len(PORTS)
        sign = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            sign.bind(("127.0.0.1", port))
            with socket.socket(family) as s:
                s.bind((host, port))
        except OSError:
            sign.close()
            continue
        _reserved.appendleft(sign)
        if len(_reserved) > 100:
            _reserved.pop().close()
        return port
    raise AssertionError("no free port")


def wait_for(condition, what, patience=PATIENCE):
    """Poll a cheap condition until it holds; fail by name otherwise."""
    end = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {patience} s for {what}")
        time.sleep(0.01)


# ------------------------------------------------------------------- client

class Response:
    def __init__(self, status, reason, fields, body, minor):
        self.status, self.reason, self.minor = status, reason, minor
        self.fields, self.body = fields, body

    def all(self, name):
        return [v for n, v in self.fields if n.lower() == name.lower()]

    def get(self, name, default=None):
        values = self.all(name)
        return values[0] if values else default

    def number(self, name):
        (value,) = self.all(name)
        return int(value)

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.fields} {self.body[:200]!r}>"


class Closed(Exception):
    """The peer closed where a response was expected."""


class Client:
    """One connection. Sends exact bytes, reads whole responses."""

    def __init__(self, address, source=None, timeout=PATIENCE, rcvbuf=None):
        if isinstance(address, str):
            self.sock = socket.socket(socket.AF_UNIX)
        else:
            family = (socket.AF_INET6 if ":" in address[0]
                      else socket.AF_INET)
            self.sock = socket.socket(family)
            if source:
                self.sock.bind((source, 0))
            if rcvbuf:
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                     rcvbuf)
        self.sock.settimeout(timeout)
        self.sock.connect(address)
        if self.sock.family != socket.AF_UNIX:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def close(self):
        self.sock.close()

    def abort(self):
        """Close with a reset."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                             struct.pack("ii", 1, 0))
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        if isinstance(data, str):
            data = data.encode("latin-1")
        self.sock.sendall(data)

    def _more(self):
        data = self.sock.recv(65536)
        if not data:
            raise Closed(f"closed after {self.buffer[:200]!r}")
        self.buffer += data

    def _take(self, n):
        while len(self.buffer) < n:
            self._more()
        data, self.buffer = self.buffer[:n], self.buffer[n:]
        return data

    def _line(self):
        while b"\r\n" not in self.buffer:
            self._more()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def read_head(self):
        first = self._line().decode("latin-1")
        match = re.fullmatch(r"HTTP/1\.([01]) (\d{3}) ?(.*)", first)
        assert match, f"not a status line: {first!r}"
        fields = []
        while True:
            line = self._line().decode("latin-1")
            if not line:
                break
            name, value = line.split(":", 1)
            fields.append((name, value.strip(" \t")))
        return Response(int(match[2]), match[3], fields, b"", int(match[1]))

    def read(self, method="GET"):
        """The next final response; interim ones are kept in .interim."""
        self.interim = []
        while True:
            response = self.read_head()
            if response.status >= 200 or response.status == 101:
                break
            self.interim.append(response)
        if method != "HEAD" and response.status not in (101, 204, 304):
            response.body = self._body(response)
        return response

    def _body(self, response):
        coding = response.get("transfer-encoding")
        if coding is not None:
            assert coding.lower() == "chunked"
            return self._chunks()
        length = response.get("content-length")
        if length is not None:
            return self._take(int(length))
        data = b""
        try:
            while True:
                self._more()
        except Closed:
            data, self.buffer = self.buffer, b""
        return data

    def _chunks(self):
        data = b""
        while True:
            size = int(self._line().split(b";")[0], 16)
            if size == 0:
                while self._line():
                    pass
                return data
            data += self._take(size)
            assert self._take(2) == b"\r\n"

    def request(self, method="GET", path="/", headers=(), body=None,
                host="test.example"):
        if isinstance(headers, dict):
            headers = list(headers.items())
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
        lines += [f"{name}: {value}" for name, value in headers]
        if body is not None and not any(
                n.lower() in ("content-length", "transfer-encoding")
                for n, _ in headers):
            lines.append(f"Content-Length: {len(body)}")
        self.send("\r\n".join(lines) + "\r\n\r\n")
        if body:
            self.send(body)
        return self.read(method)

    def get(self, path="/", headers=()):
        return self.request("GET", path, headers)

    def at_end(self):
        """True when the peer has closed and nothing is left to read."""
        if self.buffer:
            return False
        try:
            return self.sock.recv(1) == b""
        except ConnectionResetError:
            return True


# ------------------------------------------------------------------- origin

class Request:
    def __init__(self, line, fields, body, raw_head):
        self.line, self.fields, self.body = line, fields, body
        self.raw_head = raw_head
        self.method, self.target, self.version = line.split(" ")

    def all(self, name):
        return [v for n, v in self.fields if n.lower() == name.lower()]

    def get(self, name, default=None):
        values = self.all(name)
        return values[0] if values else default


class OriginConnection(Client):
    """The origin's end of one connection from weir."""

    def __init__(self, sock):
        self.sock, self.buffer = sock, b""
        sock.settimeout(PATIENCE)

    def read_request_head(self):
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        raw, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = raw.decode("latin-1").split("\r\n")
        fields = [tuple(x.split(":", 1)) for x in lines[1:]]
        fields = [(n, v.strip(" \t")) for n, v in fields]
        return Request(lines[0], fields, b"", raw + b"\r\n\r\n")

    def read_request(self):
        request = self.read_request_head()
        if request.get("transfer-encoding"):
            request.body = self._chunks()
        else:
            request.body = self._take(int(request.get("content-length", 0)))
        return request

    def respond(self, status=200, body=b"ok", headers=(), reason="X",
                method="GET"):
        if isinstance(headers, dict):
            headers = list(headers.items())
        out = f"HTTP/1.1 {status} {reason}\r\n"
        out += "".join(f"{n}: {v}\r\n" for n, v in headers)
        bodiless = status in (204, 304) or status < 200
        if not bodiless:
            out += f"Content-Length: {len(body)}\r\n"
        self.send(out.encode("latin-1") + b"\r\n" +
                  (b"" if bodiless or method == "HEAD" else body))


class Origin:
    """A scripted upstream: script(connection, request) answers each request;
    the default answers 200 at once. requests holds what came."""

    def __init__(self, script=None, on_connection=None, host="127.0.0.1",
                 port=0):
        self.script = script or (lambda c, r: c.respond(method=r.method))
        self.on_connection = on_connection
        self.requests, self.connections = [], 0
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((host, port))
        self.listener.listen(512)
        self.port = self.listener.getsockname()[1]
        self.host, self.alive = host, True
        self.open = set()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"http://{self.host}:{self.port}"

    def _accept(self):
        while self.alive:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections += 1
            self.open.add(sock)
            threading.Thread(target=self._serve, args=(sock,),
                             daemon=True).start()

    def _serve(self, sock):
        connection = OriginConnection(sock)
        try:
            if self.on_connection:
                self.on_connection(connection)
                return
            while True:
                request = connection.read_request()
                self.requests.append(request)
                self.script(connection, request)
        except (OSError, Closed, ValueError):
            pass
        finally:
            self.open.discard(sock)
            sock.close()

    def close(self):
        self.alive = False
        for sock in [self.listener, *self.open]:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()


# -------------------------------------------------------------------- redis

class Redis:
    """A private redis-server on a loopback port, without persistence."""

    def __init__(self, folder, *options):
        self.folder, self.options = pathlib.Path(folder), options
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.process = None
        self.password = None
        self.start()

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self):
        log = open(self.folder / "redis.log", "ab")
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1",
             "--save", "", "--appendonly", "no", "--dir", str(self.folder),
             *map(str, self.options)], stdout=log, stderr=log)
        log.close()
        wait_for(self._answers, "redis-server to answer")

    def _answers(self):
        try:
            return b"PONG" in self.raw("PING") or True
        except OSError:
            return False

    def raw(self, *words, timeout=5):
        """One command; the raw reply up to its end as redis-cli reads it."""
        parts = [str(w).encode() if not isinstance(w, bytes) else w
                 for w in words]
        with socket.create_connection(("127.0.0.1", self.port),
                                      timeout=timeout) as s:
            if self.password:
                s.sendall(_resp([b"AUTH", self.password.encode()]))
                s.recv(100)
            s.sendall(_resp(parts))
            return _read_reply(s.makefile("rb"))[1]

    def cli(self, *words):
        """The reply as Python: int, bytes, None, list; errors raise."""
        parts = [str(w).encode() if not isinstance(w, bytes) else w
                 for w in words]
        with socket.create_connection(("127.0.0.1", self.port),
                                      timeout=5) as s:
            if self.password:
                s.sendall(_resp([b"AUTH", self.password.encode()]))
                s.recv(100)
            s.sendall(_resp(parts))
            value, _ = _read_reply(s.makefile("rb"))
        if isinstance(value, Exception):
            raise value
        return value

    def keys(self, pattern="*"):
        """The keys of callers: weir's own probes lie under the empty
        identity and go away by themselves."""
        return sorted(k for k in self.cli("KEYS", pattern)
                      if b"{AAAAAAAAAAAAAAAAAAAAAA}" not in k)

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()

    close = kill


def _resp(parts):
    out = b"*%d\r\n" % len(parts)
    for part in parts:
        out += b"$%d\r\n%s\r\n" % (len(part), part)
    return out


def _read_reply(f):
    line = f.readline()
    raw, kind, rest = line, line[:1], line[1:].rstrip(b"\r\n")
    if not line:
        raise OSError("redis closed")
    if kind == b"+":
        return rest, raw
    if kind == b"-":
        return RuntimeError(rest.decode()), raw
    if kind == b":":
        return int(rest), raw
    n = int(rest)
    if n < 0:
        return None, raw
    if kind == b"$":
        data = f.read(n + 2)
        return data[:-2], raw + data
    items = []
    for _ in range(n):
        value, more = _read_reply(f)
        items.append(value)
        raw += more
    return items, raw


# --------------------------------------------------------------------- weir

class Weir:
    """The built binary with a configuration (a dict, or YAML text)."""

    def __init__(self, folder, config, env=None, wrap=(), wait=True,
                 name="weir"):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / f"{name}.yaml"
        self.log_file = self.folder / f"{name}.log"
        self.access_file = self.folder / f"{name}.access"
        self.port = free_port()
        self.address = ("127.0.0.1", self.port)
        self.write(config)
        self.process = None
        self.env = {"WEIR_TEST_SECRET": "one-secret-for-all", **(env or {})}
        self.wrap = list(wrap)
        self.start(wait)

    def write(self, config):
        """A dict gets a listen address and quiet defaults."""
        if isinstance(config, dict):
            config = dict(config)
            config.setdefault("listen", f"127.0.0.1:{self.port}")
            config.setdefault("workers", 1)
            config.setdefault("admin", "none")
            config.setdefault("log", {"access": {
                "path": str(self.access_file), "format": "json"}})
            config = json.dumps(config, indent=1)
        self.file.write_text(config.replace("@PORT@", str(self.port)))

    def start(self, wait=True):
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                [*self.wrap, WEIR, "run", "-c", str(self.file)],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env={**os.environ, **self.env})
        if wait:
            self.wait_for_log("serving ")
            wait_for(self._accepts, "weir to accept")

    def _accepts(self):
        if self.process.poll() is not None:
            raise AssertionError(f"weir ended: {self.log()}")
        try:
            socket.create_connection(self.address, timeout=1).close()
            return True
        except OSError:
            return False

    def log(self):
        return self.log_file.read_text(errors="replace")

    def wait_for_log(self, text, count=1, patience=PATIENCE):
        def seen():
            if self.log().count(text) >= count:
                return True
            if self.process.poll() is not None:
                raise AssertionError(f"weir ended: {self.log()}")
            return False
        wait_for(seen, f"{text!r} in the log", patience)

    def reload(self, config=None, good=True):
        word = "reloaded " if good else "reload failed"
        count = self.log().count(word)
        if config is not None:
            self.write(config)
        self.process.send_signal(signal.SIGHUP)
        self.wait_for_log(word, count + 1)

    def access(self, n=None):
        """Access-log entries; waits until there are n of them."""
        def entries():
            if not self.access_file.exists():
                return []
            text = self.access_file.read_text()
            return [json.loads(x) for x in text.splitlines(True)
                    if x.endswith("\n")]
        if n is not None:
            wait_for(lambda: len(entries()) >= n, f"{n} access lines")
        return entries()

    def client(self, source=None, **more):
        return Client(self.address, source, **more)

    def get(self, path="/", headers=(), source=None):
        """One request on a connection of its own."""
        with self.client(source) as c:
            return c.get(path, headers)

    def statuses(self, n, path="/", headers=(), source=None):
        """n requests one after another on one connection."""
        with self.client(source) as c:
            return [c.get(path, headers).status for _ in range(n)]

    def rss(self):
        """Resident memory in bytes."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * 1024

    def cpu(self):
        """User and system seconds so far."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = stat[stat.rindex(")") + 2:].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, sig=signal.SIGTERM):
        """Drain; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
        return self.process.wait(PATIENCE * 3)

    def close(self):
        """End it, and fail when it had crashed or a sanitizer complained."""
        code = self.process.poll()
        if code is None:
            self.process.send_signal(signal.SIGTERM)
            time.sleep(0)
            self.process.send_signal(signal.SIGTERM)
            try:
                code = self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError(f"weir did not stop: {self.log()}")
        log = self.log()
        for word in ("Sanitizer", "runtime error:", "Assertion", "aborted"):
            assert word not in log, log[-4000:]
        assert code in (0, 1, 64, 78, -9), f"exit {code}: {log[-4000:]}"


def run(*words, input=None, env=None, cwd=None):
    """weir with other arguments; (exit code, stdout, stderr)."""
    done = subprocess.run([WEIR, *map(str, words)], input=input,
                          capture_output=True, text=True, cwd=cwd,
                          timeout=PATIENCE * 3, env={**os.environ,
                                                     **(env or {})})
    return done.returncode, done.stdout, done.stderr
