"""What lowering says: domains, accesses, exactness, initialisations, refusals."""

from __future__ import annotations

import pytest

from tests.poly import brute
from tests.poly.making import Maker, calc, conv, lift, matmul, op, read, select, span, statement, tensor
from tests.support import examples
from workbench.errors import LoweringError
from workbench.lang import operator
from workbench.lang.algebra.identities import identity
from workbench.lang.dtypes import BOOL, FLOAT32, INT8, INT32, INT64
from workbench.lang.expr import Const, Expr, Read, Size
from workbench.lang.operator import Condition, For
from workbench.poly import is_covered, lower, naive_tree, points
from workbench.poly.programs.program import Nest, Program
from workbench.poly.programs.tree import Band, Sequence
from workbench.poly.sets import isl, unpack


def touched(program: Program, statement_: str, array: str, kind: str) -> set:
    """(instance, cell) pairs of a bound program."""
    s = program.statement(statement_)
    pairs = set()
    for a in s.accesses:
        if a.array == array and a.kind == kind and not a.accumulates:
            relation = isl.parse_map(a.relation)
            for point in unpack.points(relation.wrap().flatten()):
                pairs.add((point[: len(s.dims)], point[len(s.dims) :]))
    return pairs


def one(value: Expr, ranges: list, sizes: str = "N M", tensors=()) -> Program:
    """`O(i) = value`, bound to N=5, M=4."""
    made = op(
        "one",
        [*tensors, tensor("A", "input", "N"), tensor("O", "output", "N")],
        [statement(("O", "i"), value, ranges)],
        sizes,
    )
    return lower(made, {"N": 5, "M": 4})


def test_random_accesses_agree_with_enumeration():
    for seed in range(examples(quick=10, ci=40, full=400)):
        made = Maker(seed).operator()
        sizes = {"N": 3, "M": 2}
        program = lower(made, sizes)
        run = brute.events(made, sizes)
        for s in program.statements:
            mine = [e for e in run if e.key[0] == s.name]
            assert sorted(unpack.points(isl.parse_set(s.domain))) == sorted(e.key[1] for e in mine)
            for array in program.arrays:
                for kind in ("reads", "writes"):
                    expected = {
                        (e.key[1], cell) for e in mine for name, cell in getattr(e, kind) if name == array
                    }
                    assert touched(program, s.name, array, kind[:-1]) == expected


def test_matmul():
    program = lower(matmul(), {"M": 3})
    assert program.symbols == ("N", "K")
    assert program.context == "[N, K] -> { : N >= 0 and K >= 0 }"
    assert [s.name for s in program.statements] == ["C.init", "C"]
    assert [s.kind for s in program.statements] == ["initialise", "update"]
    assert program.order == (Nest("m", (Nest("n", ("S0", Nest("k", ("S1",)))),)),)
    assert program.arrays["A"].strides == (Size("K", INT64), Const(1, INT64))
    assert isinstance(naive_tree(program), Band)
    assert lower(matmul(), {"M": 3}) is program


def test_a_guard_restricts_the_read():
    padded = select(calc(calc("i", ">", 0), "&&", calc("i", "<=", "M")), read("A", calc("i", "-", 1)))
    program = one(padded, [span("i", "N")])
    assert touched(program, "O", "A", "read") == {((i,), (i - 1,)) for i in range(1, 5)}
    assert all(a.exact for a in program.statements[0].accesses)


def test_the_other_branch_is_guarded_by_the_negation():
    program = one(select(calc("i", "==", 0), read("A", 0), read("A", calc("i", "-", 1))), [span("i", "N")])
    assert touched(program, "O", "A", "read") == {((0,), (0,))} | {((i,), (i - 1,)) for i in range(1, 5)}


def test_a_guard_on_data_makes_a_may_access():
    flag = tensor("flag", "input", "N", dtype=BOOL)
    condition = calc(Read("flag", (lift("i"),), BOOL), "&&", calc("i", ">", 1))
    program = one(select(condition, read("A", calc("i", "-", 1))), [span("i", "N")], tensors=[flag])
    (access,) = [a for a in program.statements[0].accesses if a.array == "A"]
    assert access.guarded
    assert not access.exact
    assert touched(program, "O", "A", "read") == {((i,), (i - 1,)) for i in range(2, 5)}


