"""The contract of searchers, for every one of them, on spaces with and without constraints and illegal points."""

from __future__ import annotations

import random
from importlib.util import find_spec

import pytest

from workbench.errors import WorkbenchError
from workbench.schedules.sketches.constraints import constraint
from workbench.schedules.sketches.space import Decision, Point, Space
from workbench.tune.models.ranker import Group
from workbench.tune.searching import Surroundings, Told, make_searcher, optuna_search, searchers
from workbench.tune.searching.annealing import Chains
from workbench.tune.searching.guided import Steps

NAMES = [n for n in searchers() if n != "optuna" or find_spec("optuna")]
MODELS = ("xgb", "annealing", "evolutionary")
DECISIONS = (
    Decision("m", (1, 2, 4, 8, 16, 32)), Decision("n", (16, 1, 4, 64)), Decision("order", ("ij", "ji")),
    Decision("unroll", (True, False)), Decision("pair", ((1, 2), (3, 4), (0, 0))),
)  # fmt: skip
PLAIN = Space(DECISIONS)
BOUND = Space(DECISIONS, (constraint("m * n <= 64", ["m", "n"]),))
FEW = Space((Decision("m", (1, 2, 8, 32)), *DECISIONS[1:2], *DECISIONS[3:]), BOUND.constraints)
LARGE = Space(tuple(Decision(f"d{n}", tuple(range(9))) for n in range(9)))


def seconds(point: Point) -> float | None:
    """A landscape with one best valley; some points fail."""
    if "m" not in point:
        return 1e-3 * (1 + sum(abs(value - 4) for value in point.values()))
    if point["pair"] == (0, 0) and point["unroll"]:
        return None
    return 1e-3 * (1 + abs(point["m"] - 8) + abs(point["n"] - 4) / 4 + (point.get("order") == "ij") + point["unroll"])


def features(points: list[Point]) -> list[dict[str, float] | None]:
    """What a schedule would show of a point: something near its time; illegal points show nothing."""
    found: list[dict[str, float] | None] = []
    for point in points:
        value = seconds(point)
        found.append(None if value is None else {"cycles": 10 + value * 500, "trips": float(point.get("m", 1))})
    return found


def made(name: str, space: Space, seed: int = 1):
    return make_searcher(name, Surroundings(space, random.Random(seed), features))


def run(name: str, space: Space, rounds: int, count: int = 8, seed: int = 1) -> list[Point]:
    searcher, asked = made(name, space, seed), []
    for _ in range(rounds):
        points = searcher.ask(count)
        asked += points
        searcher.tell([Told(p, seconds(p)) for p in points])
    return asked


@pytest.mark.parametrize("space", [PLAIN, BOUND, LARGE], ids=["plain", "bound", "large"])
@pytest.mark.parametrize("name", NAMES)
def test_no_point_is_asked_twice_and_all_are_of_the_space(name, space):
    asked = run(name, space, 6)
    assert len(asked) == 48
    assert len({space.index(p) for p in asked}) == len(asked)
    assert all(p in space for p in asked)


@pytest.mark.parametrize("name", NAMES)
def test_a_space_is_exhausted_and_then_nothing_is_asked(name, monkeypatch):
    monkeypatch.setattr(optuna_search, "ASKED_AT_MOST", 4)  # near the end it proposes again and again what was seen
    size = FEW.size
    searcher, asked = made(name, FEW), []
    while points := searcher.ask(7):
        asked += points
        searcher.tell([Told(p, seconds(p)) for p in points])
        assert len(asked) <= size
    # Guided searchers leave out what they know to be illegal, until nothing else is left.
    assert len({FEW.index(p) for p in asked}) == len(asked) == size == 60
    assert searcher.ask(3) == []


@pytest.mark.parametrize("name", NAMES)
def test_one_seed_gives_one_sequence_and_another_another(name):
    first, again, other = (run(name, PLAIN, 3, seed=s) for s in (5, 5, 6))
    assert first == again
    assert first != other or name in ("grid", "polydl")


@pytest.mark.parametrize("name", NAMES)
def test_it_may_be_told_of_points_it_never_asked_for_and_in_any_order(name):
    searcher = made(name, PLAIN)
    known = PLAIN.sample(6, 3)
    searcher.tell([Told(p, seconds(p)) for p in known])
    asked = searcher.ask(5)
    assert not {PLAIN.index(p) for p in known} & {PLAIN.index(p) for p in asked}
    searcher.tell([Told(p, seconds(p)) for p in reversed(asked)])
    more = searcher.ask(5)
    assert not {PLAIN.index(p) for p in (*known, *asked)} & {PLAIN.index(p) for p in more}


