"""Trouble that users of comparable products met, as far as counting goes.
Each docstring names its case; the times are those of the case."""
import math
import random
import statistics
import threading
import time

import pytest

from pressure import OpenLoop, faketime, flood, head, sanitized
from weirtest import Client, wait_for

ALGORITHMS = ["token_bucket", "sliding_log", "sliding_window", "fixed_window"]


def policy(algorithm, limit, **more):
    """For one path, so that one weir can be asked about all algorithms."""
    if algorithm == "fixed_window":
        more.setdefault("align", "first")
    return {"name": algorithm.replace("_", "-"), "key": "client_ip",
            "match": {"path": f"/{algorithm}"}, "algorithm": algorithm,
            "limit": limit, **more}


def all_algorithms(limit, **more):
    return [policy(a, limit, **more) for a in ALGORITHMS]


def sleep_until(moment, clock=time.time):
    while (left := moment - clock()) > 0:
        time.sleep(left)


def warm(client):
    """Connections are made and pages are touched before times count."""
    for _ in range(3):
        assert client.get("/no-policy").status == 200


# ----------------------------------------------------------------- windows

def test_burst_around_the_edge(start, store):
    """F023: the default algorithm and all called sliding."""
    kinds = ["token_bucket", "sliding_log", "sliding_window"]
    weir = start([policy(a, "10/2s") for a in kinds], store=store)
    passed = dict.fromkeys(kinds, 0)
    with weir.client() as c:
        warm(c)
        even = math.ceil(time.time() / 2) * 2
        for moment in (even + 1.9, even + 2.1):
            sleep_until(moment)
            for kind in kinds:
                for _ in range(10):
                    passed[kind] += c.get(f"/{kind}").status == 200
            took = time.time() - moment
    assert passed["sliding_log"] == passed["sliding_window"] == 10
    # a bucket gives back one each 0.2 s
    assert 10 <= passed["token_bucket"] <= 11 + math.ceil(took / 0.2)


@pytest.mark.parametrize("seconds", [
    6, pytest.param(12, marks=pytest.mark.slow)])
def test_impatient_client_is_not_locked_out(start, store, seconds):
    """F024, and at double speed."""
    weir = start(all_algorithms(f"5/{seconds // 6}s"), store=store)
    step = seconds / 60
    passed = {a: [] for a in ALGORITHMS}
    with weir.client() as c:
        warm(c)
        begin = time.monotonic()
        for i in range(60):
            sleep_until(begin + i * step, time.monotonic)
            for a in ALGORITHMS:
                if c.get(f"/{a}").status == 200:
                    passed[a].append(i * step)
    for a in ALGORITHMS:
        # bounded state gives back up to an eighth of the period late
        least = 15 if a == "sliding_window" else 27
        assert least <= len(passed[a]) <= 36, (a, passed[a])
        at = [0, *passed[a], seconds]
        assert max(y - x for x, y in zip(at, at[1:])) <= \
            seconds / 12 * 2.5, (a, at)


def test_n_per_period_means_n_at_once(start, store):
    """F027."""
    weir = start(all_algorithms("6/60s"), store=store)
    with weir.client() as c:
        for a in ALGORITHMS:
            assert [c.get(f"/{a}").status for _ in range(7)] == \
                [200] * 6 + [429]


def test_less_than_one_per_second(start, store):
    """F028."""
    exact = ["token_bucket", "sliding_log", "fixed_window"]
    weir = start([policy(a, "1/5s") for a in exact], store=store)
    seen = {a: [] for a in exact}
    with weir.client() as c:
        warm(c)
        begin = time.monotonic()
        for at in (0, 1, 4, 5.3):
            sleep_until(begin + at, time.monotonic)
            for a in exact:
                seen[a].append(c.get(f"/{a}").status)
    assert seen == dict.fromkeys(exact, [200, 429, 429, 200])


@pytest.mark.parametrize("quiet", [
    3, pytest.param(12, marks=pytest.mark.slow)])
def test_quiet_client_gets_its_quota_back(start, store, quiet):
    """F030."""
    weir = start(all_algorithms("5/1s"), store=store)
    with weir.client() as c:
        for a in ALGORITHMS:
            for _ in range(7):
                c.get(f"/{a}")
        time.sleep(2.1)
        for a in ALGORITHMS:
            assert [c.get(f"/{a}").status for _ in range(5)] == [200] * 5
        time.sleep(quiet)
        for a in ALGORITHMS:
            r = c.get(f"/{a}")
            assert r.status == 200
            assert r.number("x-ratelimit-remaining") == 4


# ------------------------------------------------------------ at one moment

def released_together(weir, paths, connections=40):
    """How many of one request a connection pass, all sent at once."""
    clients = [weir.client() for _ in range(connections)]
    barrier, passed = threading.Barrier(connections), []

    def one(c):
        with c:
            warm(c)
            for path in paths:
                barrier.wait()
                passed.append((path, c.get(path).status))
    threads = [threading.Thread(target=one, args=(c,)) for c in clients]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(passed) == len(paths) * connections
    return {path: sum(s == 200 for p, s in passed if p == path)
            for path in paths}


