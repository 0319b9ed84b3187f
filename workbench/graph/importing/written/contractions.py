"""Products of matrices and general contractions."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import UnsupportedModel
from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Value
from workbench.graph.importing.written.elementwise import aligned, axis_index, axis_size, broadcast
from workbench.graph.importing.written.reductions import cell, working
from workbench.lang.dtypes import DType


def matmul(g: Emitter, a: Value, b: Value, *, element: DType | None = None, inner: DType | None = None) -> Value:
    """NumPy's matmul: products of the last two axes, the others broadcast; a vector is a row or a column."""
    of = element or a.element
    within = inner or working(a.element)
    batch = broadcast([a.dims[:-2] if a.rank > 1 else (), b.dims[:-2] if b.rank > 1 else ()])
    left, right = aligned(a.dims[:-2], batch), aligned(b.dims[:-2], batch)
    rows, columns = (["M"], ["m"]) if a.rank > 1 else ([], []), (["N"], ["n"]) if b.rank > 1 else ([], [])
    sizes_a = [*left[0], *rows[0], "K"]
    sizes_b = [*right[0], "K", *columns[0]]
    over = [axis_index(at) for at in range(len(batch))]
    out = [*(axis_size(at) for at in range(len(batch))), *rows[0], *columns[0]]
    x = cell("a", [*left[1], *rows[1], "k"])
    w = cell("b", [*right[1], "k", *columns[1]])
    y = [*over, *rows[1], *columns[1]]
    product = " * ".join(_as(text, value.element, within) for text, value in ((x, a), (w, b)))
    if within == of:
        body = f"{cell('y', y)} +=! {product}"
    else:
        body = f"{cell('t', y)} +=! {product}\n{cell('y', y)} = {of.name}({cell('t', y)})"
    return g.define("matmul", [("a", a, sizes_a), ("b", b, sizes_b)], [("y", of, out)], body)


def _as(read: str, of: DType, within: DType) -> str:
    return read if of == within else f"{within.name}({read})"


def einsum(g: Emitter, equation: str, operands: Sequence[Value]) -> Value:
    """A contraction in Einstein's notation; `...` are axes that are broadcast."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise UnsupportedModel(f"the equation {equation!r} has {len(terms)} operands but {len(operands)} are given")
    dots = [
        value.rank - len(term.replace("...", "")) if "..." in term else 0
        for term, value in zip(terms, operands, strict=True)
    ]
    most = max(dots)
    if not arrow:
        letters = sorted({each for each in left if each.isalpha()})
        right = "..." * (most > 0) + "".join(each for each in letters if left.count(each) == 1)
    names = {each: each.lower() * (2 if each.isupper() else 1) for each in {*left, *right} if each.isalpha()}
    of, within = operands[0].element, working(operands[0].element)
    dims: dict[str, object] = {}
    for term, value, own in zip(terms, operands, dots, strict=True):
        for label, dim in zip(_labels(term, own, most), value.dims, strict=True):
            if dims.get(label) is None or getattr(dims[label], "constant", None) == 1:
                dims[label] = dim
    inputs, reads = [], []
    for at, (term, value, own) in enumerate(zip(terms, operands, dots, strict=True)):
        sizes, subscripts = [], []
        for label, dim in zip(_labels(term, own, most), value.dims, strict=True):
            one = dim.constant == 1 and getattr(dims[label], "constant", None) != 1
            sizes.append("1" if one else names.get(label, label).upper())
            subscripts.append("0" if one else names.get(label, label))
        inputs.append((f"x{at}", value, sizes))
        reads.append(_as(cell(f"x{at}", subscripts), value.element, within))
    result = _labels(right, most, most)
    y, out = [names.get(each, each) for each in result], [names.get(each, each).upper() for each in result]
    reduced = set(dims) - set(result)
    sign = "+=!" if reduced else "="
    body = f"{cell('t', y)} {sign} {' * '.join(reads)}\n{cell('y', y)} = {of.name}({cell('t', y)})"
    if within == of:
        body = f"{cell('y', y)} {sign} {' * '.join(reads)}"
    return g.define("einsum", inputs, [("y", of, out)], body)


def _labels(term: str, own: int, most: int) -> list[str]:
    """The labels of a term, one for each axis; those of `...` are numbered from the right."""
    front, dots, back = term.partition("...")
    inner = [f"d{at}" for at in range(most - own, most)] if dots else []
    return [*front, *inner, *back]
