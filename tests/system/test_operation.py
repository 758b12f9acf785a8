"""Start, reload, drain, stop, and the other commands."""
import json
import pathlib
import re
import signal
import subprocess
import threading
import time

import pytest

from weirtest import (WEIR, Client, Closed, Origin, free_port, run,
                      wait_for)

ROOT = pathlib.Path(__file__).resolve().parents[2]


def per_ip(limit="3/1h", **more):
    return {"name": "per-ip", "key": "client_ip", "limit": limit, **more}


def edited(weir, **changes):
    file = json.loads(weir.file.read_text())
    file.update(changes)
    return file


# ------------------------------------------------------------------ reload

def test_reload_is_not_an_amnesty(start, store, closing):
    """F063."""
    other = closing(Origin())
    weir = start([per_ip()], store=store)
    assert weir.statuses(3) == [200] * 3
    weir.reload(edited(weir, upstream=other.url))
    assert weir.get().status == 429


def test_new_limit_applies_to_old_counters(start, store):
    """F062."""
    for algorithm in ("fixed_window", "sliding_log", "sliding_window"):
        policy = per_ip("100/1h", algorithm=algorithm, name=algorithm.replace(
            "_", "-"), **({"align": "first"} if algorithm == "fixed_window"
                          else {}))
        weir = start([policy], store=store)
        assert weir.statuses(3) == [200] * 3
        weir.reload(edited(weir, policies=[{**policy, "limit": "2/1h"}]))
        r = weir.get()
        assert r.status == 429 and r.number("x-ratelimit-limit") == 2


def test_bucket_keeps_the_used_fraction(start, store):
    weir = start([per_ip("100/1h")], store=store)
    assert weir.statuses(50)[-1] == 200
    weir.reload(edited(weir, policies=[per_ip("200/1h")]))
    assert weir.get().number("x-ratelimit-remaining") in (98, 99)
    weir.reload(edited(weir, policies=[per_ip("10/1h")]))
    assert weir.get().number("x-ratelimit-remaining") in (3, 4)


def test_bad_file_keeps_the_old_limits(start):
    """F057."""
    weir = start([per_ip()])
    weir.reload("policies: [", good=False)
    assert "E" in weir.log()
    assert weir.statuses(4) == [200] * 3 + [429]


def test_reload_under_load_loses_nothing(start, origin):
    weir = start([per_ip("1000000/h")], workers=2)
    stop = threading.Event()
    seen, wrong = [], []

    def load():
        try:
            with weir.client() as c:
                while not stop.is_set():
                    seen.append(c.get().status)
        except (OSError, Closed) as e:
            wrong.append(e)
    threads = [threading.Thread(target=load) for _ in range(4)]
    for t in threads:
        t.start()
    good = edited(weir)
    for i in range(20):
        good["policies"] = [per_ip(f"{1000000 + i}/h"),
                            per_ip("1000000/s", name=f"p{i % 3}")]
        weir.reload(good)
    stop.set()
    for t in threads:
        t.join()
    assert not wrong and set(seen) == {200}


def test_memory_is_flat_over_reloads(start):
    weir = start([per_ip("1000000/h")])
    config = edited(weir)
    for i in range(20):
        weir.reload(config)
    weir.get()
    before = weir.rss()
    for i in range(60):
        weir.reload(config)
    assert weir.get().status == 200
    if "Sanitizer" not in subprocess.run(
            ["ldd", WEIR], capture_output=True, text=True).stdout and \
            "san" not in subprocess.run(
            ["ldd", WEIR], capture_output=True, text=True).stdout:
        assert weir.rss() - before < 2 << 20


def test_reload_moves_listeners(start):
    weir = start([per_ip("100/h")])
    other = free_port()
    kept = weir.client()
    assert kept.get().status == 200
    weir.reload(edited(weir, listen=[f"127.0.0.1:{other}"]))
    with Client(("127.0.0.1", other)) as c:
        assert c.get().status == 200
    wait_for(lambda: not _connects(weir.address), "the old port to close")


def _connects(address):
    try:
        Client(address, timeout=2).close()
        return True
    except OSError:
        return False


def test_reload_to_a_taken_port_keeps_the_old(start, origin):
    weir = start([per_ip("100/h")])
    weir.reload(edited(weir, listen=f"127.0.0.1:{origin.port}"), good=False)
    assert weir.get().status == 200


def test_reload_moves_to_another_redis(start, redis, tmp_path, closing):
    from weirtest import Redis
    other = closing(Redis(tmp_path / "other"))
    secret = {"env": "WEIR_TEST_SECRET"}
    weir = start([per_ip("100/h")], store={
        "redis": redis.url, "timeout": "1s", "secret": secret})
    assert weir.get().status == 200
    weir.reload(edited(weir, store={"redis": other.url, "timeout": "1s",
                                    "secret": secret}))
    wait_for(lambda: weir.get().status == 200 and other.keys(),
             "counting in the other")


