"""Lanes: every innermost nest is vectorised along memory."""

from __future__ import annotations

from workbench.poly.program import Program
from workbench.poly.tree import Band, Tree, path, statements
from workbench.schedules.blocking import at_least
from workbench.schedules.edit import at, children, leaf_path
from workbench.schedules.recipes.attempt import attempt, dim_of
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import interchange, tile, vectorize
from workbench.schedules.structure import structure
from workbench.schedules.transform import Transform
from workbench.target import Target


def vectorized(schedule: Schedule, blocked: set[str], target: Target) -> Schedule:
    """Lanes for every innermost nest that has none yet."""
    for identifier in [s.id for s in schedule.program.statements]:
        loops = path(schedule.tree, identifier)
        if identifier in blocked or not loops or any(x.kind == "vector" for x in loops):
            continue
        band = at(schedule.tree, innermost(schedule.tree, identifier))
        if isinstance(band, Band) and not any(isinstance(c, Band) for c in descend(band.child)):
            schedule = lanes(schedule, band, target)
    return schedule


def innermost(tree: Tree, identifier: str) -> tuple[int, ...]:
    """The path of the innermost band around a statement."""
    place = leaf_path(tree, identifier)
    for depth in range(len(place), -1, -1):
        if isinstance(at(tree, place[:depth]), Band):
            return place[:depth]
    return ()


def descend(tree: Tree) -> list[Tree]:
    """The tree and everything below it."""
    return [tree, *(x for child in children(tree) for x in descend(child))]


def lanes(schedule: Schedule, band: Band, target: Target) -> Schedule:
    """Vectorise the loop along which most accesses are neighbours, moved innermost if need be."""
    program, ids = schedule.program, statements(band)
    scored = [(score(program, band, i, ids), i) for i in range(len(band.loops))]
    for value, position in sorted(scored, reverse=True):
        crossing = crossed(program, band, position, ids)
        if value <= 0 and not crossing:
            return schedule
        for steps in options(program, band, position, crossing, target):
            after = attempt(schedule, *steps)
            if after is not schedule:
                return after
    return schedule


def options(
    program: Program, band: Band, position: int, crossing: str | None, target: Target
) -> list[list[Transform]]:
    """Ways to put one loop of a band into lanes: across a small square if an access crosses it, else innermost."""
    place = f"{program.statement(statements(band)[-1]).name}/"
    names = [place + x.name for x in band.loops]
    own = names[position]
    found: list[list[Transform]] = []
    if crossing is not None:
        side = target.lanes(32)
        found.append([tile({place + crossing: side, own: side}), vectorize(f"{own}_i")])
    moved = names[:position] + names[position + 1 :] + [own]
    reorder: list[Transform] = [interchange(*moved)] if moved != names else []
    return [*found, [*reorder, vectorize(own)]]


def score(program: Program, band: Band, position: int, ids: tuple[str, ...]) -> int:
    """Accesses that walk along memory with a loop of the band, minus those that jump."""
    total = 0
    for s in ids:
        dim = dim_of(band, position, s)
        if dim is None or not at_least(structure(program, s).trip(dim), 4):
            return 0
        total += structure(program, s).contiguous(dim)
    return total


def crossed(program: Program, band: Band, position: int, ids: tuple[str, ...]) -> str | None:
    """Another loop of the band along which an access walks that jumps along this one (a transposition).

    Only where what is written walks along this one: writes should fill whole cache lines.
    """
    for s in ids:
        dim = dim_of(band, position, s)
        if dim is None or any(w.along(dim) != 1 for w in structure(program, s).writes):
            return None
    for other, loop in enumerate(band.loops):
        for s in ids:
            dim, across = dim_of(band, position, s), dim_of(band, other, s)
            reads = structure(program, s).reads
            if (
                dim
                and across
                and dim != across
                and any(r.along(across) == 1 and r.along(dim) not in (0, 1) for r in reads)
            ):
                return loop.name
    return None
