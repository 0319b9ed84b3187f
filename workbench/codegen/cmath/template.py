"""One text for scalars and vectors: `Recipe` and its expansion to C.

In the body `$T` is the value's type, `$I` that of a comparison, `$U` that of the bits, `$D` as many doubles,
`$H` as many 16-bit numbers.  `$name(` calls another recipe of the same shape, `$D.name(` one on doubles,
`$S.name(` one on a single element; all become requirements.  `$NAME` or `${NAME}` is a constant of the
recipe, and `$horner(p, x, NAME);` declares `p`, the polynomial with those coefficients.

The compiler fuses `a * b + c` where the machine can.  So that it has no choice which product of a sum to
fuse, and scalars and vectors agree to the last bit, a sum has one product: of two, one is `a * b + 0`,
which is a sum for the compiler and costs nothing when fused.  Where rounding errors are computed, products
are exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from workbench.codegen.cmath.helper import BASE, Helper
from workbench.codegen.cmath.shape import Shape, vector_types
from workbench.lang.dtypes import FLOAT64, UINT16
from workbench.records import record

Value = float | str | Sequence[float]
Constants = Callable[[Shape], dict[str, Value]]
Variants = tuple[tuple[str, str], ...]
"""(What the compiler defines, the body), the one to be preferred first."""
NEWLINE = "\n"
TOKEN = re.compile(r"\$horner\((\w+), (\w+), (\w+)\);|\$\{(\w+)\}|\$([DS]\.)?(\w+)(\(?)")


@record
class Recipe:
    """A function of one or more values of a shape.

    `vector_body` replaces `body` where a vector needs another spelling.  `wide`: it computes in doubles, so
    that a vector of floats needs registers of twice its size.  `cold`: kept out of line.
    `scalar_only`: there is no vector form.  `native` has, by the bytes of a vector, bodies of instructions, each with
    what the compiler defines where the processor has them.
    """

    body: str
    parameters: str = "$T x"
    result: str = "$T"
    constants: Constants = field(default=lambda shape: {})
    vector_body: str | None = None
    wide: bool = False
    cold: bool = False
    scalar_only: bool = False
    native: Mapping[int, Variants] = field(default_factory=dict)

    @property
    def splits(self) -> bool:
        """Whether a vector may be computed half by half: values in, a value out."""
        values = all(re.fullmatch(r"\$T \w+", p.strip()) for p in self.parameters.split(","))
        return self.result == "$T" and values

    def text(self, shape: Shape) -> str:
        own = self.body if shape.lanes == 1 or self.vector_body is None else self.vector_body
        variants = self.native.get(shape.lanes * shape.dtype.bytes, ()) if shape.lanes > 1 else ()
        if not variants:
            return own
        bodies = [f"if defined({feature})\n{body.strip(NEWLINE)}" for feature, body in variants]
        return f"#{(NEWLINE + '#el').join(bodies)}\n#else\n{own.strip(NEWLINE)}\n#endif"

    def register_bytes(self, shape: Shape) -> int:
        """Bytes of the registers that hold the vectors it computes with."""
        return shape.lanes * (8 if self.wide else shape.dtype.bytes)


def alike(body: str, features: Mapping[int, str]) -> dict[int, Variants]:
    """One native body for vectors of several lengths."""
    return {size: ((feature, body),) for size, feature in features.items()}


def either(*choices: Mapping[int, Variants]) -> dict[int, Variants]:
    """Native bodies of several kinds of processor."""
    sizes = {size for choice in choices for size in choice}
    return {size: tuple(v for choice in choices for v in choice.get(size, ())) for size in sorted(sizes)}


def horner(name: str, variable: str, coefficients: Sequence[float], shape: Shape) -> str:
    """Statements that evaluate a polynomial, one multiplication and addition each."""
    last, *rest = [shape.literal(c) for c in reversed(coefficients)]
    lines = [f"{shape.type} {name} = {last} * {variable} + {rest[0]};"]
    lines += [f"{name} = {name} * {variable} + {c};" for c in rest[1:]]
    return "\n    ".join(lines)


def _constant(value: Value, shape: Shape) -> str:
    """A number in the element type, or text as it stands."""
    assert isinstance(value, str | float | int)
    return value if isinstance(value, str) else shape.literal(value)


def _expand(text: str, shape: Shape, constants: dict[str, Value]) -> tuple[str, tuple[tuple[str, Shape], ...]]:
    """C text, and the recipes it calls."""
    calls: dict[tuple[str, Shape], None] = {}
    types = {"T": shape.type, "I": shape.mask, "U": shape.unsigned, "D": shape.wide.type}
    types["H"] = Shape(UINT16, shape.lanes).type

    def replace(match: re.Match[str]) -> str:
        variable, argument, polynomial, braced, room, name, bracket = match.groups()
        if polynomial:
            coefficients = constants[polynomial]
            assert not isinstance(coefficients, str | float | int)
            return horner(variable, argument, coefficients, shape)
        if braced:
            return _constant(constants[braced], shape)
        if bracket and name not in types:
            callee = {"D.": shape.wide, "S.": Shape(shape.dtype), None: shape}[room]
            calls[name, callee] = None
            return f"wb_{name}_{callee.suffix}("
        return (types[name] if name in types else _constant(constants[name], shape)) + bracket

    return TOKEN.sub(replace, text), tuple(calls)


def type_helpers(recipe: Recipe, shape: Shape) -> tuple[Helper, ...]:
    """Declarations of the vector types a recipe needs."""
    if shape.lanes == 1:
        return (BASE,)
    text = recipe.text(shape) + recipe.parameters + recipe.result
    others = [dtype for token, dtype in (("$D", FLOAT64), ("$H", UINT16)) if token in text]
    return tuple(vector_types(dtype, shape.lanes) for dtype in (shape.dtype, *others))


def definition(name: str, recipe: Recipe, shape: Shape) -> tuple[str, tuple[tuple[str, Shape], ...]]:
    """The C function `wb_<name>_<suffix>`, and the recipes it calls."""
    constants = recipe.constants(shape)
    header, _ = _expand(f"{recipe.result} wb_{name}_{shape.suffix}({recipe.parameters})", shape, constants)
    body, calls = _expand(recipe.text(shape).strip("\n"), shape, constants)
    return f"{'WB_COLD' if recipe.cold else 'WB_INLINE'} {header} {{\n{body}\n}}\n", calls


def halves(name: str, recipe: Recipe, shape: Shape) -> str:
    """The C function as two calls on half the lanes, for vectors wider than a register."""
    half, names = shape.half, [p.split()[-1] for p in recipe.parameters.split(",")]
    lanes = range(shape.lanes)
    first, second = (", ".join(map(str, part)) for part in (lanes[: half.lanes], lanes[half.lanes :]))
    low, high = (
        f"wb_{name}_{half.suffix}({', '.join(f'__builtin_shufflevector({n}, {n}, {part})' for n in names)})"
        for part in (first, second)
    )
    parameters, _ = _expand(recipe.parameters, shape, {})
    return (
        f"WB_INLINE {shape.type} wb_{name}_{shape.suffix}({parameters}) {{\n"
        f"    {half.type} low = {low};\n    {half.type} high = {high};\n"
        f"    return __builtin_shufflevector(low, high, {', '.join(map(str, lanes))});\n}}\n"
    )
