"""`pipeline`: loads run ahead of the iteration that uses them (software pipelining)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from workbench.errors import ScheduleError, shown
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const
from workbench.poly.derive.partitioning import separate_instances
from workbench.poly.programs.marks import AsyncCopies
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Mark, Tree, statements
from workbench.records import record
from workbench.schedules.arguments import whole
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import Site, find_loop, leaf_path, put, rest_of, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.storage.double_buffer import slotted
from workbench.schedules.steps.support.dividing import apart, depth_of
from workbench.schedules.steps.support.judged_against_now import standard_of
from workbench.schedules.transform import Transform

MOST_STAGES = 64


@record
class Pipeline(Transform):
    """Load the buffers of a loop `stages - 1` iterations ahead, into as many places used in turn.

    before → after:  for k_o: { load(k_o); compute(k_o) }
                     → load(0);  for k_o: { load(k_o + 1); compute(k_o) }        pipeline("k_o", stages=2)

    The loads of the first iterations become the prologue (`.prologue`); in the last ones there is nothing to load.
    On a CPU this gives the hardware something to do while it waits.  With `async_=True` the loads of an iteration are a
    group of asynchronous copies, waited for before the first use (the tree marks them `async`): a GPU needs no register
    for them, C makes them synchronously.  Legal as long as what is loaded does not change meanwhile, which is the same
    question for both.  TVM's software_pipeline_stage and software_pipeline_async_stages.
    """

    name: ClassVar[str] = "pipeline"
    loop: str
    stages: int = 2
    async_: bool = False

    def apply(self, schedule: Schedule) -> Schedule:
        self._check()
        site = find_loop(schedule.program, schedule.tree, self.loop)
        loads = loading(schedule.program, schedule.tree, site)
        if not loads:
            raise ScheduleError(f"{self}: nothing in {site.loop.name} loads a buffer of one iteration; stage first")
        program = schedule.program
        for buffer in dict.fromkeys(loads.values()):
            program = slotted(program, schedule.tree, self, buffer, self.stages)
        ahead = replace(schedule, program=program, tree=_earlier(schedule.tree, site, set(loads), self.stages - 1))
        site = find_loop(ahead.program, ahead.tree, self.loop)
        depth = depth_of(ahead.tree, site)
        first = separate_instances(ahead.program, ahead.tree, tuple(loads), statements(rest_of(site)), depth)
        after = apart(ahead, self, site, first, ("prologue", "body"), others=1, standard=standard_of(schedule))
        made = replace(after.program, parent=schedule.program)
        tree = _asynchronous(made, after.tree, set(loads.values())) if self.async_ else after.tree
        return replace(after, program=made, tree=tree, trace=(*schedule.trace, self))

    def _check(self) -> None:
        if not isinstance(self.stages, int) or isinstance(self.stages, bool) or not 2 <= self.stages <= MOST_STAGES:
            raise ScheduleError(f"pipeline: stages={shown(self.stages)} does not fit; expected 2 to {MOST_STAGES}")
        if not isinstance(self.async_, bool):
            raise ScheduleError(f"pipeline: async_={shown(self.async_)} does not fit; expected True or False")

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Pipeline]:
        for site in sites(schedule.tree):
            if loading(schedule.program, schedule.tree, site):
                yield cls(spelt(schedule.program, schedule.tree, site))
                yield cls(spelt(schedule.program, schedule.tree, site), async_=True)

    def __str__(self) -> str:
        stages = f", stages={self.stages}" if self.stages != 2 else ""
        return f"pipeline({self.loop!r}{stages}{', async_=True' if self.async_ else ''})"


def loading(program: Program, tree: Tree, site: Site) -> dict[str, str]:
    """Statements (ids) that fill a buffer of one iteration of the loop from elsewhere, and the buffers."""
    inside, depth = statements(rest_of(site)), depth_of(tree, site)
    written = {a.array for s in inside for a in program.statement(s).writes}
    found = {}
    for own in (program.statement(s) for s in inside):
        array = program.arrays[own.writes[0].array]
        if len(own.writes) != 1 or own.kind == "update" or array.scope != "local" or array.times != depth:
            continue
        if own.reads and not any(a.array in written for a in own.reads):
            found[own.id] = array.name
    others = {a.array for s in inside if s not in found for a in program.statement(s).writes}
    return {s: a for s, a in found.items() if a not in others}


def _earlier(tree: Tree, site: Site, loads: set[str], ahead: int) -> Tree:
    """The tree with some statements so many iterations earlier."""
    rows = tuple(
        (s, simplify(Binary("-", row, Const(ahead, INT64), INT64)) if s in loads else row) for s, row in site.loop.rows
    )
    own = list(site.band.loops)
    own[site.position] = replace(site.loop, rows=rows)
    return put(tree, site.path, Band(tuple(own), site.band.child))


def _asynchronous(program: Program, tree: Tree, buffers: set[str]) -> Tree:
    """The tree with what fills some buffers marked as asynchronous copies."""
    for s in statements(tree):
        if program.statement(s).writes[0].array in buffers:
            tree = put(tree, leaf_path(tree, s), Mark(AsyncCopies(), Leaf(s)))
    return tree


@takes_choices
def pipeline(loop: str, /, stages: int = 2, async_: bool = False) -> Pipeline:
    """Load the buffers that belong to iterations of `loop` `stages - 1` iterations ahead of their use."""
    return Pipeline(loop, whole(stages), async_)
