"""Facts that are looked up in a program with open sizes are those of the program at these sizes."""

from __future__ import annotations

from random import Random

import pytest

import workbench as wb
from tests.poly.making import Maker
from tests.properties.shapes import product
from tests.support import examples
from workbench.errors import WorkbenchError
from workbench.graph.fusion import open_sizes
from workbench.graph.fusion.loop_axes import _of_program
from workbench.graph.fusion.open_sizes import partly_open, plain_sizes
from workbench.poly.lowering import lower

NAMES = [name for name in wb.ops.list() if len(list(wb.ops.load(name).statements())) > 1]
PLANNED_BY_NOBODY = wb.operator("""
def strips(float(C,H,W) x, float(C,C) w, int32 step, int32 wide) -> (y) {
    most(c,h,v) max=! x(c,h,step*v+u) where v in 0:(W-wide)/step+1, u in 0:wide
    mixed(d,h,v) +=! w(d,c) * most(c,h,v)
    y(v,d) +=! mixed(d,h,v) > 0 ? mixed(d,h,v) : most(d,h,v)
}""")


def facts_of(op, sizes):
    """The facts with plain sizes left open, and with all sizes given."""
    given = tuple(sorted(sizes.items()))
    found = partly_open(op, given)
    return found and _of_program(op, *found), _of_program(op, lower(op, sizes), ())


def some_sizes(op, random: Random, often: int) -> list[dict[str, int]]:
    """Sizes at which the operator means something: its examples made small, where lengths of 1 are frequent."""
    found = []
    for _ in range(often):
        fitting = dict(random.choice(op.examples)) if getattr(op, "examples", ()) else {}
        names = (*op.size_names, *op.scalars)
        sizes = {n: fitting.get(n, 1) if n in op.scalars else random.choice((1, 1, 2, 3, 5, 8)) for n in names}
        try:
            lower(op, sizes)
        except WorkbenchError:
            continue
        found.append(sizes)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_facts_of_the_library_do_not_depend_on_which_sizes_stay_open(name):
    op = wb.ops.load(name)
    for sizes in some_sizes(op, Random(name), examples(quick=1, ci=2, full=8)):
        looked_up, at_sizes = facts_of(op, sizes)
        assert looked_up == at_sizes, sizes


@pytest.mark.parametrize("seed", range(examples(quick=10, ci=40, full=400)))
def test_facts_of_random_programs_do_not_depend_on_which_sizes_stay_open(seed):
    op, random = (product(seed) if seed % 2 else Maker(seed).operator()), Random(seed)
    for sizes in some_sizes(op, random, 2):
        looked_up, at_sizes = facts_of(op, sizes)
        assert looked_up == at_sizes, (str(op), sizes)


def test_one_channel_is_told_from_several():
    """With one filter nothing is read again, with one channel nothing is summed: these facts are no others'."""
    seen = set()
    for channels in (1, 2, 7):
        looked_up, at_sizes = facts_of(PLANNED_BY_NOBODY, {"C": channels, "H": 3, "W": 9, "step": 2, "wide": 2})
        assert looked_up == at_sizes
        seen.add(str(looked_up))
    assert plain_sizes(PLANNED_BY_NOBODY) == {"C", "H"}
    assert len(seen) == 2


def test_what_stays_open_is_analysed_once():
    """Two lengths that differ are one program; a length of 1, at which more is equal, is another."""

    def program(c: int, h: int):
        sizes = (("C", c), ("H", h), ("W", 9), ("step", 2), ("wide", 2))
        return partly_open(PLANNED_BY_NOBODY, sizes)[0]

    assert program(2, 4) is program(3, 7) is program(128, 2)
    assert program(1, 4) is not program(2, 4)


def test_a_size_that_stays_open_wrongly_is_found(monkeypatch):
    """Were all sizes taken for mere lengths, one window would be taken for several."""
    monkeypatch.setattr(open_sizes, "plain_sizes", lambda op: frozenset(op.size_names))
    monkeypatch.setattr("workbench.graph.fusion.loop_axes.occurs", lambda sizes, known: bool(sizes))
    looked_up, at_sizes = facts_of(PLANNED_BY_NOBODY, {"C": 2, "H": 3, "W": 3, "step": 2, "wide": 2})
    assert looked_up != at_sizes
