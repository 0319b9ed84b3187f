"""Equal rows, equal instances: where linear algebra sees it, it is so."""

from __future__ import annotations

from itertools import product
from random import Random

from tests.support import examples
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Binary, Expr, Index, integer
from workbench.poly.sets.injectivity import determines

DIM_I, DIM_J = Index("i"), Index("j")


def over(op: str, left: Expr, right: Expr | int) -> Expr:
    return Binary(op, left, integer(right) if isinstance(right, int) else right, INT32)


def test_blocks_and_points_determine_a_loop_and_one_half_does_not() -> None:
    block, point = over("/", DIM_I, 4), over("%", DIM_I, 4)
    assert determines((block, point), ("i",))
    assert determines((over("/", block, 8), over("%", block, 8), point), ("i",))
    assert not determines((block,), ("i",))
    assert not determines((point,), ("i",))
    assert not determines((block, over("%", DIM_I, 2)), ("i",))


def test_blocks_in_blocks_determine_a_loop_where_they_cut_it_into_whole_ones() -> None:
    outer, inner = over("/", DIM_I, 32), over("/", over("%", DIM_I, 32), 8)
    assert determines((outer, inner, over("%", DIM_I, 8)), ("i",))
    assert not determines((outer, inner), ("i",))
    assert not determines((inner, over("%", DIM_I, 8)), ("i",))
    deepest = over("/", over("%", DIM_I, 8), 2)
    assert determines((outer, inner, deepest, over("%", DIM_I, 2)), ("i",))


def test_skewed_loops_determine_both() -> None:
    wave = over("+", over("*", DIM_I, 2), DIM_J)
    assert determines((wave, DIM_I), ("i", "j"))
    assert not determines((wave,), ("i", "j"))
    assert not determines((wave, over("*", wave, 3)), ("i", "j"))
    assert determines((over("/", wave, 8), DIM_I, over("%", wave, 8)), ("i", "j"))


def value(expr: Expr, point: dict[str, int]) -> int:
    match expr:
        case Index(name, _):
            return point[name]
        case Binary(op, left, right, _):
            a, b = value(left, point), value(right, point)
            return {"+": a + b, "*": a * b, "/": a // b if b else 0, "%": a % b if b else 0}[op]
    return int(getattr(expr, "value"))  # noqa: B009 (a Const)


def test_what_is_said_to_be_determined_is() -> None:
    """Random rows against enumeration; "no" is allowed to be wrong."""
    random, determined = Random(1), 0
    for _ in range(examples(quick=200, ci=1000, full=20000)):
        rows: list[Expr] = []
        for _ in range(random.choice((2, 3, 4))):
            left, right = over("*", DIM_I, random.choice((0, 1, 1, 2))), over("*", DIM_J, random.choice((0, 1, 1, 3)))
            row = over("+", left, right)
            if random.random() < 0.6:
                row = over(random.choice("/%"), row, random.choice((2, 3, 4, 6)))
            rows.append(row if random.random() < 0.7 else over(random.choice("/%"), row, random.choice((2, 3))))
        if determines(tuple(rows), ("i", "j")):
            determined += 1
            points = [dict(zip("ij", p, strict=True)) for p in product(range(-4, 8), repeat=2)]
            assert len({tuple(value(r, p) for r in rows) for p in points}) == len(points)
    assert determined