def test_access_log_is_reopened(start, tmp_path):
    weir = start([per_ip("100/h")])
    weir.get()
    weir.access(1)
    weir.access_file.rename(tmp_path / "old")
    weir.process.send_signal(signal.SIGUSR1)
    weir.wait_for_log("access log reopened")
    weir.get()
    assert len(weir.access(1)) == 1
    assert len((tmp_path / "old").read_text().splitlines()) == 1


# -------------------------------------------------------------------- stop

def test_stop_without_breaking_requests(start, origin):
    """F077."""
    inside, go_on = threading.Event(), threading.Event()

    def script(c, r):
        if r.target == "/slow":
            inside.set()
            go_on.wait(20)
        c.respond()
    origin.script = script
    weir = start([per_ip("100/h")])
    idle, busy = weir.client(), weir.client()
    assert idle.get().status == 200
    busy.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
    assert inside.wait(10)
    weir.process.send_signal(signal.SIGTERM)
    assert idle.at_end()
    wait_for(lambda: not _answers(weir), "new connections to be refused")
    go_on.set()
    r = busy.read()
    assert r.status == 200 and r.body == b"ok"
    assert r.get("connection") == "close" and busy.at_end()
    assert weir.process.wait(20) == 0


def _answers(weir):
    try:
        return weir.get().status == 200
    except (OSError, Closed):
        return False


def test_drain_has_an_end(start, closing):
    silent = closing(Origin(script=lambda c, r: c._more()))
    weir = start([per_ip("100/h")], upstream=silent.url,
                 drain={"timeout": "500ms"})
    with weir.client() as c:
        c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_for(lambda: silent.requests, "the request upstream")
        weir.process.send_signal(signal.SIGTERM)
        assert weir.process.wait(20) == 0


def test_second_signal_ends_at_once(start, closing):
    silent = closing(Origin(script=lambda c, r: c._more()))
    weir = start([per_ip("100/h")], upstream=silent.url)
    with weir.client() as c:
        c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_for(lambda: silent.requests, "the request upstream")
        weir.process.send_signal(signal.SIGTERM)
        weir.wait_for_log("draining")
        weir.process.send_signal(signal.SIGINT)
        assert weir.process.wait(20) == 1


# ------------------------------------------------------------------- start

def six_lines(tmp_path, port=None, upstream="http://127.0.0.1:9000"):
    file = tmp_path / "weir.yaml"
    file.write_text(f"listen: 127.0.0.1:{port or free_port()}\n"
                    f"upstream: {upstream}\npolicies:\n  - name: per-ip\n"
                    "    key: client_ip\n    limit: 10/s\n")
    return file


def test_port_taken(start, origin, tmp_path):
    for workers in ("", "workers: 2\n"):
        file = six_lines(tmp_path, origin.port)
        file.write_text(file.read_text() + workers)
        code, _, err = run("run", "-c", file)
        assert code == 1 and f"127.0.0.1:{origin.port}" in err


def test_two_weirs_do_not_share_a_port(start, tmp_path):
    weir = start([per_ip()], workers=2)
    file = six_lines(tmp_path, weir.port)
    file.write_text(file.read_text() + "workers: 2\n")
    code, _, err = run("run", "-c", file)
    assert code == 1 and "use" in err


def test_address_the_machine_lacks(tmp_path):
    """F078."""
    file = six_lines(tmp_path)
    file.write_text(file.read_text().replace("127.0.0.1:", "192.0.2.1:", 1))
    code, _, err = run("run", "-c", file)
    assert code == 1 and "192.0.2.1" in err


