"""An exported C library on a GPU: started by a program in C that gcc built, with NVIDIA's driver alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.export import c_on_gpu

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("real")]


def test_a_program_in_c_starts_the_kernels_of_a_library(tmp_path: Path) -> None:
    library = c_on_gpu.exported(tmp_path)
    program = c_on_gpu.program_of(library)
    libraries = f"{library.directory / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    for sizes, title in (((64, 32, 48), "M=64, K=32, N=48"), ((333, 257, 129), "all sizes")):
        assert c_on_gpu.said(program, sizes, libraries) == c_on_gpu.expected(title)
