"""cuda.bindings itself, above a driver library without a GPU: arguments, addresses and errors are as it wants them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support import ROOT

HERE = Path(__file__).parent


@pytest.mark.skipif(sys.platform != "linux", reason="install Linux: the library stands in for libcuda.so.1")
def test_cuda_bindings_end_to_end(tmp_path: Path, compilers: dict[str, tuple[str, ...]]) -> None:
    if find_spec("cuda") is None or find_spec("cuda.bindings") is None:
        pytest.skip("install cuda-bindings: it is what is tested")
    library = tmp_path / "libcuda.so.1"
    (compiler, *_) = compilers.values()
    flags = ("-shared", "-fPIC", "-w", "-o", str(library), str(HERE / "fake_libcuda.c"), "-ldl")
    subprocess.run([*compiler, *flags], check=True)
    variables = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    command = (sys.executable, "-m", "tests.runtime.gpu.bindings_session")
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said.pop("name").startswith("cuda.bindings ")
    assert said == {
        "device": "Pretended H200 (sm_90, 132 multiprocessors, 141 GiB, CUDA 13.0)",
        "host": True, "device arrays": True, "sizes": True, "scalars": True, "times": True, "blocks": 8,
        "directly": True,
        "large": "matmul_C (6 x 7 x 1 blocks of 2048 x 1 x 1 threads with 0 bytes of dynamic shared memory)",
        "facts": {"threads": 100, "static_shared_bytes": 101, "local_bytes": 103, "registers": 104},
        "memory": ["CUDA_ERROR_OUT_OF_MEMORY", "out of memory", "cuMemAlloc"],
        "context": ["CUDA_ERROR_INVALID_CONTEXT", "invalid device context", "cuMemAlloc"],
    }  # fmt: skip
