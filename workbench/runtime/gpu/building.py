"""`build` for "cuda": a kernel compiled for the GPU of this machine and loaded there.

`python -m workbench.runtime.gpu.building FOLDER` does so in a process of its own, for a job that `apart.py` left there.
"""

from __future__ import annotations

import sys
from pathlib import Path

from workbench.codegen.kernel import Kernel
from workbench.errors import BuildError
from workbench.runtime.gpu.apart import leave_answer, take_job
from workbench.runtime.gpu.drivers.choosing import the_driver
from workbench.runtime.gpu.drivers.driver import Driver
from workbench.runtime.gpu.gpu_kernel import GpuKernel
from workbench.runtime.gpu.loading import loaded


def build_on_gpu(kernel: Kernel, driver: Driver | None = None, *, isolated: bool = False) -> GpuKernel:
    """A CUDA kernel on this machine's GPU.

    `isolated`: calls with arrays of NumPy run in a process of their own, which an illegal address may end.
    BuildError says what is missing (a GPU, a driver, a package that speaks to it, a compiler), which limit the kernel
    exceeds, or that it was made for another GPU.
    """
    if not kernel.target.language.runs_on_gpu:
        what = f"kernel {kernel.name!r} is in {kernel.target.dialect}; a GPU runs CUDA"
        raise BuildError(f"{what}: wb.generate(schedule, target='cuda'), of a schedule whose loops are bound")
    driver = driver or the_driver()
    found = loaded(kernel, driver)
    notes = [f"compiled for {found.architecture} by {found.compiler}", f"on {driver.device} through {driver.name}"]
    if isolated:
        notes.append("not known to be safe: each call with arrays of NumPy runs in a process of its own")
    return GpuKernel(kernel, driver, found, notes, isolated=isolated)


def answer(folder: Path) -> None:
    """Do the job of a folder, and leave what it gave."""
    kernel, arrays, out, scalars = take_job(folder)
    leave_answer(folder, lambda: build_on_gpu(kernel)(*arrays, out=out, **scalars), out)


if __name__ == "__main__":
    answer(Path(sys.argv[1]))
