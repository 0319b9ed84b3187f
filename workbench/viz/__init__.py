"""Pictures: a value becomes plain data, then SVG, HTML, PNG and text; no JavaScript, nothing from the network.

Each view shows one side of a value and returns a `Picture`: `domain`, `order`, `tree`, `code`, `formula`, `sheet`;
`dataflow` shows what statements hand on; `footprint` and `roofline` count bytes, `ladder` sets rates side by side,
`explain` measures and reads machine code, `diff` and `fusion` compare, `replay` and `cells` look at single instances,
`lanes`, `warps` and `banks` at a GPU.  `graph` shows what a model computes of what, `timeline` when, `arena` in which
memory.  `picture` puts together what a cell shows, `mimebundle` is that for a notebook.  A name is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.face import deferred

if TYPE_CHECKING:
    from workbench.viz.draw.pictures import Picture
    from workbench.viz.notebook.display import mimebundle, picture
    from workbench.viz.views.domain.cells_view import cells
    from workbench.viz.views.domain.domain_view import domain
    from workbench.viz.views.domain.lanes_view import lanes
    from workbench.viz.views.domain.order_view import order
    from workbench.viz.views.domain.replay_view import Replay, replay
    from workbench.viz.views.gpu.banks_view import banks
    from workbench.viz.views.gpu.warps_view import warps
    from workbench.viz.views.models.arena_view import arena
    from workbench.viz.views.models.graph_view import graph
    from workbench.viz.views.models.timeline_view import timeline
    from workbench.viz.views.performance.explanation_view import explain
    from workbench.viz.views.performance.footprint_view import footprint
    from workbench.viz.views.performance.fusion_view import fusion
    from workbench.viz.views.performance.ladder_view import ladder
    from workbench.viz.views.performance.roofline_view import roofline
    from workbench.viz.views.program.code_view import code
    from workbench.viz.views.program.dataflow_view import dataflow
    from workbench.viz.views.program.diff_view import diff
    from workbench.viz.views.program.formula_view import formula
    from workbench.viz.views.program.tree_view import tree
    from workbench.viz.views.values.value_sheet import sheet

# Public name → module.
NAMES = {
    "Picture": "draw.pictures",
    "Replay": "views.domain.replay_view",
    "arena": "views.models.arena_view",
    "banks": "views.gpu.banks_view",
    "cells": "views.domain.cells_view",
    "code": "views.program.code_view",
    "dataflow": "views.program.dataflow_view",
    "diff": "views.program.diff_view",
    "domain": "views.domain.domain_view",
    "explain": "views.performance.explanation_view",
    "footprint": "views.performance.footprint_view",
    "formula": "views.program.formula_view",
    "fusion": "views.performance.fusion_view",
    "graph": "views.models.graph_view",
    "ladder": "views.performance.ladder_view",
    "lanes": "views.domain.lanes_view",
    "mimebundle": "notebook.display",
    "order": "views.domain.order_view",
    "picture": "notebook.display",
    "replay": "views.domain.replay_view",
    "roofline": "views.performance.roofline_view",
    "sheet": "views.values.value_sheet",
    "timeline": "views.models.timeline_view",
    "tree": "views.program.tree_view",
    "warps": "views.gpu.warps_view",
}

__all__ = [
    "Picture", "Replay", "arena", "banks", "cells", "code", "dataflow", "diff", "domain", "explain", "footprint",
    "formula", "fusion", "graph", "ladder", "lanes", "mimebundle", "order", "picture", "replay", "roofline", "sheet",
    "timeline", "tree",
    "warps",
]  # fmt: skip


__getattr__ = deferred(__name__, NAMES)


def __dir__() -> list[str]:
    return sorted(__all__)
