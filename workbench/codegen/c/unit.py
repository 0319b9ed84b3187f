"""One C file: prelude, helpers, the workspace function, the kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.codegen.c.checks import Checks
from workbench.codegen.c.expressions.encoded_operands import encoding
from workbench.codegen.c.expressions.nontemporal_stores import store_fence
from workbench.codegen.c.expressions.values import Values
from workbench.codegen.c.helpers import Helpers
from workbench.codegen.c.lines import indented, origin_of
from workbench.codegen.c.names import Names, comment
from workbench.codegen.c.printer import Printer
from workbench.codegen.c.stops import BEGAN, stoppable
from workbench.codegen.c.tuning import tuning
from workbench.codegen.c.workspace import STACK_BYTES, Workspace, pointers, workspace_function, workspace_of
from workbench.codegen.cmath.helper import BASE
from workbench.codegen.kernel import ArrayParameter, Origin, Signature
from workbench.codegen.nest.nest import Nest
from workbench.poly.programs.program import Array, Program
from workbench.records import record
from workbench.target import Target
from workbench.wording import number_of

PRELUDE = """#if defined(__clang__)
#define WB_UNROLL _Pragma("clang loop unroll(full)")
#define WB_UNROLL_TAPS
#else
#define WB_UNROLL _Pragma("GCC unroll 32")
#define WB_UNROLL_TAPS WB_UNROLL
#endif
"""
ALIGNMENT = 64


@record
class Unit:
    """The text, its signature, what the generator did, and the names of arrays in C.

    The function begins on line `start`; `origins` say what the lines from there on are about.
    """

    text: str
    signature: Signature
    notes: tuple[str, ...]
    names: Mapping[str, str]
    start: int
    origins: tuple[Origin, ...]


def write_unit(
    program: Program,
    nest: Nest,
    target: Target,
    title: Sequence[str],
    *,
    checked: bool,
    stack: int | None = STACK_BYTES,
) -> Unit:
    """The C file that executes `nest`; local arrays of up to `stack` bytes stand on the stack (None: all of them)."""
    names, helpers = Names(), Helpers(target.vector_bits // 8)
    helpers.add(BASE)
    helpers.text("wb_unroll", PRELUDE)
    function = names("function", program.name)
    arrays = parameters(program, names)
    for symbol in program.symbols:
        names("size", symbol)
    by_value = {a.name for a in arrays if a.by_value}
    values = Values(program.arrays, names, helpers, by_value, signed=program.signed_symbols)
    checks = Checks(program, values, enabled=checked, target=target)
    space = workspace_of(program, nest, target.parallel, stack)
    context = visible(program, arrays, names, checks, space)
    may_stop = stoppable(program, checked=checked)
    own = encoding(nest, program)
    printer = Printer(program, values, target.parallel, context, stoppable=may_stop, workspace=space, encoding=own)
    taken = arguments(program, arrays, names)
    check = names("function", f"{program.name}.check")
    early = checks.function(check, taken, lambda: Printer(program, values, "serial"))
    body = [*printer.lines(nest), *store_fence(helpers, nest)]
    signature = Signature(function, arrays, program.symbols, space.total, checks.found)
    start = [f"const unsigned {BEGAN} = WB_STOPS;"] if printer.looks else []
    start += status(check if early else "", passed(program, arrays, names), checks)
    start += pointers(program, names, values, space)
    start += [] if printer.parallel_loops else ["(void)threads;"]
    result = "wb_failed" if checks.found else "0"
    definition = [f"int {function}({taken})", "{", *indented([*start, *body, f"return {result};"]), "}"]
    workspace_text = workspace_function(program, values, function, space)
    head = "".join(f"/* {comment(line)} */\n" for line in title)
    pool = _pool(target) if printer.outlined else ""
    parts = [head, tuning(nest, target), pool, *helpers.texts.values(), early, *printer.outlined]
    text = "\n".join(p for p in parts if p) + "\n" + workspace_text
    known = {name: names("array", name) for name in program.arrays}
    origins = tuple(map(origin_of, definition))
    whole = text + "\n".join(definition) + "\n"
    return Unit(whole, signature, notes(printer), known, text.count("\n"), origins)


def _pool(target: Target) -> str:
    """The functions that loops outside the kernel's text are handed to."""
    from workbench.codegen.c.pool import HOST, POOL  # a file of its own, for kernels without OpenMP

    return {"pool": POOL, "host": HOST}.get(target.parallel, "")


def parameters(program: Program, names: Names) -> tuple[ArrayParameter, ...]:
    """Inputs in the order of the call, then outputs."""
    order = [p for p in program.parameters if p in program.arrays]
    order += [o for o in program.outputs if o not in order]
    return tuple(parameter(program.arrays[name], names) for name in order)


def parameter(array: Array, names: Names) -> ArrayParameter:
    """One array of the program as an argument of the function."""
    return ArrayParameter(
        array.name,
        names("array", array.name),
        array.dtype,
        array.role,
        array.extent,
        array.strides,
        array.partial,
    )


def declared(array: ArrayParameter) -> tuple[str, str]:
    """(C name, C type) of an argument."""
    if array.by_value:
        return array.c_name, f"{array.dtype.c_name}"
    return array.c_name, f"{'' if array.is_output else 'const '}{array.dtype.c_name} *"


def visible(
    program: Program, arrays: tuple[ArrayParameter, ...], names: Names, checks: Checks, space: Workspace
) -> list[tuple[str, str]]:
    """What the body of a parallel loop may use: arguments, temporaries, sizes."""
    shown = [declared(a) for a in arrays]
    shown += [(names("array", a), f"{program.arrays[a].dtype.c_name} *") for a in space.shared]
    shown += [("workspace", "void *")] if space.own else []
    shown += [(names("size", s), "int64_t") for s in program.symbols]
    return [*shown, ("wb_status", "int *")] if checks.late else shown


def arguments(program: Program, arrays: tuple[ArrayParameter, ...], names: Names) -> str:
    """The parameter list."""
    pointers = [a for a in arrays if not a.by_value]
    scalars = [a for a in arrays if a.by_value]
    parts = [f"{declared(a)[1]}restrict {a.c_name}" for a in pointers]
    parts += [f"{declared(a)[1]} {a.c_name}" for a in scalars]
    parts += [f"int64_t {names('size', s)}" for s in program.symbols]
    return ", ".join([*parts, "void *workspace", "int threads"])


def passed(program: Program, arrays: tuple[ArrayParameter, ...], names: Names) -> str:
    """The arguments again, to hand them on."""
    parts = [a.c_name for a in arrays if not a.by_value] + [a.c_name for a in arrays if a.by_value]
    return ", ".join([*parts, *(names("size", s) for s in program.symbols), "workspace", "threads"])


def status(early: str, handed: str, checks: Checks) -> list[str]:
    """The status variable; the function `early` makes its checks before anything is written."""
    lines = ["int wb_failed = 0;"] if checks.found else []
    if early:
        lines.append(f"if ((wb_failed = {early}({handed})) != 0) return wb_failed;")
    return [*lines, "int *const wb_status = &wb_failed;"] if checks.late else lines


def notes(printer: Printer) -> tuple[str, ...]:
    """What became of the schedule's marks."""
    found = []
    if printer.parallel_loops:
        found.append(f"{number_of(printer.parallel_loops, 'parallel loop')} ({printer.parallel})")
    if printer.vector_loops:
        found.append(number_of(printer.vector_loops, "vector loop"))
    if printer.slow_lanes:
        found.append(f"{number_of(printer.slow_lanes, 'expression')} computed lane by lane")
    return tuple(found)
