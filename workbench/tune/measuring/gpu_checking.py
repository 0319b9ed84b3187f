"""A candidate's CUDA text executed by the processor, and compared with the oracle."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from workbench.codegen.kernel import Kernel
from workbench.errors import KernelError
from workbench.runtime.emulation import build_on_cpu
from workbench.runtime.foreign import several
from workbench.runtime.layout import layout_of
from workbench.tune.measuring.timing import Load, Prepare, Wrong
from workbench.tune.measuring.workload import Workload, begun

_workload: Workload | None = None


def answer(request: Prepare | Load) -> Wrong | None:
    """What the helper process does: what is wrong with a candidate, None if nothing is."""
    global _workload
    if isinstance(request, Prepare):
        _workload = Workload.load(Path(request.workload))
        return None
    assert _workload is not None
    kernel: Kernel = pickle.loads(Path(request.library).read_bytes())
    try:
        found = results(kernel, _workload)
    except KernelError as error:
        return Wrong(str(error))
    judged = _workload.expected.judged(found)
    return None if judged else Wrong(str(judged))


def results(kernel: Kernel, workload: Workload) -> tuple[Any, ...]:
    """What a call with the workload's arguments gives, executed by the processor."""
    run = build_on_cpu(kernel)
    slots = layout_of(kernel.signature, dict(kernel.sizes)).outputs
    given = [begun(workload.before[slot.parameter.name], slot) for slot in slots]
    out = None if all(array is None for array in given) else given if len(given) > 1 else given[0]
    return several(run(*(workload.inputs[p.name] for p in kernel.signature.inputs), out=out))
