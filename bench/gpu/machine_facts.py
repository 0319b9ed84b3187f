"""Facts about the machine, as JSON on the standard output: GPU, driver, versions.  Run in a process of its own."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("torch", "triton", "numpy", "jax", "cupy-cuda13x", "cuda-bindings", "pycuda", "nvidia-cuda-nvrtc", "islpy")


def facts() -> dict[str, object]:
    """The GPU under `gpu`; without one, why under `no gpu`."""
    from workbench.errors import WorkbenchError
    from workbench.runtime.gpu.drivers.choosing import the_driver

    found: dict[str, object] = {"python": platform.python_version(), "system": platform.platform()}
    found |= {name: _version(name) for name in PACKAGES if _version(name)}
    found["processor cores"] = os.cpu_count()
    found["commit"] = os.environ.get("COMMIT") or _said("git", "rev-parse", "--short", "HEAD")
    found["nvidia-smi"] = _said("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
    try:
        driver = the_driver()
    except WorkbenchError as reason:
        return {**found, "no gpu": str(reason)}
    return {**found, "gpu": driver.device.name, "device": str(driver.device), "runtime": driver.name}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _said(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


if __name__ == "__main__":
    json.dump(facts(), sys.stdout)
