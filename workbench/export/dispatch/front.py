"""The C of one operator beside its kernels: how sizes follow from shapes, and when which kernel may run."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.codegen.kernel import ArrayParameter, IndexCheck
from workbench.export.dispatch.family import Family, always
from workbench.export.dispatch.levels import Level
from workbench.export.dispatch.size_code import SizeCode, Solver, holds_text, quoted
from workbench.export.dispatch.units import Unit
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT64, DType
from workbench.lang.expr import Binary, Const, Expr
from workbench.lang.operator import Promise, Statement

CODES = {"int": 0, "uint": 1, "float": 2, "bool": 6}
BFLOAT = 4


def front_text(family: Family, levels: Sequence[tuple[Level, Sequence[Unit]]], code: SizeCode | None = None) -> str:
    """The file that defines `wb_the_family`; `levels` are tried in order, each with its kernels in theirs."""
    code = code or SizeCode(family)
    kernels = list[str]()
    for level, units in levels:
        kernels += [_kernel_functions(code, unit) for unit in units]
        kernels += [_kernel_table(code, level, units)]
    kernels.append(levels_text([(level, len(units)) for level, units in levels]))
    checked = any(unit.kernel.signature.checks for unit in levels[0][1])
    head = f"/* {family.op.name}: which of its kernels runs, and what they are called with. */\n"
    return "\n".join([head, '#include "dispatch.h"\n', family_text(family, kernels, code, checked=checked)])


def family_text(family: Family, kernels: Sequence[str], code: SizeCode | None = None, *, checked: bool = False) -> str:
    """The definition of `wb_the_family`; `kernels` are the texts that define `wb_level_here`, `checked` says whether
    kernels check indices."""
    code = code or SizeCode(family)
    sizes = [holds_text(code), Solver(code).write(), _shapes_text(code), _work(code), _promises(code)]
    tables = [_parameters(family), _arguments(family), _family(code, checked=checked)]
    return "\n".join([code.helper_texts(), *sizes, *kernels, *tables])


def dlpack_code(dtype: DType) -> int:
    """DLPack's number of a kind of element."""
    return BFLOAT if dtype.name == "bfloat16" else CODES[dtype.kind]


# -- the operator


def _shapes_text(code: SizeCode) -> str:
    """`wb_shape`: the extents of every array, from the sizes."""
    op, lines = code.family.op, []
    extents: list[Expr] = []
    for place, name in enumerate((*code.family.inputs, *op.outputs)):
        own = op.tensors[name].extent
        extents += own
        texts = [code.text(e) for e in own]
        kept = "".join(f" shape[{d}] = ({t}) > 0 ? ({t}) : 0;" for d, t in enumerate(texts))
        lines.append(f"        case {place}:{kept} break;\n")
    head = code.known(*extents)
    return (
        "static void wb_shape(int which, const int64_t *s, int64_t *shape)\n"
        f"{{\n{head}    (void)shape;\n    switch (which) {{\n{''.join(lines)}    }}\n}}\n"
    )


def _work(code: SizeCode) -> str:
    """How many instances the statements have, at most; loops of unknown length count as one."""
    boxes = [_box(statement) for statement in code.family.op.statements()]
    terms = [" * ".join([f"(double)({code.text(e)})" for e in box] or ["1.0"]) for box in boxes]
    head = code.known(*(e for box in boxes for e in box))
    return f"static double wb_work(const int64_t *s)\n{{\n{head}    return {' + '.join(terms) or '0'};\n}}\n"


def _box(statement: Statement) -> list[Expr]:
    lengths = [simplify(Binary("-", r.upper, r.lower, INT64)) for r in statement.ranges if not r.bounding]
    return [e for e in lengths if not isinstance(e, Const) or e.value > 0]


def _promises(code: SizeCode) -> str:
    op = code.family.op
    if not op.promises:
        return ""
    lines = [f"    if ((status = {_promise(code, p)}) != 0) return status;\n" for p in op.promises]
    head = code.known(*(e for p in op.promises for e in p.arguments))
    return (
        "static int wb_promised(const wb_array *a, const int64_t *s)\n"
        f"{{\n{head}    int status;\n{''.join(lines)}    return 0;\n}}\n"
    )


def _promise(code: SizeCode, promise: Promise) -> str:
    place = code.family.inputs.index(promise.tensor)
    bounds = "".join(f"{code.text(e)}, " for e in promise.arguments)
    array = f"&a[{place}], &wb_the_family.parameters[{place}]"
    return f"wb_{promise.kind}({array}, {bounds}{quoted(f'{code.family.op.name}: {promise.text}')})"


def _parameters(family: Family) -> str:
    rows = []
    for name in (*family.inputs, *family.op.outputs):
        tensor = family.op.tensors[name]
        by_value = tensor.rank == 0 and tensor.role == "input"
        zero = tensor.role == "output" and any(p.arrays[name].partial for p in family.fallbacks)
        facts = (dlpack_code(tensor.dtype), tensor.dtype.bits, tensor.dtype.bytes, tensor.rank, by_value,
                 tensor.role == "inout", zero)  # fmt: skip
        rows.append(f"    {{{quoted(name)}, {', '.join(str(int(f)) for f in facts)}}},\n")
    return f"static const wb_parameter wb_parameters[] = {{\n{''.join(rows)}}};\n"


def _arguments(family: Family) -> str:
    rows = [_argument(family, name) for name in (*family.op.parameters, *family.updated, *untold(family))]
    return f"static const wb_argument wb_arguments[] = {{\n{''.join(rows) or '    {0, 0, 0}'}}};\n"


