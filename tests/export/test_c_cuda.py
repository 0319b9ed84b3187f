"""The CUDA side of an exported C library: what is written, and a program in C that calls it above a stand-in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import workbench as wb
from tests.export import c_on_gpu
from tests.export.stand_in import driver_in, images
from workbench.errors import BuildError, WorkbenchError
from workbench.export import to_c
from workbench.export.clib import cuda_library


@pytest.mark.usefixtures("cuda_compiler")
@pytest.mark.parametrize("name", ["mm", "lookup", "linear_recurrence"])
def test_schedules_for_a_gpu_become_a_library_of_cuda(name: str, tmp_path: Path) -> None:
    op = wb.operator(c_on_gpu.MATMUL) if name == "mm" else wb.ops.load(name)
    sizes = {n: 64 for n in op.size_names}
    found = wb.export.c([op, wb.autoschedule(op, "cuda", sizes=sizes)], tmp_path)
    assert set(found.libraries) >= {"x86_64", "cuda"}
    assert "cuda: all sizes" in found.kernels
    assert any(title.startswith("cuda: ") and "=64" in title for title in found.kernels)
    assert not any("x86_64" in title and "=64" in title for title in found.kernels)
    library = str(found.libraries["cuda"])
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True).stdout
    public = [line.split()[-1] for line in symbols.splitlines()]
    assert sorted(public) == [f"{name}_cuda", f"{name}_cuda_kernel", f"{name}_cuda_message"]
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True).stdout
    assert "libcuda" not in needed, "who has no GPU can load it"


def test_the_sources_build_it_with_a_compiler_of_c_alone(tmp_path: Path, gpu_library: wb.export.CLibrary) -> None:
    folder = gpu_library.directory / "src" / "mm"
    others = ("avx", "base", "neon", "sve", "mm_x86", "mm_aarch", "threads")
    files = [str(f) for f in folder.glob("*.c") if not f.name.startswith(others)]
    flags = ["-shared", "-fPIC", "-w", "-pthread", f"-I{folder}", f"-I{folder.parent.parent / 'include'}"]
    command = ["gcc", *flags, *files, "-o", str(tmp_path / "libmm_cuda.so")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def gpu_library(tmp_path_factory: pytest.TempPathFactory) -> wb.export.CLibrary:
    """A library whose machine code is the stand-in's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(to_c, "write_cuda", lambda *given: cuda_library.write_cuda(*given, images))
        return c_on_gpu.exported(tmp_path_factory.mktemp("gpu"))


@pytest.mark.skipif(sys.platform != "linux", reason="install Linux: the library stands in for libcuda.so.1")
def test_a_program_in_c_calls_it_above_a_stand_in(
    gpu_library: wb.export.CLibrary, tmp_path: Path, compilers: dict[str, tuple[str, ...]]
) -> None:
    program = c_on_gpu.program_of(gpu_library)
    libraries = f"{driver_in(tmp_path, compilers)}:{gpu_library.directory / 'lib'}"
    assert c_on_gpu.said(program, (64, 32, 48), libraries) == c_on_gpu.expected("M=64, K=32, N=48")
    assert c_on_gpu.said(program, (5, 7, 3), libraries) == c_on_gpu.expected("all sizes")


@pytest.mark.usefixtures("cuda_compiler")
def test_a_gpu_may_be_asked_for_by_name(tmp_path: Path) -> None:
    found = wb.export.c(wb.operator(c_on_gpu.MATMUL), tmp_path, gpu="h200")
    assert "__global__" in (tmp_path / "src" / "mm" / "mm_cuda_0.cu").read_text()
    assert (tmp_path / "include" / "mm_cuda.h").is_file()
    assert "h200: all sizes" in found.kernels
    with pytest.raises(WorkbenchError, match="is no NVIDIA GPU"):
        wb.export.c(wb.operator(c_on_gpu.MATMUL), tmp_path, gpu="avx2")


def test_without_a_compiler_of_cuda_the_text_is_written_and_that_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(kernel: object) -> tuple[bytes, ...]:
        raise BuildError("no CUDA compiler is found: install one")

    monkeypatch.setattr(to_c, "write_cuda", lambda *given: cuda_library.write_cuda(*given, none))
    found = wb.export.c(wb.operator(c_on_gpu.MATMUL), tmp_path, gpu=True)
    assert "cuda" not in found.libraries
    assert "not built for GPUs: no CUDA compiler is found: install one" in found.notes
    assert (tmp_path / "src" / "mm" / "mm_cuda_0.cu").is_file()
