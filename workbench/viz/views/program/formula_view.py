"""`formula`: an operator as typeset mathematics, its tensors, and where the ranges come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from workbench.lang.algebra.identities import identity
from workbench.lang.algebra.normal_form import is_plain, polynomial
from workbench.lang.algebra.polynomial import Polynomial, split_linear
from workbench.lang.binding.element_words import element_words, variable_words
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Index, reads
from workbench.lang.operator import For, Monoid, Operator, Range, Statement, Step, Tensor
from workbench.lang.printing.printer import show
from workbench.records import record
from workbench.viz.draw.markup import Markup, element, escape, join
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.tables import Table, table_html, table_text
from workbench.viz.views.program.math_of import STRENGTH, math_of
from workbench.viz.views.program.math_printing import latex, mathml, text_of
from workbench.viz.views.program.math_tree import Big, Fence, Math, Name, Script, Sign, listed, math_row
from workbench.viz.views.program.program_rows import shape_text

ROLES = {"input": "in", "output": "out", "inout": "in, out", "temporary": "temporary"}


def formula(op: Operator) -> Picture:
    """The equations with their ranges as MathML, LaTeX (`text/latex`) and text; tensors and derivations as tables."""
    steps = formula_data(op)
    tensors, derived = tensors_table(op), derivation_table(op)
    remarks = _remarks(op)
    lines = [op.name, *_doc(op), *_text(steps, "  "), "", *table_text(tensors, "  ")]
    lines += ["", *(f"  {line}" for line in remarks)] if remarks else []
    body = element(
        "div",
        element("h4", op.name),
        *(element("p", line, class_="wb-note") for line in _doc(op)),
        _html(steps),
        table_html(tensors),
        _fold("how the ranges were inferred", table_html(derived)),
        *(element("p", line, class_="wb-note") for line in remarks),
        _fold("the text", element("pre", op.text)),
    )
    return Picture("\n".join(lines), None, body, latex_text(steps), steps)


def _doc(op: Operator) -> list[str]:
    first = op.doc.strip().partition("\n")[0]
    return [first] if first else []


def tensors_table(op: Operator) -> Table:
    """Name, role, element type, shape: inputs in the order of the call, outputs, temporaries; then type variables."""
    names = [*op.parameters, *op.outputs, *(n for n, t in op.tensors.items() if t.role == "temporary")]
    words = element_words(op)
    rows = [
        _tensor_row(op.tensors[n], words[n]) if n in op.tensors else (n, "in (a size)", "int32", "")
        for n in dict.fromkeys(names)
    ]
    variables = [(name, "type", kind, "") for name, kind in variable_words(op).items()]
    return Table((*rows, *variables), mono=(0, 2, 3))


def _tensor_row(tensor: Tensor, element: str) -> tuple[str, ...]:
    return tensor.name, ROLES[tensor.role], element, shape_text(tensor)


def derivation_table(op: Operator) -> Table:
    """Each index of each statement: its range and the reason for it."""
    rows = [
        (s.name, text_of(range_math(r)), r.kind, r.derivation or "as written")
        for s in op.statements()
        for r in s.ranges
    ]
    return Table(tuple(rows), "", ("statement", "range", "", "because"), mono=(0, 1, 3))


def _remarks(op: Operator) -> list[str]:
    """Conditions checked at the call, promises, warnings."""
    said = [f"requires {show(c.expr)}: {c.reason}" for c in op.conditions]
    said += [f"promised by the caller: {p.text}" for p in op.promises]
    return said + [f"warning: {w}" for w in op.warnings]


def _fold(title: str, content: Markup) -> Markup:
    return element("details", element("summary", title), content)


def _html(steps: Iterable[Equation | Repeat]) -> Markup:
    return join(_step_html(step) for step in steps)


def _step_html(step: Equation | Repeat) -> Markup:
    if isinstance(step, Repeat):
        head = element("div", join([escape("for "), _inline(step.axis)]), class_="wb-f")
        return element("div", head, element("div", _html(step.body), style="padding-left:1.6em"))
    ranges = join([_inline(r) for r in step.ranges], ",\u2002")
    notes = [element("div", ranges, class_="wb-note")] if step.ranges else []
    equation = element("math", mathml(step.math), display="block", style="text-align:left;width:fit-content")
    return element("div", equation, *notes, class_="wb-f")


def _inline(math: Math) -> Markup:
    return element("math", mathml(math))


def _text(steps: Iterable[Equation | Repeat], indent: str) -> list[str]:
    lines: list[str] = []
    for step in steps:
        if isinstance(step, Repeat):
            lines += [f"{indent}for {text_of(step.axis)}", *_text(step.body, indent + "    ")]
        else:
            ranges = ", ".join(text_of(r) for r in step.ranges)
            lines.append(f"{indent}{text_of(step.math)}" + (f"    ({ranges})" if ranges else ""))
    return lines


def latex_text(steps: Iterable[Equation | Repeat]) -> str:
    """All equations in one aligned block between dollar signs, as a notebook's `text/latex` wants it."""
    lines = [r" \\ ".join(_latex_lines(steps, ""))]
    return rf"$\displaystyle \begin{{array}}{{l}} {lines[0]} \end{{array}}$"