def _argument(family: Family, name: str) -> str:
    op = family.op
    if name in op.scalars or name in op.size_names:
        return f"    {{{quoted(name)}, 's', {family.symbols.index(name)}}},\n"
    place = (*family.inputs, *op.outputs).index(name)
    by_value = op.tensors[name].rank == 0 and op.tensors[name].role == "input"
    kind = "a" if not by_value else "t" if name in family.boxed else "v"
    return f"    {{{quoted(name)}, '{kind}', {place}}},\n"


def untold(family: Family) -> tuple[str, ...]:
    """Sizes that no shape tells, which a call has to be given."""
    solver = Solver(SizeCode(family))
    solver.write()
    return tuple(n for n in family.op.size_names if n not in solver.solved)


def _family(code: SizeCode, *, checked: bool) -> str:
    family, op = code.family, code.family.op
    count = len(op.parameters) + len(family.updated) + len(untold(family))
    promised = "wb_promised" if op.promises else "NULL"
    return (
        f"const wb_family wb_the_family = {{\n    {quoted(op.name)}, {len(family.inputs)}, {len(op.outputs)}, "
        f"{len(family.symbols)}, {count}, {int(checked)},\n    wb_parameters, wb_arguments, wb_solve, wb_holds, "
        f"wb_shape, wb_work, {promised}, wb_level_here, {int(op.language == 'c')}\n}};\n"
    )


# -- its kernels


def _kernel_functions(code: SizeCode, unit: Unit) -> str:
    """`fits` and `lies` of one kernel."""
    sizes = [f"s[{code.place(n)}] == {v}" for n, v in unit.kernel.sizes.items()]
    condition = [] if always(unit.condition) else [f"({code.text(unit.condition)})"]
    fits = " && ".join([*sizes, *condition]) or "1"
    head = code.known(unit.condition)
    arrays = unit.kernel.signature.arrays
    places = {name: n for n, name in enumerate((*code.family.inputs, *code.family.op.outputs))}
    lies = "".join(_lies(code, places[a.name], a) for a in arrays if a.rank)
    used = code.known(*(e for a in arrays for e in a.strides))
    return (
        f"static int wb_fits_{unit.name}(const int64_t *s)\n{{\n{head}    return {fits};\n}}\n\n"
        f"static int wb_lies_{unit.name}(const wb_array *a, const int64_t *s)\n{{\n{used}    (void)a;\n{lies}"
        "    return 1;\n}\n"
    )


def _lies(code: SizeCode, place: int, array: ArrayParameter) -> str:
    strides = ", ".join(code.text(e) for e in array.strides)
    return (
        f"    if (!wb_lies(&a[{place}], {array.rank}, {array.dtype.bytes}, (const int64_t[]){{{strides}}})) return 0;\n"
    )


def _kernel_table(code: SizeCode, level: Level, units: Sequence[Unit]) -> str:
    texts, rows = [], []
    for unit in units:
        signature = unit.kernel.signature
        symbols = ", ".join(str(code.place(n)) for n in signature.symbols) or "0"
        checks = ", ".join(quoted(index_message(c)) for c in signature.checks) or '""'
        texts.append(f"extern const wb_code wb_code_{unit.name};\n")
        texts.append(f"static const int8_t wb_symbols_{unit.name}[] = {{{symbols}}};\n")
        texts.append(f"static const char *const wb_checks_{unit.name}[] = {{{checks}}};\n")
        rows.append(
            f"    {{{quoted(unit.title)}, &wb_code_{unit.name}, wb_fits_{unit.name}, wb_lies_{unit.name}, "
            f"wb_symbols_{unit.name}, {len(signature.symbols)}, {len(signature.checks)}, wb_checks_{unit.name}, "
            f"{int(unit.fallback)}}},\n"
        )
    return f"{''.join(texts)}static const wb_kernel wb_kernels_{level.name}[] = {{\n{''.join(rows)}}};\n"


def index_message(check: IndexCheck) -> str:
    """What a check found, in words."""
    place = f" in {check.statement}" if check.statement else ""
    left = "outputs that are not read may be partly written" if check.late else "nothing was written"
    return f"an index of {check.array}{place} is out of range: {check.text} (dimension {check.dimension}); {left}"


def levels_text(levels: Sequence[tuple[Level, int]]) -> str:
    """`wb_level_here`: the highest of the levels that the processor has, with so many kernels in its table."""
    rows = [
        f"    {{{quoted(level.name)}, {f'wb_kernels_{level.name}' if count else 'NULL'}, {count}}},\n"
        for level, count in levels
    ]
    tests = [f"{level.test} ? {n} : " for n, (level, _) in enumerate(levels) if level.test != "1"]
    chosen = "".join(tests) + (str(len(levels) - 1) if levels[-1][0].test == "1" else "-1")
    return (
        f"static const wb_level wb_levels[] = {{\n{''.join(rows)}}};\n\n"
        "/* Found once, when the library is loaded; WORKBENCH_ISA may name a lower one; -1: none runs here. */\n"
        "static int wb_level_number;\n"
        "__attribute__((constructor)) static void wb_find_level(void)\n{\n"
        f"    wb_level_number = wb_level_at_most({chosen}, wb_levels, {len(levels)});\n}}\n\n"
        "static const wb_level *wb_level_here(void)\n{\n"
        "    return wb_level_number < 0 ? NULL : &wb_levels[wb_level_number];\n}\n"
    )