def test_a_gather_ranges_over_the_whole_extent():
    table, index = tensor("T", "input", "M"), tensor("idx", "input", "N", dtype=INT32)
    program = one(read("T", Read("idx", (lift("i"),), INT32)), [span("i", "N")], tensors=[table, index])
    (access,) = [a for a in program.statements[0].accesses if a.array == "T"]
    assert not access.exact
    assert not access.guarded
    assert touched(program, "O", "T", "read") == {((i,), (c,)) for i in range(5) for c in range(4)}
    assert touched(program, "O", "idx", "read") == {((i,), (i,)) for i in range(5)}


@pytest.mark.parametrize("subscript", [calc("i", "*", "i"), calc("i", "%", calc("i", "+", 1))])
def test_other_subscripts_that_are_not_affine(subscript):
    (access, _) = one(read("A", subscript), [span("i", "N")]).statements[0].accesses
    assert not access.exact


def test_modulo_of_a_size_is_exact_once_it_is_bound():
    made = op(
        "wrap",
        [tensor("A", "input", "M"), tensor("O", "output", "N")],
        [statement(("O", "i"), read("A", calc("i", "%", "M")), [span("i", "N")])],
        "N M",
    )
    assert not lower(made).statements[0].accesses[0].exact
    assert lower(made, {"M": 3}).statements[0].accesses[0].exact


