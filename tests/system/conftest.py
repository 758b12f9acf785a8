import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] /
                       "harness"))
sys.dont_write_bytecode = True

from weirtest import Origin, Redis, Weir  # noqa: E402


@pytest.fixture
def closing():
    """Registers things to close, last first."""
    things = []

    def add(thing):
        things.append(thing)
        return thing
    yield add
    failed = []
    for thing in reversed(things):
        try:
            thing.close()
        except AssertionError as e:
            failed.append(e)
    if failed:
        raise failed[0]


@pytest.fixture
def origin(closing):
    return closing(Origin())


@pytest.fixture
def redis(closing, tmp_path):
    return closing(Redis(tmp_path / "redis"))


@pytest.fixture
def start(closing, origin, tmp_path):
    """start(policies, store=..., **other keys): weir before the origin; file:
    YAML text instead of keys."""
    count = 0

    def start_weir(policies=(), wait=True, env=None, wrap=(), file=None,
                   **config):
        nonlocal count
        count += 1
        if config.setdefault("upstream", origin.url) is None:
            del config["upstream"]
        if policies:
            config["policies"] = list(policies)
        return closing(Weir(tmp_path / f"weir{count}", file or config,
                            env=env, wrap=wrap, wait=wait))
    return start_weir


@pytest.fixture(params=["memory", "redis"])
def store(request):
    """The value of `store:`, once for each kind."""
    if request.param == "memory":
        return "memory"
    redis = request.getfixturevalue("redis")
    return {"redis": redis.url, "timeout": "2s", "secret": {"env": "WEIR_TEST_SECRET"}}


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "slow: only when everything is tested (./test)")
