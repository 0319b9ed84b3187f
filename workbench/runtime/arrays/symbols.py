"""Find the sizes of a symbolic kernel from the shapes of its arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.codegen.kernel import Signature
from workbench.errors import CallError
from workbench.lang import fold
from workbench.lang.expr import Expr, Size, size_names

Shapes = Sequence[tuple[int, ...] | None]


def solve_symbols(signature: Signature, shapes: Shapes, known: dict[str, int]) -> dict[str, int]:
    """Values of the signature's symbols: those in `known`, the others from shapes (None: not given).

    Each dimension with one unknown size, in which it is linear, is solved for it; whether the shapes then
    agree is for the caller to check.  Raises CallError for a size that no shape tells.
    """
    sizes = dict(known)
    equations = list(_equations(signature, shapes))
    while (missing := [s for s in signature.symbols if s not in sizes]) and _solve_one(equations, sizes):
        continue
    if missing:
        raise CallError(
            f"no array tells the size {missing[0]}; give it as a keyword: {missing[0]}=... "
            f"(known: {', '.join(f'{k}={v}' for k, v in sizes.items()) or 'nothing'})"
        )
    return sizes


def _equations(signature: Signature, shapes: Shapes) -> Iterable[tuple[Expr, int]]:
    """(extent expression, extent), plain sizes first."""
    parameters = (*signature.inputs, *signature.outputs)
    found = [
        pair
        for parameter, shape in zip(parameters, shapes, strict=True)
        if shape is not None
        for pair in zip(parameter.shape, shape, strict=False)
    ]
    return sorted(found, key=lambda pair: not isinstance(pair[0], Size))


def _solve_one(equations: list[tuple[Expr, int]], sizes: dict[str, int]) -> bool:
    """Solve one equation that has a single unknown; False if there is none."""
    for expr, extent in equations:
        unknown = size_names(expr) - sizes.keys()
        if len(unknown) == 1:
            (name,) = unknown
            value = _linear_root(expr, name, extent, sizes)
            if value is not None:
                sizes[name] = value
                return True
    return False


def _linear_root(expr: Expr, name: str, extent: int, sizes: dict[str, int]) -> int | None:
    """The `name` for which the expression is `extent`, if it is linear around there."""
    at_0, at_1 = (fold(expr, {**sizes, name: x}) for x in (0, 1))
    slope = at_1 - at_0
    if slope == 0 or (extent - at_0) % slope:
        return None
    root = (extent - at_0) // slope
    return root if fold(expr, {**sizes, name: root}) == extent else None
