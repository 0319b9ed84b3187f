"""Vector expressions as C, through the vector extensions of GCC and Clang.

Inside a loop over lanes every expression is either uniform (one value for all lanes, printed as a scalar) or varying.
Varying conditions are integer masks of 0 and -1.  What has no vector form (a gather, a guarded read, a
function without one) is computed lane by lane.
"""

from __future__ import annotations

from workbench.codegen.c.expressions.partial_vectors import first_lanes, has_masks
from workbench.codegen.c.expressions.values import Values
from workbench.codegen.c.helpers import MASKS
from workbench.codegen.nest.nest import Local
from workbench.codegen.nest.ranges import fits
from workbench.codegen.passes.convexity import conjuncts, convex
from workbench.codegen.passes.register_tiles.accumulators import Lane
from workbench.lang.algebra.normal_form import growth, is_address, is_index_arithmetic, mentions, simplify
from workbench.lang.dtypes import BOOL, FLOAT32, INT32, INT64, UINT8, UINT16, DType
from workbench.lang.expr import (
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Index,
    Read,
    Select,
    Size,
    Unary,
    conjunction,
    reads,
    substitute,
    transform,
)
from workbench.poly.programs.addresses import address_step
from workbench.records import record

NEAR = 1 << 30
WB_NEAR = """WB_INLINE int32_t wb_near(int64_t distance) {
    return distance < -(1 << 30) ? -(1 << 30) : distance > 1 << 30 ? 1 << 30 : (int32_t)distance;
}
"""
VECTOR_OPS = frozenset({"+", "-", "*", "&", "|", "^"})


