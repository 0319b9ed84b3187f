"""`c`: an operator with its schedules as a C library that needs nothing of ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import BuildError, WorkbenchError
from workbench.export.clib import (
    API_FILES,
    api_file,
    cmake_config,
    cmake_lists,
    example_text,
    header_text,
    pkg_config,
    public_text,
    readme,
    threads_text,
)
from workbench.export.clib.api import Interface, interface_of
from workbench.export.clib.cuda_library import write_cuda
from workbench.export.clib.taken_names import checked_for_c
from workbench.export.dispatch import (
    LEVELS,
    RUNTIME_FILES,
    Family,
    Level,
    Source,
    Unit,
    family_of,
    front_text,
    gpu_target,
    linked,
    runtime_file,
    with_gpu,
)
from workbench.export.dispatch.architectures import compiler_for, levels_of, native
from workbench.export.dispatch.files import folder_of, put_file, write_files
from workbench.export.dispatch.objects import common_flags, level_flags
from workbench.export.dispatch.size_code import SizeCode
from workbench.export.models.built import is_built
from workbench.records import record
from workbench.target import Target

if TYPE_CHECKING:
    from workbench.graph import BuiltModel

VERSION = "1"


@record
class CLibrary:
    """What was written: `directory` holds `files`; `libraries` are those that were built, by architecture.

    `kernels` says what each kernel is for; `notes` what could not be built here, and why.
    """

    name: str
    directory: Path
    libraries: Mapping[str, Path]
    files: tuple[Path, ...]
    kernels: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def library(self) -> Path:
        """The one for this machine."""
        return self.libraries[native()]

    @property
    def header(self) -> Path:
        return self.directory / "include" / f"{self.name}.h"

    @property
    def example(self) -> Path:
        return self.directory / "example" / f"{self.name}.c"

    def __str__(self) -> str:
        lines = [f"{self.name} as a C library in {self.directory}"]
        lines += [f"  {path.relative_to(self.directory)}" for path in self.files]
        lines += ["kernels", *(f"  {title}" for title in self.kernels), *self.notes]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def c(
    what: Any, /, directory: str | PathLike[str], *, gpu: str | Target | bool | None = None, name: str | None = None
) -> CLibrary:  # fmt: skip
    """Write an operator as a C library: the library, its header, an example, its sources, pkg-config and CMake files.

    `what` is an operator, a schedule, a study, or a list of schedules and studies of one operator; sizes for which none
    of them is run through the default recipe.  The library holds kernels for every instruction set level and takes the
    highest that the processor has when it is loaded; where a cross compiler is found, it is built for 64-bit ARM too.

    For NVIDIA GPUs there is a library more where schedules are for one, or `gpu` asks for it (True, "h200", a Target):
    machine code for that GPU, else for each generation, and a function that starts the kernels on a stream; NVIDIA's
    driver alone is needed.  The kernels stand beside it as CUDA.
    Of a built model, `wb.build(model)`, the library is one function for the sizes it was prepared for, called `name`
    ("model", or the entry's own name), over dense arrays; kernels, weights and the plan of its arena are inside.

    Raises BuildError without a compiler, WorkbenchError for what cannot be exported.
    """
    if is_built(what):
        return _model_library(what, folder_of(directory), name, gpu)
    if name is not None:
        raise WorkbenchError("name= is for built models; an operator's library is called as the operator is")
    return written_c(with_gpu(family_of(what), gpu_target(gpu)), folder_of(directory))


def _model_library(built: BuiltModel, folder: Path, name: str | None, gpu: object) -> CLibrary:
    if gpu:
        raise WorkbenchError("a built model is for the processor: gpu= is for operators")
    from workbench.export.models.model_interface import model_interface  # operators do without models
    from workbench.export.models.model_library import written_model

    interface = model_interface(built, name)
    made = written_model(interface, folder)
    return CLibrary(interface.name, folder, {native(): made.library}, made.files, made.kernels, made.notes)


def written_c(family: Family, folder: Path, architectures: Iterable[str] = LEVELS) -> CLibrary:
    """The same of a family, for some architectures, and for GPUs where it has kernels for them."""
    checked_for_c(family.op.name)
    parts = [_part(family, architecture) for architecture in architectures]
    interface = interface_of(family)
    files = _common_files(interface) | {f"src/{family.op.name}/{s.name}": s.text for p in parts for s in p.sources}
    kernels = tuple(title for part in parts for title in part.kernels)
    files |= _package_files(interface, {part.architecture: part.flags for part in parts}, kernels)
    written = tuple(write_files(folder, files))
    placed = {p.architecture: _placed(folder, p.architecture, p.library) for p in parts if p.library is not None}
    notes = tuple(note for part in parts for note in part.notes)
    if family.gpu is not None:
        on_gpu = write_cuda(interface, family.gpu, folder)
        written, kernels, notes = (*written, *on_gpu.files), (*kernels, *on_gpu.kernels), (*notes, *on_gpu.notes)
        placed |= on_gpu.libraries
    return CLibrary(family.op.name, folder, placed, (*written, *placed.values()), kernels, notes)


@record(eq=False)
class _Part:
    """What an architecture has: its C files, the flags of its levels with the files they are for, the library."""

    architecture: str
    sources: tuple[Source, ...]
    flags: Mapping[str, Sequence[str]]
    kernels: tuple[str, ...]
    library: Path | None
    notes: tuple[str, ...]


def _part(family: Family, architecture: str) -> _Part:
    """BuildError if the library for this machine cannot be built; for another one that is only noted."""
    levels, notes = levels_of(family, architecture)
    sources = _sources(interface_of(family), architecture, levels)
    flags = {level_flags(level): [f"{u.name}.c" for u in units] for level, units in levels}
    flags[""] = [_front_name(family, architecture)]
    library = None
    try:
        library = _built(family, architecture, sources)
    except BuildError as reason:
        if architecture == native():
            raise
        notes.append(f"not built for {architecture}: {str(reason).splitlines()[0]}")
    kernels = tuple(f"{architecture}, {unit.title}" for _, units in levels for unit in units)
    return _Part(architecture, tuple(sources), flags, kernels, library, tuple(notes))


# -- files


def _common_files(interface: Interface) -> dict[str, str]:
    name = interface.family.op.name
    runtime = {f"src/{name}/{n}": runtime_file(n) for n in RUNTIME_FILES}
    own = {f"{'include' if n == 'workbench.h' else f'src/{name}'}/{n}": api_file(n) for n in API_FILES}
    return {
        **runtime, **own, f"src/{name}/threads.c": threads_text(interface.function),
        f"include/{name}.h": header_text(interface), f"example/{name}.c": example_text(interface),
    }  # fmt: skip


def _front_name(family: Family, architecture: str) -> str:
    return f"{family.op.name}_{architecture}.c"


def _sources(interface: Interface, architecture: str, levels: list[tuple[Level, list[Unit]]]) -> list[Source]:
    """The C files that depend on the operator."""
    family = interface.family
    front = front_text(family, levels, SizeCode(family)) + public_text(interface)
    units = [Source(f"{u.name}.c", u.text, level.target, u.libraries) for level, own in levels for u in own]
    return [*units, Source(_front_name(family, architecture), front)]


def _package_files(
    interface: Interface, flags: Mapping[str, Mapping[str, Sequence[str]]], kernels: Sequence[str]
) -> dict[str, str]:
    name = interface.family.op.name
    plain = ["dispatch.c", "processor.c", "api.c", "threads.c"]
    gcc, clang = (common_flags(family) for family in ("gcc", "clang"))
    return {
        f"lib/pkgconfig/{name}.pc": pkg_config(name, VERSION),
        f"lib/cmake/{name}/{name}Config.cmake": cmake_config(name),
        f"src/{name}/CMakeLists.txt": cmake_lists(name, plain, flags, gcc, clang),
        f"src/{name}/README.md": readme(interface, kernels),
    }


def _placed(folder: Path, architecture: str, library: Path) -> Path:
    """The native library stands in `lib`, others in a folder of their own."""
    place = folder / "lib" if architecture == native() else folder / "lib" / architecture
    return put_file(library, place / library.name)


# -- the compiler


def _built(family: Family, architecture: str, sources: Sequence[Source]) -> Path:
    interface = interface_of(family)
    toolchain = compiler_for(architecture, sources)
    common = [Source(n, runtime_file(n)) for n in RUNTIME_FILES if n.endswith(".c")]
    common += [Source("api.c", api_file("api.c")), Source("threads.c", threads_text(interface.function))]
    headers = {n: runtime_file(n) for n in RUNTIME_FILES if n.endswith(".h")}
    headers |= {n: api_file(n) for n in API_FILES if n.endswith(".h")}
    headers[f"{family.op.name}.h"] = header_text(interface)
    return linked(family.op.name, [*common, *sources], headers, toolchain)
