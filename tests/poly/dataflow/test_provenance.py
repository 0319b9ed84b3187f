"""Sources behind copies, and in how many ways they arrive."""

from __future__ import annotations

import workbench as wb
from workbench.poly.dataflow.last_writers import Dataflow, assignments
from workbench.poly.dataflow.provenance import Provenance, by_statement, first_difference, is_copy
from workbench.poly.sets import isl, unpack

COPIES = """
void f(double A[6], double B[6]) {
    double t[6], u[6];
    for (int i = 0; i < 6; i++) t[i] = A[i];
    for (int i = 0; i < 6; i++) u[i] = t[5 - i];
    for (int i = 0; i < 6; i++) B[i] = u[i];
}"""
ROUNDS = """
void f(double A[4], double B[4]) {
    double t[4];
    for (int i = 0; i < 4; i++) t[i] = A[i] + 1.0;
    for (int k = 0; k < 9; k++)
        for (int i = 0; i < 4; i++) { double x = t[i]; t[i] = x; }
    for (int i = 0; i < 4; i++) B[i] = t[i];
}"""


def followed(text: str) -> tuple[Provenance, Dataflow, isl.UnionMap]:
    """The copies of a text, its flow, and the raw sources of B at the end."""
    program = wb.from_c(text)
    flow, provenance = Dataflow(program, assignments(program)), Provenance()
    for step in flow.steps.values():
        if is_copy(step, program.arrays):
            provenance.move(step.id, flow.read(step, step.value))
    n = 6 if "[6]" in text else 4
    cells = isl.parse_map(f"{{ each[x] -> B[x] : 0 <= x < {n} }}")
    return provenance, flow, flow.of(cells, flow.end(cells))


def test_copies_are_looked_through():
    provenance, _, found = followed(COPIES)
    assert provenance.movers == {"S0_0", "S1_0", "S2_0"}
    assert provenance.named(found).is_equal(isl.parse_union_map("{ each[x] -> A[5 - x] : 0 <= x < 6 }"))


def test_a_long_chain_has_an_end():
    provenance, _, found = followed(ROUNDS)
    assert provenance.behind(found).is_equal(isl.parse_union_map("{ each[x] -> S0_0[x] : 0 <= x < 4 }"))


def test_sources_have_the_names_of_what_they_stand_for_but_for_idle_ones():
    provenance, _, found = followed(ROUNDS)
    provenance.names["S0_0"] = isl.parse_map("{ S0_0[i] -> mine[i + 1] : i < 2 }")
    expected = "each[x] -> mine[x + 1] : 0 <= x < 2"
    rest = "; each[x] -> S0_0[x] : 2 <= x < 4"
    assert provenance.named(found).is_equal(isl.parse_union_map(f"{{ {expected}{rest} }}"))
    silent = Provenance(lambda name, piece: name == "S0_0" and unpack.count(piece.range()) == 2)
    silent.names = provenance.names
    direct = isl.parse_union_map("{ each[x] -> S0_0[x] : 0 <= x < 4 }")
    assert silent.named(direct).is_equal(isl.parse_union_map(f"{{ {expected} }}"))


def test_what_arrives_by_two_ways_is_not_there_once():
    provenance = Provenance()
    provenance.move("copy", isl.parse_union_map("{ copy[i] -> S0[i] : 0 <= i < 3 }"))
    once = isl.parse_union_map("{ each[x] -> copy[x] : 0 <= x < 3; each[x] -> S1[x] : 0 <= x < 3 }")
    twice = isl.parse_union_map("{ each[x] -> copy[x] : 0 <= x < 3; each[x] -> S0[2] : 0 <= x < 3 }")
    assert provenance.is_once(once, {"S0", "S1"})
    assert not provenance.is_once(twice, {"S0"})
    assert provenance.is_once(twice, {"S1"})


def test_conversions_guarded_copies_and_gathers_are_no_copies():
    text = """
    void f(double A[4], float F[4], int idx[4], double B[4], double C[4], double D[4]) {
        for (int i = 0; i < 4; i++) B[i] = F[i];
        for (int i = 0; i < 4; i++) C[i] = A[idx[i]];
        for (int i = 0; i < 4; i++) if (A[i] > 0.0) D[i] = A[i];
    }"""
    program = wb.from_c(text)
    assert not [s.id for s in assignments(program) if is_copy(s, program.arrays)]


def test_differences_in_words():
    have, want = (
        isl.parse_union_map("{ each[2] -> S0[1] }"),
        isl.parse_union_map("{ each[2] -> S0[1]; each[3] -> A[] }"),
    )
    assert first_difference(have, want) == "(3) would not get A()"
    assert first_difference(want, have, {"A": "what stood in A"}.__getitem__) == "(3) would get what stood in A()"
    assert first_difference(have, have) == ""


def test_targets_of_one_statement_are_the_same_contributions():
    first, second = (isl.parse_union_map(f"{{ T{i}[x] -> S3_{i}[x] : 0 <= x < 2 }}") for i in (0, 1))
    assert not first.is_equal(second)
    assert by_statement(first).is_equal(by_statement(second))
