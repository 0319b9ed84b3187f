"""Where and with what a run was made: machine, compilers, versions, commit, load."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from workbench.runtime.compilers.discovery import every_toolchain, preferred_toolchain
from workbench.runtime.host.machine import this_machine
from workbench.runtime.host.processor import this_processor

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("numpy", "scipy", "islpy", "torch", "ziglang")


def machine() -> dict[str, Any]:
    """The processor, its caches, the memory, the system."""
    here = this_processor()
    return {
        "processor": here.model,
        "architecture": here.architecture,
        "cores": here.cores,
        "logical_processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "cache_bytes": dict(zip(("L1d", "L2", "L3"), here.cache_bytes, strict=True)),
        "memory_bytes": _memory_bytes(),
        "vector_bits": this_machine().vector_bits,
        "isa": list(this_machine().isa),
        "costs": this_machine().costs.origin,
        "system": f"{platform.system()} {platform.release()}",
        "libc": " ".join(platform.libc_ver()),
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    }


def software() -> dict[str, Any]:
    """Compilers with their flags, versions of everything, and the commit."""
    chosen = preferred_toolchain()
    return {
        "workbench": wb.__version__,
        "commit": _git("rev-parse", "HEAD"),
        "changed": bool(_git("status", "--porcelain", "--untracked-files=no", "workbench", "bench")),
        "python": platform.python_version(),
        "compiler": str(chosen),
        "flags": list(chosen.flags(this_machine())),
        "compilers": {t.family: t.version for t in every_toolchain()},
        "packages": {name: _version(name) for name in PACKAGES},
        "numpy_blas": _numpy_blas(),
        "torch_parallel": _torch_parallel(),
    }


def load() -> list[float]:
    """Load averages over 1, 5 and 15 minutes: the number of processes that wanted to run."""
    return [round(n, 2) for n in os.getloadavg()]


def write_results(file: Path, results: list[dict[str, Any]]) -> None:
    """Write results as JSON, beside what there is to know of the machine, the software, and what else was running."""
    file.parent.mkdir(parents=True, exist_ok=True)
    known = {"machine": machine(), "software": software(), "load": load(), "results": results}
    file.write_text(json.dumps(known, indent=1), encoding="utf-8")


def short_commit() -> str:
    """The first letters of the commit, or "unknown"."""
    return _git("rev-parse", "--short", "HEAD") or "unknown"


def _git(*arguments: str) -> str:
    try:
        run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _numpy_blas() -> str:
    try:
        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{blas['name']} {blas['version']}"
    except (TypeError, KeyError):
        return "unknown"


def _torch_parallel() -> list[str]:
    """Which libraries PyTorch computes with."""
    if find_spec("torch") is None:
        return []
    lines = import_module("torch").__config__.parallel_info().splitlines()
    return [line.strip() for line in lines if line.startswith(("OpenMP", "Intel", "ATen parallel"))]


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
