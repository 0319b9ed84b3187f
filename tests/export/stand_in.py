"""Sessions where `libcuda.so.1` is a stand-in: kernels for GPUs run on the processor, as frameworks call them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.runtime.gpu.fake_driver import emulated
from tests.support import ROOT
from workbench.codegen.cuda.grid.launches import each_launch
from workbench.codegen.kernel import Kernel

STAND_IN = ROOT / "tests/runtime/gpu/fake_libcuda.c"


def driver_in(folder: Path, compilers: Mapping[str, tuple[str, ...]]) -> Path:
    """The folder with the stand-in as `libcuda.so.1`."""
    (compiler, *_) = compilers.values()
    library = folder / "libcuda.so.1"
    subprocess.run([*compiler, "-shared", "-fPIC", "-w", "-o", str(library), str(STAND_IN), "-ldl"], check=True)
    return folder


def session(module: str, folder: Path, compilers: Mapping[str, tuple[str, ...]]) -> Any:
    """What a module of the tests says, as JSON, that runs with the folder as its argument above the stand-in."""
    variables = {**os.environ, "LD_LIBRARY_PATH": str(driver_in(folder, compilers))}
    command = (sys.executable, "-m", module, str(folder))
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return json.loads(done.stdout.splitlines()[-1])


# -- in a session --


def image(kernel: Kernel, device: object = None) -> bytes:
    """What the stand-in takes for machine code: the path of an emulated kernel."""
    names = [launch.name for launch in each_launch(kernel.launches)]
    return str(emulated(kernel.source, names).path).encode() + b"\0"


def images(kernel: Kernel) -> tuple[bytes, ...]:
    """The same where there may be several; the first is of another GPU."""
    return b"no machine code\0", image(kernel)


def refusal(call: Callable[[], object]) -> list[str]:
    """The kind of an exception, and the first line of its words; nothing if there is none."""
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error).splitlines()[0]]
    return []
