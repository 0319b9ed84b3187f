"""The face as tables: the steps, read off their files; where public names stand; which classes a notebook shows.

`schedules/steps/order/tile.py` holds `tile` and `Tile`: a file is all that a step needs, and nothing is imported to
know what there is.  Names of a package are loaded when they are first used: a start loads only what it needs.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from os import scandir
from pathlib import Path
from typing import Any

KINDS = ("order", "instances", "storage", "execution")


def step_modules(folder: Path) -> dict[str, str]:
    """Step → its module below the package of steps, which stands in `folder`: `tile` → `order.tile`."""
    found = {
        entry.name.removesuffix(".py"): f"{kind}.{entry.name.removesuffix('.py')}"
        for kind in KINDS
        for entry in scandir(folder / kind)
        if entry.name.endswith(".py") and not entry.name.startswith("_")
    }
    return dict(sorted(found.items()))


def class_of(step: str) -> str:
    """The class of a step.

    >>> class_of("add_unit_loop")
    'AddUnitLoop'
    """
    return "".join(word.capitalize() for word in step.split("_"))


STEPS = step_modules(Path(__file__).parent / "schedules" / "steps")
"""Every step there is, by name."""


# Public name → "module:attribute"; steps are found from their files.
NAMES: dict[str, str] = {
    "operator": "workbench.lang:operator",
    "operators": "workbench.lang:operators",
    "einsum": "workbench.lang:einsum",
    "grad": "workbench.lang:grad",
    "jvp": "workbench.lang:jvp",
    "saving": "workbench.lang:saving",
    "tape": "workbench.lang:tape",
    "vmap": "workbench.lang:vmap",
    "Model": "workbench.graph:Model",
    "model": "workbench.graph:model",
    "passes": "workbench.graph.passes.support.vocabulary:passes",
    "optimize": "workbench.graph.optimizing:optimize",
    "build": "workbench.graph.running.building:build",
    "plan_memory": "workbench.graph:plan_memory",
    "engine": "workbench.graph.engines:engine",
    "from_onnx": "workbench.graph.importing.from_onnx_models:from_onnx",
    "from_torch": "workbench.graph.importing.from_torch_modules:from_torch",
    "from_c": "workbench.fromc.program:from_c",
    "schedule": "workbench.schedules:schedule",
    "check": "workbench.schedules:check",
    "choose": "workbench.schedules:choose",
    "where": "workbench.schedules:where",
    "Sketch": "workbench.schedules:Sketch",
    "next_steps": "workbench.schedules:next_steps",
    "steps": "workbench.schedules.explanation.vocabulary:steps",
    "panel": "workbench.viz.panels:panel",
    "preview": "workbench.schedules:preview",
    "replay": "workbench.schedules:replay",
    "Schedule": "workbench.schedules:Schedule",
    "Verdict": "workbench.schedules:Verdict",
    "register": "workbench.schedules:register",
    "MicroKernel": "workbench.schedules:MicroKernel",
    "together": "workbench.schedules:together",
    "occupancy": "workbench.schedules.analysis.gpu_reports:occupancy",
    "coalescing": "workbench.schedules.analysis.gpu_reports:coalescing",
    "bank_conflicts": "workbench.schedules.analysis.gpu_reports:bank_conflicts",
    "trace_touches": "workbench.codegen:trace_touches",
    "measure": "workbench.runtime:measure",
    "verify": "workbench.runtime:verify",
    "evaluate_c": "workbench.runtime:evaluate_c",
    "doctor": "workbench.runtime:doctor",
    "sanitize": "workbench.runtime.emulation:sanitize",
    "autotune": "workbench.tune:autotune",
    "calibrate": "workbench.runtime:calibrate",
    "Costs": "workbench.target_costs:Costs",
    "ceilings": "workbench.runtime:ceilings",
    "Ceilings": "workbench.runtime:Ceilings",
    "explain": "workbench.viz.views.performance.explanation_view:explain",
    "figure": "workbench.viz.notebook.figures:figure",
    **{step: f"workbench.schedules:{step}" for step in STEPS},
    "partition": "workbench.graph.partition_by_argument:partition",  # the step of that name among others
}

# Engine for parts of models that comes along → where it stands; those of other packages stand among the exporters.
ENGINES = {
    "workbench": "workbench.graph.engines.known.kernels:workbench",
    "c": "workbench.graph.engines.known.c_source:c",
    "json": "workbench.graph.engines.known.json_text:json",
    "torch": "workbench.export.engines.torch_engine:torch_eager",
    "onnxruntime": "workbench.export.engines.onnxruntime_engine:onnxruntime_session",
    "cublas": "workbench.export.engines.gpu_engines:cublas",
    "cudnn": "workbench.export.engines.gpu_engines:cudnn",
}

# Method of Operator that needs a later room → where it stands.
METHODS = {
    "__call__": "workbench.runtime:call",
    "plan": "workbench.runtime:plan",
    "evaluate": "workbench.lang:evaluate",
    "astype": "workbench.lang:astype",
    "flops": "workbench.ops:flops",
    "bytes": "workbench.ops:bytes",
}

_LOOKED_AT: set[str] = set()  # modules whose classes were found already, and foreign ones: a cache
# What shows itself as what it is, and what is no value.
_PLAIN = (str, int, float, tuple, list, dict, set, frozenset, type, BaseException)


def silent_classes() -> Iterator[type]:
    """Public classes of modules that were loaded since this was last asked, of which a notebook has no picture yet."""
    # A copy: other threads import modules meanwhile.  Foreign ones are looked at once, too: this is asked at every
    # first use of a name.
    for name in set(list(sys.modules)).difference(_LOOKED_AT):
        module = sys.modules.get(name)
        if not name.startswith("workbench."):
            _LOOKED_AT.add(name)
        elif module is not None and not getattr(module.__spec__, "_initializing", False):
            _LOOKED_AT.add(name)
            own = [x for x in list(vars(module).values()) if isinstance(x, type) and x.__module__ == name]
            yield from filter(_silent, own)


def _silent(kind: type) -> bool:
    if kind.__name__.startswith("_"):
        return False
    shown = hasattr(kind, "_repr_mimebundle_") or hasattr(kind, "_repr_html_")
    return not shown and not issubclass(kind, _PLAIN) and not getattr(kind, "_is_protocol", False)


afterwards: list[Callable[[], None]] = []
"""Called after a name was loaded: what classes are given that modules further up know how to do."""


def deferred(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package: each of the names comes from the submodule that the table gives for it."""
    module = sys.modules[package]

    def load(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with uncollected():
            value = getattr(import_module(f"{package}.{names[name]}"), name)
        setattr(module, name, value)
        for give in afterwards:
            give()
        return value

    return load


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection meanwhile: what an import or a pass over a model makes stays.

    Looking through it is a tenth of a start.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
