"""`replace`: an inner part of a nest becomes a call of a micro-kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench import poly
from workbench.errors import ScheduleError, shown
from workbench.lang.expr import Read, index_names
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.marks import ExecutedBy
from workbench.poly.programs.program import ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Tree, path, statements
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import find_loop, put, sites, spelt
from workbench.schedules.kernels.lane_instructions import LaneInstruction, lane_fit
from workbench.schedules.kernels.matching import Fit, Work, fit
from workbench.schedules.kernels.micro_kernels import MicroKernel, ProcessorKernel, known_kernels, registered
from workbench.schedules.kernels.tile_instructions import TileInstruction, tile_fit
from workbench.schedules.kernels.warp_fits import WarpFit, warp_fit
from workbench.schedules.kernels.warp_instructions import WarpInstruction
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform


@record
class Replace(Transform):
    """A loop and all inside it are executed by a micro-kernel.

    before → after:  for m_i, n_i, k_i: C(m, n) += A(m, k) * B(k, n)   →   kernel(&A, …, &B, …, &C, …, sizes)

    Legal when the part computes the micro-kernel's definition on blocks that strides describe, and no dependence but
    those of its reduction joins two of its iterations: the kernel may execute them in any order.  Where the kernel is
    written for fixed sizes, partial blocks are executed by the loops.  An instruction of a warp (a tensor core's) takes
    the loops inside those bound to its lanes, one in the lanes of a register (`vpdpbusd`) the loop over a group inside
    the vector loop, one that multiplies tiles (`wb_tdpbssd`) the loops over rows, columns, groups and a group: operands
    that do not lie in its order are multiplied by the loops.  PolyDL's idea (Tavarageri et al., 2020); TVM's tensorize.
    """

    name: ClassVar[str] = "replace"
    loop: str
    kernel: str

    def apply(self, schedule: Schedule) -> Schedule:
        program, tree, kernel = schedule.program, schedule.tree, registered(self.kernel)
        site = find_loop(program, tree, self.loop)
        part = Band(site.band.loops[site.position :], site.band.child)
        s, inner = single(schedule, part, self)
        lanes = next((x.name for x in path(tree, s.id)[: -len(inner)] if x.kind == "vector"), None)
        if lanes is not None and not isinstance(kernel, LaneInstruction):
            raise ScheduleError(f"{self}: {lanes} outside runs in lanes, where nothing can be called")
        found = matched(schedule, s, inner, kernel)
        if isinstance(found, str):
            raise ScheduleError(f"{self}: {found}")
        for loop in inner:
            if not poly.can_vectorize(program, tree, loop_of(s.name, loop.name)):
                raise ScheduleError(f"{self}: iterations of {loop.name} depend on one another")
        new: Tree = Mark(ExecutedBy(self.kernel), part)
        outer = site.band.loops[: site.position]
        return schedule.with_tree(put(tree, site.path, Band(outer, new) if outer else new), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Replace]:
        for site in sites(schedule.tree):
            part = Band(site.band.loops[site.position :], site.band.child)
            if not isinstance(part.child, Leaf):
                continue
            around = path(schedule.tree, statements(part)[0])[: -len(part.loops)]
            if any(x.kind == "vector" for x in around):
                continue
            own = schedule.program.statement(statements(part)[0])
            for kernel in known_kernels():
                asked = isinstance(kernel, WarpInstruction) and kernel.mantissa
                if asked or isinstance(kernel, ProcessorKernel):
                    continue  # it rounds, or needs a machine that is not known here: for who asks
                if isinstance(matched(schedule, own, part.loops, kernel), Fit | WarpFit):
                    yield cls(spelt(schedule.program, schedule.tree, site), kernel.name)

    def __str__(self) -> str:
        return f"replace({self.loop!r}, {self.kernel!r})"


def single(schedule: Schedule, part: Band, step: Replace) -> tuple[ProgramStatement, tuple[Loop, ...]]:
    """The one statement of a part and the loops around it there."""
    if not isinstance(part.child, Leaf):
        names = ", ".join(schedule.program.statement(s).name for s in statements(part))
        raise ScheduleError(f"{step}: a micro-kernel replaces loops around one statement; here stand {names}")
    return schedule.program.statement(part.child.statement), part.loops


def matched(
    schedule: Schedule, s: ProgramStatement, inner: tuple[Loop, ...], kernel: MicroKernel
) -> Fit | WarpFit | tuple[Read, Read] | str:
    """How the statement, moved by these loops, fits the kernel."""
    if isinstance(kernel, WarpInstruction):
        return warp_fit(kernel, s, inner, path(schedule.tree, s.id)[: -len(inner)], schedule.program.arrays)
    if isinstance(kernel, LaneInstruction):
        return lane_fit(kernel, s, inner, path(schedule.tree, s.id)[: -len(inner)])
    if isinstance(kernel, TileInstruction):
        return tile_fit(kernel, s, inner)
    dims = [index_names(loop.row(s.id)) & set(s.dims) for loop in inner]
    if len(s.targets) != 1 or any(len(d) != 1 for d in dims) or len(set.union(*dims)) < len(dims):
        return f"the loops {', '.join(x.name for x in inner)} do not each run over a block of one dim of {s.name}"
    movers = tuple(next(iter(d)) for d in dims)
    reduction = s.reduction if s.kind == "update" else None
    return fit(kernel, Work(s.targets[0], s.values[0], reduction, movers), schedule.program.arrays)


@takes_choices
def replace(loop: str, kernel: str | MicroKernel, /) -> Replace:
    """Let a registered micro-kernel execute `loop` and all inside it."""
    if isinstance(kernel, MicroKernel):
        return Replace(loop, kernel.name)
    if not isinstance(kernel, str):
        raise ScheduleError(f"replace takes the name of a registered micro-kernel, not {shown(kernel)}")
    return Replace(loop, kernel)
