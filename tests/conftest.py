"""What every test may use: compilers, golden files, hypothesis profiles; and the check of the skips."""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator
from datetime import date
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.support import LONG_TESTS, allowed_skips, long_tests, place, sampled, unexpected_skips
from workbench.face import uncollected

TESTS = Path(__file__).parent
# What somebody tuned or calibrated on this machine must not decide what tests see.
os.environ["WORKBENCH_CALIBRATED"] = "0"
os.environ["WORKBENCH_DATABASE"] = str(Path(tempfile.gettempdir()) / f"workbench-tests-{os.getpid()}.sqlite")
# Where a single test runs hundreds of programs.
LONG = ("tests/browser", "tests/properties/", "tests/chain/", "tests/runtime/emulation/")
ALLOWED_SKIPS = TESTS / "allowed_skips.txt"

for _profile, _examples in {"quick": 20, "ci": 100, "full": 1000}.items():
    hypothesis.settings.register_profile(
        _profile,
        max_examples=_examples,
        deadline=None,
        print_blob=True,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("workbench")
    group.addoption("--update-golden", action="store_true", help="write golden files, do not compare")
    group.addoption("--full", action="store_true", help="as HYPOTHESIS_PROFILE=full")
    group.addoption("--sample", type=int, default=1, metavar="N", help="one in N of the cases of each test")
    group.addoption("--turn", type=int, default=date.today().toordinal(), metavar="N",
                    help="of a sample: other cases in each turn, by default in each day's")  # fmt: skip
    group.addoption("--check-skips", action="store_true", help="fail on a skip that is not in the list")
    group.addoption("--skipped-before", action="store_true", help="only what the run before skipped")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--full"):
        os.environ["HYPOTHESIS_PROFILE"] = "full"
    hypothesis.settings.load_profile(os.environ.setdefault("HYPOTHESIS_PROFILE", "ci"))


# -- workers ---------------------------------------------------------------------------------------


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """With `-n`: tests that share what they build stay together (`place`)."""
    from xdist.scheduler import LoadScopeScheduling

    class ByPlace(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return place(nodeid)

    config.option.loadscopereorder = False  # the workers have put the long ones first
    return ByPlace(config, log)


def _long_places_first(items: list[pytest.Item]) -> None:
    """Workers end together when what takes long is begun early, above all what takes long in a single test.

    Random programs come first, then places with slow tests, with properties, and with many tests.
    """
    counts = Counter(place(item.nodeid) for item in items)
    marked = {
        mark: Counter(place(item.nodeid) for item in items if item.get_closest_marker(mark))
        for mark in ("slow", "hypothesis")
    }

    def order(item: pytest.Item) -> tuple[bool, int, int, int, str]:
        own = place(item.nodeid)
        return not own.startswith(LONG), -marked["slow"][own], -marked["hypothesis"][own], -counts[own], own

    items.sort(key=order)


# -- memory ----------------------------------------------------------------------------------------


# Objects made and not freed until the youngest are looked through, and how often that is until older ones are: what
# the library remembers grows all along, and to look through all of it takes a fifth of a second.
SELDOM = (5_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What was imported and collected stays to the end: looking through it for garbage in every test takes long."""
    with uncollected():
        result = yield
    gc.freeze()
    gc.set_threshold(*SELDOM)
    return result


# -- compilers -------------------------------------------------------------------------------------


def _runs(command: tuple[str, ...]) -> bool:
    try:
        return subprocess.run([*command, "--version"], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


@cache
def _compilers() -> dict[str, tuple[str, ...]]:
    """The C compilers of this machine: name → command."""
    found = {name: (path,) for name in ("gcc", "clang") if (path := shutil.which(name)) and _runs((path,))}
    if find_spec("ziglang"):
        found["zig"] = (sys.executable, "-m", "ziglang", "cc")
    return found


@pytest.fixture(scope="session")
def compilers() -> dict[str, tuple[str, ...]]:
    """Every C compiler found, by name (gcc, clang, zig): the command that starts it."""
    return _compilers() or pytest.skip("install gcc, clang or `pip install ziglang`: no C compiler found")


@pytest.fixture(scope="session", params=["gcc", "clang", "zig"])
def compiler(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The command of one compiler; the test runs once for each of gcc, clang and zig."""
    if request.param not in (found := _compilers()):
        pytest.skip(f"install {request.param}: this C compiler was not found")
    return found[request.param]


# -- golden files ----------------------------------------------------------------------------------


def _golden_path(node: pytest.Item, suffix: str) -> Path:
    name = re.sub(r"[^\w.+-]+", "-", node.name.removeprefix("test_")).strip("-")
    return node.path.parent / "golden" / node.path.stem.removeprefix("test_") / f"{name}{suffix}"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[..., None]:
    """`golden(text, suffix=".txt")` compares with the file named after the test; --update-golden writes it.

    For `tests/codegen/c/test_c_text.py::test_naive[matmul]` and ".c": `tests/codegen/c/golden/c_text/naive-matmul.c`.
    """

    def compare(text: str, suffix: str = ".txt") -> None:
        path = _golden_path(request.node, suffix)
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
            return
        if not path.exists():
            pytest.fail(f"no golden file {path.relative_to(TESTS)}: --update-golden writes it")
        assert text + "\n" == path.read_text(encoding="utf-8"), f"differs from {path.relative_to(TESTS)}"

    return compare


# -- skips -----------------------------------------------------------------------------------------

SKIPPED = "workbench/skipped"


def _skips(config: pytest.Config) -> dict[str, str]:
    """Test (or file, when it was skipped whole) → reason; an expected failure is not a skip."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter else []
    places = {r.nodeid: r.longrepr[-1] for r in reports if isinstance(r.longrepr, tuple)}
    return {test: reason.removeprefix("Skipped: ") for test, reason in places.items()}


def _refused_skips(config: pytest.Config) -> dict[str, str]:
    patterns = allowed_skips(ALLOWED_SKIPS.read_text(encoding="utf-8"))
    return unexpected_skips(_skips(config), patterns) if config.getoption("--check-skips") else {}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        _long_places_first(items)
    if (one_in := config.getoption("--sample")) > 1 and not _are_named(config):
        long = tuple(long_tests(LONG_TESTS.read_text(encoding="utf-8")))
        kept = sampled([item.nodeid for item in items], one_in, config.getoption("--turn"), long)
        _only(config, items, [item for item in items if item.nodeid in kept])
    if config.getoption("--skipped-before"):
        before = set(config.cache.get(SKIPPED, []))
        _only(config, items, [item for item in items if {item.nodeid, item.nodeid.partition("::")[0]} & before])


def _are_named(config: pytest.Config) -> bool:
    """Whether a part of the tests was asked for; workers are told, as they get all paths by name."""
    known = getattr(config, "workerinput", {}).get("are_named")
    if known is None:
        return bool(config.option.keyword) or config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    return known


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A worker of xdist is about to start."""
    node.workerinput["are_named"] = _are_named(node.config)


def _only(config: pytest.Config, items: list[pytest.Item], kept: list[pytest.Item]) -> None:
    """Deselect all other tests."""
    names = {id(item) for item in kept}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in names])
    items[:] = kept


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):
        return  # the process that started the workers knows of all tests
    config, nothing = session.config, session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
    if nothing and config.getoption("--skipped-before"):
        session.exitstatus = pytest.ExitCode.OK
    if _refused_skips(config) and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    again = config.getoption("lf", False)  # what failed, once more: it knows nothing of the others
    if getattr(config, "cache", None) is not None and not again:
        config.cache.set(SKIPPED, list(_skips(config)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for test, reason in _refused_skips(config).items():
        terminalreporter.write_line(f"SKIP NOT ALLOWED {test}: {reason}", red=True)
