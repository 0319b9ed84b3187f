"""What a panel works out only when a pane asks for it: other languages, bytes, warps, rooflines, films."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError, unknown_name
from workbench.viz.panels.counts import footprint_payload, roofline_payload
from workbench.viz.panels.listing import code_payload
from workbench.viz.panels.warps import warps_payload

if TYPE_CHECKING:
    from workbench.viz.panels.exporting.exports import Exports
    from workbench.viz.panels.watching import Watching
    from workbench.viz.panels.widget import Panel

FORMATS = {"gif": "image/gif", "html": "text/html"}


def view(panel: Panel, name: str, **given: Any) -> dict[str, Any]:
    """The data of one lazy view of what the panel shows; WorkbenchError that lists the known ones."""
    if name not in VIEWS:
        raise WorkbenchError(unknown_name("view", name, list(VIEWS)))
    return VIEWS[name](panel, **given)


def _code(language: str) -> Callable[..., dict[str, Any]]:
    return lambda panel: code_payload(panel.schedule, language, panel.target)


def _footprint(panel: Panel, seconds: float = 1.0) -> dict[str, Any]:
    return footprint_payload(panel.schedule, seconds)


def _roofline(panel: Panel, *, measure: bool = False) -> dict[str, Any]:
    way = [(steps[-1] if steps else "naive", made) for steps, made in panel.history.way]
    return roofline_payload(way, measure=measure)


VIEWS: dict[str, Callable[..., dict[str, Any]]] = {
    **{language: _code(language) for language in ("CUDA", "HIP", "assembly", "PTX", "SASS")},
    "footprint": _footprint,
    "roofline": _roofline,
    "warps": lambda panel: warps_payload(panel.schedule),
}


def watched(panel: Panel) -> Watching:
    """The study that a panel shows; WorkbenchError where it shows none."""
    if panel.watching is None:
        raise WorkbenchError("this panel shows no study: wb.panel(study) makes one that does")
    return panel.watching


def exports(panel: Panel) -> Exports:
    """The exports of a panel, which are there once somebody asks: their modules take longer than a panel does."""
    if panel.exports is None:
        from workbench.viz.panels.exporting.exports import Exports

        panel.exports = Exports(panel)
    return panel.exports


def film(panel: Panel, kind: str) -> dict[str, str]:
    """The execution as a file: an animated GIF, or a page with a time slider (base64)."""
    from workbench.viz.replay_view import replay

    if kind not in FORMATS:
        raise WorkbenchError(unknown_name("format", kind, list(FORMATS)))
    made = replay(panel.schedule, sizes=panel.sizes)
    data = made.gif() if kind == "gif" else made.player.encode()
    return {"name": f"{panel.title}.{kind}", "type": FORMATS[kind], "data": b64encode(data).decode()}
