"""Offsets in one arena: against every order of placement, sharing case by case, and never worse than tokens."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from bench.models.memory_graphs import NETWORKS, Recorder, random_graph
from tests.graph.memory.test_tokens import chain
from workbench.errors import WorkbenchError
from workbench.graph.memory import Lifetimes, MemoryPlan, faults, plan
from workbench.graph.memory.placing import exact
from workbench.graph.memory.placing.climbing import climbed
from workbench.graph.memory.placing.fitting import best_fit, placed, puzzle
from workbench.graph.memory.placing.shapes import Rectangle

SECONDS = 20.0


def planned(lifetimes, **asked):
    """A plan that the judge accepts."""
    found = plan(lifetimes, **{"seconds": SECONDS} | asked)
    assert isinstance(found, MemoryPlan)
    assert faults(found, lifetimes) == []
    return found


# -- placement -------------------------------------------------------------------------------------


def random_puzzle(seed, count=6, steps=7, members=1):
    random = Random(seed)

    def rectangle(low):
        first = random.randrange(steps)
        return Rectangle(first, random.randint(first, steps - 1), low, low + random.randint(1, 9))

    return puzzle([tuple(rectangle(9 * n) for n in range(random.randint(1, members))) for _ in range(count)], steps)


@pytest.mark.parametrize("seed", range(24))
def test_solver_and_climbing_find_the_best_there_is(seed):
    """Every arrangement can be built from below, so some order of placement gives the best."""
    given = random_puzzle(seed)
    best = min(given.lines(placed(given, order)) for order in permutations(range(6)))
    heap = tuple(sum(r.high for (r,) in given.shapes[:n]) for n in range(6))
    assert given.lines(exact.solved(given, heap, SECONDS)) == best
    assert given.lines(climbed(given, best_fit(given), SECONDS)) == best


def test_the_cases_are_not_all_easy():
    """For some of these the best is above what is alive at once, and for some best fit does not find it."""
    given = [random_puzzle(seed, 8, members=2) for seed in range(30)]
    solved = [one.lines(exact.solved(one, best_fit(one), SECONDS)) for one in given]
    assert any(lines > one.bound for one, lines in zip(given, solved, strict=True))
    assert any(lines < one.lines(best_fit(one)) for one, lines in zip(given, solved, strict=True))


def test_a_rigid_body_goes_around_what_was_placed_before():
    """An L of two members and a small one that fits only below its overhang."""
    given = puzzle([(Rectangle(0, 3, 0, 2), Rectangle(2, 3, 2, 4)), (Rectangle(0, 1, 0, 2),)], 4)
    assert given.bound == 4
    assert given.lines(best_fit(given)) == 4
    assert given.lines(exact.solved(given, (0, 4), SECONDS)) == 4


@pytest.mark.parametrize("seed", range(40))
def test_never_worse_than_tokens_or_than_the_given_order(seed):
    lifetimes = random_graph(seed)
    by_tokens = planned(lifetimes, planner="tokens")
    given = planned(lifetimes, sharing=False, reorder=False, seconds=0.02)
    assert given.needed_bytes <= given.bytes <= by_tokens.bytes
    assert planned(lifetimes, reorder=False, seconds=0.0).bytes >= planned(lifetimes, seconds=0.0).bytes


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_get_the_least_that_their_order_needs(name):
    found = planned(NETWORKS[name](), sharing=False, reorder=False)
    assert found.bytes == found.needed_bytes


@pytest.mark.parametrize("alignment", [1, 4, 64, 4096])
def test_offsets_are_aligned(alignment):
    found = planned(chain(100, 50, 77, 1), alignment=alignment)
    assert all(offset % alignment == 0 for offset in found.offsets.values())
    assert found.bytes >= 150


def test_an_arena_for_nothing():
    nothing = Lifetimes((), ())
    assert planned(nothing).bytes == planned(nothing, planner="tokens").bytes == 0
    assert planned(chain(0, 0)).bytes == 0


# -- sharing ---------------------------------------------------------------------------------------


def taken(found):
    return [(share.kind, share.output, share.input) for share in found.taken]


def test_an_elementwise_chain_needs_one_buffer():
    r = Recorder()
    x = r.compute("op", 640, r.outside("x", 1))
    for _ in range(3):
        x = r.elementwise("map", x)
    assert planned(r.finish(x)).bytes == 640


def test_what_is_read_later_is_not_overwritten():
    r = Recorder()
    x = r.compute("op", 640, r.outside("x", 1))
    found = planned(r.finish(r.elementwise("add", r.elementwise("map", x), x)))
    assert found.bytes == 1280
    assert taken(found) == [("overwrite", "add2", "map1")] or taken(found) == [("overwrite", "add2", "op0")]


def test_what_is_read_twice_by_a_step_is_not_overwritten():
    """The other reading may come at another time."""
    r = Recorder()
    x = r.compute("op", 640, r.outside("x", 1))
    assert planned(r.finish(r.elementwise("add", x, x))).bytes == 1280
    assert planned(r.finish(r.elementwise("add", x, r.view("reshape", x)))).bytes == 1280


def test_a_result_is_not_overwritten():
    r = Recorder()
    x = r.compute("op", 640, r.outside("x", 1))
    assert planned(r.finish(r.elementwise("map", x), x)).bytes == 1280


def test_arguments_are_not_overwritten():
    r = Recorder()
    found = planned(r.finish(r.elementwise("map", r.outside("x", 640))))
    assert found.bytes == 640
    assert not found.taken


def test_a_concatenation_is_where_its_parts_are():
    r = Recorder()
    x = r.outside("x", 1)
    parts = [r.compute("op", size, x) for size in (640, 128, 64)]
    found = planned(r.finish(r.concatenate(*parts)))
    assert found.bytes == 832
    assert len(found.taken) == 3


def test_parts_that_are_read_later_stay():
    """Nothing is overwritten by a concatenation: what reads a part afterwards finds it."""
    r = Recorder()
    a, b = (r.compute("op", 640, r.outside(x, 1)) for x in "xy")
    found = planned(r.finish(r.compute("mix", 64, r.concatenate(a, b), a), b))
    assert found.bytes == 1344


def test_a_part_is_not_overwritten_while_the_whole_is_alive():
    r = Recorder()
    a, b = (r.compute("op", 640, r.outside(x, 1)) for x in "xy")
    whole = r.concatenate(a, b)
    found = planned(r.finish(r.compute("mix", 64, whole, r.elementwise("map", a))), reorder=False)
    assert ("overwrite", "map3", a) not in taken(found) or ("part", whole, a) not in taken(found)


def test_what_two_concatenations_share_is_there_once():
    """As in a DenseNet: each begins with all of the one before."""
    r = Recorder()
    features = [r.compute("op", 640, r.outside("x", 1))]
    wholes = []
    for _ in range(3):
        features.append(r.compute("op", 640, features[-1]))
        wholes.append(r.concatenate(*features))
    found = planned(r.finish(r.compute("end", 64, *wholes)))
    assert found.bytes == 4 * 640 + 64


def test_concatenations_that_differ_are_kept_apart():
    r = Recorder()
    a, b, c = (r.compute("op", 640, r.outside(x, 1)) for x in "xyz")
    found = planned(r.finish(r.compute("end", 64, r.concatenate(a, b), r.concatenate(a, c))))
    assert found.bytes >= 3 * 640


def test_what_holds_the_same_by_chance_is_not_written_while_it_is_read():
    """`whole` could lie where `twice` does, whose bytes it begins with, but it would write a part of them anew."""
    r = Recorder()
    x = r.compute("op", 100, r.outside("x", 1))
    twice = r.concatenate(x, x)
    found = planned(r.finish(r.compute("end", 64, r.concatenate(x, twice), twice)))
    assert found.bytes == 256 + 320 + 64


def test_parts_that_would_lie_askew_are_copied():
    r = Recorder()
    a, b = (r.compute("op", 100, r.outside(x, 1)) for x in "xy")
    found = planned(r.finish(r.concatenate(a, b)))
    assert [share.input for share in found.taken] == [a]


def test_a_slice_keeps_its_place_in_what_it_was_cut_from():
    r = Recorder()
    x = r.compute("op", 640, r.outside("x", 1))
    found = planned(r.finish(r.compute("end", 64, r.view("slice", x, 100, 37))))
    assert found.offsets["slice1"] == found.offsets[x] + 37


# -- refusals --------------------------------------------------------------------------------------


def test_an_unknown_planner_is_refused():
    with pytest.raises(WorkbenchError, match="unknown planner 'token'; did you mean 'tokens'"):
        plan(chain(1), "token")


@pytest.mark.parametrize("alignment", [0, 3, -64, 1.5])
def test_an_alignment_that_is_no_power_of_two_is_refused(alignment):
    with pytest.raises(WorkbenchError, match="expected a power of two"):
        plan(chain(1), alignment=alignment)


# -- the judge -------------------------------------------------------------------------------------


def test_a_plan_reads_as_a_sheet(golden):
    r = Recorder()
    a, b = (r.compute("op", size, r.outside(x, 1)) for size, x in ((640, "x"), (128, "y")))
    golden(str(planned(r.finish(r.elementwise("map", r.concatenate(a, r.elementwise("map", b)))))))
