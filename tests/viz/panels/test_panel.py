"""What a panel tells its front end agrees with the library, and every gesture is a step of the trace."""

from __future__ import annotations

import json

import numpy as np
import pytest

import workbench as wb
from tests.viz.panels.traced_c import order_in_c
from tests.viz.panels.values import SCHEDULES, schedule
from workbench import poly
from workbench.errors import IllegalSchedule, ScheduleError, WorkbenchError
from workbench.poly.programs.tree import loops, path
from workbench.poly.sets import isl
from workbench.schedules import NextSteps
from workbench.schedules.offers import Offer
from workbench.schedules.transform import from_json
from workbench.viz.panels import History, Panel
from workbench.viz.panels.offering import judged_again, offers_payload

FORMULAS = (
    "matmul",
    "attention",
    "embedding",
    "histogram",
    "lstm_cell",
    "cholesky",
    "global_avg_pool",
    "norm",
    "trace",
    "c3",
)


def shown(name: str) -> Panel:
    return wb.panel(schedule(name))


def table(panel: Panel, place: list[int]) -> np.ndarray:
    offset, rows, columns = place
    return np.frombuffer(panel.tables, "<i4")[offset : offset + rows * columns].reshape(rows, columns)


def answer(panel: Panel, question: str, /, **given: object) -> dict:
    """What the front end hears when it asks."""
    heard: list[dict] = []
    panel.send = lambda content, buffers=None: heard.append(content)
    panel._answer(panel, {"ask": "n", "name": question, "with": given}, [])
    assert heard[-1]["answer"] == "n"
    return heard[-1]


@pytest.fixture(params=SCHEDULES)
def panel(request) -> Panel:
    return shown(request.param)


# -- what is told ----------------------------------------------------------------------------------------------------


def test_a_panel_holds_every_instance_with_its_times_and_cells(panel):
    sizes = panel.domain["sizes"]
    program = wb.lower(panel.schedule.program.definition, sizes)
    for told, own in zip(panel.domain["statements"], program.statements, strict=True):
        points = table(panel, told["points"])
        assert [tuple(p) for p in points.tolist()] == list(poly.instances_at(program, own.id, {}))
        assert told["loops"] == [loop.name for loop in path(panel.schedule.tree, own.id)]
        for access in told["accesses"]:
            array, cells = program.arrays[access["array"]], table(panel, access["cells"])
            assert cells.shape == (len(points), len(array.extent))


def test_the_cells_of_a_product_are_those_of_its_formula():
    panel = shown("matmul")
    told = panel.domain["statements"][1]
    m, n, k = table(panel, told["points"]).T
    cells = {(a["array"], a["kind"]): table(panel, a["cells"]) for a in told["accesses"]}
    assert (cells["A", "read"] == np.stack([m, k], 1)).all()
    assert (cells["B", "read"] == np.stack([k, n], 1)).all()
    assert (cells["C", "write"] == np.stack([m, n], 1)).all()


def test_when_is_the_order_in_which_the_generated_c_runs(panel):
    sizes = panel.domain["sizes"]
    bound = wb.schedule(panel.schedule.program.definition, sizes)
    expected = order_in_c(bound)
    told = {}
    for own, statement in zip(bound.program.statements, panel.domain["statements"], strict=True):
        for point, when in zip(table(panel, statement["points"]), table(panel, statement["when"]), strict=True):
            told[int(when[0])] = (own.id, tuple(point.tolist()))
    assert [told[i] for i in range(len(told))] == expected


def test_arrows_connect_what_depends(panel):
    names = [s["name"] for s in panel.domain["statements"]]
    found = {(a["kind"], names[a["source"]], names[a["target"]]) for a in panel.domain["arrows"]}
    program = panel.schedule.program
    named = {s.id: s.name for s in program.statements}
    assert found <= {(d.kind, named[d.source], named[d.target]) for d in poly.dependences(program)}
    assert found
    for arrow in panel.domain["arrows"]:
        before, after = (panel.domain["statements"][arrow[end]]["when"] for end in ("source", "target"))
        pairs = table(panel, arrow["pairs"])
        assert (table(panel, before)[pairs[:, 0]] < table(panel, after)[pairs[:, 1]]).all()


def test_each_statement_has_its_lines_and_each_loop_its_line(panel):
    lines = panel.code["lines"]
    assert "".join(run[0] for run in lines[0]["runs"])
    known = {s.name for s in panel.schedule.program.statements}
    assert {name for line in lines for name in line["statements"]} == known
    for line in lines:
        text = "".join(run[0] for run in line["runs"])
        if line["loop"]:
            assert f" {line['loop']}" in text
            assert "for (" in text
    assert {line["loop"] for line in lines} - {""} <= {loop.name for loop in loops(panel.schedule.tree)}