def test_bad_file_does_not_start(tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text("listen: 127.0.0.1:1\npolicies:\n  - name: a\n")
    code, _, err = run("run", "-c", file)
    assert code == 78 and re.search(r"bad\.yaml:\d+:\d+: error", err)
    assert run("run", "-c", tmp_path / "none.yaml")[0] == 78


def test_bare_option_runs(start, tmp_path, origin):
    file = tmp_path / "bad.yaml"
    file.write_text("nonsense: 1\n")
    assert run("-c", file)[0] == 78


# ---------------------------------------------------------------- commands

def test_usage():
    assert run()[0] == 64
    assert run("--help")[0] == 0
    assert run("--version")[1].startswith("weir ")
    code, _, err = run("chekc")
    assert code == 64 and "check" in err
    code, _, err = run("check", "--stric")
    assert code == 64 and "--strict" in err
    code, _, err = run("simulate")
    assert code == 64 and "not supported yet" in err
    code, _, err = run("check", "surplus")
    assert code == 64 and "-c FILE" in err
    assert run("dump", "--format", "text")[0] == 64
    assert run("check", "--format", "yaml")[0] == 64
    assert run("demo", "--port", "0")[0] == 64
    assert run("run", "--watch")[0] == 64
    for command in ("run", "check", "dump", "explain", "demo"):
        code, out, _ = run(command, "--help")
        assert code == 0 and out.startswith("usage: weir " + command)


def test_check(tmp_path):
    file = six_lines(tmp_path)
    assert run("check", "-c", file)[0] == 0
    assert run("-t", "-c", file)[0] == 0
    assert run("check", "-q", "-c", file) == (0, "", "")
    file.write_text(file.read_text() + "    burts: 3\nwrokers: 1\n")
    code, _, err = run("check", "-c", file)
    assert code == 78
    assert "burst" in err and "workers" in err and "^" in err
    code, out, _ = run("check", "--format", "json", "-c", file)
    found = json.loads(out)
    assert code == 78 and len([f for f in (
        found if isinstance(found, list) else found["findings"])]) == 2


def test_warnings_and_strict(tmp_path):
    file = six_lines(tmp_path)
    file.write_text(file.read_text() + "    cost: 100\n")
    code, _, err = run("check", "-c", file)
    assert code == 0 and "warning" in err
    assert run("check", "--strict", "-c", file)[0] == 78


def test_dump_loads_to_the_same(tmp_path):
    file = six_lines(tmp_path)
    code, out, _ = run("dump", "-c", file)
    assert code == 0 and "per-ip" in out
    again = tmp_path / "again.yaml"
    again.write_text(out)
    assert run("-T", "-c", again)[1] == out
    assert json.loads(run("dump", "--format", "json", "-c", file)[1])


def test_explain(tmp_path):
    file = six_lines(tmp_path)
    file.write_text(file.read_text() +
                    "  - {name: writes, key: client_ip, limit: 1/s,"
                    " match: {method: POST}}\n")
    code, out, _ = run("explain", "-c", file, "GET",
                       "http://api.example/v1//items?x=1",
                       "--from", "203.0.113.9")
    assert code == 0
    for word in ("/v1/items", "203.0.113.9", "anonymous", "per-ip", "10/s",
                 "writes", "method", "x-ratelimit-remaining: 9",
                 "would pass"):
        assert word in out
    code, out, _ = run("explain", "--format", "json", "-c", file, "POST",
                       "/x", "-H", "X-Api-Key: sk_secret")
    said = json.loads(out)
    assert code == 0 and said["passes"] is True
    assert [p["applies"] for p in said["policies"]] == [True, True]
    assert run("explain", "-c", file, "GET")[0] == 64
    assert run("explain", "-c", file, "GET", "no-url")[0] == 64


def explained(file, *words):
    code, out, _ = run("explain", "-c", file, "--format", "json", *words)
    return code, json.loads(out)


def test_explain_says_what_the_data_path_does(tmp_path):
    file = tmp_path / "weir.yaml"
    file.write_text("""listen: 127.0.0.1:1
upstreams: {api: {servers: [http://127.0.0.1:2]}}
routes:
  - {name: a, match: {path: /a/**}, upstream: api}
policies:
  - {name: everyone, key: all, limit: 9/s}
  - {name: keyed, key: header:x-k, limit: 9/s, on_missing_key: deny}
""")
    assert explained(file, "GET", "/zz")[1]["status"] == 404
    assert explained(file, "TRACE", "/a/b")[1]["status"] == 405
    assert explained(file, "GET", "/a/b", "-H", "Expect: magic")[1][
        "status"] == 417
    assert explained(file, "GET", "http://h/../x")[1]["status"] == 400
    code, said = explained(file, "GET", "/a/b")
    assert code == 10 and said["status"] == 400
    assert [p["key_missing"] for p in said["policies"]] == [False, True]
    assert said["upstream"] == "api"
    code, said = explained(file, "OPTIONS", "/a/b", "-H", "Origin: x", "-H",
                           "Access-Control-Request-Method: GET")
    assert code == 0 and said["policies"] == [] and said["headers"] == []
    code, said = explained(file, "GET", "/a/b", "-H", "X-K: 1")
    assert code == 0 and said["headers"][0] == "x-ratelimit-limit: 9"


def test_explain_while_redis_is_away(tmp_path):
    file = six_lines(tmp_path)
    file.write_text(file.read_text() + "    match: {method: GET}\n"
                    f"store: {{redis: 'redis://127.0.0.1:{free_port()}/0',"
                    " instances: 4}\n")
    _, said = explained(file, "GET", "/")
    assert "away" in said["counters"]
    assert said["policies"][0]["rates"][0]["rate"] == "2/s"
    _, said = explained(file, "POST", "/")
    assert said["policies"][0]["failing"] == "method"


def test_explain_hides_keys_and_asks_redis(redis, tmp_path, start):
    store = {"redis": redis.url, "timeout": "2s",
             "secret": {"env": "WEIR_TEST_SECRET"}}
    weir = start([{"name": "k", "key": "header:x-api-key",
                   "limit": "1/1h"}], store=store)
    key = [("x-api-key", "sk_secret")]
    explain = ("explain", "-c", weir.file, "GET", "/", "-H",
               "X-API-Key: sk_secret")
    env = {"WEIR_TEST_SECRET": "one-secret-for-all"}
    code, out, err = run(*explain, env=env)
    assert code == 0 and "sk_secret" not in out + err
    assert run(*explain, env=env)[0] == 0           # nothing was spent
    assert weir.get("/", key).status == 200
    code, out, _ = run(*explain, env=env)
    assert code == 10 and "429" in out
    assert weir.get("/", key).status == 429


def test_demo(tmp_path):
    port = free_port()
    process = subprocess.Popen(
        [WEIR, "demo", "--port", str(port), "--seconds", "6"], cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    assert (tmp_path / "weir.demo.yaml").exists()
    greedy = next(x for x in out.splitlines() if x.startswith("greedy"))
    polite = next(x for x in out.splitlines() if x.startswith("polite"))
    sent, passed, limited = map(int, re.findall(r" (\d+)", greedy)[-4:-1])
    assert limited > passed > 0
    assert re.findall(r" (\d+)", polite)[-1] == "0"


def test_demo_port_taken(tmp_path, origin):
    process = subprocess.Popen(
        [WEIR, "demo", "--port", str(origin.port), "--seconds", "1",
         "--no-traffic"], cwd=tmp_path, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert f"port {origin.port} is taken" in out


def test_demo_leaves_foreign_files_alone(tmp_path):
    (tmp_path / "weir.demo.yaml").write_text("mine\n")
    code, _, err = run("demo", "--seconds", "1", "--port", free_port(),
                       cwd=tmp_path)
    assert code == 1 and "weir.demo.yaml" in err
    assert (tmp_path / "weir.demo.yaml").read_text() == "mine\n"


def test_shipped_files_are_valid():
    files = [ROOT / "conf/weir.yaml", *sorted(
        (ROOT / "conf/examples").glob("*.yaml"))]
    assert len(files) > 3
    for file in files:
        code, _, err = run("check", "-c", file)
        assert code == 0, err


def test_readme_example_is_valid(tmp_path):
    text = (ROOT / "README.md").read_text()
    six = re.search(r"```yaml\n(listen: .*?)```", text, re.S)[1]
    file = tmp_path / "six.yaml"
    file.write_text(six)
    assert run("check", "--strict", "-c", file) == (
        0, f"{file}: valid\n", "")


def test_access_log_formats(start, origin, tmp_path):
    path = tmp_path / "combined"
    weir = start([per_ip("1/1h")], log={"access": {
        "path": str(path), "format": "combined"}})
    weir.get("/a?b=c", [("User-Agent", 'odd "agent"')])
    weir.get()
    wait_for(lambda: path.exists() and len(
        path.read_text().splitlines()) == 2, "two lines")
    first, second = path.read_text().splitlines()
    assert re.fullmatch(
        r'127\.0\.0\.1 - - \[[^]]+\] "GET /a[^"]* HTTP/1\.1" 200 \d+ "-" '
        r'".*"', first), first
    assert '" 429 ' in second


def test_access_log_fields(start):
    weir = start([per_ip("1/1h")])
    weir.get("/path?secret=1", [("Authorization", "Bearer topsecret"),
                                ("User-Agent", "me")])
    weir.get()
    allowed, limited = weir.access(2)
    assert allowed["decision"] == "allowed" and allowed["status"] == 200
    assert allowed["path"] == "/path" and allowed["user_agent"] == "me"
    assert allowed["client_ip"] == "127.0.0.1"
    assert allowed["policy"] == "per-ip" and allowed["key"] == "127.0.0.1"
    assert allowed["remaining"] == 0 and allowed["limit"] == 1
    assert limited["decision"] == "limited"
    assert limited["retry_after_s"] > 3500
    assert abs(limited["decided_at"] - time.time()) < 60
    assert "secret" not in weir.access_file.read_text()


@pytest.mark.parametrize("sample,lines", [(0.0, 2), (1.0, 7)])
def test_sampling_keeps_denials(start, tmp_path, sample, lines):
    path = tmp_path / "sampled"
    weir = start([per_ip("5/1h")], log={"access": {
        "path": str(path), "format": "json", "sample": sample}})
    weir.statuses(7)
    assert weir.stop() == 0
    assert len(path.read_text().splitlines()) == lines
