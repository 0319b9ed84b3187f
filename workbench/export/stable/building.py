"""The library: every kernel for every instruction set level, and the C++ that registers them, linked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.errors import BuildError, WorkbenchError
from workbench.export.cuda.embedded import GpuPart, Images, gpu_headers, gpu_loading, gpu_part, images_of
from workbench.export.dispatch import RUNTIME_FILES, Source, linked, runtime_file
from workbench.export.dispatch.architectures import compiler_for, native
from workbench.export.dispatch.objects import cpp_compiler
from workbench.export.dispatch.parts import Part, part_of
from workbench.export.dispatch.size_code import quoted
from workbench.export.hosts import host_file
from workbench.export.stable.members import Member
from workbench.records import record

TARGET = "0x020a000000000000"
"""The oldest version whose functions are used: 2.10."""
FLAGS = ("-O2", "-std=c++20", "-fPIC", "-w", "-pthread", "-fvisibility=hidden", "-fvisibility-inlines-hidden")


@record(eq=False)
class Built:
    """The library in the cache, and what its kernels are for."""

    library: Path
    kernels: tuple[str, ...]
    notes: tuple[str, ...]


def built(name: str, space: str, members: Sequence[Member], home: Path) -> Built:
    """Compile and link; `home` is the folder of PyTorch's package.  BuildError with the compiler's words."""
    if not (home / "include" / "torch" / "csrc" / "stable" / "c" / "shim.h").is_file():
        raise WorkbenchError(f"{home} has no torch/csrc/stable/c/shim.h: the library is built with PyTorch's headers")
    every = [(f"{n}_{t}", family) for n, m in enumerate(members) for t, family in enumerate(m.families)]
    parts = [part_of(family, native(), key) for key, family in every]
    gpu = gpu_parts(members, images_of)
    sources = [gpu_loading(), *(s for part in gpu.values() for s in part.sources)]
    # What several models share is one file.
    sources += {s.name: s for part in parts for s in part.sources}.values()
    sources += [Source(n, runtime_file(n)) for n in RUNTIME_FILES if n.endswith(".c")]
    sources.append(Source("stable.cpp", _file("stable.cpp"), None, _libraries(home), _command(home)))
    headers: dict[str, str | bytes] = {n: runtime_file(n) for n in RUNTIME_FILES if n.endswith(".h")}
    headers |= {"stable_host.h": _file("stable_host.h"), "torch_loops.h": host_file("torch_loops.h")}
    headers |= gpu_headers() | {"stable_gpu.h": _file("stable_gpu.h")}
    headers |= {n: text for part in parts for n, text in part.headers.items()}
    headers["operators.h"] = operators_text(space, members, gpu)
    library = linked(name, sources, headers, compiler_for(native(), sources))
    kernels = _kernels(members, parts, gpu)
    return Built(library, kernels, tuple(dict.fromkeys(note for part in parts for note in part.notes)))


def _kernels(
    members: Sequence[Member], parts: Sequence[Part], gpu: Mapping[tuple[str, int], GpuPart]
) -> tuple[str, ...]:  # fmt: skip
    """What each kernel is for: its operator, its sizes, and the element types where there is a choice."""
    found, every = list[str](), iter(parts)
    for member in members:
        for t, family in enumerate(member.families):
            floats = {tensor.dtype.name for tensor in family.op.tensors.values() if tensor.dtype.is_float}
            types = f", {', '.join(sorted(floats))}" if len(member.families) > 1 and floats else ""
            there = gpu.get((member.name, t))
            titles = (*next(every).kernels, *(there.kernels if there else ()))
            found += [f"{member.name}: {title}{types}" for title in titles]
    return tuple(found)


def gpu_parts(members: Sequence[Member], images: Images) -> dict[tuple[str, int], GpuPart]:
    """The kernels for GPUs by (operator, choice of types), of those that have any."""
    return {
        (member.name, t): gpu_part(f"{n}_{t}", family, family.gpu.target, images)
        for n, member in enumerate(members)
        for t, family in enumerate(member.families)
        if family.gpu is not None
    }


def operators_text(space: str, members: Sequence[Member], gpu: Mapping[tuple[str, int], GpuPart]) -> str:
    """`operators.h`: the table of what is registered."""
    declared, rows = [], []
    for n, member in enumerate(members):
        families = [f"wb_family_{n}_{t}" for t in range(len(member.families))]
        declared += [f'extern "C" const wb_family {family};\n' for family in families]
        listed = ", ".join(f"&{family}" for family in families)
        declared.append(f"static const wb_family *const wb_types_{n}[] = {{{listed}}};\n")
        tables = [gpu[key].table if (key := (member.name, t)) in gpu else "" for t in range(len(families))]
        declared += [f'extern "C" const wb_gpu_table {table};\n' for table in tables if table]
        named = ", ".join(f"&{table}" if table else "nullptr" for table in tables)
        declared.append(f"static const wb_gpu_table *const wb_gpu_{n}[] = {{{named}}};\n")
        facts = f"{quoted(member.name)}, {quoted(member.schema)}, wb_types_{n}, {len(families)}, wb_gpu_{n}"
        rows.append(f"    {{{facts}}},\n")
    table = f"static const Operator OPERATORS[] = {{\n{''.join(rows)}}};\n"
    return f"#define WB_SPACE {quoted(space)}\n\n{''.join(declared)}\n{table}"


def _command(home: Path) -> tuple[str, ...]:
    compiler = cpp_compiler("operators of PyTorch are registered by C++")
    includes = (f"-I{home / 'include'}", f"-I{home / 'include/torch/csrc/api/include'}", "-I.")
    return (compiler, *FLAGS, f"-DTORCH_TARGET_VERSION={TARGET}", *includes)


def _libraries(home: Path) -> tuple[str, ...]:
    """PyTorch is found by its name where the library is loaded: the folder of this machine is not written into it."""
    if not (home / "lib" / "libtorch_cpu.so").is_file():
        raise BuildError(f"{home / 'lib'} has no libtorch_cpu.so to link with")
    return (f"-L{home / 'lib'}", "-ltorch_cpu")


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
