"""The CUDA side of an exported C library: it compiles, links and says what it holds; a GPU runs it elsewhere."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import WorkbenchError

MATMUL = "def mm(float(M,K) A, float(K,N) B, float a) -> (C) { T(m,n) +=! A(m,k) * B(k,n)\n C(m,n) = a * T(m,n) }"


@pytest.mark.parametrize("name", ["mm", "lookup", "linear_recurrence"])
def test_schedules_for_a_gpu_become_a_library_of_cuda(name, tmp_path: Path):
    if shutil.which("nvcc") is None:
        pytest.skip("install nvcc: CUDA is not compiled here")
    op = wb.operator(MATMUL) if name == "mm" else wb.ops.load(name)
    sizes = {n: 64 for n in op.size_names}
    found = wb.export.c([op, wb.autoschedule(op, "cuda", sizes=sizes)], tmp_path)
    assert set(found.libraries) >= {"x86_64", "cuda"}
    assert "cuda: all sizes" in found.kernels
    assert any(title.startswith("cuda: ") and "=64" in title for title in found.kernels)
    assert not any("x86_64" in title and "=64" in title for title in found.kernels)
    library = str(found.libraries["cuda"])
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True)
    assert f" T {name}_cuda\n" in symbols.stdout
    source = tmp_path / "use.c"
    source.write_text(f'#include "{name}_cuda.h"\nint main(void) {{ return {name}_cuda_message() == 0; }}\n')
    flags = ["-Wall", "-Wextra", "-Werror", f"-I{tmp_path / 'include'}", f"-L{tmp_path / 'lib'}", f"-l{name}_cuda"]
    subprocess.run(["gcc", str(source), *flags, "-o", str(tmp_path / "use")], check=True)


def test_a_gpu_may_be_asked_for_by_name(tmp_path):
    found = wb.export.c(wb.operator(MATMUL), tmp_path, gpu="h200")
    text = (tmp_path / "src" / "mm" / "mm_cuda_0.cu").read_text()
    assert "<<<wb_blocks, wb_threads" in text
    assert (tmp_path / "include" / "mm_cuda.h").is_file()
    assert "cuda" in found.libraries or "nvcc was not found" in str(found)
    with pytest.raises(WorkbenchError, match="is no NVIDIA GPU"):
        wb.export.c(wb.operator(MATMUL), tmp_path, gpu="avx2")
