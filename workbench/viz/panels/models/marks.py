"""A scene as plain data: a list for each mark, its kind first; `js/src/marks.ts` draws them."""

from __future__ import annotations

from typing import Any

from workbench.viz.draw.scene import Box, Line, Mark, Marker, Path, Polygon, Scene, Text
from workbench.viz.messages.modelling import Picture


def picture_payload(scene: Scene, stretch: tuple[float, float] | None = None) -> Picture:
    """The scene; `stretch` is where the axis begins and ends that a zoom makes longer, if only that is to grow."""
    marks = [found for mark in scene.marks if (found := mark_payload(mark)) is not None]
    return {
        "width": round(scene.width, 1), "height": round(scene.height, 1), "marks": marks,
        "stretch": None if stretch is None else list(stretch),
    }  # fmt: skip


def mark_payload(mark: Mark) -> list[Any] | None:
    """One mark; nothing for polygons, which pictures of models have none of."""
    match mark:
        case Line(start, end, role, width, _, head, _, opacity):
            return ["line", *_px(*start, *end), role, width, head, opacity]
        case Path(points, role, width, opacity):
            return ["path", _px(*(value for point in points for value in point)), role, width, opacity]
        case Box(x, y, width, height, fill, edge, radius, opacity):
            return ["box", *_px(x, y, width, height), fill, edge, radius, opacity]
        case Marker(x, y, role, shape, size, _):
            return ["marker", *_px(x, y), role, shape, size]
        case Text(x, y, text, size, role, anchor, mono, bold, italic):
            style = "".join(letter for letter, set_ in zip("mbi", (mono, bold, italic), strict=True) if set_)
            return ["text", *_px(x, y), text, size, role, anchor, style]
        case Polygon():
            return None


def _px(*values: float) -> list[float]:
    return [round(value, 1) for value in values]