def test_a_line_belongs_to_one_statement_only_where_that_is_so():
    panel = shown("matmul")
    texts = {"".join(r[0] for r in line["runs"]).strip(): line for line in panel.code["lines"]}
    assert texts["for (int64_t m = 0; m < 96; m++) {"]["statements"] == ["C.init", "C"]
    assert texts["for (int64_t k = 0; k < 64; k++) {"]["statements"] == ["C"]
    assert texts["C[m*80 + n] = 0.0f;"]["statements"] == ["C.init"]
    assert texts["return 0;"]["statements"] == []


def test_the_tree_says_what_the_schedule_says(panel):
    def names(nodes: list[dict]) -> list[str]:
        return [
            n for node in nodes for n in ([node["name"]] if node["type"] == "loop" else []) + names(node["children"])
        ]

    assert names(panel.tree) == [loop.name for loop in loops(panel.schedule.tree)]


@pytest.mark.parametrize("name", FORMULAS)
def test_any_operator_has_a_panel(name):
    operator = wb.ops.load(name)
    panel = wb.panel(operator)
    assert panel.domain["statements"]
    json.dumps([panel.domain, panel.tree, panel.code, panel.past])


# -- what is done ----------------------------------------------------------------------------------------------------


def test_undo_redo_and_branches_lose_nothing():
    panel = shown("matmul")
    naive = panel.schedule
    panel.apply(wb.interchange("n", "m"))
    first = panel.schedule
    panel.undo()
    assert panel.schedule == naive
    panel.apply(wb.parallelize("m"))
    assert [m.parent for m in panel.history.moments] == [None, 0, 0]
    panel.undo()
    panel.redo()
    assert panel.schedule == naive | wb.parallelize("m")
    assert answer(panel, "go", place=1).keys() == {"answer", "result"}
    assert panel.schedule == first
    with pytest.raises(ScheduleError, match="nothing to redo"):
        panel.redo()


def test_a_step_that_was_taken_before_is_found_again():
    panel = shown("matmul")
    for _ in range(2):
        panel.apply(wb.parallelize("m"))
        panel.undo()
    assert len(panel.history.moments) == 2


def test_the_history_is_a_script_that_makes_the_schedule(panel):
    deepest = max(panel.schedule.program.statements, key=lambda s: len(s.dims))
    x, y = deepest.dims[-1], deepest.dims[-2]
    given = {"statement": deepest.name, "x": x, "y": y, "width": 2, "height": 3}
    heard = answer(panel, "gesture", name="tile", given=given)
    if "error" in heard:  # a stencil in place is tiled after it is skewed
        assert panel.refusal["pairs"]
        assert not panel.schedule.trace
        return
    space: dict = {}
    exec(str(panel.history), space)
    assert space["schedule"] == panel.schedule
    assert wb.generate(space["schedule"]).source == wb.generate(panel.schedule).source


def test_a_refused_step_shows_pairs_in_the_wrong_order():
    panel = shown("stencil")
    with pytest.raises(IllegalSchedule):
        panel.apply(wb.reverse("A.1/i"))
    (wrong, *_) = panel.refusal["pairs"]
    statements = {s["name"]: s for s in panel.domain["statements"]}
    for end, points in zip(("source", "target"), zip(*wrong["pairs"], strict=True), strict=True):
        known = {tuple(p) for p in table(panel, statements[wrong[end]]["points"]).tolist()}
        assert {tuple(p) for p in points} <= known
    assert not panel.schedule.trace
    panel.apply(wb.skew("A.1/i", by="t"))
    assert panel.refusal == {}


def test_a_refusal_says_which_data_would_make_it_wrong():
    panel = wb.panel(wb.schedule(wb.ops.histogram, N=64, bins=8))
    with pytest.raises(IllegalSchedule):
        panel.apply(wb.parallelize("h/i"))
    assert {wrong["data"] for wrong in panel.refusal["pairs"]} == {", if bin(0) = bin(1)"}
    known = wb.panel(wb.schedule(wb.ops.matmul, M=8, N=8, K=8))
    with pytest.raises(IllegalSchedule):
        known.apply(wb.parallelize("k"))
    assert {wrong["data"] for wrong in known.refusal["pairs"]} == {""}


