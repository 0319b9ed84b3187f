"""`figure`: any view as a Matplotlib Figure, by its name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.viz.draw.palette import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Kind → "module:function" of its view.
KINDS = {
    "cells": "workbench.viz.views.domain.cells_view:cells",
    "code": "workbench.viz.views.program.code_view:code",
    "dataflow": "workbench.viz.views.program.dataflow_view:dataflow",
    "diff": "workbench.viz.views.program.diff_view:diff",
    "domain": "workbench.viz.views.domain.domain_view:domain",
    "footprint": "workbench.viz.views.performance.footprint_view:footprint",
    "fusion": "workbench.viz.views.performance.fusion_view:fusion",
    "graph": "workbench.viz.views.models.graph_view:graph",
    "order": "workbench.viz.views.domain.order_view:order",
    "roofline": "workbench.viz.views.performance.roofline_view:roofline",
    "timeline": "workbench.viz.views.models.timeline_view:timeline",
    "tree": "workbench.viz.views.program.tree_view:tree",
}


def figure(
    value: Any, kind: str = "domain", /, *, theme: Theme = "light", width: float | None = None, **asked: Any
) -> Figure:
    """A view of a schedule, program or kernel as a Matplotlib `Figure` of vector graphics, for a paper.

    `kind` names the view (`domain`, `order`, `tree`, `code`, `footprint`, ...), `asked` are its own arguments; `width`
    is in inches.  The figure is no part of pyplot's state: save it with `.savefig("figure.pdf")`.

    Raises WorkbenchError for a kind that does not exist, and what the view itself raises.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise WorkbenchError(f"figure: {unknown_name('kind', kind, KINDS)}")
    if theme not in ("light", "dark"):
        raise WorkbenchError(f"figure: {unknown_name('theme', theme, ['light', 'dark'])}")
    if width is not None and (not isinstance(width, int | float) or not 0 < width < 100):
        raise WorkbenchError(f"figure: width={shown(width)} does not fit; expected a number of inches up to 100")
    module, _, name = KINDS[kind].partition(":")
    return getattr(import_module(module), name)(value, **asked).figure(theme=theme, width=width)
