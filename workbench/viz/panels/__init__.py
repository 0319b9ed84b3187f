"""The interactive panel: the views of a schedule linked with one another, and every gesture a step of its trace.

`panel` makes one; its front end is one ESM (TypeScript sources in `js/`, bundle in `static/`), loaded by anywidget.
"""

from workbench.viz.panels.history import History, Moment
from workbench.viz.panels.opening import panel
from workbench.viz.panels.widget import Panel

__all__ = ["History", "Moment", "Panel", "panel"]
