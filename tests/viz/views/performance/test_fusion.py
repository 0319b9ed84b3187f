"""`viz.fusion`: what a tile needs and what is computed again, by hand; and in the originals of `poly.origins`."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.viz.values import MACHINE, parsed
from workbench import viz
from workbench.errors import WorkbenchError
from workbench.poly.programs.origins import originals


def blur():
    return wb.schedule(wb.ops.blur, H=30, W=40) | wb.tile({"B/y": 4, "B/x": 4})


def test_a_tile_needs_its_rows_and_a_halo(golden):
    picture = viz.fusion(blur() | wb.compute_at("R", "B/x_o"), at={"y_o": 0, "x_o": 0}, target=MACHINE)
    parsed(picture.svg)
    producer = picture.data.producer
    assert producer.needed == {(y, x) for y in range(6) for x in range(4)}
    assert {point for point, times in producer.times.items() if times == 2} == {
        (y, x) for y in (4, 5) for x in range(7)
    }
    golden(picture.text)


def test_instances_computed_again_are_counted_at_the_real_sizes():
    found = viz.fusion(wb.schedule(wb.ops.blur, H=30, W=40) | wb.compute_at("R", "B/y"), target=MACHINE).data
    assert found.instances == (("R", 30 * 38, 3 * 28 * 38), ("B", 28 * 38, 28 * 38))


def test_merging_saves_the_trip_of_the_temporary():
    op = wb.operator("def two(float(N) A) -> (C) { B(i) = A(i) * 2\n C(i) = B(i) + 1 }")
    merged = wb.schedule(op, N=100_000) | wb.merge("B", "C")
    first = viz.fusion(merged, target=MACHINE).data.savings[0]
    assert (first.before, first.after) == (4 * 400_000, 2 * 400_000)


def test_originals_of_a_moved_statement():
    program = (blur() | wb.compute_at("R", "B/x_o")).program
    moved = next(s for s in program.statements if s.name == "R_local")
    assert originals(program, moved.id)[0, 1, 5, 6] == ("S0", (5, 6))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda: 3, "fusion takes Schedules"),
        (blur, None),
        (lambda: blur().start, "has no step yet"),
        (lambda: wb.schedule(wb.ops.matmul, M=4, N=4, K=4) | wb.tile(m=2), "no statement feeds another"),
    ],
)
def test_what_fuses_nothing_is_refused(value, message):
    if message is None:
        assert viz.fusion(value(), target=MACHINE).data.at == {}
        return
    with pytest.raises(WorkbenchError, match=message):
        viz.fusion(value(), target=MACHINE)


def test_a_loop_that_is_not_around_both_is_refused():
    with pytest.raises(WorkbenchError, match="unknown loop around both statements 'q'; known: y_o, x_o"):
        viz.fusion(blur() | wb.compute_at("R", "B/x_o"), at={"q": 1}, target=MACHINE)
