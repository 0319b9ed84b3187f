"""Schedules as JSON and as Python: what comes back is equal, and what does not fit is named."""

from __future__ import annotations

import json
from itertools import islice
from random import Random
from typing import Any

import pytest

import workbench as wb
from tests.schedules.texts import CONVOLUTION, EVERY, MATMUL, SEIDEL, SOFTMAX
from tests.support import examples
from workbench.errors import IllegalSchedule, ScheduleError, UnknownLoop, WorkbenchError
from workbench.schedules import Schedule, Transform, from_json

OP = wb.operator(MATMUL)
FAST = (
    wb.schedule(OP, M=64, N=64, K=64) | wb.tile(m=8, n=16, k=16) | wb.vectorize("n_i") | wb.parallelize("m_o")
)
RECORD = json.loads(FAST.to_json())


def changed(**fields: Any) -> str:
    return json.dumps({**RECORD, **fields})


def script(schedule: Schedule) -> Schedule:
    """What the script of a schedule builds."""
    names: dict[str, Any] = {}
    exec(schedule.to_python(), names)
    return names["schedule"]


def test_a_record_says_version_operator_and_sizes(golden) -> None:
    golden(FAST.to_json())


def test_a_script_is_what_a_person_would_write(golden) -> None:
    golden(FAST.to_python())


@pytest.mark.slow
def test_library_schedules_come_back_from_json_and_from_python() -> None:
    names = wb.ops.list()
    for name in names[:: examples(quick=12, ci=6, full=1)]:
        op = wb.ops.load(name)
        made = wb.autoschedule(op, sizes=op.examples[0])
        for again in (Schedule.from_json(op, made.to_json()), script(made)):
            assert again == made
            assert again.key == made.key
        assert wb.replay(made.start, made.trace) == made  # no prerequisite is taken twice


def walk(start: Schedule, random: Random, length: int) -> Schedule:
    """The schedule after some legal steps of any kind."""
    for _ in range(length):
        kind = Transform.known[random.choice(sorted(Transform.known))]
        try:
            offered = list(islice(kind.choices(start), 6))
            start = start | random.choice(offered) if offered else start
        except WorkbenchError:
            continue
    return start


def test_every_kind_of_step_comes_back() -> None:
    random = Random(6)
    for _ in range(examples(quick=4, ci=10, full=1000)):
        text, sizes = EVERY[random.choice(list(EVERY))]
        op = wb.operator(text)
        made = walk(wb.schedule(op, sizes=sizes if random.random() < 0.5 else {}), random, 5)
        for again in (Schedule.from_json(op, made.to_json()), script(made), wb.replay(made.start, made.trace)):
            assert again == made
            assert again.key == made.key


@pytest.mark.parametrize(
    "recipe",
    [wb.tile(m=4) | wb.vectorize("n"), wb.together(wb.split("m", 4), wb.unroll("m_i")),
     wb.split("k", 4) | wb.together(wb.split("m", 4), wb.unroll("m_i")) | wb.parallelize("m_o")],
    ids=str,
)  # fmt: skip
def test_recipes_are_values_too(recipe: Transform) -> None:
    assert from_json(json.loads(json.dumps(recipe.to_json()))) == recipe
    names = {name: getattr(wb, name) for name in ("tile", "split", "unroll", "vectorize", "parallelize", "together")}
    assert eval(recipe.python(), names) == recipe
    assert (wb.schedule(OP) | recipe).trace == wb.replay(wb.schedule(OP), [recipe.to_json()]).trace


def test_a_program_takes_a_record_too() -> None:
    program = wb.lower(OP, M=64, N=64, K=64)
    assert Schedule.from_json(program, FAST.to_json()) == FAST
    with pytest.raises(ScheduleError, match="recorded for the sizes M=64, K=64, N=64, not"):
        Schedule.from_json(wb.lower(OP, M=3, N=3, K=3), FAST.to_json())


def test_c_from_outside_comes_back_too() -> None:
    text = """
    /* a "sum" \\ */ void total(int n, float A[n], float s[1]) { for (int i = 0; i < n; i++) s[0] += A[i]; }
    """
    made = wb.schedule(wb.from_c(text, reassociate=True, n=9)) | wb.vectorize("i")
    for again in (Schedule.from_json(wb.from_c(text, reassociate=True, n=9), made.to_json()), script(made)):
        assert again == made
        assert again.key == made.key
    with pytest.raises(ScheduleError, match="its text has changed since"):
        Schedule.from_json(wb.from_c(text, n=9), made.to_json())