@record(frozen=False)
class Lanes:
    """Prints expressions inside one loop over lanes; `slow` counts what had to be done lane by lane."""

    values: Values
    lane: Lane
    slow: int = 0

    def varying(self, expr: Expr) -> bool:
        return mentions(expr, self.lane.variable) or any(self.held_vector(n) is not None for n in reads(expr))

    def held_vector(self, read: Read) -> Local | None:
        for local in self.values.held:
            if local.lanes > 1 and (local.cell.array, local.cell.subscripts) == (
                read.tensor,
                read.subscripts,
            ):
                return local
        return None

    def type(self, dtype: DType) -> str:
        return self.values.helpers.type(dtype, self.lane.count)

    def vector(self, expr: Expr) -> str:
        """The expression as a vector of its element type (a mask of 32-bit lanes for bool)."""
        if expr.dtype == BOOL:
            return self.mask(expr, 32)
        if not self.varying(expr):
            return self.splat(self.values.text(expr), expr.dtype)
        fast = self.fast(expr)
        return fast if fast is not None else self.by_lane(expr)

    def splat(self, text: str, dtype: DType) -> str:
        return f"{self.values.helpers.splat(dtype, self.lane.count)}({text})"

    def fast(self, expr: Expr) -> str | None:
        """The vector form, or None if there is none."""
        match expr:
            case Read():
                return self.load(expr)
            case Unary("-" | "~" as op, a, _):
                return f"({op}{self.vector(a)})"
            case Binary(op, a, b, dtype):
                return self.binary(op, a, b, dtype)
            case Call("select", (c, a, b), dtype):
                return self.select(c, a, b, dtype)
            case Select(c, a, b, dtype) if not self.varying(c):
                plain = f"({self.type(dtype)})"
                return f"({self.values.inside(c, 1)} ? {plain}({self.vector(a)}) : {plain}({self.vector(b)}))"
            case Select(c, a, b, dtype) if _total(a) and _total(b):
                return self.select(c, a, b, dtype)
            case Select(c, a, _, _) if convex(c) and (inside := self.fast(a)) is not None:
                plain = f"({self.type(expr.dtype)})({inside})"
                return f"({self.values.text(self.at_ends(c))} ? {plain} : {self.by_lane(expr)})"
            case Call(function, arguments, dtype):
                return self.call(function, arguments, dtype)
            case Cast(a, dtype):
                return self.cast(a, dtype)
        return None

    def binary(self, op: str, a: Expr, b: Expr, dtype: DType) -> str | None:
        if op in VECTOR_OPS or (op == "/" and dtype.is_float):
            return f"({self.vector(a)} {op} {self.vector(b)})"
        if op in ("<<", ">>") and isinstance(b, Const) and 0 <= b.value < dtype.bits:
            return f"({self.vector(a)} {op} {b.value})"
        return None

    def select(self, c: Expr, a: Expr, b: Expr, dtype: DType) -> str:
        name = self.values.helpers.select(dtype, self.lane.count)
        return f"{name}({self.mask(c, 8 * dtype.bytes)}, {self.vector(a)}, {self.vector(b)})"

    def call(self, function: str, arguments: tuple[Expr, ...], dtype: DType) -> str | None:
        helper = self.values.helpers
        of = arguments[0].dtype
        name = helper.vector(function, of, self.lane.count)
        if name is None or of.is_half:
            return None
        if function in ("min", "max"):
            text = self.vector(arguments[0])
            for other in arguments[1:]:
                text = f"{name}({text}, {self.vector(other)})"
            return text
        return f"{name}({', '.join(map(self.vector, arguments))})"

    def cast(self, a: Expr, dtype: DType) -> str | None:
        if a.dtype == dtype:
            return self.vector(a)
        if a.dtype.is_half and dtype == FLOAT32:
            return f"{self.values.helpers.conversion(a.dtype, FLOAT32, self.lane.count)}({self.vector(a)})"
        if dtype.is_half and a.dtype == FLOAT32:
            return f"{self.values.helpers.conversion(FLOAT32, dtype, self.lane.count)}({self.vector(a)})"
        if a.dtype.is_half or dtype.is_half or dtype == BOOL:
            return None
        if a.dtype == BOOL:
            bits = f"({self.mask(a, 32)} & 1)"
            return self.converted(bits, INT32, dtype)
        if is_address(a):
            return self.index(a, dtype)
        return self.converted(self.vector(a), a.dtype, dtype, fits=dtype.is_integral and fits(a, dtype))

    def converted(self, text: str, source: DType, target: DType, *, fits: bool = False) -> str:
        """All lanes in another element type."""
        return self.values.helpers.converted(text, source, target, self.lane.count, fits=fits)

    def index(self, a: Expr, dtype: DType) -> str | None:
        """An affine function of the lane variable as a vector: base plus 0, 1, 2, ..."""
        step = growth(a, self.lane.variable)
        if step is None:
            return None
        base = self.splat(f"(int32_t){self.values.inside(a, 11)}", INT32)
        return self.converted(self.stepped(base, step), INT32, dtype)

    def stepped(self, base: str, step: int) -> str:
        """The vector of the first lane's number plus 0, 1, 2, ... steps."""
        iota = f"{self.values.helpers.iota(self.lane.count)}()"
        return f"({base} + {iota})" if step == 1 else f"({base} + {step} * {iota})"

    def mask(self, expr: Expr, bits: int) -> str:
        """A condition as a mask whose lanes have `bits` bits."""
        if not self.varying(expr):
            of = MASKS[bits]
            return self.splat(f"-({of.c_name})({self.values.text(expr)})", of)
        text, own = self.comparison(expr)
        if own == bits:
            return text
        return self.converted(text, MASKS[own], MASKS[bits])

    def comparison(self, expr: Expr) -> tuple[str, int]:
        """The mask in its natural width."""
        match expr:
            case Binary(op, a, b, _) if op in COMPARISONS and not a.dtype.is_half and a.dtype != BOOL:
                if is_address(a) or is_address(b):
                    if (sides := self.sides(a, b)) is not None:
                        return f"({sides[0]} {op} {sides[1]})", 32
                else:
                    return f"({self.vector(a)} {op} {self.vector(b)})", 8 * a.dtype.bytes
            case Binary("&&" | "||" as op, a, b, _) if _total(b):
                return f"({self.mask(a, 32)} {op[0]} {self.mask(b, 32)})", 32
            case Binary("&" | "|" as op, a, b, dtype) if dtype == BOOL:
                return f"({self.mask(a, 32)} {op} {self.mask(b, 32)})", 32
            case Unary("!", a, _):
                return f"(~{self.mask(a, 32)})", 32
            case Read() if (text := self.load(expr)) is not None:
                return f"({self.converted(text, UINT8, INT32)} != 0)", 32
        return f"({self.by_lane(Cast(expr, INT32))} != 0)", 32

    def sides(self, a: Expr, b: Expr) -> tuple[str, str] | None:
        """What is to be compared of index arithmetic, in lanes of 32 bits: how far `a` is ahead, and 0.

        The difference in the first lane is cut to what has the same sign in all lanes.
        """
        if any(reads(a, b)):
            return None
        distance = simplify(Binary("-", a, b, INT64))
        step = growth(distance, self.lane.variable)
        if step is None or abs(step) * self.lane.count > NEAR:
            return None
        near = self.values.helpers.text("wb_near", WB_NEAR)
        first = self.splat(f"{near}({self.values.text(distance)})", INT32)
        return self.stepped(first, step), "0"

    def load(self, read: Read) -> str | None:
        """A vector of elements that are equally far apart; None where they are not."""
        local = self.held_vector(read)
        if local is not None:
            return self.values.register(local)
        stride = self.stride(read)
        if stride is None:
            return None
        dtype = UINT16 if read.dtype.is_half else read.dtype
        element = self.values.element(read.tensor, read.subscripts)
        if self.lane.limit is not None:
            return self.first(dtype, element) if stride == 1 and has_masks(dtype, self.lane.count) else None
        if stride == 2:
            return f"{self.values.helpers.every_second(dtype, self.lane.count)}(&{element})"
        if stride == -1:
            return f"{self.values.helpers.backwards(dtype, self.lane.count)[0]}(&{element})"
        if stride != 1:
            return f"{self.values.helpers.apart(dtype, self.lane.count)}(&{element}, {stride})"
        return f"*(const {self.type(dtype)}_u *)&{element}"

    def first(self, dtype: DType, element: str) -> str:
        """The lanes that exist, from memory."""
        name = first_lanes(self.values.helpers, dtype, self.lane.count)
        return f"{name}(&{element}, {self.values.text(self.lane.present)})"

    def lane_loop(self) -> str:
        """The head of a loop over the lanes that exist."""
        more = "" if self.lane.limit is None else f" && wb_l < {self.values.inside(self.lane.present, 9)}"
        return f"for (int wb_l = 0; wb_l < {self.lane.count}{more}; wb_l++)"

    def stride(self, read: Read) -> int | None:
        """Elements from one lane to the next, if that is constant."""
        return address_stride(self.values, read.tensor, read.subscripts, self.lane.variable)

    def at_ends(self, condition: Expr) -> Expr:
        """The condition in the first and in the last lane: if it is convex, it then holds in all of them."""
        last = Binary("+", Index(self.lane.variable, INT64), Const(self.lane.count - 1, INT64), INT64)
        varying = conjunction([c for c in conjuncts(condition) if mentions(c, self.lane.variable)])
        moved = transform(substitute(varying, {self.lane.variable: last}), _simplified)
        return Binary("&&", condition, moved, BOOL)

    def by_lane(self, expr: Expr) -> str:
        """Each lane computed as a scalar."""
        self.slow += 1
        shifted = self.at_lane(expr)
        t = self.type(expr.dtype)
        text = self.values.text(shifted)
        start = "" if self.lane.limit is None else " = {0}"
        return f"({{ {t} wb_t{start}; {self.lane_loop()} wb_t[wb_l] = {text}; wb_t; }})"

    def at_lane(self, expr: Expr) -> Expr:
        """The expression with the lane variable moved by the lane's number; held vectors become their lanes."""
        moved = Binary("+", Index(self.lane.variable, INT64), Size("wb_l", INT64), INT64)

        def held(node: Expr) -> Expr:
            if isinstance(node, Read) and (local := self.held_vector(node)) is not None:
                return Size(f"{self.values.register(local)}[wb_l]", node.dtype)
            return node

        self.values.names.given[("size", "wb_l")] = "wb_l"
        for read in reads(expr):
            if (local := self.held_vector(read)) is not None:
                text = f"{self.values.register(local)}[wb_l]"
                self.values.names.given[("size", text)] = text
        return substitute(transform(expr, held), {self.lane.variable: moved})


def _simplified(expr: Expr) -> Expr:
    return simplify(expr) if is_index_arithmetic(expr) else expr


def address_stride(values: Values, array: str, subscripts: tuple[Expr, ...], variable: str) -> int | None:
    """Elements between the cells of neighbouring values of the variable, if constant."""
    step = address_step(values.arrays[array], subscripts, variable)
    return None if step is None else step.constant


def _total(expr: Expr) -> bool:
    """Whether the second operand of && may be evaluated without the first: it reads no array."""
    return not any(read.subscripts for read in reads(expr))
