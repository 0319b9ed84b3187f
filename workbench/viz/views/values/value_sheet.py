"""`sheet` with the tables of every kind of value."""

from __future__ import annotations

# Because each registers the tables of its values.
from workbench.viz.views.program.sheet_view import sheet
from workbench.viz.views.values import machines_shown, steps_shown

__all__ = ["machines_shown", "sheet", "steps_shown"]
