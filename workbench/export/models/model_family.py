"""A built model as what is exported like an operator: its signature, and its C as the only kernel."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import WorkbenchError
from workbench.export.clib import api_file
from workbench.export.dispatch import Family, Level, Source
from workbench.export.dispatch.family import WholeGradient
from workbench.export.dispatch.front import family_text, levels_text
from workbench.export.dispatch.parts import Part, family_named
from workbench.export.dispatch.size_code import quoted
from workbench.export.models.model_gradients import model_gradient
from workbench.export.models.model_headers import made_for
from workbench.export.models.model_interface import ModelInterface, Port, model_interface
from workbench.export.models.model_library import model_file
from workbench.export.models.model_text import kernel_titles, tables_text, weights_of, weights_text
from workbench.export.models.model_units import ModelKernels, kernels_of
from workbench.graph import BuiltModel
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Const
from workbench.lang.operator import Operator, Role, Tensor
from workbench.records import record


def model_family(built: BuiltModel, name: str | None = None, gpu: object = None) -> Family:
    """The family of a built model, for the sizes that it was prepared for; WorkbenchError for what is no program."""
    if gpu:
        raise WorkbenchError("a built model is for the processor: gpu= is for operators")
    return family_of_interface(model_interface(built, name))


def family_of_interface(interface: ModelInterface) -> Family:
    """The family of a model as a function."""
    return Family(_signature(interface), (), (), whole=WholeModel(interface))


@record(eq=False)
class WholeModel:
    """What makes the C of a model, and its gradient."""

    interface: ModelInterface

    def part(self, levels: Sequence[Level], key: str) -> Part:
        """The C of the model for some levels, in a library where others stand as well."""
        return _part(self.interface, levels, key)

    def gradient(self) -> WholeGradient:
        """The gradient by all tensors of floats, for the same sizes; WorkbenchError where there is none."""
        made = model_gradient(self.interface)
        return WholeGradient(family_of_interface(made.interface), made.rows, made.inputs)


def _signature(interface: ModelInterface) -> Operator:
    """What a call takes and gives.  Numbers are arrays without dimensions, as the model reads them."""
    inputs = tuple(p.c_name for p in interface.inputs)
    outputs = tuple(p.c_name for p in interface.results)
    tensors = {p.c_name: _tensor(p, "temporary") for p in interface.inputs}
    tensors |= {p.c_name: _tensor(p, "output") for p in interface.results}
    text = f"{interface.built.model}\n# {interface.built.model.key}, {made_for(interface)}\n"
    return Operator(interface.name, inputs, outputs, tensors, (), (), (), text)


def _tensor(port: Port, role: Role) -> Tensor:
    extent, zero = (tuple(Const(n, INT64) for n in numbers) for numbers in (port.shape, [0] * len(port.shape)))
    return Tensor(port.c_name, port.dtype, zero, extent, role)


def _part(interface: ModelInterface, levels: Sequence[Level], key: str) -> Part:
    kernels = kernels_of(interface.program, levels, f"m{key}_")
    weights, _ = weights_of(interface.program)
    name = f"model{key}"
    units = [
        Source(f"{unit.name}.c", kernel.text(unit), level.target, unit.libraries)
        for at, level in enumerate(kernels.levels)
        for kernel, unit in kernels.units(at)
    ]
    shared = [Source("model.c", model_file("model.c"))]
    own = [
        Source(f"{name}_weights.c", weights_text(name, key)),
        Source(f"{name}_front.c", _front(interface, kernels, key)),
    ]
    headers = {"model.h": model_file("model.h"), "workbench.h": api_file("workbench.h"), f"{name}.weights": weights}
    return Part((*shared, *own, *units), tuple(kernel_titles(kernels)), kernels.notes, headers)


_KERNEL = """
static const wb_model wb_the_model;

static int wb_fits_model(const int64_t *s)
{
    (void)s;
    return 1;
}

static int wb_lies_model(const wb_array *a, const int64_t *s)
{
    (void)s;
    return wb_model_lies(&wb_the_model, a);
}

static int64_t wb_run_model(void *const *data, const wb_border_value *values, const int64_t *s, void *space,
                            int threads)
{
    (void)values;
    (void)s;
    return wb_model_run_in(&wb_the_model, data, space, threads);
}

static int64_t wb_workspace_model(const int64_t *s, int threads)
{
    (void)s;
    return wb_model_workspace(&wb_the_model, threads);
}

static const wb_code wb_code_model = {wb_run_model, wb_workspace_model};
static const int8_t wb_no_symbols[] = {0};
static const char *const wb_no_checks[] = {""};
"""


def _front(interface: ModelInterface, kernels: ModelKernels, key: str) -> str:
    """The file that defines the family: the model's tables, and the kernel that walks them."""
    rows = [_row(level.name, made_for(interface)) for level in kernels.levels]
    levels = "\n".join([_KERNEL, *rows, levels_text([(level, 1) for level in kernels.levels])])
    tables = tables_text(interface, kernels, levels, key)
    return f'{family_named(key)}#include "model.h"\n\n{family_text(family_of_interface(interface), [tables])}'


def _row(level: str, sizes: str) -> str:
    calls = "&wb_code_model, wb_fits_model, wb_lies_model, wb_no_symbols, 0, 0, wb_no_checks, 0"
    return f"static const wb_kernel wb_kernels_{level}[] = {{{{{quoted(f'{level}: {sizes}')}, {calls}}}}};\n"
