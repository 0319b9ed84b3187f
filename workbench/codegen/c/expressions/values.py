"""Scalar expressions as C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from math import prod

from workbench.codegen import cmath
from workbench.codegen.c.expressions.constants import constant_text
from workbench.codegen.c.helpers import Helpers
from workbench.codegen.c.names import Names
from workbench.codegen.nest.nest import Cell, Local
from workbench.codegen.nest.ranges import is_nonnegative
from workbench.lang.algebra.identities import identity
from workbench.lang.algebra.normal_form import constant, is_address, simplify
from workbench.lang.dtypes import BOOL, FLOAT32, INT64, UINT16, DType
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Read, Select, Size, Unary, reads, transform
from workbench.lang.operator import Monoid
from workbench.poly.programs.program import Array
from workbench.records import record

PRECEDENCE = {
    "*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1,
}  # fmt: skip
WRAPPING = {"+": "add", "-": "sub", "*": "mul"}
ATOM = 20
MOST_IN_32_BITS = (1 << 31) - 1
WHOLE = """WB_INLINE int64_t wb_whole(int64_t n, int64_t block) {
    return n > 0 ? n - n % block : 0;
}
"""


@record(frozen=False)
class Values:
    """Prints expressions of one kernel.

    `held` are the registers that stand for cells here; `threads` names the construct that runs several threads, if any.
    `wraps`: signed arithmetic wraps around by itself (-fwrapv).  `signed` symbols may be below 0: shifts, not sizes.
    """

    arrays: dict[str, Array]
    names: Names
    helpers: Helpers
    by_value: set[str]
    held: list[Local] = field(default_factory=list)
    nonnegative: set[str] = field(default_factory=set)
    check: Callable[[str, int, str], str] | None = None
    threads: str = ""
    wraps: bool = True
    signed: frozenset[str] = frozenset()

    def text(self, expr: Expr) -> str:
        return self.ranked(expr)[0]

    def inside(self, expr: Expr, rank: int) -> str:
        """The text, in parentheses if it binds less tightly than `rank`."""
        text, own = self.ranked(expr)
        return text if own >= rank else f"({text})"

    def ranked(self, expr: Expr) -> tuple[str, int]:
        """The text and how tightly it binds."""
        match expr:
            case Const(value, dtype):
                text = constant_text(value, dtype)
                return text, 11 if text.startswith("-") else ATOM
            case Index(name, _):
                return self.names("index", name), ATOM
            case Size(name, _):
                return self.names("size", name), ATOM
            case Read():
                return self.load(expr), ATOM
            case Unary(op, a, dtype):
                return self.unary(op, a, dtype)
            case Binary(op, a, b, dtype):
                return self.binary(op, a, b, dtype)
            case Select(c, a, b, _):
                return f"{self.inside(c, 1)} ? {self.inside(a, 1)} : {self.inside(b, 1)}", 0
            case Call("select", (c, a, b), _):
                return f"{self.inside(c, 1)} ? {self.inside(a, 1)} : {self.inside(b, 1)}", 0
            case Call(function, arguments, dtype):
                return self.call(function, arguments, dtype), ATOM
            case Cast(a, dtype):
                return self.cast(a, dtype)

    def unary(self, op: str, a: Expr, dtype: DType) -> tuple[str, int]:
        if op == "-" and self.must_wrap(dtype) and not is_address(a):
            return f"{self.helpers.scalar('neg', dtype)}({self.text(a)})", ATOM
        text = f"{op}{self.inside(a, 11)}"
        if op == "-" and text.startswith("--"):
            text = f"-({self.text(a)})"
        return self.narrow(text, dtype) if dtype.is_integral and dtype.bits < 32 else (text, 11)

    def binary(self, op: str, a: Expr, b: Expr, dtype: DType) -> tuple[str, int]:
        if op in ("/", "%") and dtype.is_integral:
            return self.division(op, a, b, dtype)
        if op in ("<<", ">>"):
            return self.shift(op, a, b, dtype)
        if op == "/" and _is_zero(b):  # compilers warn where they see it
            return f"{self.helpers.scalar('fdivide', dtype)}({self.text(a)}, {self.text(b)})", ATOM
        if op in WRAPPING and self.must_wrap(dtype, op) and not (is_address(a) or is_address(b)):
            return f"{self.helpers.scalar(WRAPPING[op], dtype)}({self.text(a)}, {self.text(b)})", ATOM
        rank = PRECEDENCE[op]
        # compilers warn where && stands in || or + in & without parentheses
        least = (PRECEDENCE["&&"] + 1 if op == "||" else 10) if op in ("||", "&", "|", "^") else rank
        left = self.widened(a, least) if dtype == INT64 and _is_int_in_c(b) else self.inside(a, least)
        text = f"{left} {op} {self.inside(b, max(least, rank + 1))}"
        return self.narrow(text, dtype) if dtype.is_integral and dtype.bits < 32 else (text, rank)

    def must_wrap(self, dtype: DType, op: str = "") -> bool:
        """Whether arithmetic in this type is to be made to wrap around: also a product that C computes as int."""
        signed = dtype.kind == "int" and dtype.bits >= 32
        return not self.wraps and (signed or (dtype == UINT16 and op == "*"))

    def shift(self, op: str, a: Expr, b: Expr, dtype: DType) -> tuple[str, int]:
        if isinstance(b, Const) and 0 <= b.value < dtype.bits and not (op == "<<" and self.must_wrap(dtype)):
            left = self.widened(a, 8) if dtype == INT64 else self.inside(a, 8)
            text = f"{left} {op} {b.value}"
            return self.narrow(text, dtype) if dtype.bits < 32 else (text, 8)
        name = self.helpers.scalar({"<<": "shl", ">>": "shr"}[op], dtype)
        return f"{name}({self.text(a)}, {self.text(b)})", ATOM

    def widened(self, a: Expr, rank: int) -> str:
        """An operand of arithmetic in 64 bits whose other operand C may take for an int: one of them must not be."""
        if not _is_int_in_c(a):
            return self.inside(a, rank)
        return f"INT64_C({a.value})" if isinstance(a, Const) else f"(int64_t){self.inside(a, 11)}"

    def narrow(self, text: str, dtype: DType) -> tuple[str, int]:
        """C computes small integers as int: cut the result back to its type."""
        return f"({dtype.c_name})({text})", 11

    def division(self, op: str, a: Expr, b: Expr, dtype: DType) -> tuple[str, int]:
        positive = isinstance(b, Const) and b.value > 0
        if positive and dtype == INT64 and is_address(a) and self.is_nonnegative(a):
            return f"{self.inside(a, 10)} {op} {self.inside(b, 11)}", 10
        name = self.helpers.scalar({"/": "floordiv", "%": "mod"}[op], dtype)
        return f"{name}({self.text(a)}, {self.text(b)})", ATOM

    def is_nonnegative(self, expr: Expr) -> bool:
        """Whether index arithmetic surely gives no negative value here."""
        return is_nonnegative(expr, self.nonnegative, self.signed)

    def call(self, function: str, arguments: tuple[Expr, ...], dtype: DType) -> str:
        if function in ("min", "max"):
            text = self.text(arguments[0])
            for other in arguments[1:]:
                text = f"{self.helpers.scalar(function, dtype)}({text}, {self.text(other)})"
            return text
        if function == "whole":
            return self.whole(*arguments)
        of = arguments[0].dtype if arguments else dtype
        return f"{self.helpers.scalar(function, of)}({', '.join(map(self.text, arguments))})"

    def whole(self, count: Expr, block: Expr) -> str:
        """The largest multiple of `block` up to `count`, 0 if that is negative."""
        name = self.helpers.text("wb_whole", WHOLE)
        return f"{name}({self.text(count)}, {self.text(block)})"

    def cast(self, a: Expr, dtype: DType) -> tuple[str, int]:
        if a.dtype == dtype:
            return self.ranked(a)
        if a.dtype.is_half:
            text = f"{self.helpers.conversion(a.dtype, FLOAT32)}({self.text(a)})"
            return self._converted(text, ATOM, FLOAT32, dtype)
        return self._converted(*self.ranked(a), a.dtype, dtype)

    def _converted(self, text: str, rank: int, source: DType, dtype: DType) -> tuple[str, int]:
        """A number that is not stored in 16 bits, as another type."""
        if source == dtype:
            return text, rank
        if source.is_float and dtype.is_integral:
            return f"{self.helpers.add(cmath.scalar_to_integer(source, dtype))}({text})", ATOM
        operand = text if rank >= 11 else f"({text})"
        if dtype.is_half:
            narrow = text if source == FLOAT32 else f"(float){operand}"
            return f"{self.helpers.conversion(FLOAT32, dtype)}({narrow})", ATOM
        return self._plain_cast(operand, dtype)

    def _plain_cast(self, text: str, dtype: DType) -> tuple[str, int]:
        if dtype == BOOL:
            return f"{text} != 0", PRECEDENCE["!="]
        return f"({dtype.c_name}){text}", 11

    def load(self, read: Read) -> str:
        for local in self.held:
            if local.cell.array == read.tensor and local.cell.subscripts == read.subscripts:
                return self.register(local)
        return self.element(read.tensor, read.subscripts)

    def register(self, local: Local) -> str:
        """`C_r[m_i][n_i / 8]`."""
        places = (f"[{self.position(x.variable, x.step)}]" for x in local.dims)
        return self.names("register", local.name) + "".join(places)

    def position(self, variable: str, step: int) -> str:
        name = self.names("index", variable)
        return name if step == 1 else f"{name} / {step}"

    def element(self, array: str, subscripts: tuple[Expr, ...]) -> str:
        """`A[i*512 + k]`, or the name of a scalar passed by value."""
        name = self.names("array", array)
        if array in self.by_value:
            return name
        return f"{name}[{self.offset(array, subscripts)}]"

    def offset(self, array: str, subscripts: tuple[Expr, ...]) -> str:
        """Elements from the first one of the array to the cell."""
        storage = self.arrays[array]
        terms = []
        for d, subscript in enumerate(subscripts):
            place = simplify(Binary("-", subscript, storage.lower[d], INT64))
            if self.check is not None and any(reads(subscript)):
                place_text, rank = self.check(array, d, self.text(place)), ATOM
            else:
                place_text, rank = self.ranked(_widened(place) if _is_vast(storage, d, place) else place)
            terms.append(self._scaled(place_text, rank, storage.strides[d]))
        first, *others = [t for t in terms if t != "0"] or ["0"]
        return first + "".join(f" - {t[1:]}" if t.startswith("-") else f" + {t}" for t in others)

    def _scaled(self, text: str, rank: int, stride: Expr) -> str:
        if text == "0":
            return "0"
        match stride:
            case Const(1, _):
                return text if rank >= 9 else f"({text})"
            case Const(0, _):
                return "0"
        left = text if rank >= 10 else f"({text})"
        return f"{left}*{self.inside(stride, 11)}"

    def combine(self, reduction: str, cell: str, value: str, dtype: DType) -> str:
        """The C statement that combines `value` into `cell`."""
        if dtype.is_half:
            up, down = self.helpers.conversion(dtype, FLOAT32), self.helpers.conversion(FLOAT32, dtype)
            return f"{cell} = {down}({self.joined(reduction, f'{up}({cell})', f'{up}({value})', FLOAT32)});"
        if reduction in ("+", "*") and not self.must_wrap(dtype, reduction):
            return f"{cell} {reduction}= {value};"
        return f"{cell} = {self.joined(reduction, cell, value, dtype)};"

    def joined(self, reduction: str, a: str, b: str, dtype: DType) -> str:
        if reduction in ("+", "*") and self.must_wrap(dtype, reduction):
            return f"{self.helpers.scalar(WRAPPING[reduction], dtype)}({a}, {b})"
        if reduction in ("+", "*"):
            return f"{a} {reduction} {b}"
        return f"{self.helpers.scalar(reduction, dtype)}({a}, {b})"

    def identity(self, reduction: str | Monoid, position: int, dtype: DType) -> str:
        """The identity of a reduction for one of its cells."""
        return self.text(identity(reduction, position, dtype))


def cell_text(values: Values, cell: Cell) -> str:
    """The lvalue of a cell: its register here, or its element."""
    for local in values.held:
        if local.cell == cell:
            return values.register(local)
    return values.element(cell.array, cell.subscripts)


def _is_int_in_c(expr: Expr) -> bool:
    """Whether a value of 64 bits is made of numbers that C reads as ints, whose sums and products have 32 bits."""
    match expr:
        case Const(value, _):
            return abs(value) <= MOST_IN_32_BITS
        case Unary("-" | "~", a, _):
            return _is_int_in_c(a)
        case Select(_, a, b, _) | Call("select", (_, a, b), _):
            return _is_int_in_c(a) and _is_int_in_c(b)
        case Binary("&" | "|" | "^" | ">>", a, b, _):
            return _is_int_in_c(a) and _is_int_in_c(b)
    return False


def _is_zero(expr: Expr) -> bool:
    """Whether arithmetic on constants gives 0."""
    match expr:
        case Const(value, _):
            return value == 0
        case Cast(a, _):
            return _is_zero(a)
    return expr.dtype.is_integral and constant(expr) == 0


def _is_vast(storage: Array, dim: int, place: Expr) -> bool:
    """Whether what is computed with numbers of 32 bits for a place may need more of them."""
    if not any(reads(place)) or (isinstance(place, Read) and constant(storage.strides[dim]) in (None, 1)):
        return False
    extents = [constant(e) for e in storage.extent]
    return None in extents or prod(e or 0 for e in extents) > MOST_IN_32_BITS


def _widened(place: Expr) -> Expr:
    """The place with the numbers that it reads in 64 bits, so that what is computed with them is."""
    def wide(node: Expr) -> Expr:
        return Cast(node, INT64) if isinstance(node, Read) and node.dtype.bits < 64 else node

    return transform(place, wide)