def test_repairs_of_a_refusal_can_be_taken(monkeypatch):
    monkeypatch.setattr("workbench.schedules.repairs.search.SECONDS", 120.0)
    panel = shown("matmul")
    with pytest.raises(IllegalSchedule):
        panel.apply(wb.parallelize("k"))
    assert panel.refusal["repairs"]
    assert "error" not in answer(panel, "apply", step=panel.refusal["repairs"][0]["step"])
    assert wb.check(panel.schedule)


def test_a_merge_over_nests_between_comes_with_what_may_be_done_instead(monkeypatch):
    monkeypatch.setattr("workbench.schedules.repairs.search.SECONDS", 120.0)
    panel = wb.panel(wb.schedule(wb.ops.lstm_cell, B=6, I=7, H=5))
    with pytest.raises(IllegalSchedule):
        panel.apply(wb.merge("Z", "cell"))
    assert panel.refusal["without"] == ""
    for repair in panel.refusal["repairs"]:
        assert wb.check(panel.schedule | from_json(repair["step"])), repair["text"]
    assert panel.refusal["repairs"][0]["text"] == "merge('Z', 'Z.1') | merge('Z', 'Z.2') | merge('Z', 'cell')"


def test_where_nothing_may_be_done_instead_it_says_so(monkeypatch):
    monkeypatch.setattr("workbench.schedules.repairs.search.accepted", lambda *_: False)
    panel = shown("matmul")
    with pytest.raises(IllegalSchedule):
        panel.apply(wb.parallelize("k"))
    assert panel.refusal["repairs"] == []
    assert panel.refusal["without"].startswith("nothing known: ")


def test_what_is_offered_is_what_may_come_next():
    panel = shown("triangular")
    answer(panel, "offer")
    for offer in panel.offers["steps"][:40:7]:
        heard = answer(panel, "apply", step=offer["step"])
        assert ("error" in heard) == (not offer["legal"]), offer["text"]
        if offer["legal"]:
            answer(panel, "undo")
            answer(panel, "offer")


@pytest.mark.parametrize(
    ("gesture", "given", "expected"),
    [
        ("tile", {"statement": "C", "x": "n", "y": "m", "width": 4, "height": 2}, "tile(m=2, n=4)"),
        ("tile", {"statement": "C", "x": "n", "y": "m", "width": 4, "height": 1}, "split('n', 4)"),
        ("interchange", {"statement": "C", "first": "n", "second": "m"}, "interchange('n', 'm')"),
        ("swap", {"first": "m", "second": "n"}, "interchange('n', 'm')"),
        ("skew", {"statement": "C", "loop": "n", "by": "m", "factor": 2}, "skew('n', by='m', factor=2)"),
        ("distribute", {"statement": "C"}, "distribute('C')"),
    ],
)
def test_a_gesture_is_a_step(gesture, given, expected):
    panel = shown("matmul")
    assert "error" not in answer(panel, "gesture", name=gesture, given=given)
    assert str(panel.schedule.trace[0]) == expected


def test_nests_that_are_dropped_on_one_another_are_merged():
    panel = wb.panel(wb.schedule(wb.ops.jacobi_1d))
    assert "error" not in answer(panel, "gesture", name="merge", given={"first": "A.1", "second": "B"}) or panel.refusal


def test_a_tiled_loop_is_tiled_inside():
    panel = shown("matmul")
    panel.apply(wb.tile(m=32, n=16))
    answer(panel, "gesture", name="tile", given={"statement": "C", "x": "n", "y": "m", "width": 4, "height": 2})
    assert "m_i" in str(panel.schedule.trace[-1])


# -- what is said ----------------------------------------------------------------------------------------------------


def test_a_selection_is_checked():
    panel = shown("matmul")
    panel.selection = {"statement": "C", "instance": {"m": 1, "n": 2, "k": 3}}
    assert panel.selection["instance"] == [1, 2, 3]
    panel.selection = {"line": 35}
    for wrong, said in [
        ({"statement": "D"}, "C.init"),
        ({"statement": "C", "instance": (1, 2)}, "3 dims"),
        ({"instance": (1, 2)}, "must name its statement"),
        ({"loop": "z"}, "m, n, k"),
        ({"line": 0}, "lines 1 to"),
        ({"point": 3}, "statement"),
        ({"array": "C", "cell": "ab"}, "tuple of integers"),
    ]:
        with pytest.raises(WorkbenchError, match=said):
            panel.selection = wrong


