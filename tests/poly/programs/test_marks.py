"""Marks carry values, which records keep as a name and a text."""

import pytest

from workbench.errors import ScheduleError
from workbench.poly.programs.marks import (
    PLAIN,
    AsyncCopies,
    BarrierBefore,
    ExecutedBy,
    PrefetchAhead,
    annotation,
)

EVERY = (*(kind() for kind in PLAIN.values()), PrefetchAhead("A", 3), PrefetchAhead("A_tile", 40), ExecutedBy("gemm"))


@pytest.mark.parametrize("note", EVERY, ids=str)
def test_what_a_record_keeps_is_read_back(note):
    assert annotation(note.name, note.value) == note


def test_each_kind_says_what_it_is():
    assert list(map(str, EVERY)) == [
        "barrier", "atomic", "async", "nontemporal", "prefetch A 3", "prefetch A_tile 40", "replace gemm",
    ]  # fmt: skip


def test_kinds_that_carry_nothing_differ():
    assert BarrierBefore() == BarrierBefore() != AsyncCopies()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("prefetsch", "A 3", "unknown mark 'prefetsch'; did you mean 'prefetch'? known: barrier, atomic"),
        ("prefetch", "A", "a mark prefetch cannot say 'A'"),
        ("prefetch", "A x", "a mark prefetch cannot say 'A x'"),
        ("barrier", "k", "a mark barrier cannot say 'k'"),
        ("replace", None, "a mark replace cannot say None"),
        (3, None, "unknown mark 3"),
    ],
)
def test_what_no_mark_says_is_refused(name, value, message):
    with pytest.raises(ScheduleError) as caught:
        annotation(name, value)
    assert str(caught.value).startswith(message)
