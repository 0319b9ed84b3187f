"""`Shape`: a scalar or a vector of one element type, and how C spells it."""

from __future__ import annotations

from workbench.codegen.cmath.helper import BASE, Helper
from workbench.lang.dtypes import FLOAT64, DType
from workbench.records import record

LETTER = {"float": "f", "int": "i", "uint": "u", "bool": "u"}


@record(slots=True)
class Shape:
    """`lanes` elements of `dtype` (1: a scalar).  16-bit floats stand for their stored bits."""

    dtype: DType
    lanes: int = 1

    @property
    def bits(self) -> int:
        return 8 * self.dtype.bytes

    @property
    def suffix(self) -> str:
        """`f32`, `v8f32`: ends the name of every helper."""
        letter = "u" if self.dtype.is_half else LETTER[self.dtype.kind]
        return self.spelled(letter, self.bits)

    @property
    def type(self) -> str:
        """C type of the value."""
        return self.dtype.c_name if self.lanes == 1 else f"wb_{self.suffix}"

    @property
    def mask(self) -> str:
        """C type of a comparison: an int, or a vector of 0 and -1."""
        return "int" if self.lanes == 1 else f"wb_{self.spelled('i', self.bits)}"

    @property
    def unsigned(self) -> str:
        """C type of the bits of the value."""
        return f"uint{self.bits}_t" if self.lanes == 1 else f"wb_{self.spelled('u', self.bits)}"

    @property
    def wide(self) -> Shape:
        """As many float64."""
        return Shape(FLOAT64, self.lanes)

    @property
    def half(self) -> Shape:
        """Half the lanes."""
        return Shape(self.dtype, self.lanes // 2)

    def spelled(self, letter: str, bits: int) -> str:
        return f"v{self.lanes}{letter}{bits}" if self.lanes > 1 else f"{letter}{bits}"

    def literal(self, value: float) -> str:
        """A C constant of the element type.

        >>> from workbench.lang.dtypes import FLOAT32
        >>> Shape(FLOAT32, 8).literal(0.5), Shape(FLOAT64).literal(float("inf"))
        ('0.5f', '__builtin_inf()')
        """
        suffix = "f" if self.bits == 32 else ""
        if value != value:
            return f'__builtin_nan{suffix}("")'
        if value in (float("inf"), float("-inf")):
            return f"{'-' if value < 0 else ''}__builtin_inf{suffix}()"
        return f"{value!r}{suffix}"


def _vector_type(letter: str, bits: int, lanes: int) -> Helper:
    """Declares `wb_v<lanes><letter><bits>` and its unaligned form `..._u`."""
    element = {"f": "float" if bits == 32 else "double", "i": f"int{bits}_t", "u": f"uint{bits}_t"}[letter]
    name, size = f"wb_v{lanes}{letter}{bits}", lanes * bits // 8
    unaligned = f"vector_size({size}), aligned({bits // 8}), may_alias"
    text = (
        f"typedef {element} {name} __attribute__((vector_size({size})));\n"
        f"typedef {element} {name}_u __attribute__(({unaligned}));\n"
    )
    return Helper(name, text, (BASE,))


def vector_types(dtype: DType, lanes: int) -> Helper:
    """Typedefs of the vector of `lanes` stored elements: `wb_v8f32`, its unaligned `wb_v8f32_u`, and the
    vectors of its masks (`wb_v8i32`) and bits (`wb_v8u32`).

    >>> from workbench.lang.dtypes import FLOAT32
    >>> vector_types(FLOAT32, 8).name
    'wb_v8f32'
    """
    shape = Shape(dtype, lanes)
    letter = shape.suffix.removeprefix(f"v{lanes}")[0]
    own = _vector_type(letter, shape.bits, lanes)
    masks = tuple(_vector_type(other, shape.bits, lanes) for other in "iu" if other != letter)
    return Helper(own.name, own.source, (BASE, *masks))
