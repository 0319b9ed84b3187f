"""The Kernel: generated text and what a caller must know to run it.

The generated function is

    int <name>(<arrays: inputs in parameter order, then outputs>, <data scalars by value>,
               <int64_t symbols>, void *workspace, int threads);

and returns 0, or 1 + the number of the access that found an index out of range (`Signature.checks`).
`int64_t <name>_workspace(<int64_t symbols>, int threads)` gives the bytes of `workspace` it needs (64-byte aligned).
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from workbench.lang.dtypes import DType
from workbench.lang.expr import Expr
from workbench.lang.operator import Role
from workbench.records import record
from workbench.target import Target

if TYPE_CHECKING:
    from workbench.codegen.cuda.grid.launches import Buffer, Step


@record(slots=True)
class ArrayParameter:
    """One array argument.  `shape` and `strides` (in elements) are expressions; Consts when bound.

    A rank-0 input is passed by value (`by_value`), a rank-0 output by pointer.
    """

    name: str
    c_name: str
    dtype: DType
    role: Role
    shape: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    zero_fill: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def by_value(self) -> bool:
        return self.rank == 0 and self.role == "input"

    @property
    def is_output(self) -> bool:
        return self.role in ("output", "inout")


@record(slots=True)
class IndexCheck:
    """An access whose subscript is data: where it stands, for the message; `late` if the kernel itself computes it.

    `seen` is (input, lower, upper) where the check sees every cell of an input to be in lower:upper.
    """

    statement: str
    array: str
    dimension: int
    text: str
    late: bool = False
    seen: tuple[str, int, int] | None = None


@record(slots=True)
class Signature:
    """Arguments of the generated function, in order."""

    function: str
    arrays: tuple[ArrayParameter, ...]
    symbols: tuple[str, ...]
    workspace: Expr | None = None
    checks: tuple[IndexCheck, ...] = ()

    @property
    def inputs(self) -> tuple[ArrayParameter, ...]:
        return tuple(a for a in self.arrays if not a.is_output)

    @property
    def outputs(self) -> tuple[ArrayParameter, ...]:
        return tuple(a for a in self.arrays if a.is_output)

    def keeps(self, output: ArrayParameter) -> bool:
        """Whether an error found while the kernel runs would lose what the caller's output held."""
        counts = output.role == "inout" or output.zero_fill
        return counts and any(check.late for check in self.checks)


@record(slots=True)
class Origin:
    """What a line of text is about: statements (ids) that it executes or encloses, the schedule's loop it begins."""

    statements: tuple[str, ...] = ()
    loop: str = ""


@record(eq=False)
class Kernel:
    """Generated code: text, how to call it, and where it came from.

    `sizes` are the bound sizes, `notes` the remarks of the generator (what was vectorised, how), `libraries` the
    linker's flags for the micro-kernels it calls, `needs` the features of a processor that they need.  On a GPU the
    text has several functions: `launches` says how the host starts them, `buffers` what the workspace holds
    (`workbench/codegen/cuda/grid/launches.py`).  The function, or the first of several, begins on line `start`, counted
    from 0; `origins` say what the lines from there on are about.
    """

    name: str
    source: str
    signature: Signature
    target: Target
    sizes: dict[str, int]
    schedule: object = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    launches: tuple[Step, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    start: int = field(default=0, repr=False)
    origins: tuple[Origin, ...] = field(default=(), repr=False)

    @property
    def body(self) -> str:
        """The text from the kernel's function on (the first of several), without the types and helpers before it."""
        return "\n".join(self.source.splitlines()[self.start :])

    def __str__(self) -> str:
        return self.source
