"""`sheet`: a value in words and small tables."""

from __future__ import annotations

from workbench.viz.markup import Markup, element
from workbench.viz.pictures import Picture
from workbench.viz.sheet_data import Sheet, sheet_data
from workbench.viz.tables import table_html, table_text


def sheet(value: object) -> Picture:
    """Arrays, statements and dependences of a program; steps of a schedule; what a verdict, a measurement, a
    verification, a plan or the doctor's report says.  Of any other value: its text.
    """
    found = sheet_data(value)
    return Picture(sheet_text(found), None, sheet_html(found), data=found)


def sheet_text(found: Sheet) -> str:
    """Title, remarks, tables, one below another."""
    title, remarks, tables = found
    lines = [title, *(f"  {line}" for line in remarks)]
    return "\n".join([*lines, *(line for t in tables for line in table_text(t, "" if t.title else "  "))])


def sheet_html(found: Sheet) -> Markup:
    """The same as HTML."""
    title, remarks, tables = found
    notes = [element("div", line, class_="wb-note") for line in remarks]
    return element("div", element("h4", title), *notes, *map(table_html, tables))
