"""`Target`: the language to write and the machine to write it for, as pure data."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from workbench.errors import WorkbenchError, shown

Dialect = Literal["c", "cuda", "hip"]
Parallel = Literal["openmp", "pool", "serial"]


@dataclass(frozen=True, slots=True)
class Target:
    """What code generation and the recipes may know of a machine.

    `vector_bits` is the width of a vector register, `vector_registers` their number, `cache_bytes` the sizes of L1d, L2
    and L3 seen by one core, `cores` the physical cores usable, `isa` the feature names (`avx2`, `fma`, `neon`, ...).
    `parallel` names the construct a parallel loop becomes; `march` the compiler's `-march` value.
    """

    name: str = "c"
    dialect: Dialect = "c"
    vector_bits: int = 128
    vector_registers: int = 16
    cores: int = 1
    cache_bytes: tuple[int, int, int] = (32 << 10, 512 << 10, 8 << 20)
    line_bytes: int = 64
    isa: tuple[str, ...] = ()
    march: str = "native"
    parallel: Parallel = "openmp"

    def __post_init__(self) -> None:
        """WorkbenchError for a machine that cannot be."""
        for name, (fits, expected) in _EXPECTED.items():
            value = getattr(self, name)
            if not fits(value):
                raise WorkbenchError(f"Target({name}={shown(value)}) does not fit; expected {expected}")

    def lanes(self, bits: int) -> int:
        """Elements of `bits` width that fit one vector register."""
        return max(1, self.vector_bits // bits)


def _whole(value: Any, lowest: int, highest: int = 1 << 40) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest


def _each(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, tuple) and all(map(fits, value))


# Field → (whether a value fits, what was expected).
_EXPECTED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (lambda v: isinstance(v, str), "a text"),
    "dialect": (lambda v: v in get_args(Dialect), '"c", "cuda" or "hip"'),
    "vector_bits": (lambda v: _whole(v, 32, 4096) and v & (v - 1) == 0, "a power of two from 32 to 4096"),
    "vector_registers": (lambda v: _whole(v, 1, 1024), "a whole number from 1 to 1024"),
    "cores": (lambda v: _whole(v, 1, 1 << 16), "a whole number from 1 to 65536"),
    "cache_bytes": (lambda v: _each(v, lambda n: _whole(n, 0)) and len(v) == 3, "three sizes in bytes: L1d, L2, L3"),
    "line_bytes": (lambda v: _whole(v, 1, 1 << 16), "a whole number from 1 to 65536"),
    "isa": (lambda v: _each(v, lambda n: isinstance(n, str)), 'a tuple of names, such as ("avx2", "fma")'),
    "march": (
        lambda v: isinstance(v, str) and bool(re.fullmatch(r"[\w.+=-]+", v)),
        'a processor\'s name, such as "haswell"',
    ),
    "parallel": (lambda v: v in get_args(Parallel), '"openmp", "pool" or "serial"'),
}
