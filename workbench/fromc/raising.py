"""`raise_c`: a C function, or a loop nest, as an operator whose loops are all sequential."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from pycparser import c_ast

from workbench.errors import OperatorError, shown
from workbench.fromc.inlining import inlined
from workbench.fromc.numbers.constants import declare_constants
from workbench.fromc.numbers.values import Values
from workbench.fromc.parameters.givens import givens
from workbench.fromc.parameters.parameters import Parameter, declared, used_symbols
from workbench.fromc.sequential import sequential_text
from workbench.fromc.statements.body import Body
from workbench.fromc.statements.updates import IN_ORDER
from workbench.fromc.text.locals import assigned_names, identifiers_in
from workbench.fromc.text.scope import Ended, Scope
from workbench.fromc.text.source import FUNCTION, REASSOCIATE, REGION, Source, read_source
from workbench.fromc.text.syntax import Unit, parse_unit
from workbench.fromc.text.types import converted
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Expr, Read, Size, transform
from workbench.lang.operator import For, Operator, Step, Tensor, all_statements
from workbench.lang.syntax.diagnostics import Diagnostics, Problem, report
from workbench.lang.syntax.terms import Span
from workbench.records import record


@record
class Raised:
    """What a C text means.

    `parameters` are those of the C function in order, `sequential` the text of a C function `wb_sequential` with
    these parameters that does the same in the order of the text: the oracle.
    """

    operator: Operator
    parameters: tuple[Parameter, ...]
    sequential: str


def raise_c(
    text: str, function: str = "", *, region: str = "", reassociate: bool = False, in_order: bool = False
) -> Raised:
    """The operator that a C text denotes.

    `function` and `region` name what is meant where the text has several; of the rest only declarations are looked at,
    and functions that are called.  `reassociate` lets the updates `x += e` (and *, minimum, maximum) of a cell happen
    in any order, as a reduction's; those of integers may anyway, unless all are to stay `in_order`.  Raises
    OperatorError, which shows each place with a caret.  These choices become pragmas of the operator's text, which so
    says it all.
    """
    if not all(isinstance(name, str) for name in (function, region)) or not isinstance(reassociate, bool):
        given = f"function={shown(function)}, region={shown(region)}, reassociate={shown(reassociate)}"
        raise OperatorError(f"from_c: {given} do not fit")
    if not isinstance(text, str):
        raise OperatorError(f"from_c takes C as a text (str), not {shown(text)}")
    asked = [f"{FUNCTION} {function}"] * bool(function) + [f"{REGION} {region}"] * bool(region)
    asked += [REASSOCIATE] * reassociate + [IN_ORDER] * in_order
    lines = {" ".join(line.split()) for line in text.splitlines()}
    missing = [pragma for pragma in asked if pragma not in lines]
    return _raised("\n".join([text.rstrip(), *missing, ""]) if missing else text)


@lru_cache(maxsize=256)
def _raised(text: str) -> Raised:
    return _of_source(read_source(text))


def _of_source(source: Source) -> Raised:
    diagnostics = Diagnostics(source.text)
    try:
        return _of_unit(parse_unit(source), diagnostics)
    except Problem as problem:
        found = problem
    except RecursionError:
        found = Problem("the text nests too deep", Span(0, 1), "compute parts of it in local variables")
    raise OperatorError(report(source.text, [*diagnostics.problems, found]))


def _of_unit(unit: Unit, diagnostics: Diagnostics) -> Raised:
    whole, unit = unit, inlined(unit)
    given = givens(unit)
    items = list(given.items)
    scope = Scope(unit.types)
    scope.assigned, scope.updated = set(assigned_names(c_ast.Compound(items))), set(given.updated)
    values = Values(unit, scope)
    parameters: list[Parameter] = []
    looked_at = c_ast.Compound([item for item in items if not isinstance(item, c_ast.Cast | c_ast.ID)])
    with diagnostics.collect():
        declare_constants(values)
        for name in unit.counters if unit.is_nest else ():
            scope.declare(name, Ended(INT32))
        parameters = declared(values, list(given.declarations), set(identifiers_in(looked_at)))
    diagnostics.check()
    body = Body(values, diagnostics, unit.source.reassociate, in_order=IN_ORDER in unit.source.text)
    steps = body.steps(items)
    diagnostics.check()
    if not steps:
        fix = "write A[i] = ... in a loop"
        raise Problem("the text computes nothing: no statement writes an array", Span(0, 1), fix)
    raised = _made(unit, scope, parameters, steps, given.said)
    return replace(raised, sequential=sequential_text(whole, list(raised.parameters), given))


def _made(
    unit: Unit, scope: Scope, parameters: list[Parameter], steps: tuple[Step, ...], said: tuple[str, ...]
) -> Raised:
    shaping = used_symbols(scope, steps)
    written = {t.tensor for s in all_statements(steps) for t in s.targets}
    tensors: dict[str, Tensor] = {}
    data = {p.name for p in parameters if p.is_integer and p.name not in shaping}
    for name, tensor in scope.tensors.items():
        tensors[name] = replace(tensor, role="inout") if tensor.role == "input" and name in written else tensor
    for p in parameters:
        if p.name in data and p.used:
            tensors[p.name] = Tensor(p.name, p.dtype, (), (), "input")
    steps = tuple(_with_data(step, {p.name: p for p in parameters if p.name in data}) for step in steps)
    sizes = tuple(s for s in _sizes(tensors) if s in shaping or s in scope.symbols)
    outputs = tuple(p.tensor for p in parameters if p.tensor in written)
    if not outputs:
        fix = "write an array of the file or a parameter, or put #pragma scop and #pragma endscop around the loops"
        raise Problem("the text changes nothing that outlives it: no parameter is written", Span(0, 1), fix)
    inputs = tuple(p.tensor or p.name for p in parameters if p.used and p.tensor not in written and p.name not in sizes)
    scalars = tuple(p.name for p in parameters if p.name in shaping and p.name not in sizes)
    operator = Operator(
        name=unit.name, parameters=inputs, outputs=outputs, tensors=tensors, size_names=sizes, scalars=scalars,
        body=steps, text=unit.source.text, warnings=said, language="c"
    )  # fmt: skip
    return Raised(operator, tuple(parameters), "")


def _sizes(tensors: dict[str, Tensor]) -> list[str]:
    """Symbols that the shape of a parameter tells by itself."""
    roles = ("input", "inout")
    extents = [e for t in tensors.values() if t.role in roles for e in t.extent]
    return list(dict.fromkeys(e.name for e in extents if isinstance(e, Size)))


def _with_data(step: Step, data: dict[str, Parameter]) -> Step:
    """Integers that shape nothing are data: values read them."""
    if isinstance(step, For):
        return replace(step, body=tuple(_with_data(s, data) for s in step.body))

    def change(node: Expr) -> Expr:
        if not isinstance(node, Size) or node.name not in data:
            return node
        return converted(Read(node.name, (), data[node.name].dtype), node.dtype)

    return replace(step, values=tuple(transform(v, change) for v in step.values)) if data else step
