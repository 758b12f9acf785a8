"""Trouble that users of comparable products met with their files. Each
docstring names its case."""
import json
import re
import socket

import pytest

from weirtest import free_port, run

BASE = """\
listen: 127.0.0.1:@PORT@
upstream: http://127.0.0.1:9000
"""
POLICY = """\
  - name: per-ip
    key: client_ip
    limit: 10/s
"""


@pytest.fixture
def check(tmp_path):
    """check(text): the exit code, the findings with all that is said about
    each, and the same from the text form. An invalid file must not start."""
    def check_text(text, base=BASE):
        port = free_port()
        file = tmp_path / "weir.yaml"
        file.write_text((base + text).replace("@PORT@", str(port)))
        code, _, said = run("check", "-c", file)
        as_json = run("check", "--format", "json", "-c", file)
        assert as_json[0] == code
        found = json.loads(as_json[1])
        found = found if isinstance(found, list) else found["findings"]
        if code:
            assert run("run", "-c", file)[0] == code
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), timeout=5)
        return code, found, said
    return check_text


def line_of(text, part, base=BASE):
    """The line number of the only line with that part, or of the last."""
    lines = (base + text).splitlines()
    return max(n for n, line in enumerate(lines, 1) if part in line)


def errors(found):
    return [f for f in found if f["severity"] == "error"]


def test_the_same_key_twice(check):
    """F055."""
    text = "policies:\n" + POLICY + "policies:\n" + POLICY
    code, found, said = check(text)
    assert code == 78
    (e,) = errors(found)
    assert "'policies'" in e["message"] and e["line"] == 6 + 1
    assert "line 3" in said and re.search(r":7:1: error", said)
    text = "policies:\n" + POLICY + "    limit: 20/s\n"
    code, found, said = check(text)
    assert code == 78
    (e,) = errors(found)
    assert "'limit'" in e["message"] and e["line"] == 7
    assert "line 6" in said


def test_unknown_or_misplaced_key(check):
    """F056."""
    text = ("policies:\n" + POLICY + "    burts: 20\n"
            "  - {name: b, key: client_ip, limit: 10/s}\n"
            "match: {path: /x}\n")
    code, found, said = check(text)
    assert code == 78
    first, second = errors(found)
    assert (first["line"], first["column"]) == (line_of(text, "burts"), 5)
    assert "'burts'" in first["message"] and "did you mean 'burst'" in said
    assert (second["line"], second["column"]) == (line_of(text, "match"), 1)
    assert "'match'" in second["message"]
    assert re.search(r"'match' belongs in .*policies\[\]", said)
    assert said.count("weir.yaml:") == 2


@pytest.mark.parametrize("text,cure", [
    ("policies: [{name: a, key: client_ip, limit: 100}]\n", "100/10s"),
    ("policies: [{name: a, key: client_ip, limit: 100/10}]\n", "100/10s"),
    ("policies: [{name: a, key: client_ip, limit: [100, 5/s]}]\n", "100/10s"),
    ("plans: {p: {limit: 100}}\n", "100/10s"),
    ("store: {redis: 'redis://127.0.0.1:1', timeout: 30}\n", "30s"),
    ("limits: {idle_timeout: 30}\n", "30s"),
    ("drain: {timeout: 30}\n", "30s")])
def test_period_and_unit_are_needed(check, text, cure):
    """F058."""
    code, found, said = check(text)
    assert code == 78 and len(errors(found)) == 1
    assert cure in said


