"""The header of an exported model, and a program that calls it."""

from __future__ import annotations

from workbench.codegen.c.names import comment
from workbench.export.clib.headers import library_header
from workbench.export.models.model_interface import ModelInterface, Port


def declared(interface: ModelInterface) -> str:
    """`int mlp(const float *x, float *result, void *memory)`."""
    parts = [f"const {p.dtype.c_name} *{p.c_name}" for p in interface.inputs]
    parts += [f"{p.dtype.c_name} *{p.c_name}" for p in interface.results]
    return f"int {interface.name}({', '.join([*parts, 'void *memory'])})"


def declared_tensors(interface: ModelInterface) -> str:
    """`int mlp_tensors(const workbench_tensor *x, workbench_tensor *result)`."""
    parts = [f"const workbench_tensor *{p.c_name}" for p in interface.inputs]
    parts += [f"workbench_tensor *{p.c_name}" for p in interface.results]
    return f"int {interface.name}_tensors({', '.join(parts)})"


def made_for(interface: ModelInterface) -> str:
    """What the model was made for: `x: float32[3, 8]`."""
    return ", ".join(map(str, interface.inputs)) or "no arguments"


_FUNCTIONS = """/* Dense arrays, row after row; none may overlap a result.  The weights are in the library.
{arguments}
   memory: {name}_bytes() bytes for one call at a time, or NULL: then each call allocates and frees them.
   The first call packs weights for the kernels that read them, into memory that the library keeps. */
{function};

/* The same for tensors of these shapes and types with strides, which are copied where they are not dense. */
{tensors};

/* What a call takes on as many threads as are set. */
int64_t {name}_bytes(void);"""


def model_header(interface: ModelInterface) -> str:
    """`<name>.h`: every function with what it takes."""
    rows = [f"   {p.c_name}: {comment(f'{p.dtype}{list(p.shape)}')}" for p in interface.inputs]
    rows += [f"   {p.c_name}: {comment(f'{p.dtype}{list(p.shape)}')}, is written" for p in interface.results]
    functions = _FUNCTIONS.format(
        name=interface.name, arguments="\n".join(rows), function=declared(interface),
        tensors=declared_tensors(interface),
    )  # fmt: skip
    opening = f"{interface.name}, a model made by the Tensor Workbench, for these sizes."
    return library_header(interface.name, interface.name, opening, functions, "The sizes it was made for")


_EXAMPLE = """/* Calls {name} once: fills its inputs, and says what came out. */

#include "{name}.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{{
    int status = 1;
    void *memory = malloc((size_t){name}_bytes());
{arrays}
    if ({missing}) {{
        fprintf(stderr, "no memory\\n");
        goto end;
    }}
{fills}
    status = {name}({arguments}, memory);
    if (status) {{
        fprintf(stderr, "%s\\n", {name}_message());
        goto end;
    }}
    printf("{name} ran on %s\\n", {name}_isa());
{sums}end:
    free(memory);
{frees}    return status != 0;
}}
"""


def model_example(interface: ModelInterface) -> str:
    """A program that calls the model."""
    ports = interface.ports
    return _EXAMPLE.format(
        name=interface.name,
        arrays="".join(map(_allocated, ports)),
        missing=" || ".join(["!memory", *(f"!{p.c_name}" for p in ports)]),
        fills="".join(map(_filled, interface.inputs)),
        arguments=", ".join(p.c_name for p in ports),
        sums="".join(map(_summed, interface.results)),
        frees="".join(f"    free({p.c_name});\n" for p in ports),
    )


def _allocated(port: Port) -> str:
    kind = port.dtype.c_name
    return f"    {kind} *{port.c_name} = calloc({max(1, port.cells)}, sizeof({kind}));\n"


def _filled(port: Port) -> str:
    """Whole numbers stay 0, which is in range; 16-bit floats stay 0."""
    if not port.dtype.is_float or port.dtype.is_half:
        return ""
    quarter = "0.25f" if port.dtype.bits == 32 else "0.25"
    return f"    for (int n = 0; n < {port.cells}; ++n) {port.c_name}[n] = ({port.dtype.c_name})(n % 7) * {quarter};\n"


def _summed(port: Port) -> str:
    if port.dtype.is_half:
        return f'    printf("  {port.name}: {port.cells} numbers of 16 bits\\n");\n'
    return (
        f"    double {port.c_name}_sum = 0;\n"
        f"    for (int n = 0; n < {port.cells}; ++n) {port.c_name}_sum += (double){port.c_name}[n];\n"
        f'    printf("  {port.name}: {port.cells} numbers, their sum is %g\\n", {port.c_name}_sum);\n'
    )
