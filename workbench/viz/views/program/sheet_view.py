"""`sheet`: a value in words and small tables."""

from __future__ import annotations

import re
from functools import singledispatch

from workbench import poly
from workbench.poly.programs.program import Dependence, Program
from workbench.runtime import Finding, Measurement, Plan, Report, Verification
from workbench.runtime.measuring.timing import duration
from workbench.schedules import Schedule, Verdict, reasons
from workbench.schedules.legality import explain_violation
from workbench.viz.draw.markup import Markup, element
from workbench.viz.draw.palette import statement_numbers, statement_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.record_tables import described, speaks
from workbench.viz.draw.tables import Table, table_html, table_text
from workbench.viz.views.program.program_rows import array_rows, size_lines, statement_rows
from workbench.wording import number_of


def sheet(value: object) -> Picture:
    """Arrays, statements and dependences of a program; steps of a schedule; what a verdict, a measurement, a
    verification, a plan or the doctor's report says.  Of any other value: its text, or its fields in words.
    """
    if sheet_data.dispatch(type(value)) is sheet_data.dispatch(object) and speaks(value):
        first, _, rest = str(value).partition("\n")
        parts = [element("h4", first), *([element("pre", rest)] if rest else [])]
        return Picture(str(value), None, element("div", *parts), data=sheet_data(value))
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


# -- Programs, verdicts, measurements and reports as small tables: plain data --

Sheet = tuple[str, tuple[str, ...], tuple[Table, ...]]


@singledispatch
def sheet_data(value: object) -> Sheet:
    """Title, remarks and tables of a value; what is not known is its text, a line each, or its fields."""
    if not speaks(value):
        return described(value)
    first, _, rest = str(value).partition("\n")
    return first, tuple(rest.splitlines()), ()


@sheet_data.register
def _(value: Program) -> Sheet:
    numbers = statement_numbers(value)
    roles = tuple(statement_role(numbers[s.name]) for s in value.statements)
    dependences = [row for d in poly.dependences(value) for row in _dependence_rows(value, d)]
    tables = (
        Table(tuple(array_rows(value)), "arrays", mono=(0, 2, 3)),
        Table(tuple(statement_rows(value)), "statements", mono=(0, 1, 2), roles=roles),
        Table(tuple(dependences), "dependences", mono=(1, 2, 3)),
    )
    return f"program {value.name}", tuple(size_lines(value)), tuple(t for t in tables if t.rows)


def _dependence_rows(program: Program, dependence: Dependence) -> list[tuple[str, ...]]:
    """Kind, array, instances with their condition; a row for each case."""
    cases = [readable(program, case) for case in poly.relation_text(program, dependence).split(";")]
    kind = dependence.kind if dependence.exact else f"{dependence.kind}, possible"
    return [(kind, dependence.array, cases[0]), *(("", "", case) for case in cases[1:])]


def readable(program: Program, text: str) -> str:
    """isl's words with the statements' own names and an arrow."""
    names = {s.id: s.name for s in program.statements}
    text = re.sub(r"\b(S\d+)\[([^\]]*)\]", lambda m: f"{names.get(m[1], m[1])}({m[2]})", text)
    return text.replace("->", "→").replace(" : ", "  if  ").strip()


@sheet_data.register
def _(value: Schedule) -> Sheet:
    rows = tuple((f"{i}", str(step), why) for i, (step, why) in enumerate(reasons(value), 1))
    steps = Table(rows, "steps", mono=(1,)) if rows else None
    return f"schedule of {value.program.name}", tuple(size_lines(value.program)), (steps,) if steps else ()


@sheet_data.register
def _(value: Verdict) -> Sheet:
    if value:
        return "legal", ("Every dependence runs forwards.",), ()
    program = value.program
    if program is None:
        return str(value), (), ()
    rows = tuple((v.reason, explain_violation(program, v)) for v in value.violations) or (("", value.explain()),)
    return value.outcome, (), (Table(rows, "violated", mono=(1,)),)


@sheet_data.register
def _(value: Measurement) -> Sheet:
    spread = f"{duration(value.lower)} to {duration(value.upper)}"
    batches = number_of(value.batches, "batch", "batches")
    rows = [("time", duration(value.seconds), f"median of {batches}; quartiles {spread}")]
    if value.gflops is not None and value.flops:
        rows.append(("arithmetic", f"{value.gflops:.3g} GFLOP/s", f"{value.flops:,} operations a call"))
    if value.bytes_per_second is not None and value.bytes_moved:
        rate = f"{value.bytes_per_second / 1e9:.3g} GB/s"
        rows.append(("traffic", rate, f"{value.bytes_moved:,} bytes a call at least"))
    return "measured", (number_of(value.calls, "call"),), (Table(tuple(rows), right=(1,)),)


@sheet_data.register
def _(value: Verification) -> Sheet:
    title = "agrees with the oracle" if value.ok else "differs from the oracle"
    kind = "derived from the operator" if value.derived else "estimated"
    where = f"{value.output}{list(value.place)}" if value.output else "no cell"
    error = ("error", f"{value.error:.3g}", f"largest share of its bound at {where}")
    return title, (), (Table((error, ("bound", f"{value.bound:.3g}", kind)), right=(1,)),)


@sheet_data.register
def _(value: Report) -> Sheet:
    rows = tuple(_finding_row(f) for f in value.findings)
    roles = tuple("s2" if f else "soft" for f in value.findings)
    return "what this machine has", (), (Table(rows, head=("", "found", "enables", "to get it"), roles=roles),)


def _finding_row(finding: Finding) -> tuple[str, ...]:
    mark = "✓" if finding else "–"
    return f"{mark} {finding.name}", finding.found or "not found", finding.enables, "" if finding else finding.get


@sheet_data.register
def _(value: Plan) -> Sheet:
    rows = tuple((str(step), why) for step, why in reasons(value.schedule))
    first, *rest = str(value).splitlines()
    said = tuple(line for line in rest if line.startswith(("arrays", "machine", "compiler", "indices")))
    return first, said, (Table(rows, "steps", mono=(0,)),) if rows else ()
