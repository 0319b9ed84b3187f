"""Element types: one table that says what a type is in the language, in NumPy and in C."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from workbench.records import record

if TYPE_CHECKING:
    import numpy as np

Kind = Literal["bool", "uint", "int", "float"]


@record(slots=True)
class DType:
    """An element type of the operator language.

    `name` is its spelling in operator text, `bits` its storage width, `c_name` the C type it is
    stored in (bf16 and fp16 are stored as `uint16_t`/`_Float16`-free `uint16_t`).
    """

    name: str
    kind: Kind
    bits: int
    c_name: str

    def __reduce__(self) -> tuple[Any, ...]:
        """A type that was sent to another process, or copied, is the same object as there: types are compared so."""
        return _of_name, (self.name,)

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype (bfloat16 comes from ml_dtypes); both are imported on first use."""
        return _numpy_dtype(self.name)

    @property
    def bytes(self) -> int:
        """Storage bytes of one element (a bool takes one)."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integral(self) -> bool:
        return self.kind in ("int", "uint")

    @property
    def is_half(self) -> bool:
        """Stored in 16 bits, computed in float32."""
        return self.kind == "float" and self.bits == 16

    def holds(self, other: DType) -> bool:
        """Whether it has every number of another type.

        >>> INT16.holds(UINT8), FLOAT32.holds(INT32), FLOAT32.holds(BFLOAT16), BFLOAT16.holds(FLOAT16)
        (True, False, True, False)
        """
        if self == other:
            return True
        if "bool" in (self.kind, other.kind) or self.bits <= other.bits:
            return False
        if self.is_float:
            return other.is_float or other.bits <= {32: 24, 64: 53}.get(self.bits, 8)
        return other.kind == "uint" or self.kind == other.kind

    def __hash__(self) -> int:
        return hash(self.name)  # every expression's hash contains some: the text remembers its own

    def __str__(self) -> str:
        return self.name


@cache
def _numpy_dtype(name: str) -> np.dtype[Any]:
    import numpy as np  # a quarter of the time from text to C, which asks for no array

    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


BOOL = DType("bool", "bool", 1, "uint8_t")
UINT8 = DType("uint8", "uint", 8, "uint8_t")
UINT16 = DType("uint16", "uint", 16, "uint16_t")
UINT32 = DType("uint32", "uint", 32, "uint32_t")
UINT64 = DType("uint64", "uint", 64, "uint64_t")
INT8 = DType("int8", "int", 8, "int8_t")
INT16 = DType("int16", "int", 16, "int16_t")
INT32 = DType("int32", "int", 32, "int32_t")
INT64 = DType("int64", "int", 64, "int64_t")
FLOAT16 = DType("float16", "float", 16, "uint16_t")
BFLOAT16 = DType("bfloat16", "float", 16, "uint16_t")
FLOAT32 = DType("float32", "float", 32, "float")
FLOAT64 = DType("float64", "float", 64, "double")

DTYPES: dict[str, DType] = {
    d.name: d
    for d in (
        BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64,
        FLOAT16, BFLOAT16, FLOAT32, FLOAT64,
    )
}  # fmt: skip
ALIASES: dict[str, str] = {"float": "float32", "double": "float64", "half": "float16", "int": "int32"}


def dtype(name: str) -> DType:
    """Look a type up by its name or alias (`float`, `double`, `half`, `int`).

    >>> dtype("float").bits
    32
    """
    return DTYPES[ALIASES.get(name, name)]


@cache
def from_numpy(np_dtype: np.dtype[Any]) -> DType | None:
    """The element type stored by a NumPy dtype in native byte order, or None."""
    if not np_dtype.isnative:
        return None
    return DTYPES.get(np_dtype.name)


def _of_name(name: str) -> DType:
    return DTYPES[name]
