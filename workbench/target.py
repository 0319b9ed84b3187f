"""`Target`: the language to write and the machine to write it for, as pure data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, Literal, get_args

from workbench.dialects import DIALECTS, GPU_DIALECTS, Dialect
from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.records import record
from workbench.target_costs import Costs
from workbench.target_cpus import CPUS
from workbench.target_gpus import GENERIC, GPUS, Gpu

Parallel = Literal["openmp", "pool", "host", "serial"]


@record(slots=True)
class Target:
    """What code generation and the recipes may know of a machine.

    `vector_bits` is the width of a vector register, `vector_registers` their number, `cache_bytes` the sizes of L1d, L2
    and L3 seen by one core, `cores` the physical cores usable, `isa` the feature names (`avx2`, `fma`, `neon`, ...).
    `parallel` names the construct a parallel loop becomes ("host": a function of whoever links the kernel); `march` the
    compiler's `-march` value.  `costs` is what the processor takes where a data sheet is silent; those of this machine
    are measured by `wb.calibrate()`.

    The name of a known GPU alone (`Target("h200")`) means that GPU, in CUDA: `gpu` has its limits and peaks; that of a
    known kind of processor, alone or with costs (`Target("neon")`), means one of that kind.
    """

    name: str = "c"
    dialect: str = "c"
    vector_bits: int = 128
    vector_registers: int = 16
    cores: int = 1
    cache_bytes: tuple[int, int, int] = (32 << 10, 512 << 10, 8 << 20)
    line_bytes: int = 64
    isa: tuple[str, ...] = ()
    march: str = "native"
    parallel: Parallel = "openmp"
    gpu: Gpu | None = None
    costs: Costs = Costs()

    def __post_init__(self) -> None:
        """WorkbenchError for a machine that cannot be, or an unknown name without further data."""
        if self.name in GPUS:
            self._become(GPUS[self.name])
        elif self.name in GPU_DIALECTS and self.dialect == "c":
            object.__setattr__(self, "dialect", self.name)
            object.__setattr__(self, "vector_bits", self.language.vector_bits)
        elif isinstance(self.name, str) and self.name != "c" and self == Target._plain(self.name, self.costs):
            if self.name not in CPUS:
                raise WorkbenchError(unknown_name("target", self.name, ["c", *CPUS, *GPUS]))
            for name, value in CPUS[self.name].items():
                object.__setattr__(self, name, value)
        for name, (fits, expected) in _EXPECTED.items():
            value = getattr(self, name)
            if not fits(value):
                raise WorkbenchError(f"Target({name}={shown(value)}) does not fit; expected {expected}")

    def _become(self, gpu: Gpu) -> None:
        """Fill in what was left out of a GPU's data."""
        own = {
            "dialect": "cuda", "vector_bits": 32, "cores": gpu.multiprocessors, "line_bytes": gpu.line_bytes,
            "cache_bytes": (gpu.shared_bytes, gpu.l2_bytes, 0), "march": f"sm_{gpu.capability.replace('.', '')}",
            "gpu": gpu,
        }  # fmt: skip
        for field in fields(self):
            if field.name in own and getattr(self, field.name) == field.default:
                object.__setattr__(self, field.name, own[field.name])

    @staticmethod
    def _plain(name: str, costs: Costs) -> Target:
        """The target that only has a name and costs."""
        plain, given = object.__new__(Target), {"name": name, "costs": costs}
        for field in fields(Target):
            object.__setattr__(plain, field.name, given.get(field.name, field.default))
        return plain

    @property
    def language(self) -> Dialect:
        """What is known of the dialect."""
        return DIALECTS[self.dialect]

    @property
    def device(self) -> Gpu:
        """The GPU whose limits hold: the target's own, or the one that stands for all where none is named."""
        return self.gpu or GPUS[GENERIC]

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory that a block may ask for; 0 where no GPU is named."""
        return 0 if self.gpu is None else self.gpu.block_shared_bytes

    @property
    def is_arm(self) -> bool:
        """Whether it is a 64-bit ARM."""
        return "neon" in self.isa

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and registers of a tile of sums: what fits beside its operands.

        On ARM the factors of all rows have registers of their own; x86 multiplies by what it reads from memory.
        """
        if self.vector_registers <= 16:
            return 6, 2
        return (6, 3) if self.is_arm else (8, 3)

    def lanes(self, bits: int) -> int:
        """Elements of `bits` width that fit one vector register."""
        return max(1, self.vector_bits // bits)


def unknown_target(target: object, dialects: Iterable[str]) -> str:
    """What is wrong with a target that is none of these dialects and no name of a machine."""
    if target == "cuda-on-cpu":
        return "'cuda-on-cpu' is for wb.build alone: it executes the text for 'cuda'; give 'cuda' here, or a GPU's name"
    return f"{unknown_name('target', target, (*dialects, *CPUS, *GPUS))}, or a wb.Target"


def _whole(value: Any, lowest: int, highest: int = 1 << 40) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest


def _each(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, tuple) and all(map(fits, value))


# Field → (whether a value fits, what was expected).
_EXPECTED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (lambda v: isinstance(v, str), "a text"),
    "dialect": (lambda v: isinstance(v, str) and v in DIALECTS, f"one of {', '.join(map(repr, DIALECTS))}"),
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
    "parallel": (lambda v: v in get_args(Parallel), '"openmp", "pool", "host" or "serial"'),
    "gpu": (lambda v: v is None or isinstance(v, Gpu), "None, or a Gpu"),
    "costs": (lambda v: isinstance(v, Costs), "a Costs"),
}
