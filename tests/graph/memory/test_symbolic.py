"""One plan for all sizes: the judge accepts it at every sample, and it is never far from a plan made for that size."""

from __future__ import annotations

from random import Random

import pytest

from bench.models.memory_graphs import NETWORKS, random_graph, symbolic_transformer, with_batch
from workbench.errors import WorkbenchError
from workbench.graph.memory import Buffer, Lifetimes, Step, SymbolicMemoryPlan, faults, plan
from workbench.lang.algebra.polynomial import atom
from workbench.lang.expr import Size

N, M = atom(Size("N")), atom(Size("M"))


def planned(lifetimes, **asked):
    found = plan(lifetimes, **{"seconds": 0.05} | asked)
    assert isinstance(found, SymbolicMemoryPlan)
    return found


def sampled(lifetimes, seed, count=8):
    random = Random(seed)
    corners = [{name: low for name, (low, _) in lifetimes.bounds}, {name: high for name, (_, high) in lifetimes.bounds}]
    return corners + [{n: random.randint(low, high) for n, (low, high) in lifetimes.bounds} for _ in range(count)]


def two_sizes(seed):
    """A random graph whose buffers grow with N, with M, with both or not at all."""
    random, given = Random(seed), random_graph(seed, 25)
    factors = [N * 4, M * 8, N * M, N * 64 + M * 128, None]
    sizes = {b.name: random.choice(factors) for b in given.buffers}
    buffers = [Buffer(b.name, b.size if sizes[b.name] is None else sizes[b.name], b.place) for b in given.buffers]
    steps = [Step(s.name, s.reads, s.writes) for s in given.steps]
    return Lifetimes(tuple(steps), tuple(buffers), (("N", (0, 50)), ("M", (1, 300))))


def holds(found, lifetimes, seed):
    for sizes in sampled(lifetimes, seed):
        at = found.at(sizes)
        assert faults(at, lifetimes.at(sizes)) == [], sizes
        assert at.bytes <= found.most_bytes


@pytest.mark.parametrize("seed", range(40))
def test_a_plan_holds_for_all_sizes(seed):
    lifetimes = two_sizes(seed)
    holds(planned(lifetimes), lifetimes, seed)


@pytest.mark.parametrize("seed", range(40))
def test_a_plan_with_sharing_holds_for_all_batches(seed):
    """Views, slices, concatenations and elementwise steps, everything times N."""
    lifetimes = with_batch(random_graph(seed, 25), (0, 64))
    holds(planned(lifetimes), lifetimes, seed)


def test_sharing_that_depends_on_the_sizes_is_not_taken():
    """A part of N bytes behind another is aligned only for some N."""
    from workbench.graph.memory import Share

    shares = (Share("part", "c", "a"), Share("part", "c", "b", N))
    steps = (Step("a", (), ("a",)), Step("b", (), ("b",)), Step("cat", ("a", "b"), ("c",), shares))
    buffers = (Buffer("a", N), Buffer("b", N), Buffer("c", N * 2, "result"))
    found = planned(Lifetimes(steps, buffers, (("N", (1, 1000)),)))
    assert [share.input for share in found.at({"N": 64}).taken] == ["a"]


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_of_any_batch_needs_what_one_of_that_batch_needs(name):
    lifetimes = with_batch(NETWORKS[name](), (1, 64))
    found = planned(lifetimes, sharing=False, reorder=False, seconds=1)
    for batch in (1, 7, 64):
        own = plan(lifetimes.at({"N": batch}), sharing=False, reorder=False)
        assert found.at({"N": batch}).bytes <= 1.02 * own.bytes


def test_a_transformer_of_any_length_is_never_far_from_a_plan_of_that_length():
    lifetimes = symbolic_transformer()
    found = planned(lifetimes)
    for length in (1, 16, 100, 512, 2048):
        own = plan(lifetimes.at({"T": length}))
        assert found.at({"T": length}).bytes <= 1.1 * own.bytes


def test_an_arena_never_shrinks_when_a_size_grows():
    found = planned(two_sizes(5))
    arenas = [found.offsets({"N": n, "M": 10})[1] for n in range(51)]
    assert arenas == sorted(arenas)


def test_a_plan_of_tokens_is_for_the_greatest_sizes():
    lifetimes = with_batch(random_graph(3, 25), (1, 8))
    assert plan(lifetimes, "tokens").bytes == plan(lifetimes.at({"N": 8}), "tokens").bytes


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"N": 1}, "size M has no value; it may be 1 to 300"),
        ({"N": 51, "M": 1}, "N=51 is out of its bounds 0 to 50"),
        ({"N": 1, "M": 1, "K": 1}, "unknown size 'K'; known: N, M"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(sizes, message):
    with pytest.raises(WorkbenchError, match=message):
        planned(two_sizes(1)).at(sizes)


def test_a_plan_for_all_sizes_reads_as_a_sheet(golden):
    steps = (Step("a", (), ("a",)), Step("b", ("a",), ("b",)), Step("c", ("a", "b"), ("c",)))
    buffers = (Buffer("a", N * 4), Buffer("b", N * M), Buffer("c", M * 8, "result"))
    found = planned(Lifetimes(steps, buffers, (("N", (1, 8)), ("M", (1, 8)))))
    golden(f"{found}\n{found.at({'N': 3, 'M': 5})}")
