"""A program that calls an exported operator, with sizes that it takes."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.export.clib.api import Argument, Interface
from workbench.export.dispatch import Family
from workbench.lang.dtypes import DType
from workbench.lang.expr import Const
from workbench.lang.folding import fold
from workbench.lang.operator import Operator
from workbench.ops import examples

MOST_CELLS = 1 << 24
TRIED = (8, 16, 12, 6, 4, 3, 2, 1, 32, 64, 5, 7)

_PROGRAM = """/* Calls {name} once: fills its inputs, and says what came out. */

#include "{name}.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{{
    int status = 1;
{sizes}{arrays}
    if ({missing}) {{
        fprintf(stderr, "no memory\\n");
        goto end;
    }}
{fills}
    status = {function}({arguments});
    if (status) {{
        fprintf(stderr, "%s\\n", {function}_message());
        goto end;
    }}
    printf("{name} ran the kernel for %s\\n", {function}_kernel());
{sums}end:
{frees}    return status != 0;
}}
"""


def example_text(interface: Interface) -> str:
    """`example.c`."""
    family, op = interface.family, interface.family.op
    sizes = example_sizes(family)
    pointers = [a for a in interface.arguments if a.kind == "a"]
    numbers = {a.name: "1" for a in interface.arguments if a.kind == "v"}
    shaping = [a for a in interface.arguments if a.kind == "s"]
    written = [a for a in pointers if a.name in op.outputs]
    cells = {a.name: _cells(op, a.name, sizes) for a in pointers}
    by_c = {a.c_name: numbers.get(a.name, a.c_name) for a in interface.arguments}
    return _PROGRAM.format(
        name=op.name,
        function=interface.function,
        sizes="".join(f"    const int64_t {a.c_name} = {sizes[a.name]};\n" for a in shaping),
        arrays="".join(_allocated(op.tensors[a.name].dtype, a, cells[a.name]) for a in pointers),
        missing=" || ".join(f"!{a.c_name}" for a in pointers) or "0",
        fills="".join(_filled(op, a, cells[a.name]) for a in pointers if a not in written),
        arguments=", ".join(by_c[a.c_name] for a in interface.arguments),
        sums="".join(_summed(op.tensors[a.name].dtype, a, cells[a.name]) for a in written),
        frees="".join(f"    free({a.c_name});\n" for a in pointers),
    )


def _cells(op: Operator, name: str, sizes: dict[str, int]) -> int:
    cells = 1
    for extent in op.tensors[name].extent:
        cells *= max(0, fold(extent, sizes))
    return cells


def _allocated(dtype: DType, argument: Argument, cells: int) -> str:
    kind = dtype.c_name
    return f"    {kind} *{argument.c_name} = calloc({max(1, cells)}, sizeof({kind}));\n"


def _filled(op: Operator, argument: Argument, cells: int) -> str:
    """Indices stay 0, which is in range, or differ where they promise to; 16-bit floats stay 0."""
    dtype = op.tensors[argument.name].dtype
    promised = any(p.tensor == argument.name and p.kind == "injective" for p in op.promises)
    if promised:
        value = f"({dtype.c_name})n"
    elif dtype.is_float and not dtype.is_half:
        value = f"({dtype.c_name})(n % 7) * {'0.25f' if dtype.bits == 32 else '0.25'}"
    else:
        return ""
    return f"    for (int n = 0; n < {cells}; ++n) {argument.c_name}[n] = {value};\n"


def _summed(dtype: DType, argument: Argument, cells: int) -> str:
    if dtype.is_half:
        return f'    printf("  {argument.name}: {cells} numbers of 16 bits\\n");\n'
    return (
        f"    double {argument.c_name}_sum = 0;\n"
        f"    for (int n = 0; n < {cells}; ++n) {argument.c_name}_sum += (double){argument.c_name}[n];\n"
        f'    printf("  {argument.name}: {cells} numbers, their sum is %g\\n", {argument.c_name}_sum);\n'
    )


def example_sizes(family: Family) -> dict[str, int]:
    """Sizes that the operator takes and that are worth an example: small ones, or those of a variant."""
    return next(iter(_sizes(family)))


def _sizes(family: Family) -> Iterator[dict[str, int]]:
    op, tensors = family.op, family.op.tensors
    named = [t for n, t in tensors.items() if n in family.inputs or n in op.outputs]
    for sizes in _candidates(family):
        if set(sizes) != set(family.symbols) or not all(fold(c.expr, sizes) for c in op.conditions):
            continue
        extents = [fold(e, sizes) for t in named for e in t.extent if not isinstance(e, Const)]
        if all(e > 0 for e in extents) and sum(_cells(op, t.name, sizes) for t in named) <= MOST_CELLS:
            yield sizes
    yield dict.fromkeys(family.symbols, 1)


def _candidates(family: Family) -> Iterator[dict[str, int]]:
    yield from (v.sizes for v in family.variants)
    scalars = family.fallbacks[0].sizes
    for number in TRIED:
        for scalar in (1, 0, 2):
            yield {**dict.fromkeys(family.op.size_names, number), **dict.fromkeys(family.op.scalars, scalar), **scalars}
    yield from examples(family.op)
