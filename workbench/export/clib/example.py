"""A program that calls an exported operator."""

from __future__ import annotations

from workbench.export.clib.api import Argument, Interface
from workbench.export.dispatch.example_sizes import element_count, example_sizes
from workbench.lang.dtypes import DType
from workbench.lang.operator import Operator

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
    cells = {a.name: element_count(op, a.name, sizes) for a in pointers}
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
