"""`diff`: what steps change, in the tree and in the code, the schedules side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from workbench.codegen import generate
from workbench.codegen.comparing import Comparison, compare
from workbench.errors import WorkbenchError, shown
from workbench.records import record
from workbench.runtime import this_machine
from workbench.schedules import Schedule
from workbench.schedules.schedule_text import tree_lines
from workbench.target import Target
from workbench.viz.draw.palette import statement_numbers, statement_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.scene import MONO_WIDTH, Box, Line, Mark, Scene, Text, above
from workbench.viz.draw.table_scene import table_scene
from workbench.viz.draw.tables import Table
from workbench.viz.views.program.c_tokens import Run, code_lines
from workbench.wording import number_of

FONT, LINE = 11.5, 16.5
LONGEST = 76
NUMBER = 30.0
GAP = 26.0
# Side → (colour of what only it has, its sign).
STYLES = (("s1", "−"), ("s2", "+"))


@record
class Difference:
    """The comparison, and the rows of both trees and of both functions."""

    comparison: Comparison
    heads: tuple[str, str]
    loops: tuple[DiffRow, ...]
    code: tuple[DiffRow, ...]


def diff(before: Schedule, after: Schedule | None = None, *, target: str | Target | None = None) -> Picture:
    """The loops and the code of two schedules side by side, what differs marked; of one, what its last step changed.

    Equal lines far from a change are folded.  `target` chooses the machine (this one by default).  Raises
    WorkbenchError for what is no Schedule, and for a single schedule without a step.
    """
    for value in (before, after):
        if not isinstance(value, Schedule | None) or before is None:
            raise WorkbenchError(f"diff takes Schedules, as wb.schedule(op) makes them, not {shown(value)}")
    if after is None:
        if not before.trace:
            raise WorkbenchError("diff: the schedule has no step yet; give two schedules, or one after a step")
        before, after = before.undo(), before
    found = _found(before, after, this_machine() if target is None else target)
    return Picture(str(found.comparison), _scene(found, before, after), data=found)


def _found(before: Schedule, after: Schedule, target: str | Target) -> Difference:
    trees = (tree_lines(s.program, s.tree, 0) for s in (before, after))
    codes = (_function(s, target) for s in (before, after))
    comparison = compare(before, after, target)
    return Difference(comparison, _heads(comparison), diff_rows(*trees, context=99), diff_rows(*codes))


def _heads(found: Comparison) -> tuple[str, str]:
    """What stands above each side: the last steps they share, and the steps of its own."""
    shared = found.common[-1] if found.common else "naive"
    first, second = (" | ".join(steps) for steps in (found.steps_a, found.steps_b))
    return first or shared, second or shared


def _function(schedule: Schedule, target: str | Target) -> list[str]:
    kernel = generate(schedule, target, unsafe=True)
    return kernel.source.rstrip().split("\n")[kernel.start :]


def _scene(found: Difference, before: Schedule, after: Schedule) -> Scene:
    """Both comparisons one below the other, then the counts that differ."""
    column = _column((*found.loops, *found.code))
    title = f"{found.comparison.title}: before and after"
    head = Scene(2 * column + GAP, 24, (Text(0, 13, title, 12.5, bold=True),), title)
    notes = "; ".join(found.comparison.notes)
    remark = Scene(300, 18, (Text(0, 12, notes, 11.5, "bad"),)) if notes else Scene(0, 0, ())
    return above(
        head,
        remark,
        _heading(found.heads, column),
        _section("loops", found.loops, column, _plain),
        _section("code", found.code, column, _coloured(before, after)),
        table_scene(_counts(found.comparison)) if found.comparison.counts else Scene(0, 0, ()),
        gap=8,
    )


def _column(rows: tuple[DiffRow, ...]) -> float:
    longest = max((len(s.text) for r in rows for s in (r.before, r.after) if s), default=20)
    return NUMBER + 14 + min(max(longest, 30), LONGEST) * FONT * MONO_WIDTH + 8


def _heading(heads: tuple[str, str], column: float) -> Scene:
    marks: list[Mark] = []
    for i, (words, (role, sign)) in enumerate(zip(heads, STYLES, strict=True)):
        text = Text(i * (column + GAP), 13, f"{sign} {_cut(words, column)}", 12, role, mono=True, bold=True)
        marks.append(text)
    return Scene(2 * column + GAP, 18, tuple(marks))


def _cut(words: str, column: float) -> str:
    room = int(column / (12 * MONO_WIDTH)) - 4
    return words if len(words) <= room else f"{words[: room - 1]}…"


def _section(name: str, rows: tuple[DiffRow, ...], column: float, runs: Any) -> Scene:
    marks: list[Mark] = [Text(0, 12, name, 11.5, "soft", bold=True), Line((0, 17), (2 * column + GAP, 17), "grid", 1.0)]
    for i, row in enumerate(rows):
        top = 22 + LINE * i
        if row.folded:
            words = f"⋯ {number_of(row.folded, 'equal line')}"
            marks.append(Text(NUMBER + 12, top + 12, words, 10.5, "soft", italic=True))
            continue
        for j, side in enumerate((row.before, row.after)):
            marks += _side(row, side, j, j * (column + GAP), top, column, runs)
    return Scene(2 * column + GAP, 24 + LINE * len(rows), tuple(marks))


def _side(row: DiffRow, side: Side | None, which: int, left: float, top: float, column: float, runs: Any) -> list[Mark]:
    """The line of one side, on a band when the other side has not the same."""
    if side is None:
        return []
    role, sign = STYLES[which]
    marks: list[Mark] = []
    if row.changed:
        marks.append(Box(left + NUMBER - 2, top, column - NUMBER, LINE, role, None, 2, 0.14))
        marks.append(Text(left + NUMBER + 2, top + 12, sign, FONT, role, mono=True, bold=True))
    marks.append(Text(left + NUMBER - 8, top + 12, str(side.number), FONT - 1.5, "soft", "end", mono=True))
    short = side.text if len(side.text) <= LONGEST else f"{side.text[: LONGEST - 1]}…"
    at = 0
    for run in runs(which, short):
        bare = run.text.lstrip(" ")
        x = left + NUMBER + 14 + (at + len(run.text) - len(bare)) * FONT * MONO_WIDTH
        if bare:
            marks.append(Text(x, top + 12, bare, FONT, run.role or "ink", mono=True, bold=run.bold))
        at += len(run.text)
    return marks


def _plain(which: int, line: str) -> tuple[Run, ...]:
    return (Run(line),)


def _coloured(before: Schedule, after: Schedule) -> Any:
    """The runs of a line of C in the colours of its schedule."""

    def runs(which: int, line: str) -> tuple[Run, ...]:
        schedule = (before, after)[which]
        roles = {name: statement_role(i) for name, i in statement_numbers(schedule.program).items()}
        return code_lines(line or " ", (), roles)[0].runs

    return runs


def _counts(found: Comparison) -> Table:
    def number(value: int | None) -> str:
        return "-" if value is None else f"{value:,}"

    rows = tuple((c.name, number(c.a), number(c.b)) for c in found.counts)
    return Table(rows, "", ("counts that differ", "before", "after"), right=(1, 2))


# -- Two texts side by side as plain data: what stands on both sides in one row, what is equal folded away --

CONTEXT = 2


@record
class Side:
    """A line with its number, counted from 1."""

    number: int
    text: str


@record
class DiffRow:
    """Lines that stand beside each other; None where a side has none.  `folded` equal lines stand behind a row
    without sides.
    """

    before: Side | None
    after: Side | None
    changed: bool
    folded: int = 0


def diff_rows(before: Sequence[str], after: Sequence[str], *, context: int = CONTEXT) -> tuple[DiffRow, ...]:
    """The rows of a comparison; equal stretches keep `context` lines next to what differs."""
    rows = list(_all_rows(before, after))
    changed = [i for i, row in enumerate(rows) if row.changed]
    near = {j for i in changed for j in range(i - context, i + context + 1)}
    found: list[DiffRow] = []
    for i, row in enumerate(rows):
        if i in near:
            found.append(row)
        elif found and found[-1].folded:
            found[-1] = DiffRow(None, None, False, found[-1].folded + 1)
        else:
            found.append(DiffRow(None, None, False, 1))
    return tuple(found)


def _all_rows(before: Sequence[str], after: Sequence[str]) -> Iterator[DiffRow]:
    matcher = SequenceMatcher(None, [line.strip() for line in before], [line.strip() for line in after], autojunk=False)
    for kind, a0, a1, b0, b1 in matcher.get_opcodes():
        left = (Side(i + 1, before[i]) for i in range(a0, a1))
        right = (Side(i + 1, after[i]) for i in range(b0, b1))
        for one, other in zip_longest(left, right):
            yield DiffRow(one, other, kind != "equal")