@pytest.mark.parametrize("workers", [1, 4])
def test_concurrent_requests_cannot_beat_the_count(start, store, workers):
    """F031: 5 runs for each algorithm, each run on a fresh count."""
    runs = [(a, i) for a in ALGORITHMS for i in range(5)]
    weir = start([policy(a, "10/1h", name=f"{a}{i}",
                         match={"path": f"/{a}/{i}"})
                  for a, i in runs], store=store, workers=workers)
    passed = released_together(weir, [f"/{a}/{i}" for a, i in runs])
    assert set(passed.values()) == {10}, passed


def test_counters_are_shared_by_all_workers(start, store):
    """F032."""
    weir = start(all_algorithms("6/1h"), workers=4, store=store)
    for a in ALGORITHMS:
        assert [weir.get(f"/{a}").status for _ in range(24)].count(200) == 6


# ------------------------------------------------------------------ surges

@pytest.fixture
def wall(start):
    """An upstream that answers 404 faster than a scripted one."""
    return start((), upstream=None, log={"access": "none"})


def most_in_a_second(times):
    times, first, most = sorted(times), 0, 0
    for i, t in enumerate(times):
        while t - times[first] >= 1.0:
            first += 1
        most = max(most, i - first + 1)
    return most


@pytest.mark.parametrize("algorithm", ["token_bucket", "sliding_window"])
def test_surge_on_one_shared_limit(start, wall, closing, algorithm):
    """F097, judged by the times of weir's own decisions."""
    weir = start([{"name": "all", "key": "all", "limit": "1000/s",
                   "algorithm": algorithm}], workers=4,
                 upstream=f"http://127.0.0.1:{wall.port}")
    loop = closing(OpenLoop(weir.address, 200, head()))
    loop.run(20000, 2)
    entries = weir.access(20000)
    assert {e["status"] for e in entries} == {404, 429}
    at = [e["decided_at"] for e in entries]
    took = max(at) - min(at)
    passed = [e["decided_at"] for e in entries if e["status"] == 404]
    assert 950 * took <= len(passed) <= 1000 * took + 1100
    if algorithm == "sliding_window":
        assert most_in_a_second(passed) <= 1000
    denied, allowed = (statistics.median(
        t for t, s in loop.answers if s == status) for status in (429, 404))
    assert sanitized() or denied < allowed


