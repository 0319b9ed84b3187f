"""The campaigns of studies: their logic on small inputs; nothing is said about how long anything takes."""

from __future__ import annotations

import json

import pytest

import workbench as wb
from bench import facts
from bench.page import leave
from bench.record import Record, Timing, Tuned, read, row
from bench.tuning import against_tvm, rates, unseen, with_recipes, without_recipe
from bench.tuning.campaign import Campaign, main, page, read_journal
from bench.tuning.odd_operators import ODD
from bench.tuning.studies import in_turn
from bench.tuning.table import markdown
from bench.tuning.unseen import UNSEEN
from workbench.schedules import recipe_sketch
from workbench.target import Target

TINY = wb.operator("def tiny(float(N,M) A) -> (R) { R(n) max=! fabs(A(n,m)) }")
CAMPAIGNS = (
    against_tvm.CAMPAIGN, rates.CAMPAIGN, with_recipes.CAMPAIGN, without_recipe.CAMPAIGN, unseen.CAMPAIGN,
)  # fmt: skip


def tuned(case: str, gain: float = 2.0, **facts: object) -> Tuned:
    timing = Timing.of([[1e-3], [1.1e-3]], 2)
    usual = {"points": 9, "built_and_timed": 4, "wall_seconds": 2.0, "search_seconds": 0.1, "measure_seconds": 1.0}
    return Tuned(case, {"N": 3}, 2, 4, timing, timing, gain, {**usual, "decided": {}, **facts})


def race(case: str) -> Tuned:
    ours = [(0.5, 4e-3), (0.6, None), (0.9, 1e-3), (1.0, 2e-3)]
    theirs = [(20.0, 3e-3), (20.0, None), (40.0, 2e-3), (40.0, 9e-3)]
    return tuned(
        case, ours=ours, theirs=theirs, ours_last=1e-3, theirs_last=2e-3, theirs_recorded=2e-3, final_ratio=2.0,
        reached_trial=3, reached_seconds=0.9, early_ratio=1.5, theirs_seconds=40.0, import_seconds=20.0, batches=2,
    )  # fmt: skip


def test_a_campaign_goes_on_where_its_journal_ends(tmp_path):
    done: list[str] = []

    def run(case: str, trials: int) -> Tuned:
        done.append(f"{case} {trials}")
        return tuned(case)

    campaign = Campaign("own", "a campaign", 7, dict.fromkeys(("one", "two", "three")), run)
    journal = tmp_path / "journal.jsonl"
    assert main(campaign, ["two", "--journal", str(journal)]) == 0
    with journal.open("a") as file:
        file.write('{"row": {"case": "thr')  # broken off
    assert main(campaign, ["--journal", str(journal), "--seconds", "-1"]) == 3
    assert main(campaign, ["--journal", str(journal), "--trials", "5"]) == 0
    assert done == ["two 7", "one 5", "three 5"]
    assert [r.case for r in page(campaign, journal).tuned] == ["one", "two", "three"]


def test_a_line_that_was_broken_off_costs_its_case_alone(tmp_path):
    journal = tmp_path / "journal.jsonl"
    journal.write_text('{"row": {"case": "a"}}\n{"row": {"ca\n{"row": {"case": "b"}}\n')
    assert [line["row"]["case"] for line in read_journal(journal)] == ["a", "b"]


@pytest.mark.parametrize("campaign", CAMPAIGNS, ids=lambda c: c.name)
def test_a_page_has_a_row_for_each_case_and_reads_back(campaign, tmp_path, capsys):
    names = list(campaign.cases)[:4]
    rows = [race(n) if campaign is against_tvm.CAMPAIGN else tuned(n) for n in names]
    lines = [json.dumps({"row": row_fields(r), "load": [0.0, 0.0, 0.0], "commit": "abc"}) for r in rows]
    (tmp_path / "j").write_text("\n".join(lines) + "\n")
    record = page(campaign, tmp_path / "j")
    leave(record, tmp_path, f"-tuning-{campaign.name}")
    (file,) = tmp_path.glob("*.json")
    assert read(file).tuned == [row(row_fields(r)) for r in rows]
    said = file.with_suffix(".md").read_text()
    assert all(f"| {name} " in said for name in names)
    assert ("<svg" in file.with_suffix(".svg").read_text()) if campaign is against_tvm.CAMPAIGN else True


