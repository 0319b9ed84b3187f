"""`code`: a kernel's source with colours and line numbers, beside the domain it executes."""

from __future__ import annotations

from workbench.codegen import generate
from workbench.codegen.kernel import Kernel
from workbench.errors import WorkbenchError, shown
from workbench.poly.programs.tree import loops
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.schedules import Schedule
from workbench.target import Target
from workbench.viz.draw.markup import Markup, element, escape, join
from workbench.viz.draw.palette import statement_numbers, statement_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.scene import MONO_WIDTH, Mark, Scene, Text
from workbench.viz.draw.svg import svg_text
from workbench.viz.frames.frame import Asked
from workbench.viz.views.domain.domain_data import domain_data
from workbench.viz.views.domain.domain_view import domain_scene
from workbench.viz.views.domain.small_problem import drawn_of
from workbench.viz.views.program.c_tokens import CodeLine, Run, code_lines
from workbench.wording import number_of

FONT = 12.5
LINE = 18.0
COLUMN = 420.0  # pixels for the domain beside the code: its panels stand one below another


def code(value: Schedule | Kernel | CompiledKernel, target: str | Target = "c") -> Picture:
    """The generated source, what stands before the kernel's function folded away, beside the iteration domain.

    Of a schedule it is the text for `target`.  WorkbenchError for what has no text, and what `generate` raises.
    """
    value = generate(value, target) if isinstance(value, Schedule) else value
    kernel = value.kernel if isinstance(value, CompiledKernel) else value
    if not isinstance(kernel, Kernel):
        raise WorkbenchError(f"code shows a Schedule or a Kernel, as wb.generate makes it, not {shown(value)}")
    schedule = kernel.schedule if isinstance(kernel.schedule, Schedule) else None
    lines = code_lines(kernel.source, _loop_names(schedule), _comments(schedule))
    start = kernel.start
    body = element(
        "div",
        *([element("div", svg_text(_domain(schedule), styled=False))] if schedule else []),
        element("div", _code(lines, start), *_notes(kernel, value), class_="wb-wide"),
        class_="wb-side",
    )
    return Picture(kernel.source.rstrip("\n"), code_scene(lines, start, kernel.name), body, data=lines)


def code_scene(lines: tuple[CodeLine, ...], start: int, label: str) -> Scene:
    """The function as a drawing; what was folded is one remark."""
    marks: list[Mark] = []
    below = lines[start:]
    margin = (len(str(len(lines))) + 2) * FONT * MONO_WIDTH
    for i, line in enumerate(below):
        y = LINE * (i + 1)
        marks.append(Text(margin - 14, y, str(line.number), FONT - 1, "soft", "end", mono=True))
        marks += _texts(line, margin, y)
    if start:
        above = f"({number_of(start, 'line')} before it)"
        marks.append(Text(margin, LINE * (len(below) + 1), above, FONT - 1, "soft", italic=True))
    width = margin + max((_length(line) for line in below), default=0) * FONT * MONO_WIDTH
    return Scene(width, LINE * (len(below) + 1.5), tuple(marks), f"C text of {label}")


def _texts(line: CodeLine, margin: float, y: float) -> list[Text]:
    column = 0
    found = []
    for run in line.runs:
        bare = run.text.lstrip(" ")
        x = margin + (column + len(run.text) - len(bare)) * FONT * MONO_WIDTH
        if bare:
            found.append(Text(x, y, bare, FONT, run.role or "ink", mono=True, bold=run.bold))
        column += len(run.text)
    return found


def _length(line: CodeLine) -> int:
    return sum(len(run.text) for run in line.runs)


def _loop_names(schedule: Schedule | None) -> list[str]:
    return [loop.name for loop in loops(schedule.tree)] if schedule else []


def _comments(schedule: Schedule | None) -> dict[str, str]:
    """Statement name → colour role, for the comments about statements."""
    numbers = statement_numbers(schedule.program) if schedule else {}
    return {name: statement_role(number) for name, number in numbers.items()}


def _domain(schedule: Schedule) -> Scene:
    return domain_scene(drawn_of(schedule, Asked(), domain_data)[0], limit=COLUMN)


def _code(lines: tuple[CodeLine, ...], start: int) -> Markup:
    before = lines[:start]
    fold = element(
        "details",
        element("summary", f"{number_of(len(before), 'line')} before the function: types and helpers"),
        element("div", element("pre", _pre(before)), class_="wb-code"),
    )
    return join([fold if before else "", element("div", element("pre", _pre(lines[start:])), class_="wb-code")])


def _pre(lines: tuple[CodeLine, ...]) -> Markup:
    rows = (join([element("span", line.number, class_="wb-l"), *map(_span, line.runs)]) for line in lines)
    return join(rows, "\n")


def _span(run: Run) -> Markup:
    style = " ".join([f"wb-{run.role}"] * bool(run.role) + ["wb-b"] * run.bold)
    return element("span", run.text, class_=style) if style else escape(run.text)


def _notes(kernel: Kernel, value: Kernel | CompiledKernel) -> list[Markup]:
    """What the generator and the compiler said."""
    notes = value.notes if isinstance(value, CompiledKernel) else kernel.notes
    sizes = ", ".join(f"{n} = {v}" for n, v in kernel.sizes.items())
    said = [*([f"for {sizes}"] if sizes else []), *notes]
    return [element("p", " · ".join(said), class_="wb-note")] if said else []
