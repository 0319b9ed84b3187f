"""What a panel works out only when a pane asks for it: other languages, bytes, warps, rooflines, films."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from workbench import poly
from workbench.errors import BudgetExceeded, WorkbenchError, unknown_name
from workbench.poly.count.counting import every_touch
from workbench.poly.count.footprints import LoopFootprint, loop_footprints
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree, loops
from workbench.poly.sets import isl
from workbench.poly.threads.grid import is_thread
from workbench.poly.threads.warps import WarpAccess
from workbench.runtime.measuring import roofs
from workbench.schedules import Schedule
from workbench.schedules.analysis.gpu_reports import bank_conflicts, coalescing
from workbench.viz.messages.counting import (
    Ceilings,
    Footprints,
    LoopRow,
    Roofline,
    Spent,
    Unknown,
    Warps,
    WarpTouch,
)  # fmt: skip
from workbench.viz.messages.drawn import Chosen, Code
from workbench.viz.messages.modelling import ModelPicture
from workbench.viz.messages.stepping import Film
from workbench.viz.panels.assumed import with_sizes
from workbench.viz.panels.code.compiling import chosen_code
from workbench.viz.panels.code.listing import code_payload
from workbench.viz.panels.domain.traffic import estimated_traffic, node_rows, numbers

if TYPE_CHECKING:
    from workbench.viz.panels.exporting.exports import Exports
    from workbench.viz.panels.measuring.measuring import Measuring
    from workbench.viz.panels.models.networks import Network
    from workbench.viz.panels.watching import Watching
    from workbench.viz.panels.widget import Panel


FORMATS = {"gif": "image/gif", "html": "text/html"}


def view(panel: Panel, name: str, **given: Any) -> Any:
    """The data of one lazy view of what the panel shows; WorkbenchError that lists the known ones."""
    if name not in VIEWS:
        raise WorkbenchError(unknown_name("view", name, list(VIEWS)))
    return VIEWS[name](panel, **given)


def _code(language: str) -> Callable[[Panel], Code]:
    return lambda panel: code_payload(panel.schedule, language, panel.target)


def _texts(panel: Panel, chosen: Chosen) -> dict[str, Code]:
    """The columns of the code pane that chose a compiler, flags or a machine: the known ones, and this one."""
    key = json.dumps(dict(sorted(chosen.items())), separators=(",", ":"))
    return {**panel.views.get("texts", {}), key: chosen_code(panel.schedule, panel.target, chosen)}


def _footprint(panel: Panel, seconds: float = 1.0) -> Footprints | Unknown:
    return footprint_payload(panel.schedule, seconds)


def _roofline(panel: Panel, *, measure: bool = False) -> Roofline | Unknown:
    history = panel.history
    named = [(steps[-1] if steps else "naive", made) for steps, made in history.way]
    return roofline_payload(named, measure=measure, places=history.places)


def _dataflow(panel: Panel) -> ModelPicture | Unknown:
    from workbench.viz.panels.models.flow import dataflow_payload

    return dataflow_payload(panel.schedule)


VIEWS: dict[str, Callable[..., Any]] = {
    **{language: _code(language) for language in ("CUDA", "HIP", "assembly", "PTX", "SASS")},
    "texts": _texts,
    "footprint": _footprint,
    "roofline": _roofline,
    "warps": lambda panel: warps_payload(panel.schedule),
    "dataflow": _dataflow,
}


def watched(panel: Panel) -> Watching:
    """The study that a panel shows; WorkbenchError where it shows none."""
    if panel.watching is None or not hasattr(panel.watching, "study"):
        raise WorkbenchError("this panel shows no study: wb.panel(study) makes one that does")
    return cast("Watching", panel.watching)


def modelled(panel: Panel) -> Network:
    """The model that a panel shows; WorkbenchError where it shows none."""
    if panel.watching is None or not hasattr(panel.watching, "folds"):
        raise WorkbenchError("this panel shows no model: wb.panel(model) makes one that does")
    return cast("Network", panel.watching)


def exports(panel: Panel) -> Exports:
    """The exports of a panel, which are there once somebody asks: their modules take longer than a panel does."""
    if panel.exports is None:
        from workbench.viz.panels.exporting.exports import Exports

        panel.exports = Exports(panel)
    return panel.exports


def measuring(panel: Panel) -> Measuring:
    """The measurements of a panel, which are there once somebody asks, as exports are."""
    if panel.measuring is None:
        from workbench.viz.panels.measuring.measuring import Measuring

        panel.measuring = Measuring(panel)
    return panel.measuring


def film(panel: Panel, kind: str) -> Film:
    """The execution as a file: an animated GIF, or a page with a time slider (base64)."""
    from workbench.viz.views.domain.replay_view import replay

    if kind not in FORMATS:
        raise WorkbenchError(unknown_name("format", kind, list(FORMATS)))
    made = replay(panel.schedule, sizes=panel.sizes, target=panel.target)
    data = made.gif() if kind == "gif" else made.player.encode()
    return {"name": f"{panel.title}.{kind}", "type": FORMATS[kind], "data": b64encode(data).decode()}


# -- Accesses of warps for the front end: the costliest one of each, lane by lane --

def warps_payload(schedule: Schedule) -> Warps | Unknown:
    """Accesses to global memory in sectors and to shared memory in turns; `reason` where there are no threads."""
    if not any(is_thread(loop.kind) for loop in loops(schedule.tree)):
        return {"reason": "no loop is bound to threads: take bind(loop, 'thread.x') and bind(loop, 'block.x') first"}
    base, note = with_sizes(schedule)
    if base is None:
        return {"reason": note}
    try:
        found = [*coalescing(base).accesses, *bank_conflicts(base).accesses]
    except WorkbenchError as error:
        return {"reason": str(error)}
    return {"note": note, "accesses": [_access(a) for a in found]}


def _access(one: WarpAccess) -> WarpTouch:
    return {
        "statement": one.statement, "array": one.array, "kind": one.kind, "memory": one.memory, "text": one.text,
        "bytes": one.element_bytes, "requests": one.requests, "average": round(one.average, 2), "worst": one.worst,
        "efficiency": round(one.efficiency, 3), "complete": one.complete, "lanes": list(one.lanes),
    }  # fmt: skip


# -- Bytes and operations for the front end: footprints of loops, the way to the current schedule on a roofline --

SECONDS = 1.0
MOST_SECONDS = 30.0


def footprint_payload(schedule: Schedule, seconds: float = SECONDS) -> Footprints | Unknown:
    """A row for everything and for every loop, with what an iteration holds and what all move; exact, if time allows.

    `exact` says which; of an estimate neither iterations nor reuse are known.  `reason` says why there is nothing.
    """
    base, note = with_sizes(schedule)
    if base is None:
        return {"reason": note}
    program, tree = base.program, base.tree
    touches = [every_touch(program, s.id) for s in program.statements]
    shared: Footprints = {"note": note, "touches": touches, "flops": poly.flops(program), "exact": True, "rows": []}
    try:
        with isl.deadline(min(float(seconds), MOST_SECONDS)):
            rows = _exact(program, tree)
        return {**shared, "rows": rows}
    except BudgetExceeded:
        return {**shared, "exact": False, "rows": _estimated(program, tree)}
    except WorkbenchError as error:
        return {"reason": str(error)}


def _exact(program: Program, tree: Tree) -> list[LoopRow]:
    found = loop_footprints(program, tree)
    places: dict[tuple[Any, ...], int] = {}
    rows: list[LoopRow] = []
    for at, one in enumerate(found):
        parent = places.get(one.path[:-1], 0) if one.path else -1
        rows.append(_row(one, parent, numbers(program, one.statements)))
        places[one.path] = at
    return rows


def _row(one: LoopFootprint, parent: int, statements: list[int]) -> LoopRow:
    loop = one.path[-1] if one.path else None
    return {
        "loop": loop.name if loop else "", "kind": loop.kind if loop else "", "depth": len(one.path),
        "held": one.held_bytes, "moved": one.moved_bytes, "iterations": one.iterations,
        "parent": parent, "statements": statements,
        "arrays": [
            {"name": a.array, "held": a.held_bytes, "moved": a.moved_bytes, "reuse": round(a.reuse, 2)}
            for a in one.arrays
        ],
    }  # fmt: skip


def _estimated(program: Program, tree: Tree) -> list[LoopRow]:
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


def roofline_payload(
    way: list[tuple[str, Schedule]], *, measure: bool = False, places: Sequence[int] = ()
) -> Roofline | Unknown:  # fmt: skip
    """The schedules of a way, the first one naive, each with its traffic by boxes; the ceilings if they are known.

    `measure` measures this machine's first, within some seconds; `places` are those of the schedules in a history.
    """
    found: list[Spent] = []
    notes: list[str] = []
    for place, (name, schedule) in zip(places or range(len(way)), way, strict=True):
        base, note = with_sizes(schedule)
        if base is None:
            continue
        notes.append(note)
        found.append({
            "name": name, "place": place, "flops": poly.flops(base.program),
            "touches": [every_touch(base.program, s.id) for s in base.program.statements],
            "nodes": node_rows(base),
        })  # fmt: skip
    if not found or not found[-1]["flops"]:
        return {"reason": "nothing here computes with floating-point numbers, or its sizes are not known"}
    known = roofs.ceilings() if measure else roofs.known_ceilings()
    told = ceilings_payload(known) if known else None
    return {"points": found, "ceilings": told, "note": next(filter(None, notes), "")}


def ceilings_payload(known: roofs.Ceilings) -> Ceilings:
    """The ceilings of a machine for the front end."""
    return {"flops": known.flops_per_second, "bytes": dict(known.bytes_per_second), "origin": known.origin}
