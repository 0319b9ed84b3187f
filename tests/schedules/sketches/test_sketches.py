"""Sketches: schedules with decisions left open, the spaces they span, and what is stored of them."""

from __future__ import annotations

import itertools
import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench.errors import IllegalSchedule, ScheduleError
from workbench.schedules.choices import FUNCTIONS
from workbench.schedules.steps import NAMES


@pytest.fixture(scope="module")
def naive():
    return wb.schedule(wb.ops.matmul, M=64, N=64, K=64)


def tiled(naive):
    tiles = wb.tile(m=wb.choose(8, 16, 32), n=wb.choose(8, 16, 32), k=wb.choose(4, 8))
    return naive | tiles | wb.vectorize("n_i") | wb.choose(wb.unroll("k_i"), None)


def test_a_sketch_is_its_steps_and_its_space(naive, golden):
    golden(str(wb.where(tiled(naive), "tile_m * tile_n <= 256")))


def test_every_point_is_the_schedule_one_would_write(naive):
    sketch = tiled(naive)
    for point in sketch.space:
        m, n, k, unroll = point.values()
        by_hand = naive | wb.tile(m=m, n=n, k=k) | wb.vectorize("n_i")
        assert sketch.at(point) == (by_hand if unroll is None else by_hand | unroll)


def test_what_is_not_decided_takes_its_first_option(naive):
    assert tiled(naive).at(tile_k=8) == tiled(naive).at(tile_m=8, tile_n=8, tile_k=8, unroll=wb.unroll("k_i"))


def test_one_choice_in_two_places_is_one_decision(naive):
    edge = wb.choose(8, 16)
    assert (naive | wb.tile(m=edge, n=edge)).space.size == 2
    assert (naive | wb.tile(m=edge) | wb.tile(n=edge)).space.size == 2
    assert (naive | wb.tile(m=wb.choose(8, 16), n=wb.choose(8, 16))).space.size == 4
    named = naive | wb.tile(m=wb.choose(8, 16, name="edge")) | wb.tile(n=wb.choose(8, 16, name="edge"))
    assert named.space.size == 2


def test_decisions_are_named_by_step_and_argument_or_as_they_say(naive):
    sketch = naive | wb.tile({"C/m": wb.choose(8, 16)}) | wb.parallelize(wb.choose("m_o", "n"))
    sketch = sketch | wb.parallelize(wb.choose("n", "m_i")) | wb.choose(wb.vectorize("n"), None, name="lanes")
    assert [d.name for d in sketch.space.decisions] == ["tile_C_m", "parallelize", "parallelize_2", "lanes"]


def test_choices_stand_in_recipes_and_inside_choices(naive):
    recipe = wb.tile(m=wb.choose(8, 16)) | wb.parallelize("m_o")
    inner = wb.choose(wb.unroll(wb.choose("m_i", "k", name="which")), None, name="unrolled")
    sketch = naive | recipe | inner
    assert [d.name for d in sketch.space.decisions] == ["tile_m", "unrolled", "which"]
    assert sketch.at(which="k").steps().endswith("unroll('k')")
    both = naive | wb.together(wb.tile(m=wb.choose(8, 16)), wb.interchange("m_i", "n"))
    assert both.at(tile_m=16) == naive | wb.together(wb.tile(m=16), wb.interchange("m_i", "n"))


@pytest.mark.parametrize("name", sorted(n for n in NAMES if n[0].islower()))
def test_every_step_takes_choices(name):
    open_step = getattr(wb, name)(wb.choose("a", "b"))
    assert open_step.leaves_open
    assert name in FUNCTIONS


def test_a_verdict_on_a_point_needs_no_exception(naive):
    sketch = naive | wb.parallelize(wb.choose("m", "k", "x"))
    assert sketch.can(parallelize="m")
    assert "race" in sketch.can(parallelize="k").explain()
    assert "unknown loop 'x'" in sketch.can(parallelize="x").explain()
    with pytest.raises(IllegalSchedule, match="race"):
        sketch.at(parallelize="k")


NUMBERS = st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True)
CONDITIONS = (
    "a * b <= 12", "b < c or c == 2", "a % 2 == 0", "a in (1, 2, 3) and not c > 5", "max(a, c) - min(a, c) < 4",
)  # fmt: skip


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS), st.sets(st.sampled_from(CONDITIONS)))
def test_a_space_is_what_trying_everything_finds(options, conditions):
    loops = zip("mnk", "abc", options, strict=True)
    sketch = wb.schedule(wb.ops.matmul, M=8, N=8, K=8)
    for loop, name, own in loops:
        sketch = sketch | wb.tile({loop: wb.choose(*own, name=name)}, names={loop: (f"{loop}1", f"{loop}2")})
    for condition in sorted(conditions):
        sketch = wb.where(sketch, condition)
    names, space = ("a", "b", "c"), sketch.space
    points = [dict(zip(names, p, strict=True)) for p in itertools.product(*options)]
    wanted = [p for p in points if all(eval(c, {}, dict(p)) for c in conditions)]
    assert list(space) == wanted
    assert space.size == len(wanted)
    assert [p for p in points if p in space] == wanted
    assert [space.at(space.index(p)) for p in wanted] == wanted
    if not wanted:
        with pytest.raises(ScheduleError, match="the space is empty"):
            space.sample()
        return
    assert all(p in wanted for p in space.sample(5, seed=1))
    near = space.neighbours(wanted[0])
    assert all(p in wanted and sum(p[n] != wanted[0][n] for n in names) == 1 for p in near)


