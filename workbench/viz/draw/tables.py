"""Small tables: plain data, then HTML and text of the same columns."""

from __future__ import annotations

from workbench.records import record
from workbench.viz.draw.markup import Markup, element, join


@record
class Table:
    """Rows under optional headings.  `mono` names the columns in a fixed-width face, `right` those aligned right."""

    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    head: tuple[str, ...] = ()
    mono: tuple[int, ...] = ()
    right: tuple[int, ...] = ()
    roles: tuple[str, ...] = ()


def table_text(table: Table, indent: str = "") -> list[str]:
    """Lines with the columns aligned."""
    rows = [table.head, *table.rows] if table.head else list(table.rows)
    widths = [max(len(r[i]) for r in rows if i < len(r)) for i in range(max(map(len, rows), default=0))]
    body = [f"{indent}{_line(table, row, widths)}".rstrip() for row in rows]
    return [table.title, *(f"  {line}" for line in body)] if table.title else body


def _line(table: Table, row: tuple[str, ...], widths: list[int]) -> str:
    cells = enumerate(zip(row, widths, strict=False))
    return "  ".join(cell.rjust(w) if i in table.right else cell.ljust(w) for i, (cell, w) in cells)


def table_html(table: Table) -> Markup:
    """A table element, under its title."""
    head = element("thead", element("tr", *(element("th", h) for h in table.head))) if table.head else Markup("")
    body = element("tbody", *(element("tr", *_cells(table, i, r)) for i, r in enumerate(table.rows)))
    heading = [element("h4", table.title)] if table.title else []
    return join([*heading, element("table", head, body)])


def _cells(table: Table, position: int, row: tuple[str, ...]) -> list[Markup]:
    """`roles[i]`, where given, is the colour role of the first cell of row i."""
    role = table.roles[position] if position < len(table.roles) else ""
    return [element("td", cell, class_=_style(table, i, role if i == 0 else "") or None) for i, cell in enumerate(row)]


def _style(table: Table, column: int, role: str) -> str:
    parts = ["wb-m"] * (column in table.mono) + ["wb-n"] * (column in table.right)
    return " ".join([*parts, *([f"wb-{role}", "wb-b"] if role else [])])
