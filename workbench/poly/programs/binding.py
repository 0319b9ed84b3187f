"""What `lower` was given: sizes bound to numbers, the symbols left, the context, the arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import Any, NoReturn

from workbench.errors import LoweringError, shown, unknown_name
from workbench.lang.algebra.folding import fold
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Const, Expr, Index, Size, transform
from workbench.lang.operator import Condition, Operator, Tensor
from workbench.poly.programs.affine import NEVER, NotAffine, affine_text, guard, isl_conjunction
from workbench.poly.programs.program import Array
from workbench.poly.sets.names import to_isl
from workbench.records import record

# Sizes stay far from where sums of a few of them leave 64 bits.
LARGEST_SIZE = 1 << 60


@record
class Bound:
    """An operator together with the sizes it is lowered for."""

    op: Operator
    sizes: dict[str, int]

    @property
    def symbols(self) -> tuple[str, ...]:
        """Sizes and shaping scalars left symbolic."""
        return tuple(n for n in (*self.op.size_names, *self.op.scalars) if n not in self.sizes)

    @property
    def prefix(self) -> str:
        """isl's parameter list, `[M, N] -> ` (empty when everything is bound)."""
        return f"[{', '.join(map(to_isl, self.symbols))}] -> " if self.symbols else ""

    def bind(self, expr: Expr) -> Expr:
        """The expression with the given sizes in place."""

        def change(node: Expr) -> Expr:
            if isinstance(node, Size | Index) and node.name in self.sizes:
                return Const(self.sizes[node.name], node.dtype)
            return node

        return transform(expr, change) if self.sizes else expr

    def shape(self, expr: Expr) -> Expr:
        """An extent or bound with the given sizes in place, in normal form."""
        return simplify(self.bind(expr))

    def refuse(self, error: NotAffine, where: str, *, always: bool) -> None:
        """Explain what must be given; when nothing helps, raise only if `always`.

        In C an array may be addressed through a product of sizes: until they are known, it may touch any cell.
        """
        if always or (error.blame & set(self.op.scalars) and self.op.language != "c"):
            self._fail(error, where)

    def _fail(self, error: NotAffine, where: str) -> NoReturn:
        names = sorted(error.blame)
        if not names:
            raise LoweringError(f"{self.op.name}: {where} is not affine in the indices and sizes") from error
        known = ", ".join(names)
        given = ", ".join(f"{n}=..." for n in names)
        raise LoweringError(
            f"{self.op.name}: {where} is not affine while {known} "
            f"{'is' if len(names) == 1 else 'are'} symbolic; "
            f"give {known} a value: sizes=dict({given})"
        ) from error


def check_sizes(op: Operator, sizes: Mapping[str, int]) -> dict[str, int]:
    """The sizes as plain ints in the operator's order; LoweringError for unknown names and bad values."""
    if not isinstance(op, Operator):
        raise LoweringError(f"lower takes an Operator, as wb.operator(text) makes it, not {shown(op)}")
    if not isinstance(sizes, Mapping):
        raise LoweringError(f"{op.name}: sizes={shown(sizes)} does not fit; expected a dict such as {{'M': 64}}")
    known = (*op.size_names, *op.scalars)
    for name, value in sizes.items():
        if name not in known:
            raise LoweringError(f"{op.name}: {unknown_name('size', name, known)}")
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise LoweringError(f"{op.name}: the size {name} must be an integer, not {value!r}")
        if name in op.size_names and value < 0:
            raise LoweringError(f"{op.name}: the size {name} must not be negative, got {value}")
        if not -LARGEST_SIZE <= index(value) <= LARGEST_SIZE:
            raise LoweringError(f"{op.name}: {name} must lie within -2^60 and 2^60, got {shown(value)}")
    return {n: index(sizes[n]) for n in known if n in sizes}


def given_sizes(sizes: Any, symbols: Mapping[str, int]) -> dict[str, int]:
    """Sizes given as a mapping and as keywords, together; LoweringError for one given twice."""
    if sizes is not None and not isinstance(sizes, Mapping):
        raise LoweringError(f"sizes={shown(sizes)} does not fit; expected a dict such as {{'M': 64}}")
    for name in symbols.keys() & (sizes or {}).keys():
        raise LoweringError(f"{name} is given twice, in sizes= and as a keyword")
    return {**(sizes or {}), **symbols}


