"""Wrong names, wrong numbers, stale handles, deleted steps, deep programs: clear errors, no hang, no blow-up."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

import workbench as wb
from tests.schedules.texts import MATMUL, SEIDEL, SOFTMAX
from workbench.errors import IllegalSchedule, ScheduleError, UnknownLoop

START = wb.schedule(wb.operator(MATMUL))
TILED = START | wb.tile(m=4, n=8, k=16) | wb.vectorize("n_i") | wb.parallelize("m_o")
SWEEP = wb.schedule(wb.operator(SEIDEL))

MISTAKES: dict[str, Callable[[], object]] = {
    "unknown loop": lambda: START | wb.parallelize("mm"),
    "no loop of that statement": lambda: wb.schedule(wb.operator(SOFTMAX)) | wb.parallelize("top/k"),
    "unknown statement": lambda: START | wb.parallelize("D/m"),
    "a loop two steps ago": lambda: TILED | wb.parallelize("k"),
    "a loop of one statement two steps ago": lambda: TILED | wb.parallelize("C/m"),
    "a loop that a recipe consumes": lambda: START | (wb.split("m", 4) | wb.tile(m=2, n=2)),
    "a tile of 0": lambda: START | wb.tile(m=0),
    "a tile of minus one": lambda: START | wb.split("m", -1),
    "a tile of a half": lambda: START | wb.split("m", 0.5),  # type: ignore[arg-type]
    "a tile of a text": lambda: START | wb.tile(m="64"),  # type: ignore[arg-type]
    "a tile of 2 to the 40": lambda: START | wb.tile(m=2**40),
    "a name that is taken": lambda: START | wb.split("m", 4, names=("n", "i")),
    "a buffer of two words": lambda: START | wb.stage("A", "m", buffer="a panel"),
    "a loop twice": lambda: START | wb.interchange("m", "m"),
    "a step after an operator": lambda: wb.operator(MATMUL) | wb.tile(m=4),  # type: ignore[operator]
    "steps after an operator": lambda: wb.operator(MATMUL) | (wb.tile(m=4) | wb.vectorize("m_i")),  # type: ignore[operator]
    "a step after a program": lambda: wb.lower(wb.operator(MATMUL)) | wb.tile(m=4),  # type: ignore[operator]
    "not a step": lambda: START | "tile",  # type: ignore[operator]
    "a step not called": lambda: START | wb.tile,  # type: ignore[operator]
    "a preview of nothing": lambda: wb.preview("matmul", wb.split("m", 4)),  # type: ignore[arg-type]
    "next steps of nothing": lambda: wb.next_steps("matmul"),  # type: ignore[arg-type]
    "next steps of an unknown kind": lambda: wb.next_steps(START, only=["tille"]),
    "replay of nothing": lambda: wb.replay(START, 5),
    "replay of half a text": lambda: wb.replay(START, '[{"step": "til'),
    "replay of something else": lambda: wb.replay(START, [wb.split("m", 4), "tile"]),
    "undo too far": lambda: TILED.undo(9),
    "without a step that is not there": lambda: TILED.without(wb.split("m", 4)),
    "without a place that is not there": lambda: TILED.without(7),
    "without what a later step needs": lambda: TILED.without(wb.tile(m=4, n=8, k=16)),
    "together, wrong at the end": lambda: SWEEP | wb.together(wb.split("t", 2), wb.parallelize("t_i")),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_told_as_prose(case: str, golden) -> None:
    with pytest.raises(ScheduleError) as caught:
        MISTAKES[case]()
    told = str(caught.value)
    golden(f"{type(caught.value).__name__}: {told.partition('; did you mean')[0] if 'step' in told else told}")


def test_an_unknown_loop_knows_the_known_ones_and_who_consumed_it() -> None:
    with pytest.raises(UnknownLoop) as caught:
        TILED | wb.split("C/m", 4)
    assert caught.value.name == "C/m"
    assert "m_i" in caught.value.known
    assert caught.value.consumed_by == wb.tile(m=4, n=8, k=16)
    with pytest.raises(UnknownLoop) as caught:
        START | wb.split("mm", 4)
    assert caught.value.consumed_by is None


def test_a_tile_of_a_million_is_a_tile() -> None:
    vast = wb.schedule(wb.operator(MATMUL), M=100, N=100, K=100) | wb.tile(m=10**6, n=10**6, k=10**6)
    assert vast.verdict
    assert len(wb.generate(vast).source) < 20_000


def test_a_middle_step_can_be_deleted() -> None:
    assert TILED.without(wb.vectorize("n_i")).trace == (*TILED.trace[:2], TILED.trace[3])
    assert TILED.without(2) == TILED.without(wb.vectorize("n_i"))
    assert TILED.without(-1) == TILED.undo()
    assert TILED.undo(2) | wb.parallelize("m_o") == TILED.without(2)
    assert TILED.undo(len(TILED.trace)) == START == TILED.start


def test_an_error_survives_a_pickle() -> None:
    with pytest.raises(IllegalSchedule) as caught:
        START | wb.parallelize("k")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.repairs, again.violations) == (
        str(caught.value), caught.value.repairs, caught.value.violations,
    )  # fmt: skip


DIMS = "abcdefgh"


def deep(count: int) -> str:
    """So many statements over eight loops, each reading the two before."""
    axes = ",".join(DIMS)
    names = ["X", "X", *(f"T{k}" for k in range(count))]
    triples = zip(names, names[1:], names[2:], strict=False)
    lines = [f"{c}({axes}) = {b}({axes}) * 2 + {a}({axes})" for a, b, c in triples]
    return f"def deep(float({axes.upper()}) X) -> (T{count - 1}) {{\n" + "\n".join(lines) + "\n}"


def test_deep_programs_are_judged_in_parts_and_offers_end_in_time() -> None:
    start = wb.schedule(wb.operator(deep(30)))
    assert start.can(wb.tile({f"T5/{d}": 4 for d in DIMS}))
    with pytest.raises(IllegalSchedule, match=r"would break the order on T0 \(flow\)"):
        start | wb.merge("T0", "T29", 8)
    merged = start
    for k in range(1, 30):
        merged = merged | wb.merge(f"T{k - 1}", f"T{k}", 8)
    assert merged.can(wb.parallelize("a"))
    assert not wb.next_steps(merged, seconds=0.1).complete
    assert wb.parallelize("a") in wb.next_steps(merged, only=["parallelize"], seconds=60).legal
    assert wb.next_steps(start, limit=7, seconds=60).offers[6:]
    assert len(wb.next_steps(start, limit=7, seconds=60)) == 7