def test_a_selection_without_meaning_after_a_step_is_dropped():
    panel = shown("matmul")
    panel.selection = {"loop": "m"}
    panel.apply(wb.tile(m=4, n=4))
    assert panel.selection == {}


def test_questions_nobody_knows_are_answered_all_the_same():
    panel = shown("matmul")
    assert "known: apply" in answer(panel, "shutdown")["error"]
    assert "did you mean" in answer(panel, "gesture", name="tiles", given={})["error"]
    assert "TypeError" in answer(panel, "go")["error"]
    assert "unknown" in answer(panel, "apply", step={"step": "nothing"})["error"].lower()


def test_what_a_panel_is_given_is_checked():
    with pytest.raises(WorkbenchError, match="known: domain, code"):
        wb.panel(wb.ops.matmul, panes=("picture",))
    with pytest.raises(ScheduleError, match="shows a Schedule"):
        wb.panel(wb.ops.matmul).schedule = 3
    with pytest.raises(ScheduleError, match="no moment 9"):
        wb.panel(wb.ops.matmul).history.at(9)


def test_a_panel_stores_a_picture_for_readers_without_a_kernel():
    data, _ = shown("matmul")._repr_mimebundle_()
    assert data["image/png"].startswith("iVBOR")
    assert "for m" in data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in data


def test_a_history_begins_where_it_begins():
    history = History(wb.panel(wb.ops.matmul).history.moments)
    with pytest.raises(ScheduleError, match="nothing to undo"):
        history.undo()


def test_next_steps_come_in_parts_and_what_else_is_asked_comes_between():
    panel = shown("matmul")
    assert answer(panel, "offer", part=0.0, seconds=5.0)["result"] == {"more": True}
    assert panel.offers == {}
    answer(panel, "apply", step=wb.interchange("n", "m").to_json())
    while answer(panel, "offer", part=0.01, seconds=5.0)["result"]["more"]:
        assert panel.offers == {}
    whole = wb.next_steps(panel.schedule, seconds=60.0)
    known = {str(offer.step): bool(offer.verdict) for offer in whole}
    assert panel.offers["steps"]
    before = panel.offers
    assert answer(panel, "offer", part=0.01)["result"] == {"more": False}
    assert panel.offers is before
    assert all(known[offer["text"]] == offer["legal"] for offer in panel.offers["steps"])


def test_going_back_shows_the_very_same(panel):
    before = {name: getattr(panel, name) for name in ("title", "source", "domain", "tables", "tree", "code")}
    answer(panel, "offer", seconds=5.0)
    answer(panel, "apply", step=next(o["step"] for o in panel.offers["steps"] if o["legal"]))
    assert panel.tree != before["tree"]
    answer(panel, "undo")
    assert {name: getattr(panel, name) for name in before} == before


def test_the_picture_is_sent_before_the_code(monkeypatch):
    panel = shown("matmul")
    sent: list[set[str]] = []
    monkeypatch.setattr(panel, "send_state", lambda key=None: sent.append(set(key)))
    panel.apply(wb.tile(m=4, n=4))
    assert "domain" in sent[0] or "tables" in sent[0]
    assert {"tree", "past"} <= sent[0]
    assert "code" not in sent[0]
    assert "code" in sent[1]


def test_a_step_that_was_not_judged_in_time_is_not_known_and_may_be_asked_about_again():
    text = "def nobody_asked(float(M,N) A) -> (B, C) { B(i,j) = A(i,j) C(i) +=! B(i,j) }"
    panel, step = wb.panel(wb.schedule(wb.operator(text), M=7, N=9)), wb.interchange("B/i", "j")
    with isl.deadline(-1.0):
        stopped = NextSteps((Offer(step, panel.schedule.can(step)),), False, ("tile",))
    assert "not known in the time there was (1)" in str(stopped)
    assert "may not" not in str(stopped)
    panel.offers = dict(offers_payload(stopped))
    assert [(o["legal"], o["known"]) for o in panel.offers["steps"]] == [(False, False)]
    assert panel.offers["left"] == ["tile"]
    found = judged_again(panel, step.to_json())
    assert found is not None
    assert (found["legal"], found["known"]) == (True, True)
    assert panel.offers["steps"] == [found]


def test_kinds_that_were_not_all_looked_at_are_named():
    first = wb.next_steps(wb.schedule(wb.ops.matmul), seconds=60.0, limit=3)
    assert first.left
    assert not first.complete
    assert wb.next_steps(wb.schedule(wb.ops.matmul), only="interchange", seconds=60.0).left == ()