def test_m_is_minutes(check, tmp_path, start):
    """F059."""
    for word in ("1mo", "1M", "1month", "1y"):
        code, found, said = check(
            f"policies: [{{name: a, key: client_ip, limit: 1/{word}}}]\n")
        assert code == 78 and len(errors(found)) == 1
        assert "m (minutes)" in said and "month" in said
    # a minute is 60 s in all that weir says about it
    limits = []
    for period in ("1m", "m", "60s"):
        file = tmp_path / "minutes.yaml"
        file.write_text(BASE.replace("@PORT@", "1") + "policies: [{name: a, "
                        f"key: client_ip, limit: 1/{period}}}]\n")
        code, out, _ = run("dump", "--format", "json", "-c", file)
        assert code == 0
        limits.append(json.loads(out)["policies"][0]["limit"])
    assert len({json.dumps(x) for x in limits}) == 1
    weir = start([{"name": "a", "key": "client_ip", "limit": "1/1m"}])
    assert weir.statuses(2) == [200, 429]
    assert 59 <= weir.get().number("retry-after") <= 60


@pytest.mark.parametrize("text,key,cure", [
    ("client_ip:\n", "client_ip", "leave the key out"),
    ("client_ip: {from: x-forwarded-for, trusted_proxies: }\n",
     "trusted_proxies", "leave the key out"),
    ("client_ip: {from: x-forwarded-for, trusted_proxies: ~}\n",
     "trusted_proxies", "leave the key out"),
    ("client_ip: {from: x-forwarded-for, trusted_proxies: null}\n",
     "trusted_proxies", "leave the key out"),
    ("policies:\n", "policies", "leave the key out"),
    ("clientIp: {from: peer}\n", "clientIp", "did you mean 'client_ip'"),
    ("client-ip: {from: peer}\n", "client-ip", "did you mean 'client_ip'"),
    ("client_ip: {From: peer}\n", "From", "did you mean 'from'")])
def test_empty_section_and_other_spelling(check, text, key, cure):
    """F060."""
    code, found, said = check(text)
    assert code == 78
    (e,) = errors(found)
    assert f"'{key}'" in e["message"] and cure in said


def test_words_that_look_like_booleans(check, start):
    """F061."""
    match = "match: {header: {x-country: [se, no, dk]}}"
    policy = (f"policies: [{{name: on, {match}, key: header:x-country,"
              " limit: 1/1h}]\n")
    code, found, _ = check(policy)
    assert code == 0 and not errors(found)
    for word, cure in (("yes", "true"), ("no", "false"), ("on", "true"),
                       ("off", "false"), ("True", "true")):
        code, found, said = check(f"cors: {{skip_preflight: {word}}}\n")
        assert code == 78 and f"write {cure}" in said
    weir = start([{"name": "on", "key": "header:x-country",
                   "limit": "1/1h",
                   "match": {"header": {"x-country": ["se", "no", "dk"]}}}])
    no = [("X-Country", "no")]
    first, second = weir.get("/", no), weir.get("/", no)
    assert (first.status, second.status) == (200, 429)
    assert second.get("x-ratelimit-policy") == "on"
    assert weir.get("/", [("X-Country", "false")]).status == 200
    assert weir.get("/", [("X-Country", "false")]).status == 200


def test_all_errors_of_a_bad_file_at_reload(start):
    """F057, the second half: told, and the old limits go on."""
    weir = start([{"name": "a", "key": "client_ip", "limit": "3/1h"}])
    assert weir.statuses(2) == [200, 200]
    weir.reload(BASE + "policies:\n" + POLICY + "    burts: 20\nwrokers: 1\n",
                good=False)
    log = weir.log()
    assert "burts" in log and "wrokers" in log
    assert f"{weir.file}:7:5" in log and f"{weir.file}:8:1" in log
    assert weir.statuses(2) == [200, 429]
    weir.reload({"upstream": "http://127.0.0.1:1"})
    assert weir.get().status == 502


def test_a_missing_file_at_reload(start):
    """What is wrong with a file as a whole has no line in it."""
    weir = start([{"name": "a", "key": "client_ip", "limit": "3/1h"}])
    weir.file.unlink()
    weir.reload(good=False)
    assert f"{weir.file}: [E001] " in weir.log()
    assert f"{weir.file}:0" not in weir.log()
    assert weir.statuses(1) == [200]