def context(bound: Bound) -> str:
    """The parameter set: sizes are >= 0, conditions hold where they are affine."""
    parts = [f"{to_isl(n)} >= 0" for n in bound.symbols if n in bound.op.size_names]
    for condition in open_conditions(bound):
        text, exact = guard(condition.expr)
        if exact:
            parts.append(text)
    return f"{bound.prefix}{{ : {isl_conjunction(*parts)} }}"


def open_conditions(bound: Bound) -> tuple[Condition, ...]:
    """The operator's conditions that the given sizes do not settle; LoweringError if one is false."""
    left = []
    for condition in bound.op.conditions:
        expr = _settled(bound.bind(condition.expr))
        text, exact = guard(expr)
        if exact and text == NEVER:
            given = ", ".join(f"{n}={v}" for n, v in bound.sizes.items())
            raise LoweringError(f"{bound.op.name}: {condition.reason} (it does not hold for {given})")
        if not (isinstance(expr, Const) and expr.value):
            left.append(Condition(expr, condition.reason))
    return tuple(left)


def _settled(expr: Expr) -> Expr:
    """Comparisons of constants become true or false."""

    def change(node: Expr) -> Expr:
        match node:
            case Binary("<" | "<=" | ">" | ">=" | "==" | "!=" as op, left, right, _) if (
                left.dtype.is_integral and right.dtype.is_integral
            ):
                a, b = simplify(left), simplify(right)
                if isinstance(a, Const) and isinstance(b, Const):
                    return Const(bool(fold(Binary(op, a, b, BOOL), {})), BOOL)
                return Binary(op, a, b, BOOL)
            case Binary("&&", Const(True), other, _) | Binary("&&", other, Const(True), _):
                return other
            case Binary("&&", Const(False), _, _) | Binary("&&", _, Const(False), _):
                return Const(False, BOOL)
            case Binary("||", Const(True), _, _) | Binary("||", _, Const(True), _):
                return Const(True, BOOL)
            case Binary("||", Const(False), other, _) | Binary("||", other, Const(False), _):
                return other
        return node

    return transform(expr, change)


def arrays(bound: Bound, strides: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """The storage of every tensor; dense row-major unless strides (in elements) are given."""
    for name, given in strides.items():
        if name not in bound.op.tensors:
            raise LoweringError(f"{bound.op.name}: {unknown_name('tensor', name, bound.op.tensors)}")
        rank = bound.op.tensors[name].rank
        if len(given) != rank:
            raise LoweringError(
                f"{bound.op.name}: {name} has {rank} dimensions but {len(given)} strides were given"
            )
    return {name: _array(bound, tensor, strides.get(name)) for name, tensor in bound.op.tensors.items()}


def _array(bound: Bound, tensor: Tensor, strides: Iterable[int] | None) -> Array:
    lower = tuple(bound.shape(e) for e in tensor.lower)
    extent = tuple(_not_negative(bound.shape(e)) for e in tensor.extent)
    steps = tuple(Const(int(s), INT64) for s in strides) if strides is not None else row_major(extent)
    scope = "local" if tensor.times else "global"
    return Array(
        tensor.name, tensor.dtype, lower, extent, steps, tensor.role, tensor.partial, scope, tensor.times
    )  # fmt: skip


def _not_negative(extent: Expr) -> Expr:
    """A negative extent counts as 0 (symbolic ones keep their expression)."""
    return Const(0, INT64) if isinstance(extent, Const) and extent.value < 0 else extent


def row_major(extent: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Dense strides in elements, the last dimension contiguous."""
    strides: list[Expr] = []
    step: Expr = Const(1, INT64)
    for size in reversed(extent):
        strides.append(step)
        step = simplify(Binary("*", step, size, INT64))
    return tuple(reversed(strides))


def affine_or_refuse(bound: Bound, expr: Expr, where: str) -> str:
    """isl text of a bound; LoweringError with advice when it is not affine."""
    try:
        return affine_text(expr)
    except NotAffine as error:
        bound.refuse(error, where, always=True)
        raise
