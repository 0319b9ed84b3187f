"""Floats to integers: towards zero, the nearest end of the type beyond its range, and 0 for what is no number.

C leaves all but the first open, processors disagree, and the numbers of a kernel must not depend on whether they were
computed in lanes.  What is less than 1 is set to 0 and not converted, because GCC 12 takes `(float)(int)x` for a
rounding of x, which makes -0.0 of -0.5.
"""

from __future__ import annotations

from workbench.codegen.cmath.catalogue import vector
from workbench.codegen.cmath.helper import BASE, Helper
from workbench.codegen.cmath.shape import Shape, vector_types
from workbench.lang.dtypes import DType


def ends(dtype: DType) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    half = 1 << (dtype.bits - 1)
    return (-half, half - 1) if dtype.kind == "int" else (0, 2 * half - 1)


def holds_ends(source: DType, target: DType) -> bool:
    """Whether the ends of the integer type are numbers of the float type.

    >>> from workbench.lang.dtypes import FLOAT32, INT16, INT32
    >>> holds_ends(FLOAT32, INT16), holds_ends(FLOAT32, INT32)
    (True, False)
    """
    return target.bits <= (24 if source.bits == 32 else 53)


def scalar_to_integer(source: DType, target: DType) -> Helper:
    """`wb_i8_of_f32`: the function on one number.

    >>> from workbench.lang.dtypes import FLOAT32, INT8
    >>> scalar_to_integer(FLOAT32, INT8).name
    'wb_i8_of_f32'
    """
    x, y = Shape(source), Shape(target)
    low, high = ends(target)
    beyond, least, one = (x.literal(float(end)) for end in (high + 1, low, 1))
    body = [f"if (x >= {beyond}) return {_number(high, target)};", f"if (x >= {one}) return ({y.type})x;"]
    if low:
        body.append(f"if (x <= -{one}) return x >= {least} ? ({y.type})x : {_number(low, target)};")
    lines = "".join(f"    {line}\n" for line in [*body, "return 0;"])
    name = f"wb_{y.suffix}_of_{x.suffix}"
    return Helper(name, f"WB_INLINE {y.type} {name}({x.type} x) {{\n{lines}}}\n", (BASE,))


def numeric_lanes(source: DType, lanes: int) -> Helper:
    """`wb_v8f32_numbers`: all lanes, 0 in place of what is no number, and of what is less than 1."""
    x, one = Shape(source, lanes), Shape(source).literal(1.0)
    name = f"{x.type}_numbers"
    kept = "x == x" if source.bits == 32 else f"(x >= {one}) | (x <= -{one})"  # float to int32 is an instruction
    body = f"    return ({x.type})(({x.mask})x & ({kept}));"
    return Helper(name, f"WB_INLINE {x.type} {name}({x.type} x) {{\n{body}\n}}\n", (vector_types(source, lanes),))


def lanes_within(source: DType, target: DType, lanes: int) -> Helper:
    """`wb_v8f32_in_i8`: all lanes within the ends of an integer type, which the float type holds."""
    x = Shape(source, lanes)
    low, high = (Shape(source).literal(float(end)) for end in ends(target))
    helpers = [vector(function, source, lanes) for function in ("at_least", "at_most", "all")]
    least, most, every = (h.name for h in helpers if h is not None)
    name = f"{x.type}_in_{Shape(target).suffix}"
    body = (
        f"    {x.type} y = {most}({least}(x, {every}({low})), {every}({high}));\n"
        f"    return {x.type}_numbers(y);"
    )
    needed = (numeric_lanes(source, lanes), *(h for h in helpers if h is not None))
    return Helper(name, f"WB_INLINE {x.type} {name}({x.type} x) {{\n{body}\n}}\n", needed)


def whole_lanes(source: DType, target: DType, lanes: int) -> Helper:
    """`wb_v8i32_of_f32`: all lanes, where the float type does not hold the integer type's ends."""
    x, y = Shape(source, lanes), Shape(target, lanes)
    low, high = ends(target)
    least, beyond = (Shape(source).literal(float(end)) for end in (low, high + 1))
    name = f"{y.type}_of_{Shape(source).suffix}"
    lines = [
        f"{x.mask} within = (x >= {least}) & (x < {beyond}), above = x >= {beyond};",
        f"{y.type} r = __builtin_convertvector(({x.type})(({x.mask})x & within), {y.type});",
        f"r |= ({y.type})__builtin_convertvector(above, {y.mask}) & {_number(high, target)};",
    ]
    if low:
        below = f"__builtin_convertvector(x < {least}, {y.mask})"
        lines.append(f"r |= ({y.type}){below} & {_number(low, target)};")
    body = "".join(f"    {line}\n" for line in [*lines, "return r;"])
    needed = (vector_types(source, lanes), vector_types(target, lanes))
    return Helper(name, f"WB_INLINE {y.type} {name}({x.type} x) {{\n{body}}}\n", needed)


def _number(value: int, dtype: DType) -> str:
    """A constant of an integer type, its smallest value included."""
    suffix = ("u" if dtype.kind == "uint" and dtype.bits >= 32 else "") + ("ll" if dtype.bits == 64 else "")
    return f"{value}{suffix}" if value >= 0 else f"({value + 1}{suffix} - 1)"
