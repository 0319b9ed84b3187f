"""Parallel loops as C: a pragma of OpenMP, or a function that the thread pool calls."""

from __future__ import annotations

from workbench.codegen.c.expressions.nontemporal_stores import arrived
from workbench.codegen.c.expressions.values import PRECEDENCE, Values
from workbench.codegen.c.lines import indented
from workbench.codegen.nest.nest import For, walk
from workbench.lang.algebra.normal_form import depends, polynomial
from workbench.lang.algebra.polynomial import expression
from workbench.lang.expr import Call, Expr


def with_pragma(values: Values, loop: For, printed: list[str]) -> list[str]:
    """The printed loop, its iterations divided among the threads of OpenMP."""
    schedule = "dynamic" if uneven(loop) else "static"
    last = arrived(values.helpers, loop)
    if not last:
        return [f"#pragma omp parallel for num_threads(threads) schedule({schedule})", *printed]
    shared = [f"#pragma omp for schedule({schedule}) nowait", *printed, *last]
    return ["#pragma omp parallel num_threads(threads)", "{", *indented(shared), "}"]


def outlined(
    values: Values, loop: For, context: list[tuple[str, str]], function: str, printed: list[str]
) -> tuple[str, list[str]]:
    """The body as a function over a range of iterations, and the lines that call it through the pool.

    `context` is what the body may use: names and their types.
    """
    name = values.names("index", loop.variable)
    step = f"{name}++" if loop.step == 1 else f"{name} += {loop.step}"
    first = values.inside(loop.lower, PRECEDENCE["+"])
    start = f"{first} + {loop.step} * wb_begin" if loop.step != 1 else f"{first} + wb_begin"
    end = f"{first} + {loop.step} * wb_end" if loop.step != 1 else f"{first} + wb_end"
    fields = "".join(f"    {kind} {variable};\n" for variable, kind in context)
    unpack = [
        f"{kind} {restricted(kind)}{variable} = wb_c->{variable}; (void){variable};"
        for variable, kind in context
    ]
    text = [
        f"struct {function}_context {{\n{fields}}};",
        f"static void {function}(const void *wb_context, int64_t wb_begin, int64_t wb_end)",
        "{",
        *indented([f"const struct {function}_context *wb_c = wb_context; (void)wb_c;", *unpack]),
        *indented([f"for (int64_t {name} = {start}; {name} < {end}; {step}) {{", *indented(printed), "}"]),
        *indented(arrived(values.helpers, loop)),
        "}\n",
    ]
    count = f"({values.text(loop.upper)}) - ({first})"
    total = count if loop.step == 1 else f"(({count}) + {loop.step - 1}) / {loop.step}"
    given = ", ".join(variable for variable, _ in context) or "0"
    call = [
        f"struct {function}_context wb_context = {{ {given} }};",
        f"wb_parallel_for(0, {total}, threads, {function}, &wb_context);",
    ]
    return "\n".join(text), ["{", *indented(call), "}"]


def restricted(kind: str) -> str:
    """`restrict` for pointers (the aliasing guard stands at the border)."""
    return "restrict " if kind.endswith("*") else ""


def uneven(loop: For) -> bool:
    """Whether iterations differ in work: how often an inner loop runs (but for a last, shorter tile) moves with it."""
    inner = (node for node in walk(loop.body) if isinstance(node, For))
    return any(_runs_otherwise(node, loop.variable) for node in inner)


def _runs_otherwise(inner: For, variable: str) -> bool:
    if not (_moves(inner.lower, variable) or _moves(inner.upper, variable)):
        return False
    ends = inner.upper.arguments if isinstance(inner.upper, Call) and inner.upper.function == "min" else (inner.upper,)
    begin = polynomial(inner.lower)
    return all(_moves(expression(polynomial(end) - begin), variable) for end in ends)


def _moves(bound: Expr, variable: str) -> bool:
    match bound:
        case Call("min", arguments, _):
            return all(_moves(a, variable) for a in arguments)
        case Call("whole", (count, _), _):
            return _moves(count, variable)
    return depends(bound, variable)
