"""What the tests themselves rest on: the list of skips, and golden files."""

from __future__ import annotations

import pytest

from tests.support import ROOT, allowed_skips, examples, unexpected_skips


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
