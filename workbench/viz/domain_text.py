"""The words that go with a domain: its captions, and its form as plain text."""

from __future__ import annotations

from workbench.viz.domain_data import Domain, Panel

GLYPHS = "●■◆▲○+"
SHARED = "∗"


def captions(found: Domain) -> list[str]:
    """What a reader must know: sizes, instances behind a point, what is not shown."""
    notes = [f"Violated: {'; '.join(p.violated)}." for p in found.panels if p.violated]
    notes += [_sentence(note) for note in found.notes]
    notes += _behind(found)
    within = sum(p.within or 0 for p in found.panels)
    if any(p.within is None for p in found.panels):
        notes.append("There are too many dependences to draw; choose smaller sizes.")
    if within:
        notes.append(f"{within} points hold dependences between instances of their own.")
    hidden = [name for p in found.panels for name in p.hidden]
    if hidden:
        notes.append(f"Not shown (on neither axis): {', '.join(hidden)}.")
    return notes


def _sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:]}."


def _behind(found: Domain) -> list[str]:
    """Which statements have several instances behind a point, and along which dims."""
    behind: dict[str, list[str]] = {}
    for panel in found.panels:
        for layer in panel.layers:
            if layer.folded:
                behind.setdefault(", ".join(layer.folded), []).append(layer.statement)
    said = [f"all {others} ({', '.join(names)})" for others, names in behind.items()]
    return [f"A point stands for {'; '.join(said)}."] if said else []


def domain_text(found: Domain) -> str:
    """Panels as characters, one glyph a statement, then the arrows in numbers."""
    parts = [f"iteration domain of {found.title}"]
    for panel in found.panels:
        parts += ["", *_panel_lines(panel)]
    notes = captions(found)
    return "\n".join([*parts, "", *notes] if notes else parts)


def _panel_lines(panel: Panel) -> list[str]:
    keys = [
        f"{GLYPHS[layer.number % len(GLYPHS)]} {layer.statement}({', '.join(layer.dims)})" for layer in panel.layers
    ]
    counts: dict[str, int] = {}
    for arrow in panel.arrows:
        name = "violated" if arrow.bad else arrow.kind
        counts[name] = counts.get(name, 0) + 1
    arrows = ", ".join(f"{n} {kind}" for kind, n in counts.items())
    return ["  ".join(keys), *_grid(panel), *([f"arrows: {arrows}"] if arrows else [])]


def _grid(panel: Panel) -> list[str]:
    cells = {c for layer in panel.layers for c in layer.cells}
    if not cells:
        return ["(no instances)"]
    columns = range(min(c[0] for c in cells), max(c[0] for c in cells) + 1)
    rows = range(min(c[1] for c in cells), max(c[1] for c in cells) + 1)
    wide = max(len(str(v)) for v in columns) + 1
    margin = max([len(panel.y), *(len(str(v)) for v in rows)]) if panel.y else 0
    head = f"{panel.y:>{margin}} " + "".join(f"{v:>{wide}}" for v in columns) + f"  {panel.x}"
    lines = [head.rstrip()]
    for y in rows:
        label = str(y) if panel.y else ""
        lines.append((f"{label:>{margin}} " + "".join(f"{_glyph(panel, (x, y)):>{wide}}" for x in columns)).rstrip())
    return lines


def _glyph(panel: Panel, cell: tuple[int, int]) -> str:
    here = [layer for layer in panel.layers if cell in layer.cells]
    return "" if not here else GLYPHS[here[0].number % len(GLYPHS)] if len(here) == 1 else SHARED
