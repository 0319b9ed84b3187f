"""`wb.partition`: of a model among engines, or of the instances of a statement: which, the first argument says."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.graph.models import Model


def partition(what: Model | str, /, *arguments: Any, **keywords: Any) -> Any:
    """Of a model: its calls divided among engines, `partition(model, engines=[...])`; see `wb.graph.engines.partition`.

    Of the name of a statement: the step that divides its instances by a condition, `partition("C", "n < 64")`.
    """
    room = "graph.engines" if hasattr(what, "functions") and hasattr(what, "typing") else "schedules"
    return import_module(f"workbench.{room}").partition(what, *arguments, **keywords)