@pytest.mark.parametrize(
    ("subscript", "value"),
    [
        (calc("i", "/", 2), lambda i: i // 2),
        (calc(calc("i", "-", 3), "/", 2), lambda i: (i - 3) // 2),
        (calc(calc("i", "-", 3), "%", 2), lambda i: (i - 3) % 2),
        (calc(calc("i", "-", 3), "%", -2), lambda i: (i - 3) % -2),
        (calc("i", "/", -2), lambda i: i // -2),
        (calc("i", "/", 0), lambda i: 0),
        (calc(2, "*", calc("i", "+", 1)), lambda i: 2 * (i + 1)),
        (calc("i", "<<", 2), lambda i: i << 2),
        (calc(calc("i", "-", 3), ">>", 1), lambda i: (i - 3) >> 1),
    ],
)
def test_floor_semantics_of_subscripts(subscript, value):
    program = one(read("A", subscript), [span("i", "N")])
    assert touched(program, "O", "A", "read") == {((i,), (value(i),)) for i in range(5)}


def test_a_symbolic_stride_is_refused_by_name_and_helps():
    strided = conv(Size("stride"), ("stride",))
    with pytest.raises(LoweringError, match=r"stride is symbolic; give stride a value"):
        lower(strided)
    assert "stride" not in lower(strided, {"stride": 2}).symbols


def test_a_symbolic_number_may_stand_beside_data():
    """What data name may be any cell, whatever the number is; without data the number is asked for."""
    text = "def f(float(N) x, int32(N) i, int32 s, int32 b) -> (float(b) h) {{ h({}) +=! x(n) }}"
    program = lower(operator(text.format("(i(n) * s + 1) % b")))
    assert program.symbols == ("N", "s", "b")
    (update,) = (s for s in program.statements if s.kind == "update")
    assert not any(a.exact for a in update.accesses if a.array == "h")
    with pytest.raises(LoweringError, match="s is symbolic; give s a value"):
        lower(operator(text.format("n * s")))


def test_a_bound_that_is_not_affine_is_refused():
    made = op(
        "area",
        [tensor("O", "output", "N")],
        [statement(("O", "i"), read("O", "i"), [span("i", calc("N", "*", "M"))])],
        "N M",
    )
    with pytest.raises(LoweringError, match="range of i in O is not affine while"):
        lower(made)
    assert lower(made, {"M": 3}).symbols == ("N",)


def test_unknown_and_bad_sizes():
    with pytest.raises(LoweringError, match=r"unknown size 'Q'.*known: M, N, K"):
        lower(matmul(), {"Q": 3})
    with pytest.raises(LoweringError, match="must not be negative"):
        lower(matmul(), {"M": -1})
    with pytest.raises(LoweringError, match="must be an integer"):
        lower(matmul(), {"M": 1.5})
    with pytest.raises(LoweringError, match="unknown tensor 'X'"):
        lower(matmul(), {}, {"X": (1,)})
    with pytest.raises(LoweringError, match="A has 2 dimensions"):
        lower(matmul(), {}, {"A": (1,)})


def test_conditions_restrict_the_context_and_are_checked():
    condition = Condition(calc("N", ">=", "M"), "the filter is larger than the image")
    made = op(
        "c",
        [tensor("O", "output", "N")],
        [statement(("O", "i"), read("O", "i"), [span("i", "N")])],
        "N M",
        (),
        (condition,),
    )
    assert lower(made).context == "[N, M] -> { : N >= 0 and M >= 0 and N >= M }"
    assert lower(made, {"N": 3, "M": 2}).conditions == ()
    with pytest.raises(LoweringError, match="the filter is larger"):
        lower(made, {"N": 1, "M": 2})


def test_strides_are_kept():
    assert lower(matmul(), {"M": 2}, {"A": (1, 64)}).arrays["A"].strides == (
        Const(1, INT64),
        Const(64, INT64),
    )


def test_a_scatter_initialises_the_whole_tensor():
    i = span("i", "N")
    index = Read("idx", (lift("i"),), INT32)
    tensors = [
        tensor("A", "input", "N"),
        tensor("idx", "input", "N", dtype=INT32),
        tensor("O", "output", 7, lower=-2),
    ]
    made = op("scatter", tensors, [statement(("O", index), read("A", "i"), [i], "+", initialise=True)], "N")
    program = lower(made, {"N": 3})
    assert touched(program, "O.init", "O", "write") == {((c,), (c,)) for c in range(-2, 5)}
    assert isinstance(naive_tree(program), Sequence)
    assert not program.arrays["O"].partial


def test_an_update_that_reads_its_target_is_not_initialised_in_its_loops():
    i, k = span("i", "N"), span("k", "N", "reduction")
    made = op(
        "self",
        [tensor("O", "output", "N")],
        [statement(("O", "i"), read("O", "k"), [i, k], "+", initialise=True)],
        "N",
    )
    assert lower(made).order == (Nest("i", ("S0",)), Nest("i", (Nest("k", ("S1",)),)))


def test_sequential_axes_are_shared():
    t = span("t", "T", "sequential")
    i, j = span("i", "N"), span("j", "N")
    block = (statement(("X", "i"), read("Y", "i"), [t, i]), statement(("Y", "j"), read("X", "j"), [t, j]))
    made = op("steps", [tensor("X", "output", "N"), tensor("Y", "inout", "N")], [For(t, block)], "T N")
    assert lower(made).order == (Nest("t", (Nest("i", ("S0",)), Nest("j", ("S1",)))),)


def test_triangular_ranges_in_either_direction():
    i, k = span("i", "N"), span("k", "N", "reduction", lower="i")
    value = read("A", "k")
    made = op(
        "upper",
        [tensor("A", "input", "N"), tensor("O", "output", "N")],
        [statement(("O", "i"), value, [i, k], "+")],
        "N",
    )
    assert unpack.points(isl.parse_set(lower(made, {"N": 3}).statements[0].domain)) == [
        (a, b) for a in range(3) for b in range(a, 3)
    ]
    k, i = span("k", 3, "reduction"), span("i", 3, lower="k")
    made = op(
        "lower",
        [tensor("A", "input", "N"), tensor("O", "output", 3)],
        [statement(("O", "i"), value, [k, i], "+", initialise=True)],
        "N",
    )
    program = lower(made, {"N": 3})
    assert unpack.points(isl.parse_set(program.statement("O.init").domain)) == [(0,), (1,), (2,)]
    assert len(program.order) == 2


def test_partial_says_whether_a_cell_stays_unwritten():
    made = op(
        "evens",
        [tensor("A", "input", "N"), tensor("O", "output", calc(2, "*", "N"))],
        [statement(("O", calc(2, "*", "i")), read("A", "i"), [span("i", "N")])],
        "N",
    )
    assert lower(made).arrays["O"].partial
    assert not is_covered(lower(made, {"N": 2}), "O")
    assert is_covered(lower(made, {"N": 0}), "O")
    assert not lower(matmul()).arrays["C"].partial


@pytest.mark.parametrize(
    ("reduction", "value"), [("+", 0.0), ("*", 1.0), ("min", float("inf")), ("max", float("-inf"))]
)
def test_identities(reduction, value):
    assert identity(reduction, 0, FLOAT32) == Const(value, FLOAT32)


def test_identities_of_integers():
    assert identity("min", 0, INT8).value == 127
    assert identity("max", 0, INT32).value == -(2**31)
    assert identity("max", 0, BOOL).value is False


def test_one_cell_of_a_loop_is_initialised_alone():
    text = "def f(float(N,K) X) -> (float(N,N) D) {{ D(i,j) = 7 where i in 0:N, j in 0:N  {} }}"
    alone = lower(operator(text.format("for t in 0:N { D(t,t) +=! X(t,k) }")), {"N": 4, "K": 3})
    assert points(alone, "D.1.init") == 4
    whole = lower(operator(text.format("D(i,i) +=! X(i,k)")), {"N": 4, "K": 3})
    assert points(whole, "D.1.init") == 16
