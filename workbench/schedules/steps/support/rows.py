"""Giving the iterations of a loop other dates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Expr
from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.loop_names import LoopName
from workbench.poly.programs.tree import Band, Loop
from workbench.schedules.arguments import moderate
from workbench.schedules.edit import Site, put
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform


def with_rows(
    schedule: Schedule, site: Site, name: str, change: Callable[[str, Expr], Expr], step: Transform
) -> Schedule:
    """The schedule with other rows for a loop: those of one statement if the name says so, else all.

    It takes the step, so it is asked once a step; one that changes several loops builds their band itself (`bands.py`).
    """
    statement = LoopName(name).statement
    only = statement_id(schedule.program, statement) if statement else None
    rows = tuple(
        (s, moderate(step, site.loop.name, simplify(change(s, row), INT64)) if only in (None, s) else row)
        for s, row in site.loop.rows
    )
    own: list[Loop] = list(site.band.loops)
    own[site.position] = replace(site.loop, rows=rows)
    return schedule.with_tree(put(schedule.tree, site.path, Band(tuple(own), site.band.child)), step)
