"""Kernels of a model's steps: one for equal operators at equal sizes, built side by side, found again on disk.

What a kernel was made from names its record in the cache, and the record names the library: a second start neither
lowers nor schedules nor compiles.
"""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from workbench import records
from workbench.codegen import IndexCheck, Kernel, generate
from workbench.deferred import uncollected
from workbench.errors import LoweringError
from workbench.graph.running.recording.overwriting import read_at_own_cell
from workbench.graph.running.recording.recordings import OperatorCall
from workbench.records import record
from workbench.runtime.building import build_target, refuse_missing_features, share_pool
from workbench.runtime.calls.preparing import Plan, make_plan
from workbench.runtime.compilers.compiling import Library, load, load_known
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.compilers.entries import content_key
from workbench.runtime.compilers.job import Job
from workbench.runtime.compilers.storage import default_database, subdirectory, write_file
from workbench.runtime.host.machine import thread_count
from workbench.runtime.kernels.border import kernel_part
from workbench.schedules import Schedule
from workbench.settings import current

FORMAT = 1


@record(eq=False)
class StepKernel:
    """A compiled kernel, ready to be a step.

    `parameters` are the tensors it takes, inputs before outputs; `zeros` those outputs that must hold zeros before;
    `workspace` gives the bytes it needs for so many threads.
    """

    key: str
    parameters: tuple[str, ...]
    zeros: tuple[str, ...]
    checks: tuple[IndexCheck, ...]
    address: int
    workspace: Callable[[int], int]


def step_kernels(calls: Iterable[OperatorCall]) -> dict[OperatorCall, StepKernel | LoweringError]:
    """The kernel of each call; LoweringError in the place of one that no kernel can be made for.

    BuildError if there is no compiler or it fails, CallError for an access that leaves its array.
    """
    around = _circumstances()
    keys = {call: _key(call, around) for call in calls}
    distinct = {key: call for call, key in keys.items()}
    found: dict[str, StepKernel | LoweringError] = {}
    found |= {key: known for key in distinct if (known := _known(key)) is not None}
    missing = {key: call for key, call in distinct.items() if key not in found}
    if missing:
        # Generation holds the interpreter, compilers do not: one thread more than cores keeps these busy.
        with ThreadPoolExecutor(max_workers=1 + (os.cpu_count() or 1)) as pool, uncollected():
            tasks = {key: pool.submit(copy_context().run, _made, key, call) for key, call in missing.items()}
            found |= {key: task.result() for key, task in tasks.items()}
    return {call: found[key] for call, key in keys.items()}


def _key(call: OperatorCall, around: str) -> str:
    """What is equal for calls that one kernel serves."""
    op = call.op
    types = [(name, tensor.dtype.name) for name, tensor in op.tensors.items()]
    return content_key(around, op.name, op.text, types, sorted(call.sizes.items()))


def _made(key: str, call: OperatorCall) -> StepKernel | LoweringError:
    """A kernel generated and compiled; its record is kept."""
    try:
        kernel = _generated(call)
    except LoweringError as error:
        return error
    signature = kernel.signature
    job = _job(kernel, aliases=bool(read_at_own_cell(call.op)))
    facts = {
        "job": job.key,
        "parameters": [each.name for each in (*signature.inputs, *signature.outputs)],
        "zeros": [each.name for each in signature.outputs if each.zero_fill],
        "checks": [asdict(check) for check in signature.checks],
    }
    library = load(job)
    with suppress(OSError):
        write_file(_place(key), json.dumps(facts).encode())
    return _opened(key, facts, library)


def step_schedule(call: OperatorCall) -> Schedule:
    """The schedule of the kernel that a call of the operator with dense arrays of these types would run."""
    return _plan(call).schedule


def _generated(call: OperatorCall) -> Kernel:
    plan = _plan(call)
    return generate(plan.schedule, plan.target, unchecked=plan.unchecked)


def _plan(call: OperatorCall) -> Plan:
    op = call.op
    arrays = {name: np.empty(value.shape, value.dtype) if value.shape else np.zeros((), value.dtype)
              for name, value in call.inputs.items()}  # fmt: skip
    out = tuple(None if value is None else np.empty(value.shape, value.dtype) for value in call.initial)
    given = out if any(each is not None for each in out) else None
    return make_plan(op, (), {**arrays, **call.sizes}, given, unchecked=current().unchecked)


def _job(kernel: Kernel, *, aliases: bool) -> Job:
    """The text to compile; with `aliases` the result may lie over an input, and nothing is `restrict`."""
    refuse_missing_features(kernel)
    entry = _entry().replace("/* @KERNEL@ */", kernel_part(kernel.signature))
    head = "#define restrict\n" if aliases else ""
    text = f"{head}#line 1\n{kernel.source}\n{entry}"
    return Job(kernel.name, text, preferred_toolchain(), kernel.target, False, kernel.libraries)


@cache
def _entry() -> str:
    return Path(__file__).with_name("step.c").read_text()


def _known(key: str) -> StepKernel | None:
    """The kernel of a record that was kept, if its library is there."""
    try:
        facts = json.loads(_place(key).read_bytes())
        library = load_known(facts["job"])
        return None if library is None else _opened(key, facts, library)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _place(key: str) -> Path:
    return subdirectory("steps") / f"{key}.json"


def _opened(key: str, facts: Mapping[str, Any], library: Library) -> StepKernel:
    share_pool(library.handle)
    workspace = library.handle.wb_step_workspace
    workspace.restype, workspace.argtypes = ctypes.c_int64, [ctypes.c_int]
    address = ctypes.cast(library.handle.wb_step, ctypes.c_void_p).value or 0
    checks = tuple(IndexCheck(**{**check, "seen": None}) for check in facts["checks"])
    return StepKernel(key, tuple(facts["parameters"]), tuple(facts["zeros"]), checks, address, workspace)


# -- What kernels depend on beside operator and sizes ----------------------------------------------


def _circumstances() -> str:
    own, toolchain = current(), preferred_toolchain()
    tuned = _stamp(Path(own.database) if own.database else default_database()) if own.tuned else None
    machine, compiler = build_target("c", toolchain), (toolchain.command, toolchain.version, sorted(toolchain.accepted))
    return content_key(FORMAT, _sources(), machine, thread_count(), compiler, own.unchecked, own.calibrated, tuned)


@cache
def _sources() -> str:
    """The state of this project's own files: other files may make other kernels."""
    folder = Path(records.__file__).parent
    return content_key(*((str(path.relative_to(folder)), *_stamp(path)) for path in sorted(folder.rglob("*.py"))))


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
