"""Micro-kernels: functions in C together with the operator they compute, in a registry that anyone extends."""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property
from importlib import import_module
from typing import TypeVar

from workbench.errors import ScheduleError, shown, unknown_name
from workbench.lang import operator
from workbench.lang.operator import Operator, Statement
from workbench.records import record

BUILT_IN = "workbench.schedules.kernels.tensor_cores"  # registered when somebody first asks
LANES = "workbench.schedules.kernels.lane_instructions"  # instructions in the lanes of a register
TILES = "workbench.schedules.kernels.tile_instructions"  # those that multiply tiles
FORMER = "workbench.schedules.kernels.former_functions"  # what old records name
IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@record
class MicroKernel:
    """A C function that computes an operator on strided blocks.

    `definition` is the operator's text: one statement whose subscripts are plain indices, such as
    `def gemm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }`.  `source` defines `void name(...)`:
    for each array, in the order of the definition, a pointer to its first cell and its strides in elements (`int64_t`,
    one a dimension), then the sizes (`int64_t`, in the order of the definition).  `sizes` are the sizes it is written
    for; the others may be anything.  `flags` are given to the linker (`-lopenblas`).
    """

    name: str
    definition: str
    source: str
    sizes: tuple[tuple[str, int], ...] = ()
    flags: tuple[str, ...] = ()
    operator: Operator = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not IDENTIFIER.fullmatch(self.name):
            raise ScheduleError(f"{shown(self.name)} cannot name a micro-kernel; expected a name in C")
        object.__setattr__(self, "operator", operator(self.definition))
        unknown = [n for n, _ in self.sizes if n not in self.operator.size_names]
        if unknown:
            raise ScheduleError(f"{self.name}: {unknown_name('size', unknown[0], self.operator.size_names)}")
        if self.name not in self.source:
            raise ScheduleError(f"{self.name}: the source defines no function of that name")
        assert self.statement is not None

    @cached_property
    def statement(self) -> Statement:
        """The one statement of the definition."""
        found = tuple(self.operator.statements())
        if len(found) != 1 or len(found[0].targets) != 1:
            raise ScheduleError(f"{self.name}: the definition of a micro-kernel is one statement with one target")
        return found[0]

    @property
    def arrays(self) -> tuple[str, ...]:
        """Arrays in the order of the arguments: inputs, then the result."""
        own = self.statement.targets[0].tensor
        return (*(p for p in self.operator.parameters if p in self.operator.tensors and p != own), own)


@record
class ProcessorKernel(MicroKernel):
    """A micro-kernel for processors that have the features `isa`, named as in a Target (`amx_int8`)."""

    isa: tuple[str, ...] = ()


K = TypeVar("K", bound=MicroKernel)
_known: dict[str, MicroKernel] = {}


def register(kernel: K) -> K:
    """Make a micro-kernel known to `replace`; one of the same name is replaced."""
    if not isinstance(kernel, MicroKernel):
        raise ScheduleError(f"register takes a MicroKernel, not {shown(kernel)}")
    _known[kernel.name] = kernel
    return kernel


def known_kernels() -> tuple[MicroKernel, ...]:
    """Every registered micro-kernel; those of a processor's instructions once they were asked for by name."""
    import_module(BUILT_IN)
    return tuple(_known.values())


def registered(name: str) -> MicroKernel:
    """The micro-kernel of that name; ScheduleError that lists the known ones."""
    if name not in _known:
        import_module(BUILT_IN)
    if name not in _known:
        if (instruction := _instructions().get(name)) is not None:
            return instruction
        if (former := import_module(FORMER).former_function(name)) is not None:
            return former
        known = sorted({*_known, *_instructions()})
        raise ScheduleError(unknown_name("micro-kernel", name, known) + "; wb.register(...) adds one")
    return _known[name]


def _instructions() -> dict[str, MicroKernel]:
    """The instructions of processors by name."""
    return {x.name: x for x in (*import_module(LANES).lane_instructions(), *import_module(TILES).tile_instructions())}
