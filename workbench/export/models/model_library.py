"""A built model as a C library: kernels for every instruction set level, its arena planned, its weights inside."""

from __future__ import annotations

from pathlib import Path

from workbench.export.clib import api_file, cmake_config, cmake_lists, pkg_config, threads_text
from workbench.export.dispatch import LEVELS, RUNTIME_FILES, Source, linked, runtime_file
from workbench.export.dispatch.architectures import compiler_for, native
from workbench.export.dispatch.files import put_file, write_files
from workbench.export.dispatch.objects import common_flags, level_flags
from workbench.export.models.model_headers import model_example, model_header
from workbench.export.models.model_interface import ModelInterface
from workbench.export.models.model_text import kernel_titles, model_text, weights_of, weights_text
from workbench.export.models.model_units import ModelKernels, kernels_of
from workbench.records import record

VERSION = "1"


@record(eq=False)
class ModelFiles:
    """What was written: paths, the library, what each kernel is for, and notes."""

    library: Path
    files: tuple[Path, ...]
    kernels: tuple[str, ...]
    notes: tuple[str, ...]


def written_model(interface: ModelInterface, folder: Path) -> ModelFiles:
    """Write header, example, sources and the library for this machine's architecture; BuildError without a compiler."""
    name, architecture = interface.name, native()
    kernels = kernels_of(interface.program, LEVELS[architecture])
    weights, _ = weights_of(interface.program)
    units = [
        Source(f"{unit.name}.c", kernel.text(unit), level.target, unit.libraries)
        for at, level in enumerate(kernels.levels)
        for kernel, unit in kernels.units(at)
    ]
    plain = [Source(n, runtime_file(n)) for n in RUNTIME_FILES if n.endswith(".c")]
    plain += [Source("model.c", model_file("model.c")), Source("threads.c", threads_text(name))]
    plain += [Source("weights.c", weights_text(name)), Source(f"{name}.c", model_text(interface, kernels))]
    headers: dict[str, str | bytes] = {n: runtime_file(n) for n in RUNTIME_FILES if n.endswith(".h")}
    headers |= {"model.h": model_file("model.h"), f"{name}.h": model_header(interface), f"{name}.weights": weights}
    headers["workbench.h"] = api_file("workbench.h")
    sources = [*plain, *units]
    built = linked(name, sources, headers, compiler_for(architecture, sources))
    texts = {f"src/{name}/{each.name}": each.text for each in sources}
    public = {f"{name}.h", "workbench.h"}
    texts |= {
        f"{'include' if n in public else f'src/{name}'}/{n}": text
        for n, text in headers.items()
        if isinstance(text, str)
    }
    texts |= {f"example/{name}.c": model_example(interface)}
    texts |= _package_files(name, plain, kernels, architecture)
    files = list(write_files(folder, texts))
    binary = folder / "src" / name / f"{name}.weights"
    binary.write_bytes(weights)
    library = put_file(built, folder / "lib" / built.name)
    notes = (*kernels.notes, *_notes(interface))
    return ModelFiles(library, (*files, binary, library), tuple(kernel_titles(kernels)), notes)


def _package_files(name: str, plain: list[Source], kernels: ModelKernels, architecture: str) -> dict[str, str]:
    """For pkg-config and CMake."""
    flags = {
        level_flags(level): [f"{unit.name}.c" for _, unit in kernels.units(at)]
        for at, level in enumerate(kernels.levels)
    }
    names = [each.name for each in plain]
    gcc, clang = (common_flags(family) for family in ("gcc", "clang"))
    return {
        f"lib/pkgconfig/{name}.pc": pkg_config(name, VERSION),
        f"lib/cmake/{name}/{name}Config.cmake": cmake_config(name),
        f"src/{name}/CMakeLists.txt": cmake_lists(name, names, {architecture: flags}, gcc, clang),
    }


def _notes(interface: ModelInterface) -> list[str]:
    read = interface.built.inputs_of(interface.program)
    left = [each.name for each in interface.built.model.main.parameters if each.name not in read]
    return [f"not an argument, because nothing reads it: {', '.join(left)}"] if left else []


def model_file(name: str) -> str:
    """The text of one of the files that are the same for all models."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
