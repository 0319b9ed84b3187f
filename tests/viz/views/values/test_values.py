"""Every kind of value that the face gives shows itself: in words that are no dump of fields, and as HTML."""

from __future__ import annotations

import re

import pytest

import workbench as wb
from tests.viz.values import naive, tiled
from workbench import viz
from workbench.errors import UnknownName
from workbench.face import STEPS
from workbench.schedules.explanation.vocabulary import law


def small():
    return wb.schedule(wb.ops.matmul, M=4, N=4, K=4)


def mapped():
    return wb.autoschedule(wb.ops.matmul, "cuda", M=64, N=64, K=64)


VALUES = {
    "next steps": lambda: wb.next_steps(naive(), only=["tile", "parallelize", "stage"]),
    "offer": lambda: next(iter(wb.next_steps(naive(), only=["tile"]))),
    "step": lambda: wb.tile(m=4),
    "steps together": lambda: wb.together(wb.tile(m=4), wb.vectorize("m_i")),
    "choice": lambda: wb.choose(8, 16),
    "sketch": lambda: naive() | wb.tile(m=wb.choose(8, 16)),
    "recipe's sketch": lambda: wb.sketch(wb.ops.matmul, M=64, N=64, K=64),
    "space": lambda: wb.sketch(wb.ops.softmax, M=64, N=64).space,
    "comparison": lambda: wb.compare(naive(), tiled()),
    "rewrites": lambda: wb.rewrites(small()),
    "occupancy": lambda: wb.occupancy(mapped()),
    "coalescing": lambda: wb.coalescing(mapped()),
    "bank conflicts": lambda: wb.bank_conflicts(mapped()),
    "certificate": lambda: wb.certify(small()),
    "target": lambda: wb.Target(cores=4),
    "GPU": lambda: wb.Target("h200"),
    "costs": lambda: wb.Costs(),
    "ceilings": lambda: wb.Ceilings(1e11, {"L1": 2e11}, threads=1),
    "findings": lambda: wb.sanitize(wb.autoschedule(wb.ops.matmul, "cuda", M=4, N=4, K=4)),
    "library": lambda: wb.ops,
    "families": lambda: wb.ops.families,
    "family": lambda: wb.ops.families.triangular,
    "kinds of steps": lambda: wb.steps,
    "kind of steps": lambda: wb.steps.order,
}


@pytest.mark.parametrize("kind", VALUES)
def test_no_value_is_a_dump_of_its_fields(kind):
    bundle = VALUES[kind]()._repr_mimebundle_()
    words = bundle["text/plain"]
    assert words.strip()
    assert not re.match(r"[A-Z]\w+\(\w+=", words), words[:80]
    assert not re.search(r"<\S+ object at 0x", words)
    assert bundle["text/html"].startswith('<div class="wb">')


def test_a_step_shows_its_law():
    words = str(viz.picture(wb.tile(m=4)))
    assert words.startswith("tile(m=4)")
    assert "for m: for n: S → for m_o: for n_o: for m_i: for n_i: S" in words


def test_next_steps_are_grouped_and_refusals_have_reasons():
    found = wb.next_steps(naive(), only=["tile", "parallelize", "stage"])
    words = str(viz.picture(found))
    assert words.index("order: when instances run") < words.index("storage: where") < words.index("execution: how")
    assert "parallelize('m'), parallelize('n')" in words
    assert re.search(r"parallelize\('k'\) +would race on C", words)


def test_a_machine_is_said_in_units():
    words = str(viz.picture(wb.Target(cores=4, cache_bytes=(32 << 10, 1 << 20, 0))))
    assert re.search(r"L1 +32 KiB", words)
    assert re.search(r"L2 +1 MiB", words)
    assert "L3" not in words
    assert re.search(r"bandwidth +4800 GB/s", str(viz.picture(wb.Target("h200"))))


def test_wasteful_accesses_come_first():
    strided = wb.schedule(wb.ops.transpose, M=64, N=64) | wb.bind("n", "block.x") | wb.bind("m", "thread.x")
    rows = viz.sheet(wb.coalescing(strided)).data[2][0].rows
    shares = [int(row[-1].rpartition(" ")[2].rstrip("%")) for row in rows]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]


def test_what_went_and_what_came_have_colours():
    html = viz.picture(wb.compare(naive(), tiled())).html
    assert re.search(r'<span class="wb-s2">[^<]*\+ tile\(m=64', html)
    assert re.search(r'<span class="wb-bad">[^<]*-for m', html)


# -- Browsing ----------------------------------------------------------------------------------------


def test_every_operator_is_in_a_family_that_tab_reaches():
    reached = [op.name for family in wb.ops.families for op in family]
    assert reached == wb.ops.list()
    assert wb.ops.families() == [family.name for family in wb.ops.families]
    assert "linear_algebra" in dir(wb.ops.families)
    assert "matmul" in dir(wb.ops.families.linear_algebra)
    assert wb.ops.families["linear algebra"].matmul is wb.ops.matmul


def test_the_library_shows_formulas_and_pictures():
    page = viz.picture(wb.ops.families).html
    assert page.count("<details>") == len(wb.ops.families)
    assert all(name in page for name in wb.ops.list())
    family = viz.picture(wb.ops.families.triangular).html
    assert family.count("<svg") == len(wb.ops.families.triangular)
    assert family.count("<math") >= len(wb.ops.families.triangular)


def test_unknown_families_and_operators_name_the_known_ones():
    with pytest.raises(UnknownName, match=r"unknown family 'atention'; did you mean 'attention'\?"):
        _ = wb.ops.families.atention
    with pytest.raises(UnknownName, match=r"attention: unknown operator 'matmul'"):
        _ = wb.ops.families.attention.matmul


def test_every_step_is_in_a_kind_that_tab_reaches():
    reached = {step: kind for kind in wb.steps for step in kind}
    assert reached.keys() == set(STEPS)
    assert all(getattr(kind, step) is getattr(wb, step) for step, kind in reached.items() if step != "partition")
    assert set(dir(wb.steps)) == {"order", "instances", "storage", "execution"}
    with pytest.raises(UnknownName, match=r"unknown kind of step 'ordre'; did you mean 'order'"):
        _ = wb.steps.ordre
    with pytest.raises(UnknownName, match=r"wb\.steps\.order: unknown step 'vectorize'"):
        _ = wb.steps.order.vectorize


@pytest.mark.parametrize("step", [s for s in STEPS if s != "affine_rows"])
def test_every_step_states_a_law(step):
    before, arrow, after = law(step).partition("→")
    assert before.strip()
    assert arrow
    assert after.strip()
    assert f"{step}(" not in after