def _latex_lines(steps: Iterable[Equation | Repeat], indent: str) -> list[str]:
    lines: list[str] = []
    for step in steps:
        if isinstance(step, Repeat):
            lines += [rf"{indent}\text{{for }} {latex(step.axis)}", *_latex_lines(step.body, indent + r"\quad ")]
        else:
            ranges = ", ".join(latex(r) for r in step.ranges)
            lines.append(rf"{indent}\displaystyle {latex(step.math)}" + (rf" \qquad {ranges}" if ranges else ""))
    return lines


# -- An operator as mathematics: equations with the ranges of their indices, loops over sequential axes --

@record
class Equation:
    """One statement; `ranges` are those of its own indices, sequential axes left to the loop around."""

    statement: str
    math: Math
    ranges: tuple[Math, ...]


@record
class Repeat:
    """`for axis: body`."""

    axis: Math
    body: tuple[Equation | Repeat, ...]


def formula_data(op: Operator) -> tuple[Equation | Repeat, ...]:
    """The operator's statements in order."""
    writes = Counter(t.tensor for s in op.statements() for t in s.targets)
    again = {name for name, n in writes.items() if n > 1} | {n for n, t in op.tensors.items() if t.role == "inout"}
    return tuple(_step(step, again, ()) for step in op.body)


def _step(step: Step, again: set[str], axes: tuple[str, ...]) -> Equation | Repeat:
    if isinstance(step, For):
        body = tuple(_step(s, again, (*axes, step.axis.index)) for s in step.body)
        return Repeat(range_math(step.axis), body)
    own = tuple(range_math(r) for r in step.ranges if r.index not in axes)
    return Equation(step.name, _equation(step, again), (*_beginnings(step), *own))


def _beginnings(s: Statement) -> list[Math]:
    """`from hist = 0`: what cells hold first, where several instances may add to one."""
    if not _scatters(s):
        return []
    assert s.reduction is not None
    first = [identity(s.reduction, at, value.dtype) for at, value in enumerate(s.values)]
    word = Name("from", upright=True)
    return [math_row(word, Name(t.tensor), Sign("="), math_of(v)) for t, v in zip(s.targets, first, strict=True)]


def _scatters(s: Statement) -> bool:
    """Whether it reduces into cells that instances with other free indices may reduce into as well."""
    if s.reduction is None or not s.initialise or not s.initialises_all:
        return False
    plain = [polynomial(e) for e in s.targets[0].subscripts if is_plain(e)]
    lines = {name for form in plain for name in form.indices if len(form.indices) == 1 and _is_line(form, name)}
    return not set(s.indices("free")) <= lines


def _is_line(form: Polynomial, index: str) -> bool:
    found = split_linear(form, Index(index, INT64))
    return found is not None and not found[1].indices and bool(found[0].constant)


def range_math(r: Range) -> Math:
    """`0 ≤ m < M`."""
    lower, upper = math_of(r.lower, STRENGTH["<"][0] + 1), math_of(r.upper, STRENGTH["<"][0] + 1)
    return math_row(lower, Sign("≤"), Name(r.index), Sign("<"), upper)


def _equation(s: Statement, again: set[str]) -> Math:
    targets = [_cell(t.tensor, tuple(math_of(e) for e in t.subscripts)) for t in s.targets]
    values = [math_of(v) for v in s.values]
    left = targets[0] if len(targets) == 1 else Fence("(", listed(targets), ")")
    reads_itself = any(read.tensor in {t.tensor for t in s.targets} for read in reads(*s.values))
    repeated = bool(again & {t.tensor for t in s.targets}) or reads_itself
    right = _reduced(s, values)
    if s.reduction is None or (s.initialise and not _scatters(s)):
        return math_row(left, Sign("←" if repeated else "="), right)
    return math_row(left, Sign("←"), _combined(s.reduction, left, right))


def _cell(tensor: str, subscripts: tuple[Math, ...]) -> Math:
    return Script(Name(tensor), subscripts) if subscripts else Name(tensor)


def _reduced(s: Statement, values: list[Math]) -> Math:
    """The values under a sum, product, maximum or the monoid's name."""
    over = tuple(Name(i) for i in s.indices("reduction"))
    symbol = s.reduction.name if isinstance(s.reduction, Monoid) else str(s.reduction)
    value = values[0] if len(values) == 1 else Fence("(", listed(values), ")")
    if not over:
        return value
    weak = symbol in ("+", "*") and _is_sum(s)
    return Big(symbol, over, Fence("(", value, ")") if weak else value)


def _is_sum(s: Statement) -> bool:
    """Whether the value holds together more weakly than a product."""
    return math_of(s.values[0]) != math_of(s.values[0], STRENGTH["*"][0])


def _combined(reduction: str | Monoid, old: Math, new: Math) -> Math:
    """The old value of the cell combined with the new one."""
    match reduction:
        case "+":
            return math_row(old, Sign("+"), new)
        case "*":
            return math_row(old, Sign("·"), new)
    name = reduction.name if isinstance(reduction, Monoid) else reduction
    return math_row(Name(name, upright=True), Fence("(", listed([old, new]), ")"))