def test_layouts_are_recorded() -> None:
    transposed = wb.schedule(wb.poly.lower(OP, {"M": 4, "N": 5, "K": 6}, {"A": (1, 4)})) | wb.tile(m=2, n=2)
    assert Schedule.from_json(OP, transposed.to_json()).key == transposed.key
    assert script(transposed).key == transposed.key
    assert transposed.key != (wb.schedule(OP, M=4, N=5, K=6) | wb.tile(m=2, n=2)).key


def old_record(steps: list[dict[str, Any]]) -> str:
    """A record as it was written when `interchange` listed the new order of any number of loops."""
    return json.dumps({"workbench": 1, "operator": "matmul", "fingerprint": "153e1c498ee32028",
                       "sizes": {"M": 8, "K": 8, "N": 8}, "steps": steps})  # fmt: skip


OLD_STEPS = [
    {"step": "tile", "sizes": [["m", 4], ["n", 8]], "names": []},
    {"step": "decompose_reduction", "statement": "C"},
    {"step": "interchange", "order": ["C/m_o", "C/n_o", "C/k", "C/m_i", "C/n_i"]},
    {"step": "interchange", "order": ["C/m_o", "C/n_o"]},
    {"step": "interchange", "order": ["C/n_o", "C/m_o"]},
    {"step": "unroll", "loop": "C/m_i"},
]


def test_an_old_interchange_is_a_reorder_and_means_what_it_meant() -> None:
    """The key is the one that the schedule had then; the second interchange changed nothing, and is left out."""
    loaded = Schedule.from_json(OP, old_record(OLD_STEPS))
    assert loaded.key == "d9f5c532a47f758a72984adf"
    assert loaded.steps().split(" | ")[3:] == [
        "reorder('C/m_o', 'C/n_o', 'C/k', 'C/m_i', 'C/n_i')", "reorder('C/n_o', 'C/m_o')", "unroll('C/m_i')",
    ]  # fmt: skip
    assert "| wb.reorder('C/n_o', 'C/m_o')" in loaded.to_python()
    assert script(loaded) == loaded == Schedule.from_json(OP, loaded.to_json())
    assert wb.replay(wb.schedule(OP, M=8, N=8, K=8), OLD_STEPS) == loaded


OLD_SKETCH = {
    "sketch": 1, "schedule": json.loads(old_record(OLD_STEPS[1:2])),
    "decisions": [
        {"name": "outer", "options": ["C/m", "C/n"]},
        {"name": "order", "options": [{"step": "interchange", "order": ["C/m", "C/k", "C/n"]}, None]},
    ],
    "steps": [
        {"open": "interchange", "arguments": [{"choose": "outer"}, "C/k"], "keywords": {}}, {"one of": "order"},
    ],
    "where": [],
}  # fmt: skip


def test_an_old_sketch_means_what_it_meant() -> None:
    """Its loops stand in the wanted order already: where a step of a point changes nothing it is left out."""
    sketch = wb.Sketch.from_json(OP, json.dumps(OLD_SKETCH))
    for outer in ("C/m", "C/n"):
        assert sketch.at(outer=outer, order=None).key == "a80a71ef32fb0ea091edf7b5"
        assert sketch.can(outer=outer, order=None)
    assert sketch.at(outer="C/m").steps() == "naive | decompose_reduction('C') | reorder('C/m', 'C/k', 'C/n')"
    assert json.loads(sketch.to_json())["sketch"] == 2
    assert wb.Sketch.from_json(OP, sketch.to_json()) == sketch


def test_what_was_illegal_between_two_steps_is_written_together() -> None:
    start = wb.schedule(wb.operator(SEIDEL), N=9)
    there, back = wb.interchange("A.1/j", "A.1/t"), wb.interchange("A.1/t", "A.1/j")
    made = start | wb.together(there, back)
    assert "wb.together(" in made.to_python()
    assert script(made) == made == Schedule.from_json(made.program, made.to_json())


def test_a_preview_comes_back_as_one() -> None:
    shown = wb.preview(wb.schedule(wb.operator(SEIDEL), N=9), wb.parallelize("t"))
    assert json.loads(shown.to_json())["preview"] is True
    assert "wb.preview(" in shown.to_python()
    for again in (Schedule.from_json(shown.program, shown.to_json()), script(shown)):
        assert again == shown
        assert not again.verdict


