"""Which driver package serves, and what is missing where none does."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

from workbench.errors import BuildError, unknown_name
from workbench.runtime.gpu.drivers.direct_calls import LIBRARY
from workbench.runtime.gpu.drivers.driver import Driver, DriverError
from workbench.runtime.gpu.drivers.failures import INSTALL, driver_failure
from workbench.runtime.host.locks import Lock

VARIABLE = "WORKBENCH_GPU_DRIVER"
ELSEWHERE = 'target="cuda-on-cpu" executes the same text on this processor'
PACKAGES = "pip install 'tensor-workbench[cuda]' (PyCUDA, needs a CUDA toolkit), or cuda-bindings (a wheel)"


def _pycuda() -> Driver:
    from workbench.runtime.gpu.drivers.pycuda_driver import PycudaDriver

    return PycudaDriver()


def _bindings() -> Driver:
    from workbench.runtime.gpu.drivers.bindings_driver import BindingsDriver

    return BindingsDriver()


# Name → (module that has to be importable, the driver), in the order they are tried.
CHOICES: dict[str, tuple[str, Callable[[], Driver]]] = {
    "pycuda": ("pycuda", _pycuda),
    "cuda.bindings": ("cuda.bindings", _bindings),
}

_chosen: list[Driver] = []
_lock = Lock()


def the_driver() -> Driver:
    """The driver of this process; the first call chooses it.

    PyCUDA where it is installed, else cuda.bindings; the variable WORKBENCH_GPU_DRIVER names one, or a class of one's
    own ("module:class").  BuildError says what is missing.
    """
    with _lock:
        if not _chosen:
            _chosen.append(_opened())
        return _chosen[0]


def use_driver(driver: Driver | None) -> Driver | None:
    """Take another driver from now on (None: choose anew); gives back the one before."""
    with _lock:
        before = _chosen.pop() if _chosen else None
        _chosen.extend([] if driver is None else [driver])
        return before


def available() -> tuple[str, ...]:
    """The packages that are installed, whether or not there is a GPU."""
    return tuple(name for name, (module, _) in CHOICES.items() if _importable(module))


def _opened() -> Driver:
    wanted = os.environ.get(VARIABLE)
    if wanted is not None and ":" in wanted:
        module, _, name = wanted.partition(":")
        return getattr(import_module(module), name)()
    if wanted is not None and wanted not in CHOICES:
        raise BuildError(f"{VARIABLE}: {unknown_name('driver package', wanted, list(CHOICES))}")
    _library()
    names = [wanted] if wanted else list(available())
    if not names:
        raise BuildError(f"no package that speaks to the GPU is installed: {PACKAGES}; {ELSEWHERE}")
    refused: list[str] = []
    for name in names:
        try:
            return CHOICES[name][1]()
        except ImportError as reason:
            refused.append(f"{name} cannot be imported ({reason})")
        except DriverError as reason:
            raise driver_failure(reason, f"no GPU can be used through {name}") from reason
    raise BuildError(f"{'; '.join(refused)}. {PACKAGES}; {ELSEWHERE}")


def _library() -> None:
    """BuildError without NVIDIA's driver: no package can do without."""
    try:
        ctypes.CDLL(LIBRARY)
    except OSError as reason:
        what = f'no NVIDIA driver is found on this machine ({LIBRARY}), which target="cuda" needs'
        raise BuildError(f"{what}: {INSTALL}. Without one, {ELSEWHERE}, and wb.generate writes it") from reason


def _importable(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:
        return False
