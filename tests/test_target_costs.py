"""Costs: what fits, ratios, the sheet, and what of a machine hangs on them."""

from __future__ import annotations

import json
import pickle
from dataclasses import fields, replace

import pytest

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.schedules.analysis.blocking import tile_slots
from workbench.target_costs import QUANTITIES, Costs

# A processor whose multiply-adds take long, whose copies are dear, and whose threads wake late.
SLOW = Costs(multiply_add_latency_seconds=4e-9, copied_vector_seconds=3e-9, region_seconds=50e-6, origin="an example")


@pytest.mark.parametrize("name", QUANTITIES)
@pytest.mark.parametrize("value", [0, -1.0, float("inf"), float("nan"), True, "1", None])
def test_a_cost_is_a_positive_number_of_its_unit(name, value):
    unit = "bytes a second" if name.endswith("bytes_per_second") else "seconds"
    with pytest.raises(WorkbenchError, match=rf"Costs\({name}=.*\) does not fit; expected a positive number of {unit}"):
        Costs(**{name: value})


def test_a_target_takes_costs_and_nothing_else_for_them():
    assert wb.Target().costs == wb.Target("neon").costs == Costs()
    assert wb.Target("neon", costs=SLOW).costs is SLOW
    assert wb.Target("neon", costs=SLOW) == replace(wb.Target("neon"), costs=SLOW)
    with pytest.raises(WorkbenchError, match="unknown target 'nion'"):
        wb.Target("nion", costs=SLOW)
    with pytest.raises(WorkbenchError, match=r"Target\(costs=None\) does not fit; expected a Costs"):
        wb.Target(costs=None)
    with pytest.raises(WorkbenchError, match=r"Costs\(origin=3\) does not fit; expected a text"):
        Costs(origin=3)


def test_where_costs_come_from_makes_no_other_machine():
    machine = wb.Target("avx2", costs=SLOW)
    assert machine == replace(machine, costs=replace(SLOW, origin="elsewhere"))
    assert machine != wb.Target("avx2")
    assert pickle.loads(pickle.dumps(machine)) == machine
    assert len({machine, wb.Target("avx2"), pickle.loads(pickle.dumps(machine))}) == 2


def test_ratios_count_things_and_are_one_at_least():
    half = Costs().multiply_add_seconds
    assert replace(Costs(), multiply_add_latency_seconds=7.4 * half).multiply_adds_in_flight == 7
    assert replace(Costs(), multiply_add_latency_seconds=7.6 * half).multiply_adds_in_flight == 8
    assert replace(Costs(), copied_vector_seconds=half / 9).multiply_adds_a_copy == 1
    assert replace(Costs(), region_seconds=1e-12).turns_a_region == 1
    assert replace(Costs(), memory_bytes_per_second=1e12).memory_share == 1.0


def test_the_sheet_shows_each_cost_beside_that_of_processors_in_general(golden):
    golden(str(SLOW))


def test_a_sketch_says_what_its_machine_costs_and_only_then():
    op = wb.operator("def scale(float(N) A) -> (B) { B(i) = 2 * A(i) }")
    plain, own = (wb.sketch(op, target=t, N=8).to_json() for t in (wb.Target("avx2"), wb.Target("avx2", costs=SLOW)))
    assert "costs" not in json.loads(plain)["target"]
    assert Costs(**json.loads(own)["target"]["costs"]) == SLOW
    assert json.loads(own)["target"] == json.loads(plain)["target"] | {"costs": json.loads(own)["target"]["costs"]}


# -- what recipes make of them ---------------------------------------------------------------------

ROWS = wb.operator("def rows(float(M,N) A) -> (B) { B(m,n) = A(m,n) * 2 }")


def test_threads_are_woken_for_work_that_is_worth_them():
    late = replace(Costs(), region_seconds=100 * Costs().region_seconds)
    usual, costly = (str(wb.autoschedule(ROWS, wb.Target("avx2", costs=c), M=200, N=200)) for c in (Costs(), late))
    assert "parallelize" in usual
    assert "parallelize" not in costly


def test_small_tiles_wait_for_multiply_adds_that_take_long():
    long = replace(Costs(), multiply_add_latency_seconds=4 * Costs().multiply_add_latency_seconds)
    assert tile_slots(12, 4, (6, 2), long) > tile_slots(12, 4, (6, 2), Costs())
    assert tile_slots(12, 4, (12, 4), long) == tile_slots(12, 4, (12, 4), Costs())


def test_rows_found_through_an_index_are_asked_for_earlier_where_memory_answers_later():
    bag = wb.operator("def bag(float(E,D) T, int32(B,L) I) -> (O) { O(b,d) +=! T(I(b,l),d) }")
    sizes = {"E": 1 << 20, "D": 64, "B": 8, "L": 500}
    far = replace(Costs(), missed_line_seconds=2 * Costs().missed_line_seconds)
    usual, late = (str(wb.autoschedule(bag, wb.Target("avx2", costs=c), sizes=sizes)) for c in (Costs(), far))
    assert "prefetch('T', 'O/l', 16)" in usual
    assert "prefetch('T', 'O/l', 32)" in late


def test_every_quantity_is_one_that_somebody_reads():
    """A cost that no recipe and no model asks for is not measured for anybody; those of the first cache are told."""
    from tests.support import sources

    texts = "\n".join(p.read_text() for p in sources("workbench") if "cost_probes" not in p.name)
    unread = [q for q in QUANTITIES if texts.count(f".{q}") == 0]
    assert unread == []
    assert {f.name for f in fields(Costs)} == {*QUANTITIES, "origin"}