def test_an_illegal_record_that_was_no_preview_is_refused() -> None:
    shown = wb.preview(wb.schedule(wb.operator(SEIDEL), N=9), wb.split("t", 2) | wb.parallelize("t_o"))
    record = {k: v for k, v in json.loads(shown.to_json()).items() if k != "preview"}
    with pytest.raises(IllegalSchedule, match=r"step 2 of 2, parallelize\('t_o'\), is not legal here: would race on A"):
        Schedule.from_json(shown.program, json.dumps(record))


SAME = {
    "names of loops": (wb.split("m", 4, names=("a", "b")), wb.split("m", 4)),
    "tile is split and interchange": (
        wb.split("m", 4) | wb.split("n", 8) | wb.interchange("n_o", "m_i"),
        wb.tile(m=4, n=8),
    ),
    "order of independent steps": (
        wb.parallelize("m") | wb.vectorize("n"),
        wb.vectorize("n") | wb.parallelize("m"),
    ),
}


@pytest.mark.parametrize("case", SAME)
def test_two_traces_to_one_scheduled_program_have_one_key(case: str) -> None:
    first, second = (wb.schedule(OP, M=8, N=8, K=8) | step for step in SAME[case])
    assert first != second
    assert first.key == second.key


def test_different_schedules_have_different_keys() -> None:
    start = wb.schedule(OP, M=8, N=8, K=8)
    steps = [wb.split("m", 4), wb.split("m", 2), wb.parallelize("m"), wb.vectorize("m"), wb.unroll("m"),
             wb.interchange("n", "m"), wb.decompose_reduction("C")]  # fmt: skip
    keys = [start.key, wb.schedule(OP, M=8, N=8, K=9).key, *((start | step).key for step in steps)]
    assert len(set(keys)) == len(keys)


DAMAGED: dict[str, tuple[Any, str]] = {
    "another operator": (wb.operator(SOFTMAX), FAST.to_json()),
    "the same name, another text": (wb.operator(MATMUL.replace("*", "+")), FAST.to_json()),
    "a newer version": (OP, changed(workbench=99)),
    "a version that is no number": (OP, changed(workbench="one")),
    "half a text": (OP, FAST.to_json()[:40]),
    "not an object": (OP, "[1, 2]"),
    "no text": (OP, 5),
    "no steps": (OP, changed(steps=None)),
    "sizes that are no numbers": (OP, changed(sizes={"M": "many"})),
    "sizes that do not exist": (OP, changed(sizes={"Q": 4})),
    "an unknown step": (OP, changed(steps=[{"step": "tille"}])),
    "a step without its arguments": (OP, changed(steps=[{"step": "split"}])),
    "a loop that is not there": (OP, changed(steps=[*RECORD["steps"], {"step": "parallelize", "loop": "k"}])),
    "an unknown loop": (OP, changed(steps=[{"step": "split", "loop": "q", "size": 4, "names": None}])),
    "a step that changes the result": (OP, changed(steps=[{"step": "parallelize", "loop": "k"}])),
    "the operator missing": ("matmul", FAST.to_json()),
    "deeply nested": (OP, "[" * 100_000),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_record_that_does_not_fit_says_why(case: str, golden) -> None:
    operator, text = DAMAGED[case]
    with pytest.raises(ScheduleError) as caught:
        Schedule.from_json(operator, text)
    golden(str(caught.value).partition("; did you mean")[0])


def test_replay_takes_steps_records_and_texts() -> None:
    start = wb.schedule(OP, M=64, N=64, K=64)
    for trace in (FAST.trace, list(FAST.trace), RECORD["steps"], RECORD, FAST.to_json(), wb.together(*FAST.trace)):
        assert wb.replay(start, trace) == FAST
    assert wb.replay(start, [wb.tile(m=8, n=16, k=16)]).trace == FAST.trace[:2]
    convolution = wb.schedule(wb.operator(CONVOLUTION))
    with pytest.raises(UnknownLoop, match=r"step 2 of 4, tile\(m=8, n=16, k=16\), does not apply: unknown loop 'm'"):
        wb.replay(convolution, [wb.decompose_reduction("O"), *FAST.trace[1:]])


def test_a_schedule_of_a_schedule_is_refused_with_what_to_write() -> None:
    with pytest.raises(ScheduleError, match=r"autoschedule\(schedule.original\)"):
        wb.autoschedule(FAST)
    assert wb.autoschedule(FAST.original).key == wb.autoschedule(OP, **FAST.original.sizes).key
