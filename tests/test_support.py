"""What the tests themselves rest on: the list of skips, golden files, and whose turn it is."""

from __future__ import annotations

import pytest

from tests.support import (
    LONG_TESTS,
    ROOT,
    TURNS,
    allowed_skips,
    examples,
    long_tests,
    sampled,
    turn_taker,
    unexpected_skips,
)
from tools.long_tests import listed, takes_turns


def test_a_skip_is_allowed_by_its_reason():
    patterns = allowed_skips("# a comment\n\ninstall an NVIDIA GPU*\n")
    skips = {"a": "install an NVIDIA GPU: none was found", "b": "install torch", "c": "not today"}
    assert unexpected_skips(skips, patterns) == {"b": "install torch", "c": "not today"}


def test_every_allowed_skip_says_what_to_install():
    patterns = allowed_skips((ROOT / "tests" / "allowed_skips.txt").read_text(encoding="utf-8"))
    assert [p for p in patterns if not p.startswith("install ")] == []


def test_golden_text_is_compared(golden, request):
    golden("one line\nanother, with an ε")
    if request.config.getoption("--update-golden"):
        return
    with pytest.raises(AssertionError, match="differs from golden/support/golden_text_is_compared"):
        golden("one line\nanother")


def test_the_profile_decides_how_many_examples():
    assert examples(quick=1, ci=2, full=3) in (1, 2, 3)


LONG = long_tests(LONG_TESTS.read_text(encoding="utf-8"))


def test_every_long_test_that_is_listed_is_there():
    assert [t for t in LONG if turn_taker(t) != t] == []
    assert [t for t in LONG if not takes_turns(t)] == [], "run tools/long_tests.py"


def test_turns_have_every_case_of_every_test_and_as_much_to_do():
    short = [f"tests/a.py::test_a[{n}]" for n in range(20)]
    long = [f"tests/a.py::test_{x}[{n}]" for x in "bcdef" for n in range(9)] + ["tests/browser/test_g.py::test_g"]
    takers = [*dict.fromkeys(map(turn_taker, long))]
    seen = set()
    for turn in range(8 * TURNS):
        now = sampled([*short, *long], 8, turn, takers)
        seen |= now
        assert 1 <= len({turn_taker(t) for t in now} & set(takers)) <= 2
        assert any(t in short for t in now)
    assert seen == {*short, *long}


def test_who_measures_again_keeps_those_that_did_not_run():
    text = listed([{"a": 9.0, "b": 1.0}, {"a": 4.0}], {"b": 3.0, "c": 5.0})
    assert long_tests(text) == {"a": 9.0, "c": 5.0}
