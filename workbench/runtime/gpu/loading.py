"""Machine code in the GPU: compiled for the one at hand, kept on disk, loaded once a process."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from workbench.codegen.cuda.grid.launches import each_launch
from workbench.codegen.kernel import Kernel
from workbench.errors import BuildError
from workbench.runtime.compilers.gpu_compiling import named_architecture
from workbench.runtime.gpu.drivers.driver import Device, Driver, DriverError
from workbench.runtime.gpu.drivers.failures import driver_failure
from workbench.runtime.gpu.launching import refuse_too_large
from workbench.runtime.gpu.machine_codes import machine_code
from workbench.runtime.host.locks import Lock


@dataclass(frozen=True)
class Loaded:
    """The functions of a text by name; `module` keeps them alive."""

    functions: dict[str, Any]
    module: Any
    architecture: str
    compiler: str


_lock = Lock()
# (driver, text, architecture) → what is loaded: a kernel that is built twice is one.
_loaded: dict[tuple[Driver, str, str], Loaded] = {}


def loaded(kernel: Kernel, driver: Driver) -> Loaded:
    """The kernel's functions on the driver's GPU.

    BuildError if it was made for a newer or larger GPU, without a compiler, or if the driver refuses the code.
    """
    refuse_too_large(kernel, driver.device)
    architecture = architecture_for(kernel, driver.device)
    key = (driver, kernel.source, architecture)
    with _lock:
        if key not in _loaded:
            _loaded[key] = _load(kernel, driver, architecture)
        return _loaded[key]


def architecture_for(kernel: Kernel, device: Device) -> str:
    """The architecture to compile for: the GPU's own, or the variant of it that the target names (`sm_90a`)."""
    named = named_architecture(kernel)
    if named is None:
        return device.architecture
    wanted, here = (int(re.sub(r"\D", "", name)) for name in (named, device.architecture))
    if wanted > here:
        what = f"kernel {kernel.name!r} is made for {kernel.target.name} ({named})"
        raise BuildError(f"{what}; this machine has {device}. Generate it for target='cuda', or for that GPU")
    return named if wanted == here else device.architecture


def _load(kernel: Kernel, driver: Driver, architecture: str) -> Loaded:
    names = tuple(dict.fromkeys(launch.name for launch in each_launch(kernel.launches)))
    image, compiler = _image(kernel, driver, architecture)
    try:
        with driver.entered():
            module = driver.module(image, names)
            functions = {name: driver.function(module, name) for name in names}
    except DriverError as error:
        raise driver_failure(error, f"kernel {kernel.name!r} cannot be loaded on {driver.device}") from error
    return Loaded(functions, module, architecture, compiler)


def _image(kernel: Kernel, driver: Driver, architecture: str) -> tuple[bytes, str]:
    """What the driver loads: machine code, unless it compiles text itself (a stand-in without a GPU does)."""
    own = getattr(driver, "image", None)
    if own is not None:
        return own(kernel), driver.name
    found = machine_code(kernel.source, architecture)
    return found.cubin, found.compiler