def test_every_point_is_drawn_as_often_as_any_other(naive):
    space = wb.where(tiled(naive), "tile_m * tile_n == 64 and tile_k == 4").space
    assert space.size == 2
    drawn = [space.index(p) for p in space.sample(400, seed=3)]
    assert all(150 < drawn.count(i) < 250 for i in set(drawn))
    assert drawn == [space.index(p) for p in space.sample(400, seed=3)]


def test_neighbours_are_next_in_order_whatever_the_order_of_the_options(naive):
    space = (naive | wb.tile(m=wb.choose(16, 4, 64, 8))).space
    assert [p["tile_m"] for p in space.neighbours({"tile_m": 16})] == [8, 64]


def random_sketch(seed: int) -> wb.Sketch:
    random = Random(seed)
    sketch = wb.schedule(wb.ops.matmul, M=32, N=32, K=32) | wb.tile(m=wb.choose(4, 8), n=wb.choose(*(8, 2, 16)))
    extra = [
        wb.arrange(wb.choose(["n_o", "m_o"], ["m_o", "n_o"], name="order")), wb.choose(wb.unroll("m_i"), None),
        wb.parallelize(wb.choose("m_o", "n_o")), wb.stage("A", wb.choose("m_o", "n_o"), name="A_tile"),
        wb.together(wb.vectorize("n_i"), wb.unroll(wb.choose("m_i", "k"))), wb.vectorize("n_i"),
    ]  # fmt: skip
    for step in random.sample(extra, random.randrange(len(extra))):
        sketch = sketch | step
    return wb.where(sketch, "tile_m <= tile_n") if random.random() < 0.5 else sketch


@pytest.mark.parametrize("seed", range(12))
def test_json_and_python_give_the_sketch_again(seed):
    sketch = random_sketch(seed)
    assert wb.Sketch.from_json(wb.ops.matmul, sketch.to_json()) == sketch
    made: dict[str, object] = {}
    exec(sketch.to_python(), made)
    assert str(made["sketch"]) == str(sketch)
    assert made["sketch"] == sketch
    assert hash(made["sketch"]) == hash(sketch)


MISTAKES = {
    "an unknown decision": lambda s: s.at(tile_q=3),
    "an unknown option": lambda s: s.at(tile_m=9),
    "a point that is excluded": lambda s: wb.where(s, "tile_m < tile_n").at(),
    "a condition on what is not decided": lambda s: wb.where(s, "tile_q < 3"),
    "a condition that calls": lambda s: wb.where(s, "__import__('os').system('true')"),
    "a condition that is none": lambda s: wb.where(s, "tile_m <"),
    "a condition that cannot be computed": lambda s: wb.where(s, "tile_m / (tile_n - 8) > 1").space.size,
    "a function of what is not decided": lambda s: wb.where(s, lambda m: m < 3),
    "a number for a condition": lambda s: wb.where(s, 3),
    "one name for two decisions": lambda s: s | wb.tile(m_i=wb.choose(2, 4, name="tile_m")),
    "an open step as a step": lambda s: wb.preview(s.schedule, wb.tile(m=wb.choose(2, 4))),
    "where of a schedule": lambda s: wb.where(s.schedule, "m < 3"),
    "a name that is none": lambda s: wb.choose(1, 2, name="a b"),
    "a function cannot be stored": lambda s: wb.where(s, lambda tile_m: tile_m < 3).to_json(),
    "an option cannot be stored": lambda s: (s | wb.unroll(wb.choose(object, 3))).to_json(),
    "an empty space": lambda s: wb.where(s, "tile_m > 99").space.sample(),
}


def test_mistakes(naive, golden):
    lines = []
    for name, mistake in MISTAKES.items():
        with pytest.raises(ScheduleError) as caught:
            mistake(tiled(naive))
        lines.append(f"{name}:\n    {caught.value}")
    golden("\n".join(lines).replace(str(object), "object"))


def _damaged(record):
    yield "[]"
    yield "{" * 10**5
    yield json.dumps({**record, "sketch": 2})
    for key in record:
        for wrong in (None, 3, [], {}, [[]], [{"open": "eval", "arguments": ["1"], "keywords": {}}], "x"):
            yield json.dumps({**record, key: wrong})
    unknown = {"open": "tile", "arguments": [], "keywords": {"m": {"choose": "q"}}}
    for step in (unknown, {"one of": 3}, {"together": [3]}):
        yield json.dumps({**record, "steps": [step]})
    yield json.dumps({**record, "decisions": [{"name": "a", "options": [{"one of": "a"}]}], "steps": [{"one of": "a"}]})
    yield json.dumps({**record, "where": ["().__class__"]})
    yield json.dumps({**record, "where": ["'a' * tile_m < 3"]})


def test_a_damaged_record_is_refused_or_gives_a_sketch(naive):
    for text in _damaged(json.loads(tiled(naive).to_json())):
        try:
            found = wb.Sketch.from_json(wb.ops.matmul, text)
            found.space.sample(1, seed=1)
        except ScheduleError:
            continue
        assert isinstance(found, wb.Sketch)
