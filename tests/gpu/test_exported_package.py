"""A package with kernels for GPUs: its own tests call its operators of PyTorch with CUDA tensors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import workbench as wb
from tests.export.c_on_gpu import MATMUL
from tests.support import ROOT
from workbench.export import to_package
from workbench.runtime.gpu.drivers.driver import Driver

torch = pytest.importorskip("torch", reason="install torch")
pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("real")]


@pytest.fixture(autouse=True)
def cuda(real: Driver) -> None:
    """PyTorch has a GPU too."""
    if not torch.cuda.is_available():
        pytest.skip("install PyTorch with CUDA: this one has none")


def test_the_packages_own_tests_run_its_operators_on_the_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(to_package, "wheel_of", lambda project, folder: project)  # the machine has no tool for wheels
    what = {"mm": wb.operator(MATMUL), "table": wb.ops.load("embedding")}
    made = wb.export.package(what, tmp_path, name="on-gpu", torch=True, gpu=True)
    source = made.project / "src"
    assert (source / "on_gpu" / "c" / "lib" / "libmm_cuda.so").is_file()
    paths = [str(source), *(p for p in sys.path if p and Path(p).resolve() != ROOT)]
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--pyargs", "on_gpu"]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path, env=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout.splitlines()[-1], done.stdout