@pytest.mark.parametrize("keys", [
    120_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_a_million_different_keys(start, wall, keys):
    """F093: 4 MiB hold some 60,000 keys."""
    bound = 4 << 20
    weir = start([{"name": "per-key", "key": "header:x-key",
                   "limit": "3/60s"}], store={"memory": "4MiB"},
                 upstream=f"http://127.0.0.1:{wall.port}",
                 log={"access": "none"})
    if sanitized():
        keys //= 10
    part, costs = keys // 10, []    # CPU of weir, whatever else runs here
    flood(weir.address, (head(x_key=f"warm{i}") for i in range(2000)))
    before = weir.rss()
    for i in range(10):
        begin = weir.cpu()
        heads = [head(x_key=f"key{n}") for n in range(i * part,
                                                      (i + 1) * part)]
        assert flood(weir.address, heads) == {404: part}
        costs.append(weir.cpu() - begin)
    if not sanitized():
        grown = weir.rss() - before
        assert grown < bound + (2 << 20), grown
        assert min(costs[-3:]) < min(costs[:3]) * 2 + 0.02, costs
    with weir.client() as c:
        assert [c.get("/", [("x-key", "busy")]).status for _ in range(4)] == \
            [404, 404, 404, 429]


# ------------------------------------------------------------------ clocks

def send_times(n, seconds, phase, rng):
    """Moments at least 40 ms from every edge of a limit of 3/2s: windows and
    their eighths on the clock, units of a bucket, entries of a log."""
    times = [0.0]

    def clear(t):
        return all(min(x % period, period - x % period) > 0.04
                   for x, period in ((t + phase, 0.25), (t, 2 / 3))) and \
            all(abs(abs(t - other) - 2) > 0.04 for other in times)
    for _ in range(100_000):
        if len(times) == n:
            break
        t = rng.random() * seconds
        if clear(t):
            times.append(t)
    return sorted(times)


@pytest.mark.parametrize("seed,n,seconds", [
    (11, 25, 5), pytest.param(12, 60, 12, marks=pytest.mark.slow)])
def test_same_verdicts_from_memory_and_redis(start, redis, seed, n, seconds):
    """F033."""
    policies = all_algorithms("3/2s", align=None)
    for p in policies:
        del p["align"]
    weirs = [start(policies), start(policies, store={
        "redis": redis.url, "timeout": "2s",
        "secret": {"env": "WEIR_TEST_SECRET"}})]
    for attempt in range(3):
        times = send_times(n, seconds, 0.125, random.Random(seed + attempt))
        late, seen = send_to_both(weirs, times, f"127.0.2.{attempt + 1}")
        if late < 0.035:
            break
    else:
        pytest.skip(f"the machine stalls, at last for {late:.3f} s")
    assert seen[0] == seen[1]
    assert {s for _, _, s in seen[0]} == {200, 429}


def send_to_both(weirs, times, source):
    """How late the latest decision came, and the verdicts of each."""
    clients = [w.client(source) for w in weirs]
    seen = [[], []]
    for c in clients:
        warm(c)
    begin = math.ceil(time.time() / 2) * 2 + 0.125
    for t in times:
        sleep_until(begin + t)
        for c, verdicts in zip(clients, seen):
            verdicts += [(t, a, c.get(f"/{a}").status) for a in ALGORITHMS]
    for c in clients:
        c.close()
    planned = [begin + t for t in times for _ in ALGORITHMS]
    late = 0
    for w in weirs:
        wait_for(lambda: len(decided(w, source)) == len(planned),
                 "all access lines")
        late = max(late, *(at - plan for at, plan in zip(
            decided(w, source), planned)))
    return late, seen


def decided(weir, source):
    """When, by the clock of the store: those of one caller, in order."""
    return [e["decided_at"] for e in weir.access()
            if e["client_ip"] == source and "decided_at" in e]


@pytest.mark.parametrize("seconds", [
    4, pytest.param(10, marks=pytest.mark.slow)])
def test_nodes_with_different_clocks(start, redis, seconds):
    """F034: the second weir's clock is 2 s behind."""
    env = faketime("-2s")
    if env is None:
        pytest.skip("no libfaketime for this program")
    store = {"redis": redis.url, "timeout": "2s",
             "secret": {"env": "WEIR_TEST_SECRET"}}
    weirs = [start([policy("token_bucket", "5/s")], store=store, env=e)
             for e in (None, env)]
    clients = [w.client() for w in weirs]
    for c in clients:
        warm(c)
    passed, begin = 0, time.monotonic()
    for i in range(seconds * 20):
        sleep_until(begin + i / 20, time.monotonic)
        passed += clients[i % 2].get("/token_bucket").status == 200
    took = time.monotonic() - begin
    for c in clients:
        c.close()
    assert 5 * seconds <= passed <= 5 * took + 5
    assert 1.5 < clock_of(weirs[0]) - clock_of(weirs[1]) < 2.5
    assert {e.get("source") for w in weirs for e in w.access()
            if e["path"] != "/no-policy"} <= {"redis", "remembered"}


def clock_of(weir):
    """What the process took for the time at the last request, relative to
    the truth."""
    last = weir.access()[-1]
    return iso(last["ts"]) - weir.access_file.stat().st_mtime


def iso(text):
    import datetime
    return datetime.datetime.fromisoformat(
        text.replace("Z", "+00:00")).timestamp()


def test_clock_set_back_by_an_hour(start, tmp_path):
    """F035."""
    clock = tmp_path / "clock"
    env = faketime("+0s", clock)
    if env is None:
        pytest.skip("no libfaketime for this program")
    weir = start(all_algorithms("5/1s"), env=env,
                 headers={"reset": "epoch"})
    with weir.client() as c:
        def steady(seconds):
            for _ in range(seconds * 2):
                seen = [c.get(f"/{a}") for a in ALGORITHMS]
                assert [r.status for r in seen] == [200] * 4
                time.sleep(0.5)
            return [r.number("x-ratelimit-reset") - time.time()
                    for r in seen]
        assert all(-2 <= reset <= 2 for reset in steady(1))
        clock.write_text("-3600s")
        assert all(-3602 <= reset <= -3598 for reset in steady(5))
    assert -3601 < clock_of(weir) < -3598


def test_waiting_is_enough_whatever_the_phase(start, store):
    """F081: 2/3s, several callers at once at random phases."""
    weir = start(all_algorithms("2/3s"), store=store)
    rng, wrong = random.Random(81), []

    def caller(source, delay, algorithm):
        time.sleep(delay)
        with Client(weir.address, source) as c:
            while (r := c.get(f"/{algorithm}")).status == 200:
                pass
            wait = r.number("retry-after")
            time.sleep(wait + 0.05)
            again = c.get(f"/{algorithm}")
            # a sub-window of the sliding_window more at most
            if not 1 <= wait <= 3 + (algorithm == "sliding_window") or \
                    again.status != 200:
                wrong.append((algorithm, source, wait, again))
    threads = [threading.Thread(target=caller, args=(
        f"127.0.1.{i}", rng.random() * 3, a))
        for i in range(1, 21) for a in ALGORITHMS]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
