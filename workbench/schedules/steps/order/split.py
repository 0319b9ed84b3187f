"""`split`: one loop becomes two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Binary, Expr, integer
from workbench.poly.programs.loop_names import LoopName, in_block, over_blocks
from workbench.poly.programs.tree import Band, Loop
from workbench.records import record
from workbench.schedules.arguments import block_size, name_pair, whole
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import find_loop, put, require_new, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.block_sizes import dividing_sizes
from workbench.schedules.transform import Transform

SIZES = (4, 8, 16, 32, 64)


@record
class Split(Transform):
    """Divide one loop into blocks of `size` iterations.

    before → after:  for m: S   →   for m_o = m / size: for m_i = m % size: S

    Always legal: the order of instances does not change.
    """

    name: ClassVar[str] = "split"
    loop: str
    size: int
    names: tuple[str, str] | None = None

    @property
    def outer(self) -> LoopName:
        """The loop over blocks that it makes."""
        return half(self.loop, self.names, 0)

    @property
    def inner(self) -> LoopName:
        """The loop inside a block that it makes."""
        return half(self.loop, self.names, 1)

    def halves(self) -> tuple[tuple[LoopName, LoopName], ...]:
        return tuple((LoopName(self.loop), half) for half in (self.outer, self.inner))

    def apply(self, schedule: Schedule) -> Schedule:
        site = find_loop(schedule.program, schedule.tree, self.loop)
        outer, inner = divided(site.loop, self.size, self.names)
        require_new(schedule.tree, site, [outer.name, inner.name], [site.loop.name])
        own = site.band.loops
        new = (*own[: site.position], outer, inner, *own[site.position + 1 :])
        return schedule.with_tree(put(schedule.tree, site.path, Band(new, site.band.child)), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Split]:
        for site in sites(schedule.tree):
            for size in dividing_sizes(schedule, site.loop, SIZES):
                yield cls(spelt(schedule.program, schedule.tree, site), size)

    def __str__(self) -> str:
        names = f", names={self.names!r}" if self.names else ""
        return f"split({self.loop!r}, {self.size}{names})"


def half(loop: str, names: tuple[str, str] | None, which: int) -> LoopName:
    """The loop over the blocks of a divided loop (0), or the one inside a block (1)."""
    whole = LoopName(loop)
    return whole.beside(names[which]) if names else (whole.outer, whole.inner)[which]


def divided(loop: Loop, size: int, names: tuple[str, str] | None) -> tuple[Loop, Loop]:
    """The block loop and the point loop."""
    block_size(loop.name, size)
    outer_name, inner_name = name_pair(loop.name, names or (over_blocks(loop.name), in_block(loop.name)))
    outer = Loop(outer_name, tuple((s, _over("/", row, size)) for s, row in loop.rows))
    inner = Loop(inner_name, tuple((s, _over("%", row, size)) for s, row in loop.rows))
    return outer, replace(inner, kind=loop.kind)


def _over(op: str, row: Expr, size: int) -> Expr:
    return simplify(Binary(op, row, integer(size), INT32), INT32)


@takes_choices
def split(loop: str, size: int, /, names: tuple[str, str] | None = None) -> Split:
    """Divide `loop` into blocks: `m` becomes `m_o` and `m_i` (or `names`)."""
    return Split(loop, whole(size), None if names is None else name_pair(loop, names))
