"""Numbers read the same in pictures and in the panel, whose own tests read the same file."""

from __future__ import annotations

import json

import pytest

from tests.support import ROOT
from workbench.viz.draw.quantities import bytes_text, count_text

SAID = json.loads((ROOT / "js" / "tests" / "tools" / "quantities.json").read_text("utf-8"))


@pytest.mark.parametrize(("number", "words"), SAID["bytes"])
def test_bytes_have_a_unit_of_two_to_the_ten(number, words):
    assert bytes_text(number) == words


@pytest.mark.parametrize(("number", "words"), SAID["counts"])
def test_counts_have_three_digits_and_a_prefix(number, words):
    assert count_text(number) == words
