"""A table as a drawing, for pictures that hold one."""

from __future__ import annotations

from workbench.viz.draw.scene import Line, Mark, Scene, Text
from workbench.viz.draw.tables import Table

STEP, SIZE, GAP = 19.0, 12.0, 22.0


def table_scene(table: Table) -> Scene:
    """Columns as wide as what they hold, headings over a thin line."""
    rows = [table.head, *table.rows] if table.head else list(table.rows)
    columns = [[_text(table, i, row[i]) for row in rows] for i in range(max(map(len, rows), default=0))]
    marks: list[Mark] = []
    left = 0.0
    for i, column in enumerate(columns):
        width = max(t.width for t in column)
        marks += [_placed(table, i, t, left, width, n) for n, t in enumerate(column)]
        left += width + GAP
    if table.head:
        marks.append(Line((0, STEP), (max(left - GAP, 0), STEP), "grid", 1.0))
    return Scene(max(left - GAP, 0.0), STEP * len(rows) + 6, tuple(marks))


def _text(table: Table, column: int, words: str) -> Text:
    return Text(0, 0, words, SIZE, mono=column in table.mono)


def _placed(table: Table, column: int, text: Text, left: float, width: float, row: int) -> Text:
    heading = bool(table.head) and row == 0
    right = column in table.right
    x, y = left + (width if right else 0.0), STEP * row + 14 + (0 if heading or not table.head else 4)
    role = "soft" if heading else "ink"
    return Text(x, y, text.text, SIZE, role, "end" if right else "start", mono=text.mono and not heading)
