"""Bytes and operations for the front end: footprints of loops, the way to the current schedule on a roofline."""

from __future__ import annotations

from typing import Any

from workbench import poly
from workbench.errors import BudgetExceeded, WorkbenchError
from workbench.poly import isl
from workbench.poly.footprints import LoopFootprint, loop_footprints
from workbench.poly.program import Program
from workbench.poly.tree import Tree
from workbench.runtime import roofs
from workbench.schedules import Schedule
from workbench.viz.panels.assumed import with_sizes
from workbench.viz.panels.traffic import estimated_traffic, every_touch, node_rows, numbers

SECONDS = 1.0
MOST_SECONDS = 30.0


def footprint_payload(schedule: Schedule, seconds: float = SECONDS) -> dict[str, Any]:
    """A row for everything and for every loop, with what an iteration holds and what all move; exact, if time allows.

    `exact` says which; of an estimate neither iterations nor reuse are known.  `reason` says why there is nothing.
    """
    base, note = with_sizes(schedule)
    if base is None:
        return {"reason": note}
    program, tree = base.program, base.tree
    shared = {
        "note": note, "touches": [every_touch(program, s.id) for s in program.statements], "flops": poly.flops(program),
    }  # fmt: skip
    try:
        with isl.deadline(min(float(seconds), MOST_SECONDS)):
            rows = _exact(program, tree)
        return {**shared, "exact": True, "rows": rows}
    except BudgetExceeded:
        return {**shared, "exact": False, "rows": _estimated(program, tree)}
    except WorkbenchError as error:
        return {"reason": str(error)}


def _exact(program: Program, tree: Tree) -> list[dict[str, Any]]:
    found = loop_footprints(program, tree)
    places: dict[tuple[Any, ...], int] = {}
    rows = []
    for at, one in enumerate(found):
        parent = places.get(one.path[:-1], 0) if one.path else -1
        rows.append({**_row(one), "parent": parent, "statements": numbers(program, one.statements)})
        places[one.path] = at
    return rows


def _row(one: LoopFootprint) -> dict[str, Any]:
    loop = one.path[-1] if one.path else None
    return {
        "loop": loop.name if loop else "", "kind": loop.kind if loop else "", "depth": len(one.path),
        "held": one.held_bytes, "moved": one.moved_bytes, "iterations": one.iterations,
        "arrays": [
            {"name": a.array, "held": a.held_bytes, "moved": a.moved_bytes, "reuse": round(a.reuse, 2)}
            for a in one.arrays
        ],
    }  # fmt: skip


def _estimated(program: Program, tree: Tree) -> list[dict[str, Any]]:
    nodes = estimated_traffic(program, tree)
    depth: list[int] = []
    for n in nodes:
        depth.append(0 if n.parent < 0 else depth[n.parent] + 1)
    return [
        {
            "loop": n.loop, "kind": "", "depth": depth[i], "iterations": 0,
            "held": n.held_bytes, "moved": n.moved_bytes,
            "arrays": [{"name": a, "held": held, "moved": moved, "reuse": 0} for a, held, moved in n.arrays],
            "parent": n.parent, "statements": numbers(program, n.statements),
        }
        for i, n in enumerate(nodes)
    ]  # fmt: skip


def roofline_payload(way: list[tuple[str, Schedule]], *, measure: bool = False) -> dict[str, Any]:
    """The schedules of a way, the first one naive, each with its traffic by boxes; the ceilings if they are known.

    `measure` measures this machine's first, within some seconds.
    """
    found, notes = [], []
    for name, schedule in way:
        base, note = with_sizes(schedule)
        if base is None:
            continue
        notes.append(note)
        found.append({
            "name": name, "flops": poly.flops(base.program),
            "touches": [every_touch(base.program, s.id) for s in base.program.statements],
            "nodes": node_rows(base),
        })  # fmt: skip
    if not found or not found[-1]["flops"]:
        return {"reason": "nothing here computes with floating-point numbers, or its sizes are not known"}
    known = roofs.ceilings() if measure else roofs.known_ceilings()
    told = None if known is None else {
        "flops": known.flops_per_second, "bytes": dict(known.bytes_per_second), "origin": known.origin,
    }  # fmt: skip
    return {"points": found, "ceilings": told, "note": next(filter(None, notes), "")}
