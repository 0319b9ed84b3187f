"""What a random program is made of: tensors with their boxes, axes with their ranges, typed terms."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.properties.forms import Form

FLOATS = ("float16", "bfloat16", "float", "double")
INTS = {"int8": 2**7, "uint8": 2**8, "int16": 2**15, "uint16": 2**16, "int32": 2**31, "uint32": 2**32,
        "int64": 2**63, "uint64": 2**64}  # fmt: skip
# Largest magnitude up to which every integer is a value of the type, with room to spare for a product.
EXACT = {"float16": 2**10, "bfloat16": 2**7, "float": 2**22, "double": 2**40}


@dataclass
class Slot:
    """A tensor: `low` and `high` (inclusive) bound each subscript.

    For an input they grow with its accesses, from 0; for a computed tensor every cell of the box may be read.
    `limit` bounds the magnitude of its values, `exact` says that they are integers known exactly, `finite` that no
    infinity or NaN occurs.  `fill` says how the data of an input are drawn; an index is drawn from the box of
    dimension `indexes[1]` of the slot `indexes[0]`.
    """

    name: str
    dtype: str
    low: list[Form]
    high: list[Form]
    limit: float = 2
    exact: bool = True
    finite: bool = True
    fill: str = "small"
    computed: bool = False
    fixed: bool = False
    inout: bool = False
    output: bool = True
    indexes: tuple[Slot, int] | None = None
    wide_error: bool = False
    uses: int = 0

    @property
    def rank(self) -> int:
        return len(self.high)

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS


@dataclass(frozen=True)
class Axis:
    """An index: `low` and `high` (inclusive) bound it, `where` is its range as text.

    `slack` is how far it may be shifted down and up and still be inside the box it walks.
    """

    name: str
    low: Form
    high: Form
    where: str
    triangular: bool = False
    slack: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Term:
    """A value as text, ready to stand in any context, with its type and what is known of it."""

    text: str
    dtype: str
    limit: float = 2
    exact: bool = True
    finite: bool = True
    wide_error: bool = False

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS


@dataclass
class Scope:
    """What a statement may use: its axes; `own` is its target, `plain` the axes that some read bounds."""

    axes: list[Axis]
    own: Slot | None = None
    subscripts: list[str] = field(default_factory=list)
    plain: set[str] = field(default_factory=set)
    in_loop: bool = False
    explicit: bool = False
    depth: int = 0


def joined(a: str, b: str) -> str:
    """The type of arithmetic on two types."""
    if a in FLOATS or b in FLOATS:
        return "double" if "double" in (a, b) else "float"
    width = max(INTS[a] * (1 if a[0] == "u" else 2), INTS[b] * (1 if b[0] == "u" else 2))
    signed = not (a[0] == "u" and b[0] == "u")
    found = {8: "int8", 16: "int16", 32: "int32", 64: "int64"}[width.bit_length() - 1]
    return found if signed else f"u{found}"
