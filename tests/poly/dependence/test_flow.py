"""Dependences against enumeration, on programs made by hand and at random, bound and symbolic."""

from __future__ import annotations

import pytest

from tests.poly import brute
from tests.poly.making import Maker, jacobi, matmul, op, seidel, span, statement, tensor
from tests.poly.making import read as read_cell
from tests.support import examples
from workbench.lang.operator import Operator
from workbench.poly import dependences, lower
from workbench.poly.programs.program import Program
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.witness import fix_sizes

SIZES = ({"N": 3, "M": 2}, {"N": 2, "M": 3}, {"N": 0, "M": 2}, {"N": 1, "M": 1})


def found_pairs(program: Program, sizes: dict[str, int]) -> dict[str, set[brute.Pair]]:
    """isl's dependences as pairs of instances at some sizes."""
    result: dict[str, set[brute.Pair]] = {"flow": set(), "anti": set(), "output": set(), "reduction": set()}
    left = {n: v for n, v in sizes.items() if n in program.symbols}
    for d in dependences(program):
        s, t = program.statement(d.source), program.statement(d.target)
        relation = fix_sizes(isl.parse_map(d.relation), left)
        for point in unpack.points(relation.wrap().flatten()):
            n = len(s.dims)
            result[d.kind].add(((s.name, point[:n]), (t.name, point[n:])))
    return result


def compare(op: Operator, sizes: dict[str, int], *, symbolic: bool) -> int:
    """Assert that isl and enumeration agree; the number of pairs."""
    program = lower(op, {} if symbolic else sizes)
    expected = brute.dependences(brute.events(op, sizes))
    found = found_pairs(program, sizes)
    for kind, pairs in expected.items():
        assert found[kind] == pairs, (kind, sizes, symbolic, found[kind] ^ pairs)
    return sum(map(len, expected.values()))


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(
    ("make", "sizes"),
    [(matmul, {"M": 2, "N": 2, "K": 3}), (seidel, {"T": 3, "N": 5}), (jacobi, {"T": 3, "N": 5})],
)
def test_known_programs_agree_with_enumeration(make, sizes, symbolic):
    assert compare(make(), sizes, symbolic=symbolic) > 0


def test_random_programs_agree_with_enumeration():
    pairs = 0
    for seed in range(examples(quick=20, ci=60, full=1000)):
        op = Maker(seed).operator()
        pairs += compare(op, SIZES[seed % len(SIZES)], symbolic=seed % 3 == 0)
    assert pairs > 1000


def reachable(edges: set[brute.Pair], start: brute.Key) -> set[brute.Key]:
    after: dict[brute.Key, list[brute.Key]] = {}
    for a, b in edges:
        after.setdefault(a, []).append(b)
    seen, waiting = set(), [start]
    while waiting:
        for key in after.get(waiting.pop(), []):
            if key not in seen:
                seen.add(key)
                waiting.append(key)
    return seen


def test_gathers_and_scatters_lose_no_conflict():
    """Whatever the index data: two touches of one cell, one a write, are ordered by the dependences."""
    inexact = 0
    for seed in range(examples(quick=10, ci=40, full=400)):
        op, sizes = Maker(seed, gathers=True).operator(), {"N": 2, "M": 3}
        program = lower(op, sizes)
        edges = set().union(*found_pairs(program, sizes).values())
        run = brute.events(op, sizes)
        for at, earlier in enumerate(run):
            later = reachable(edges, earlier.key)
            for e in run[at + 1 :]:
                reads = e.reads | (e.writes if e.update else set())
                if earlier.writes & (reads | e.writes) or earlier.reads & e.writes:
                    assert e.key in later, (seed, earlier, e)
        inexact += any(not d.exact for d in dependences(program))
    assert inexact > examples(quick=2, ci=5, full=50)


def test_a_reduction_orders_every_update_between_initialisation_and_use():
    """Not only the chain's ends: each update follows its init and precedes its reader."""
    i, k = span("i", "N"), span("k", "K", "reduction")
    body = [
        statement(("S", "i"), read_cell("A", "i", "k"), [i, k], "+", initialise=True),
        statement(("O", "i"), read_cell("S", "i"), [i]),
    ]
    tensors = [tensor("A", "input", "N", "K"), tensor("S", "temporary", "N"), tensor("O", "output", "N")]
    program = lower(op("sums", tensors, body, "N K"), {"N": 1, "K": 3})
    found = found_pairs(program, {})
    updates = [("S", (0, k)) for k in range(3)]
    assert found["flow"] == {(("S.init", (0,)), u) for u in updates} | {(u, ("O", (0,))) for u in updates}
    assert found["reduction"] == {(a, b) for a in updates for b in updates if a < b}
    assert not found["anti"]


def test_an_empty_reduction_still_feeds_its_reader():
    i, k = span("i", "N"), span("k", "K", "reduction")
    body = [
        statement(("S", "i"), read_cell("A", "i", "k"), [i, k], "+", initialise=True),
        statement(("O", "i"), read_cell("S", "i"), [i]),
    ]
    tensors = [tensor("A", "input", "N", "K"), tensor("S", "temporary", "N"), tensor("O", "output", "N")]
    found = found_pairs(lower(op("sums", tensors, body, "N K")), {"N": 1, "K": 0})
    assert found["flow"] == {(("S.init", (0,)), ("O", (0,)))}


def test_dependences_are_memoised():
    assert dependences(lower(matmul())) is dependences(lower(matmul()))
