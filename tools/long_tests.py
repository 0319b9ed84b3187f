"""python tools/long_tests.py junit.xml...: write tests/long_tests.txt, the tests that take turns because they are long.

The files are those of `make test TEST_FLAGS="--junit-xml=junit.xml"`; of a test in several of them the longest time
counts.  Those that were listed and did not run stay listed while they are in the tree.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import LONG_TESTS, long_tests, turn_taker  # noqa: E402

LEAST = 2.0
"""Seconds of a test that takes turns, with all its cases of a run."""

HEAD = "# Tests that take turns in `make test`, with the seconds that they took: written by tools/long_tests.py.\n"


def seconds(report: Path) -> dict[str, float]:
    """Seconds of each test function (in the browser: of each file) of one run."""
    found: dict[str, float] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        module = case.get("classname", "").replace(".", "/") + ".py"
        taker = turn_taker(f"{module}::{case.get('name', '')}")
        if case.find("skipped") is None and takes_turns(taker):
            found[taker] = found.get(taker, 0.0) + float(case.get("time", 0))
    return found


def takes_turns(taker: str) -> bool:
    """Whether it is a test that may wait for its turn: those of the whole tree, which guard the house, do not."""
    return taker.startswith("tests/") and taker.count("/") > 1 and is_there(taker)


def is_there(taker: str) -> bool:
    """Whether a test (or a file of tests) is in the tree."""
    file, _, name = taker.partition("::")
    path = ROOT / file
    return path.exists() and (not name or f"def {name}(" in path.read_text(encoding="utf-8"))


def listed(runs: Sequence[Mapping[str, float]], before: Mapping[str, float]) -> str:
    """The list, longest first."""
    now: dict[str, float] = {}
    for run in runs:
        now |= {test: max(took, now.get(test, 0.0)) for test, took in run.items()}
    kept = {test: took for test, took in before.items() if test not in now}
    long = {test: took for test, took in (now | kept).items() if took >= LEAST}
    return HEAD + "".join(f"{took:6.1f} {test}\n" for test, took in sorted(long.items(), key=lambda x: (-x[1], x[0])))


if __name__ == "__main__":
    text = LONG_TESTS.read_text(encoding="utf-8") if LONG_TESTS.exists() else ""
    known = {test: took for test, took in long_tests(text).items() if takes_turns(test)}
    LONG_TESTS.write_text(listed([seconds(Path(p)) for p in sys.argv[1:]], known), encoding="utf-8")
