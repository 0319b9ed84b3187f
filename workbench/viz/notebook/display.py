"""What a cell shows of each value: views put together, with a text form and pictures in one bundle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.codegen.comparing import Comparison
from workbench.codegen.kernel import Kernel
from workbench.errors import WorkbenchError
from workbench.graph.engines.partitions import Partition
from workbench.graph.fusion.results import FusionResult
from workbench.graph.memory import MemoryPlan
from workbench.graph.models import Model
from workbench.graph.running.built_models import BuiltModel
from workbench.graph.running.profiling.profiles import Profile
from workbench.lang.operator import Operator
from workbench.ops.browsing import Families, Family
from workbench.poly.programs.program import Program
from workbench.runtime import CompiledKernel, Plan
from workbench.schedules import Schedule, Verdict
from workbench.viz.draw.markup import Markup, element
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.scene import Scene, above, beside
from workbench.viz.draw.svg import svg_text
from workbench.viz.frames.coordinates import groups, subject
from workbench.viz.views.domain.domain_view import domain
from workbench.viz.views.domain.order_view import order
from workbench.viz.views.models.arena_view import arena
from workbench.viz.views.models.graph_view import graph
from workbench.viz.views.models.timeline_view import timeline
from workbench.viz.views.program.code_view import code
from workbench.viz.views.program.dataflow_view import dataflow
from workbench.viz.views.program.formula_view import formula
from workbench.viz.views.program.tree_view import tree
from workbench.viz.views.values.comparisons_shown import comparison
from workbench.viz.views.values.library_shown import family, library
from workbench.viz.views.values.value_sheet import sheet

MANY = 3  # nests from which on an overview stands before them


def mimebundle(value: object) -> dict[str, Any]:
    """The MIME bundle of a value: `text/html` without JavaScript, `text/plain`, PNG and SVG where there is a drawing.

    A picture that cannot be made (a budget ended, sizes nobody can draw) leaves the words.
    """
    try:
        return picture(value)._repr_mimebundle_()
    except WorkbenchError as reason:
        return {"text/plain": f"{value}\n(no picture: {reason})"}


def picture(value: object) -> Picture:
    """The view, or the views together, that show a value best."""
    match value:
        case Operator():
            return formula(value)
        case Program():
            return _together(sheet(value), _program(value))
        case Schedule():
            return _schedule(value)
        case Verdict():
            drawn = None if value or value.program is None else _try(domain, value)
            return _together(sheet(value), drawn)
        case Kernel() | CompiledKernel():
            return code(value)
        case Plan():
            return _together(sheet(value), _try(tree, value.schedule))
        case MemoryPlan():
            return arena(value)
        case Comparison():
            return comparison(value)
        case Families():
            return library(value)
        case Family():
            return family(value)
        case Model() | FusionResult() | Partition() | BuiltModel():
            return _of_model(value)
        case Profile():
            return timeline(value)
        case Scene():
            return Picture(value.label or "drawing", value)
    return sheet(value)


def _of_model(value: Model | FusionResult | Partition | BuiltModel) -> Picture:
    """The graph; in words what the value says of itself."""
    drawn = graph(value)
    words = repr(value) if isinstance(value, Model) else str(value)
    return Picture(f"{words}\n\n{drawn.text}", drawn.drawing, data=drawn.data)


def _program(program: Program) -> Picture | None:
    """The dataflow, which leads into the nests, where there are many; else the iteration domain."""
    return _try(dataflow if _nests(program) >= MANY else domain, program)


def _nests(value: Program | Schedule) -> int:
    return len(groups(subject(value).tree))


def _schedule(schedule: Schedule) -> Picture:
    """The tree beside the order; an illegal one says so first."""
    inside = _together(tree(schedule), _try(order, schedule))
    shown = _above(_try(dataflow, schedule), inside) if _nests(schedule) >= MANY else inside
    return shown if schedule.verdict else _together(picture(schedule.verdict), shown)


def _try(view: Callable[[Any], Picture], value: object) -> Picture | None:
    """The view, or nothing where it refuses."""
    try:
        return view(value)
    except WorkbenchError:
        return None


def _above(first: Picture | None, second: Picture) -> Picture:
    """A view above another one."""
    if first is None:
        return second
    scenes = [p.drawing for p in (first, second) if p.drawing is not None]
    body = element("div", *(element("div", _shown(p)) for p in (first, second)))
    return Picture(f"{first.text}\n\n{second.text}", above(*scenes, gap=24), body)


def _shown(picture: Picture) -> Markup:
    return picture.body if picture.body is not None else svg_text(picture.scene, styled=False)


def _together(first: Picture, second: Picture | None) -> Picture:
    """Two views side by side; the drawing is both drawings, or the one there is."""
    if second is None:
        return first
    scenes = [p.drawing for p in (first, second) if p.drawing is not None]
    body = element("div", *(element("div", _shown(p)) for p in (first, second)), class_="wb-side")
    return Picture(f"{first.text}\n\n{second.text}", beside(scenes) if scenes else None, body)
