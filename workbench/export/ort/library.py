"""The library of a custom operator: kernels for every level, the dispatcher, and what ONNX Runtime calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.codegen.c.names import Names
from workbench.errors import BuildError
from workbench.export.cuda.embedded import GpuPart, gpu_headers, gpu_loading, gpu_part, images_of
from workbench.export.dispatch import RUNTIME_FILES, Family, Source, linked, runtime_file
from workbench.export.dispatch.architectures import compiler_for, native
from workbench.export.dispatch.parts import part_of
from workbench.export.dispatch.size_code import quoted
from workbench.export.ort.signature import node_domain, node_inputs
from workbench.lang.expr import Expr, Size, size_names
from workbench.records import record

FILES = ("ort.h", "operators.h", "operators.c", "host.c", "shapes.c", "gpu_calls.c")


@record
class Built:
    """What an architecture has: the library (None where no compiler made it), its kernels in words, and notes."""

    architecture: str
    library: Path | None
    kernels: tuple[str, ...]
    notes: tuple[str, ...]


def built(families: Sequence[Family], architecture: str) -> Built:
    """BuildError if the library for this machine cannot be built; for another one that is only noted.

    Kernels for GPUs stand in the library for this machine.
    """
    on_gpu = _on_gpu(families) if architecture == native() else []
    sources = [Source("operator.c", _tables(families, on_gpu)), *(s for part in on_gpu for s in part.sources)]
    kernels, notes, headers = list[str](), list[str](), dict[str, str | bytes]()
    try:
        for number, family in enumerate(families):
            part = part_of(family, architecture, str(number))
            sources += part.sources
            headers |= part.headers
            types = _types(family) if len(families) > 1 else ""
            kernels += [f"{architecture}, {title}{types}" for title in part.kernels]
            notes += part.notes
        for part, family in zip(on_gpu, families, strict=False):
            kernels += [f"{title}{_types(family) if len(families) > 1 else ''}" for title in part.kernels]
        library = _linked(families[0].op.name, architecture, sources, headers)
    except BuildError as reason:
        if architecture == native():
            raise
        return Built(architecture, None, (), (f"not built for {architecture}: {str(reason).splitlines()[0]}",))
    return Built(architecture, library, tuple(kernels), tuple(notes))


def _on_gpu(families: Sequence[Family]) -> list[GpuPart]:
    """The kernels for GPUs of each choice of element types; none if nobody asked for them."""
    return [
        gpu_part(f"t{number}", family, family.gpu.target, images_of)
        for number, family in enumerate(families)
        if family.gpu is not None
    ]


def _types(family: Family) -> str:
    """Which of several choices of element types this is, in words."""
    return "".join(f", {t}" for t in sorted({t.dtype.name for t in family.op.tensors.values() if t.dtype.is_float}))


def _linked(
    name: str, architecture: str, sources: Sequence[Source], more: Mapping[str, str | bytes]
) -> Path:  # fmt: skip
    texts = {n: Path(__file__).with_name(n).read_text(encoding="utf-8") for n in FILES}
    texts |= {n: runtime_file(n) for n in RUNTIME_FILES}
    common = [Source(n, text) for n, text in texts.items() if n.endswith(".c")]
    headers = {**gpu_headers(), **more, **{n: text for n, text in texts.items() if n.endswith(".h")}}
    every = [*common, gpu_loading(), *sources]
    return linked(f"{name}_onnxruntime", every, headers, compiler_for(architecture, every))


# -- what shape inference knows


def _tables(families: Sequence[Family], on_gpu: Sequence[GpuPart]) -> str:
    """`wb_the_operator`: where sizes come from, what dimensions of results are made of, the choices of types."""
    tables = [part.table for part in on_gpu]
    family = families[0]
    dimensions = [e for name in family.op.outputs for e in family.op.tensors[name].extent]
    rows = [f"    {{{_uses(family, e)}u, {_size(family, e)}}},\n" for e in dimensions] or ["    {0, -1}\n"]
    told = [f"    {{{', '.join(map(str, _origin(family, n)))}}},\n" for n in family.symbols] or ["    {-1, 0}\n"]
    names = [f"wb_family_{n}" for n in range(len(families))]
    function = Names()("function", family.op.name)
    declared = "".join(f"extern const wb_gpu_table {table};\n" for table in tables)
    listed = ", ".join([f"&{table}" for table in tables] or ["NULL"] * len(names))
    return (
        f'#include "operators.h"\n\nextern const wb_family {", ".join(names)};\n{declared}\n'
        f"static const wb_origin origins[] = {{\n{''.join(told)}}};\n"
        f"static const wb_dimension dimensions[] = {{\n{''.join(rows)}}};\n"
        f"static const wb_family *const families[] = {{{', '.join(f'&{n}' for n in names)}}};\n"
        f"static const wb_gpu_table *const on_gpu[] = {{{listed}}};\n"
        f"const wb_operator wb_the_operator = {{\n    {quoted(node_domain(family.op.name))}, {quoted(family.op.name)}, "
        f"origins, dimensions, {len(names)}, families, on_gpu\n}};\n\n"
        f"WB_PUBLIC const char *{function}_kernel(void)\n{{\n    return wb_last_kernel();\n}}\n"
    )


def _origin(family: Family, symbol: str) -> tuple[int, int]:
    """The first input and dimension that is a size; (-1, 0) where it is told otherwise."""
    for n, port in enumerate(node_inputs(family)):
        for dimension, extent in enumerate(port.extents):
            if symbol in family.op.size_names and isinstance(extent, Size) and extent.name == symbol:
                return n, dimension
    return -1, 0


def _uses(family: Family, extent: Expr) -> int:
    """Sizes of an extent, as bits."""
    return sum(1 << family.symbols.index(n) for n in size_names(extent))


def _size(family: Family, extent: Expr) -> int:
    return family.symbols.index(extent.name) if isinstance(extent, Size) else -1
