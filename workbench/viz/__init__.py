"""Pictures: a value becomes plain data, then SVG, HTML, PNG and text; no JavaScript, nothing from the network.

Each view shows one side of a value and returns a `Picture`: `domain`, `order`, `tree`, `code`, `formula`, `sheet`;
`footprint` and `roofline` count bytes, `explain` measures and reads machine code, `diff` and `fusion` compare,
`replay` and `cells` look at single instances, `lanes`, `warps` and `banks` at a GPU.  `picture` puts together what a
cell shows, `mimebundle` is that for a notebook.  A name is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.deferred import deferred

if TYPE_CHECKING:
    from workbench.viz.banks_view import banks
    from workbench.viz.cells_view import cells
    from workbench.viz.code_view import code
    from workbench.viz.diff_view import diff
    from workbench.viz.display import mimebundle, picture
    from workbench.viz.domain_view import domain
    from workbench.viz.explanation_view import explain
    from workbench.viz.footprint_view import footprint
    from workbench.viz.formula_view import formula
    from workbench.viz.fusion_view import fusion
    from workbench.viz.lanes_view import lanes
    from workbench.viz.order_view import order
    from workbench.viz.pictures import Picture
    from workbench.viz.replay_view import Replay, replay
    from workbench.viz.roofline_view import roofline
    from workbench.viz.sheet_view import sheet
    from workbench.viz.tree_view import tree
    from workbench.viz.warps_view import warps

# Public name → module.
NAMES = {
    "Picture": "pictures",
    "Replay": "replay_view",
    "banks": "banks_view",
    "cells": "cells_view",
    "code": "code_view",
    "diff": "diff_view",
    "domain": "domain_view",
    "explain": "explanation_view",
    "footprint": "footprint_view",
    "formula": "formula_view",
    "fusion": "fusion_view",
    "lanes": "lanes_view",
    "mimebundle": "display",
    "order": "order_view",
    "picture": "display",
    "replay": "replay_view",
    "roofline": "roofline_view",
    "sheet": "sheet_view",
    "tree": "tree_view",
    "warps": "warps_view",
}

__all__ = [
    "Picture", "Replay", "banks", "cells", "code", "diff", "domain", "explain", "footprint", "formula", "fusion",
    "lanes", "mimebundle", "order", "picture", "replay", "roofline", "sheet", "tree", "warps",
]  # fmt: skip


__getattr__ = deferred(__name__, NAMES)


def __dir__() -> list[str]:
    return sorted(__all__)
