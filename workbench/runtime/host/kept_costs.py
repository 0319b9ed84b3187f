"""Costs that were measured on this machine, kept beside its kernels: one file a processor, its cores and a compiler."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from workbench.errors import BuildError, WorkbenchError
from workbench.runtime.compilers.storage import in_use, storage, write_file
from workbench.runtime.host.processor import this_processor
from workbench.settings import current
from workbench.target import Target
from workbench.target_costs import QUANTITIES, Costs

FORMAT = 1
_FILES = "costs-*.json"


def with_kept_costs(machine: Target) -> Target:
    """The machine with the costs that were kept for it; itself where there are none, or the settings leave them aside.

    What another process keeps meanwhile is seen by the next one.
    """
    settings = current()
    found = _kept(machine, in_use(), settings.compiler) if settings.calibrated else None
    return machine if found is None else _costing(machine, found)


def keep_costs(machine: Target, costs: Costs) -> Path:
    """Keep the costs of this machine; the file.  BuildError where there is no place."""
    file = storage() / _name(machine)
    content = {"format": FORMAT, "machine": _facts(machine), "origin": costs.origin,
               "costs": {name: getattr(costs, name) for name in QUANTITIES}}  # fmt: skip
    try:
        write_file(file, json.dumps(content, indent=1).encode())
    except OSError as reason:
        raise BuildError(f"the costs of this machine cannot be kept: {reason}") from reason
    _kept.cache_clear()
    return file


# The same object for the same costs, so that what is remembered for a machine is found again.
_costing = cache(lambda machine, costs: replace(machine, costs=costs))


@cache
def _kept(machine: Target, folder: Path, compiler: str | None) -> Costs | None:
    """The costs kept in a folder; compilers are not looked for where nothing was kept at all."""
    try:
        if not any(folder.glob(_FILES)):
            return None
        return _read(folder / _name(machine))
    except (BuildError, OSError):  # no compiler: nothing was measured with it
        return None


def _read(file: Path) -> Costs | None:
    """The costs in a file; None if there is none, or, with a warning, if it cannot be read."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            return _ignored(file, "another version of the workbench wrote it")
        return Costs(**content["costs"], origin=content["origin"])
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError, WorkbenchError) as reason:
        return _ignored(file, f"it is damaged ({type(reason).__name__}: {reason})")


def _ignored(file: Path, why: str) -> None:
    advice = "recipes use those of processors in general; wb.calibrate() measures anew"
    warnings.warn(f"the costs of this machine in {file} are left aside: {why}. {advice}", RuntimeWarning, stacklevel=6)


def _name(machine: Target) -> str:
    return f"costs-{sha256(json.dumps(_facts(machine)).encode()).hexdigest()[:16]}.json"


def _facts(machine: Target) -> dict[str, Any]:
    """What measured costs depend on."""
    from workbench.runtime.compilers.discovery import preferred_toolchain  # for the machines whose costs were kept

    here, toolchain = this_processor(), preferred_toolchain()
    return {
        "processor": here.model, "architecture": here.architecture, "cores": machine.cores,
        "cache_bytes": list(machine.cache_bytes), "vector_bits": machine.vector_bits, "march": machine.march,
        "compiler": f"{toolchain.family} {toolchain.version}", "openmp": toolchain.openmp,
    }  # fmt: skip
