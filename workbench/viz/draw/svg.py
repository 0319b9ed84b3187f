"""A scene as SVG text: no JavaScript, colours from CSS variables with literal fallbacks."""

from __future__ import annotations

from dataclasses import replace
from math import hypot

from workbench.viz.draw.markup import Markup, element
from workbench.viz.draw.palette import Theme, colour, variables
from workbench.viz.draw.scene import XY, Box, Line, Mark, Marker, Path, Polygon, Scene, Text

SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif"
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
MARGIN = 8.0
HEAD = 5.0
OPEN = 0.5  # of an open shape, how much of its width is not filled


def svg_text(scene: Scene, theme: Theme = "auto", *, styled: bool = True) -> Markup:
    """The scene as one `<svg>` element.

    With theme "auto" colours follow the page (CSS variables; `styled` False leaves their definition to it), else they
    are literal, which programs that know no CSS variables understand too.
    """
    head: list[Markup] = [element("title", scene.label)] if scene.label else []
    if styled and theme == "auto":
        head.append(element("style", Markup(variables(theme))))
    width, height = scene.width + 2 * MARGIN, scene.height + 2 * MARGIN
    return element(
        "svg",
        *head,
        element("g", *(_mark(m, theme) for m in scene.marks), transform=f"translate({MARGIN:g},{MARGIN:g})"),
        xmlns="http://www.w3.org/2000/svg",
        class_="wb",
        role="img",
        width=float(width),
        height=float(height),
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        font_family=SANS,
    )


def _mark(mark: Mark, theme: Theme) -> Markup:
    match mark:
        case Line():
            return _line(mark, theme)
        case Path(points, role, width, opacity):
            return element(
                "polyline", points=_points(points), fill="none", stroke_width=width, stroke_linejoin="round",
                **_paint("stroke", role, theme), **_see(opacity),
            )  # fmt: skip
        case Polygon((point,), role, opacity, grow):
            return element("circle", cx=point[0], cy=point[1], r=grow, **_see(opacity), **_paint("fill", role, theme))
        case Polygon(points, role, opacity, grow):
            return element(
                "polygon", points=_points(points), stroke_width=2 * grow, stroke_linejoin="round",
                **_see(opacity), **_both(role, theme),
            )  # fmt: skip
        case Box():
            return _box(mark, theme)
        case Marker():
            return _marker(mark, theme)
        case Text():
            return _text(mark, theme)


def _paint(what: str, role: str, theme: Theme) -> dict[str, str]:
    """`fill` or `stroke`: an attribute every program reads, and a style that follows the page."""
    literal = colour(role, theme)
    return {what: literal} | ({"style": f"{what}:var(--wb-{role},{literal})"} if theme == "auto" else {})


def _both(role: str, theme: Theme) -> dict[str, str]:
    literal = colour(role, theme)
    style = f"fill:var(--wb-{role},{literal});stroke:var(--wb-{role},{literal})"
    return {"fill": literal, "stroke": literal} | ({"style": style} if theme == "auto" else {})


def _see(opacity: float) -> dict[str, float]:
    return {} if opacity >= 1 else {"opacity": opacity}


def _points(points: tuple[XY, ...]) -> str:
    closed = points if len(points) > 1 else points * 2
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in closed)


def bent(line: Line) -> XY:
    """The control point of a line's curve."""
    (x0, y0), (x1, y1) = line.start, line.end
    length = hypot(x1 - x0, y1 - y0) or 1.0
    side = 2 * line.bend / length
    return (x0 + x1) / 2 - (y1 - y0) * side, (y0 + y1) / 2 + (x1 - x0) * side


def arrow_head(line: Line) -> tuple[XY, XY, XY]:
    """The tip and the two corners of an arrow's head."""
    (cx, cy), (x, y) = bent(line), line.end
    length = hypot(x - cx, y - cy) or 1.0
    dx, dy = (x - cx) / length, (y - cy) / length
    size = min(HEAD + line.width, 0.5 * hypot(x - line.start[0], y - line.start[1]))
    back = x - dx * size, y - dy * size
    wide = size * 0.42
    return (x, y), (back[0] - dy * wide, back[1] + dx * wide), (back[0] + dy * wide, back[1] - dx * wide)


