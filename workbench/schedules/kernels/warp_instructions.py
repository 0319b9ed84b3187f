"""Instructions that the 32 lanes of a warp execute together, as data.

    D(m,n) += A(m,k) * B(k,n)  for 16 x 8 cells and 16 contributions: mma.sync.aligned.m16n8k16

An instruction is its shape, its types, the place of each register's element, and its PTX.  Places are linear in the
bits of the lane's number and of the register's (Zhou et al. 2025, "Linear Layouts"): each bit adds so many rows and
columns.  From them follow what `replace` asks of a schedule, the loads of operands, and the function that executes the
instruction on a processor.  `wb.register` makes another one known.
"""

from __future__ import annotations

from workbench.errors import ScheduleError
from workbench.records import record
from workbench.schedules.kernels.micro_kernels import MicroKernel

LANES = 32
AXES = {"thread.x": 4, "thread.y": 8}
"""The threads of a warp: lane `x + 4*y`."""

Move = tuple[int, int]


@record
class Fragment:
    """Where the elements of one operand lie: the (row, column) that each bit of lane and register number adds."""

    lane: tuple[Move, ...] = ()
    register: tuple[Move, ...] = ()

    @property
    def registers(self) -> int:
        """Elements of one lane."""
        return 1 << len(self.register)

    def place(self, lane: int, register: int) -> Move:
        """Row and column of the element in a register of a lane."""
        moves = [m for i, m in enumerate(self.lane) if lane >> i & 1]
        moves += [m for i, m in enumerate(self.register) if register >> i & 1]
        return sum(m[0] for m in moves), sum(m[1] for m in moves)


@record
class WarpInstruction(MicroKernel):
    """One matrix instruction: `D(m,n) += A(m,k) * B(k,n)` for as many cells and contributions as `sizes` say.

    `source` is a CUDA function `void name(float *d, const uint32_t *a, const uint32_t *b)` around its PTX, for the
    registers of one lane.  `left`, `right` and `result` say which element lies in which register; `capability` is what
    a GPU must have; of each element of A and B `mantissa` bits are looked at (all, if 0).
    """

    left: Fragment = Fragment()
    right: Fragment = Fragment()
    result: Fragment = Fragment()
    capability: tuple[int, int] = (8, 0)
    mantissa: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        rows, columns, depth = self.shape
        for what, fragment, size in (
            ("left", self.left, rows * depth),
            ("right", self.right, depth * columns),
            ("result", self.result, rows * columns),
        ):
            places = {fragment.place(lane, r) for lane in range(LANES) for r in range(fragment.registers)}
            if len(fragment.lane) != 5 or len(places) != size or LANES * fragment.registers != size:
                raise ScheduleError(f"{self.name}: the places of {what} are not its {size} elements, each once")

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and contributions."""
        sizes = dict(self.sizes)
        return sizes["M"], sizes["N"], sizes["K"]