@pytest.mark.parametrize("name", NAMES)
def test_failures_alone_do_not_end_the_search(name):
    searcher = made(name, LARGE)
    for _ in range(4):
        points = searcher.ask(6)
        assert len(points) == 6
        searcher.tell([Told(p, None) for p in points])


@pytest.mark.parametrize("name", MODELS)
def test_guided_searchers_find_the_valley_sooner_than_chance(name):
    def best(searcher: str, seed: int) -> float:
        return min(s for p in run(searcher, LARGE, 6, seed=seed) if (s := seconds(p)) is not None)

    guided, chance = (sorted(best(s, seed) for seed in range(3))[1] for s in (name, "random"))
    assert guided < chance


def test_what_other_problems_showed_guides_the_first_round():
    rows = [f for f in features(list(PLAIN)) if f is not None]
    other = Group.of([{**r, "cycles": 0.0} for r in rows], [r["trips"] * 1e-3 for r in rows])

    def flat(points: list[Point]) -> list[dict[str, float] | None]:
        return [{"cycles": 0.0, "trips": float(p["m"])} for p in points]

    searcher = make_searcher("xgb", Surroundings(PLAIN, random.Random(0), flat, (other,)))
    asked = searcher.ask(8)
    assert sum(p["m"] <= 4 for p in asked) >= 6


def test_names_that_are_unknown_list_the_known_ones():
    with pytest.raises(WorkbenchError, match=r"unknown searcher 'xgboost'.*known: xgb, annealing"):
        made("xgboost", PLAIN)
    with pytest.raises(WorkbenchError, match="has no ask and tell"):
        make_searcher(lambda _: object(), Surroundings(PLAIN, random.Random(0), features))
    assert set(searchers()) >= {"xgb", "random", "grid", "genetic", "annealing", "evolutionary", "polydl", "optuna"}


@pytest.mark.skipif(find_spec("optuna") is None, reason="install optuna")
@pytest.mark.parametrize("sampler", ["tpe", "gp", "cmaes", "random"])
def test_samplers_of_optuna_propose_points_or_say_what_they_need(sampler):
    name, package = f"optuna:{sampler}", {"gp": "torch", "cmaes": "cmaes"}.get(sampler)
    if package is not None and find_spec(package) is None:
        with pytest.raises(WorkbenchError, match=f"'{name}' needs {package}: pip install {package}"):
            made(name, PLAIN)
        return
    asked = run(name, PLAIN, 4, count=6)
    assert len({PLAIN.index(p) for p in asked}) == len(asked) == 24
    assert min(s for p in asked if (s := seconds(p)) is not None) < 8e-3
    with pytest.raises(WorkbenchError, match=r"unknown sampler of Optuna 'cma'; did you mean 'cmaes'"):
        made("optuna:cma", PLAIN)


def test_a_sampler_that_knows_no_categories_sees_sorted_numbers(monkeypatch):
    optuna = pytest.importorskip("optuna")
    kinds = {}

    class Sampler(optuna.samplers.RandomSampler):
        def __init__(self, seed: int, warn_independent_sampling: bool) -> None:
            super().__init__(seed)

        def sample_independent(self, study, trial, name, distribution):
            kinds[name] = type(distribution).__name__
            return super().sample_independent(study, trial, name, distribution)

    monkeypatch.setattr(optuna_search, "NEEDED", {})
    monkeypatch.setattr(optuna.samplers, "CmaEsSampler", Sampler)
    searcher = made("optuna:cmaes", PLAIN)
    told = {"m": 2, "n": 1, "order": "ij", "unroll": True, "pair": (3, 4)}  # 1 is the least of n, and its second option
    searcher.tell([Told(told, 1e-3)])
    (noted,) = searcher.study.trials
    assert (noted.params["n"], noted.params["m"], noted.params["order"]) == (0, 1, 0)
    asked = searcher.ask(40)
    assert {kinds["m"], kinds["n"]} == {"IntDistribution"}
    assert {kinds["order"], kinds["pair"]} == {"CategoricalDistribution"}
    assert {p["n"] for p in asked} == {16, 1, 4, 64}
    assert all(p in PLAIN for p in asked)