def _line(line: Line, theme: Theme) -> Markup:
    (x0, y0), (x1, y1), (cx, cy) = line.start, line.end, bent(line)
    tip = arrow_head(line)
    if line.head:
        x1, y1 = (tip[1][0] + tip[2][0]) / 2, (tip[1][1] + tip[2][1]) / 2
    route = f"Q{cx:.1f},{cy:.1f} {x1:.1f},{y1:.1f}" if line.bend else f"L{x1:.1f},{y1:.1f}"
    stroke = element(
        "path", d=f"M{x0:.1f},{y0:.1f}{route}", fill="none", stroke_width=line.width,
        stroke_dasharray=f"{line.dash[0]:g} {line.dash[1]:g}" if line.dash else None,
        stroke_linecap="round" if line.dash and line.dash[0] < 1 else None,
        **_paint("stroke", line.role, theme), **_see(line.opacity),
    )  # fmt: skip
    if not line.head:
        return stroke
    head = element("polygon", points=_points(tip), **_paint("fill", line.role, theme), **_see(line.opacity))
    return Markup(stroke + head)


def _box(box: Box, theme: Theme) -> Markup:
    fill = colour(box.fill, theme) if box.fill else "none"
    edge = colour(box.edge, theme) if box.edge else "none"
    roles = (("fill", box.fill, fill), ("stroke", box.edge, edge))
    styles = [f"{what}:var(--wb-{role},{literal})" for what, role, literal in roles if role]
    return element(
        "rect", x=float(box.x), y=float(box.y), width=float(box.width), height=float(box.height), rx=box.radius,
        fill=fill, stroke=edge, style=";".join(styles) if theme == "auto" else None, **_see(box.opacity),
    )  # fmt: skip


def marker_outline(marker: Marker) -> tuple[XY, ...]:
    """Corners of a marker's shape; empty for round ones.  An open shape goes around itself, and back inside."""
    if marker.shape.startswith("open "):
        outer = marker_outline(replace(marker, shape=marker.shape.removeprefix("open ")))
        return (*outer, outer[0], *_inside(outer))
    x, y, r = marker.x, marker.y, marker.size
    match marker.shape:
        case "square":
            r *= 0.88
            return (x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)
        case "diamond":
            r *= 1.22
            return (x, y - r), (x + r, y), (x, y + r), (x - r, y)
        case "triangle":
            r *= 1.15
            return (x, y - r), (x + r, y + 0.8 * r), (x - r, y + 0.8 * r)
        case "cross":
            a, b = 1.1 * r, 0.38 * r
            return (
                (x - b, y - a), (x + b, y - a), (x + b, y - b), (x + a, y - b), (x + a, y + b), (x + b, y + b),
                (x + b, y + a), (x - b, y + a), (x - b, y + b), (x - a, y + b), (x - a, y - b), (x - b, y - b),
            )  # fmt: skip
        case "bar":
            a, b = 1.3 * r, 0.5 * r
            return (x - a, y - b), (x + a, y - b), (x + a, y + b), (x - a, y + b)
    return ()


def _inside(corners: tuple[XY, ...]) -> tuple[XY, ...]:
    """The corners nearer to their middle, the other way round: what lies within is not filled."""
    x, y = (sum(c[i] for c in corners) / len(corners) for i in (0, 1))
    near = tuple((x + OPEN * (a - x), y + OPEN * (b - y)) for a, b in corners)
    return (near[0], *reversed(near))


def _marker(marker: Marker, theme: Theme) -> Markup:
    inside = [element("title", marker.title)] if marker.title else []
    corners = marker_outline(marker)
    if corners:
        return element("polygon", *inside, points=_points(corners), **_paint("fill", marker.role, theme))
    at = {"cx": float(marker.x), "cy": float(marker.y)}
    if marker.shape == "ring":
        at |= {"r": marker.size * 0.8, "stroke_width": marker.size * 0.45}
        return element("circle", *inside, **at, fill="none", **_paint("stroke", marker.role, theme))
    return element("circle", *inside, **at, r=float(marker.size), **_paint("fill", marker.role, theme))


def _text(text: Text, theme: Theme) -> Markup:
    return element(
        "text", text.text, x=float(text.x), y=float(text.y), font_size=text.size,
        text_anchor=text.anchor if text.anchor != "start" else None,
        font_family=MONO if text.mono else None,
        font_weight=600 if text.bold else None,
        font_style="italic" if text.italic else None,
        **({"xml:space": "preserve"} if text.mono else {}),
        **_paint("fill", text.role, theme),
    )  # fmt: skip
