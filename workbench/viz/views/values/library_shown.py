"""The library of operators as a page: families to open, and in a family each operator's formula and picture."""

from __future__ import annotations

from workbench import poly
from workbench.errors import WorkbenchError
from workbench.lang.operator import Operator
from workbench.ops.browsing import Families, Family, families, formula, operator_summary
from workbench.ops.catalogue import ENTRIES
from workbench.viz.draw.markup import Markup, element
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.svg import svg_text
from workbench.viz.draw.tables import Table, table_html
from workbench.viz.views.domain.domain_view import domain
from workbench.viz.views.program.formula_view import formula as formula_picture
from workbench.wording import number_of


def library(value: Families) -> Picture:
    """Every family with its operators and their formulas, one below another, closed until they are opened."""
    title = f"{number_of(len(ENTRIES), 'operator')} in {number_of(len(value), 'family', 'families')}"
    hint = "wb.ops.<name> is an operator; wb.ops.families.<family> shows formulas and pictures"
    parts = [_closed(family) for family in value]
    body = element("div", element("h4", title), element("div", hint, class_="wb-note"), *parts)
    return Picture(str(families), None, body)


def _closed(own: Family) -> Markup:
    rows = tuple((name, operator_summary(name), formula(name)) for name in dir(own))
    return element("details", element("summary", f"{own.name} ({len(own)})"), table_html(Table(rows, mono=(0,))))


def family(value: Family) -> Picture:
    """The operators of a family: what each computes, its formula, and its iteration domain to be opened."""
    parts = [element("div", formula_picture(op).body or formula_picture(op).text, _drawn(op)) for op in value]
    return Picture(str(value), None, element("div", element("h4", value.name), *parts))


def _drawn(op: Operator) -> Markup:
    """The iteration domain at the first sizes worth trying, closed."""
    try:
        found = domain(poly.lower(op, ENTRIES[op.name].examples[0]))
    except WorkbenchError:
        return Markup("")
    return element("details", element("summary", "iteration domain"), svg_text(found.scene, styled=False))