def test_options_of_choices_that_nobody_tried_are_tried_from_the_best_point():
    ways = Decision("way", ("a", "b", "c", "d"))
    space = Space((ways, Decision("size", tuple(range(200))), Decision("other", tuple(range(200)))))
    cycles = {"a": 0.0, "b": 30.0, "c": 30.0, "d": 30.0}  # the analytic model is sure that the others are hopeless
    around = Surroundings(space, random.Random(3), lambda points: [{"cycles": cycles[p["way"]]} for p in points])
    searcher = make_searcher("xgb", around)
    searcher.tell([Told({"way": "a", "size": 7, "other": 7}, 1e-3)])
    asked: list[str] = []
    for _ in range(3):
        points = searcher.ask(8)
        asked += [p["way"] for p in points]
        searcher.tell([Told(p, 1e-3) for p in points])
    assert {"b", "c", "d"} <= set(asked)
    assert asked.count("a") > len(asked) / 2


def test_an_option_seen_at_a_slow_point_only_is_tried_from_the_best_one():
    space = Space(
        (Decision("fused", (0, 2)), Decision("size", tuple(range(200))), Decision("other", tuple(range(200))))
    )
    around = Surroundings(space, random.Random(3), lambda points: [{"cycles": 9.0 * p["fused"]} for p in points])
    searcher = make_searcher("xgb", around)
    best = {"fused": 0, "size": 7, "other": 7}
    searcher.tell([Told(best, 1e-3), Told({"fused": 2, "size": 150, "other": 150}, 1.0)])
    assert {**best, "fused": 2} in searcher.ask(8)


def test_before_anything_is_measured_the_analytic_model_is_climbed():
    def hill(points: list[Point]) -> list[dict[str, float] | None]:
        return [{"cycles": float(sum(abs(v - 4) for v in p.values()))} for p in points]

    def heights(name: str) -> list[float]:
        searcher = make_searcher(name, Surroundings(LARGE, random.Random(5), hill))
        return [row["cycles"] for row in hill(searcher.ask(8)) if row is not None]

    drawn = sorted(row["cycles"] for row in hill(list(LARGE.sample(80, 5))) if row is not None)
    assert min(heights("xgb")) < drawn[0]
    assert sum(heights("xgb")) / 8 < drawn[4]


def test_the_first_points_are_foreseen_near_the_default_and_at_random():
    searcher = made("xgb", LARGE, 3)
    foreseen = [dict(p) for p in searcher.foreseen()]
    moved = [sum(p[name] != option for name, option in LARGE.default.items()) for p in foreseen]
    assert sum(n <= 3 for n in moved) >= 4
    assert sum(n > 5 for n in moved) >= 4
    searcher.tell([Told(LARGE.default, seconds(LARGE.default))])
    assert all(p in foreseen for p in searcher.ask(4))  # nothing else was looked at
    assert len(searcher.known) <= len(foreseen) + 1


@pytest.mark.parametrize("space", [PLAIN, BOUND], ids=["plain", "bound"])
def test_steps_change_one_to_three_decisions_and_meet_the_constraints(space):
    start = space.index(space.default)
    found = Steps(space, random.Random(1))([start], 60)
    assert len(found) == 60
    assert all(space.at(i) in space for i in found)
    assert {sum(a != b for a, b in zip(i, start, strict=True)) for i in found} <= {0, 1, 2, 3}
    assert len({*found}) > 12


def test_chains_of_the_learned_search_live_on_and_leave_the_valley_that_was_found():
    searcher, ends = made("xgb", LARGE, 4), []
    for _ in range(6):
        points = searcher.ask(8)
        searcher.tell([Told(p, seconds(p)) for p in points])
        ends.append([] if searcher.chains is None else list(searcher.chains.points))
    assert ends[-1]
    assert ends[-1] != ends[-2]
    assert any(point in searcher.known for chain in ends for point in chain)


def test_chains_without_points_visit_nothing():
    searcher = made("xgb", PLAIN)
    assert Chains([]).walk(searcher.steps, lambda points: [0.0] * len(points)) == []


def test_chains_go_down():
    draw = random.Random(2)

    def heights(indices):
        return [1e3 * (seconds(LARGE.at(i)) or 0.0) for i in indices]

    chains = Chains([LARGE.index(p) for p in LARGE.sample(12, 3)])
    before = sum(heights(chains.points))
    for _ in range(10):
        chains.walk(Steps(LARGE, draw), heights)
    assert sum(heights(chains.points)) < 0.7 * before
