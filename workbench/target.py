"""`Target`: the language to write and the machine to write it for, as pure data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Parallel = Literal["openmp", "pool", "serial"]


@dataclass(frozen=True, slots=True)
class Target:
    """What code generation and the recipes may know of a machine.

    `vector_bits` is the width of a vector register, `vector_registers` their number, `cache_bytes` the sizes of L1d, L2
    and L3 seen by one core, `cores` the physical cores usable, `isa` the feature names (`avx2`, `fma`, `neon`, ...).
    `parallel` names the construct a parallel loop becomes; `march` the compiler's `-march` value.
    """

    name: str = "c"
    dialect: Literal["c", "cuda"] = "c"
    vector_bits: int = 128
    vector_registers: int = 16
    cores: int = 1
    cache_bytes: tuple[int, int, int] = (32 << 10, 512 << 10, 8 << 20)
    line_bytes: int = 64
    isa: tuple[str, ...] = ()
    march: str = "native"
    parallel: Parallel = "openmp"

    def lanes(self, bits: int) -> int:
        """Elements of `bits` width that fit one vector register."""
        return max(1, self.vector_bits // bits)