def test_a_page_says_what_was_closed_of_the_distance_to_the_roof_and_what_binds():
    rows = (
        tuned("near", share=0.9, closed=0.1, binds="nothing"),
        tuned("far", share=0.5, closed=0.4, binds="lanes"),
        tuned("worse", share=0.7, closed=-0.1, binds="memory"),
        tuned("no arithmetic", share=None),
    )
    settings, load = {"campaign": "with_recipes", "title": "t"}, dict.fromkeys(("before", "after"), facts.load())
    said = markdown(Record(facts.machine(), facts.software(), settings, load, rows, "now"))
    assert "below 80% of their roof by default: 2 of 3; of the distance closed, in the mean: 15%" in said
    assert "- far: 50% of its roof, 40% of the rest closed. lanes" in said
    assert "- worse: 70% of its roof, -10% of the rest closed. memory" in said
    assert "nothing" not in said


def row_fields(found: Tuned) -> dict[str, object]:
    from dataclasses import asdict

    return json.loads(json.dumps(asdict(found)))


def test_a_study_of_a_campaign_times_default_and_best_again():
    found = in_turn("tiny", TINY, {"N": 40, "M": 60}, 3, also=lambda study: {"share": study.done})
    assert found.default is not None
    assert found.best is not None
    assert found.gain is not None
    assert found.gain > 0
    assert found.facts["built_and_timed"] == found.facts["share"] == 3
    assert found.facts["search_seconds"] + found.facts["measure_seconds"] <= found.facts["wall_seconds"]


def test_the_odd_operators_are_twice_twenty_and_each_has_a_space_of_its_own():
    assert len({odd.name for odd in ODD}) == len(ODD) == 20
    assert len({odd.name for odd in ODD + UNSEEN}) == len(ODD) + len(UNSEEN) == 40
    for odd in ODD + UNSEEN:
        assert recipe_sketch(odd.operator, Target(), odd.sizes).space.size > 1, odd.name


@pytest.mark.parametrize("odd", UNSEEN, ids=lambda odd: odd.name)
def test_what_nobody_had_looked_at_is_right_by_default(odd):
    few = {name: min(size, 37 if size > 100 else 9) for name, size in odd.sizes.items()}
    arrays = wb.ops.sample_arrays(odd.operator, 1, **few)
    assert wb.verify(wb.build(wb.autoschedule(odd.operator, **few)), *arrays)


def test_curves_say_when_a_result_was_reached_and_what_was_best_until_then():
    curve = [(0.5, 4.0), (0.6, None), (0.9, 1.0), (1.0, 2.0)]
    assert against_tvm.reached(curve, 4.0) == (1, 0.5)
    assert against_tvm.reached(curve, 1.5) == (3, 0.9)
    assert against_tvm.reached(curve, 0.5) == (None, None)
    assert against_tvm.least(curve) == 1.0


def test_the_history_of_a_search_is_its_batches_since_it_began(tmp_path):
    batches = [{"at": 104.0, "seconds": [2.0, None]}, {"at": 109.0, "seconds": [1.0]}]
    lines = [{"import_seconds": 3.0, "began": 100.0}, *batches]
    (tmp_path / "h").write_text("\n".join(map(json.dumps, lines)) + '\n{"at": 1')
    head, curve = against_tvm.history(tmp_path / "h")
    assert head == {"import_seconds": 3.0, "batches": 2}
    assert curve == [(4.0, 2.0), (4.0, None), (9.0, 1.0)]


@pytest.mark.parametrize("case", list(against_tvm.CASES))
def test_the_operators_of_the_race_give_what_numpy_gives(case):
    from bench.contenders import operator_of

    own = against_tvm.CASES[case]
    few = {name: min(size, 9) if size > 3 else size for name, size in own.sizes.items()}
    op = operator_of(own)
    arrays = wb.ops.sample_arrays(op, 1, **few)
    import numpy as np

    assert np.allclose(op(*arrays), op.evaluate(*arrays), rtol=1e-3, atol=1e-4)
