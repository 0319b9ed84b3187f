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
from workbench.codegen import IndexCheck, Kernel
from workbench.codegen.packed_inputs import Packing, packed_inputs
from workbench.errors import LoweringError
from workbench.face import uncollected
from workbench.graph.running.recording.overwriting import read_at_own_cell
from workbench.graph.running.recording.recordings import Array, OperatorCall
from workbench.lang.algebra.normal_form import constant
from workbench.records import record
from workbench.runtime.building import build_target, refuse_missing_features, share_pool
from workbench.runtime.calls.preparing import Plan, make_plan
from workbench.runtime.compilers.compiling import load, load_known
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.compilers.entries import content_key
from workbench.runtime.compilers.job import Job
from workbench.runtime.compilers.storage import default_database, subdirectory, write_file
from workbench.runtime.host.machine import thread_count
from workbench.runtime.kernels.border import kernel_part
from workbench.schedules import Schedule
from workbench.schedules.analysis.thread_shares import ThreadShares, thread_shares
from workbench.schedules.recipes.products.known_operands import known_operands
from workbench.settings import current

FORMAT = 3
ALIGNMENT = 64
"""Of the workspace of a kernel."""
WORKSPACE_ALIGNMENT = 128
"""Of that of kernels that run beside one another: no two have a line in common, nor a pair of lines."""
STEP = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)


@record(eq=False)
class StepKernel:
    """A compiled kernel, ready to be a step.

    `parameters` are the tensors it takes, inputs before outputs; `zeros` those outputs that must hold zeros before;
    `workspace` gives the bytes it needs for so many threads.  Of constants that it takes `packed` the parameters are
    the packed arrays.  `shares` are what of it threads divide.
    """

    key: str
    parameters: tuple[str, ...]
    zeros: tuple[str, ...]
    checks: tuple[IndexCheck, ...]
    address: int
    workspace: Callable[[int], int]
    packed: tuple[PackedConstant, ...] = ()
    shares: ThreadShares = ThreadShares(0.0, 0.0)

    def run(self, arrays: Iterable[Array], threads: int = 1) -> None:
        """Compute on these arrays, its parameters in order."""
        given = list(arrays)
        data = (ctypes.c_void_p * len(given))(*(each.ctypes.data for each in given))
        space = np.empty(self.workspace(threads) + ALIGNMENT, np.uint8)
        place = -(-space.ctypes.data // ALIGNMENT) * ALIGNMENT
        STEP(self.address)(data, place, threads)


@record(eq=False)
class PackedConstant:
    """What a kernel takes in the place of an input `source` that is a constant: `array`, which `kernel` makes of it."""

    array: str
    source: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    kernel: StepKernel


def most_workspace(kernels: Iterable[StepKernel | LoweringError | None]) -> int:
    """The bytes that each of these kernels can do with on one thread, aligned."""
    most = max((kernel.workspace(1) for kernel in kernels if isinstance(kernel, StepKernel)), default=0)
    return -(-most // WORKSPACE_ALIGNMENT) * WORKSPACE_ALIGNMENT


def step_kernels(
    calls: Iterable[OperatorCall], constants: Callable[[OperatorCall], frozenset[str]]
) -> dict[OperatorCall, StepKernel | LoweringError]:
    """The kernel of each call; LoweringError in the place of one that no kernel can be made for.

    `constants` are the inputs of a call that hold the same whenever it runs.  BuildError if there is no compiler or it
    fails, CallError for an access that leaves its array.
    """
    around = _circumstances()
    keys = {call: _key(call, constants(call), around) for call in calls}
    distinct = {key: call for call, key in keys.items()}
    found: dict[str, StepKernel | LoweringError] = {}
    found |= {key: known for key in distinct if (known := _known(key)) is not None}
    missing = {key: call for key, call in distinct.items() if key not in found}
    if missing:
        # Generation holds the interpreter, compilers do not: one thread more than cores keeps these busy.
        with ThreadPoolExecutor(max_workers=1 + (os.cpu_count() or 1)) as pool, uncollected():
            tasks = {
                key: pool.submit(copy_context().run, _made, key, call, constants(call)) for key, call in missing.items()
            }
            found |= {key: task.result() for key, task in tasks.items()}
    return {call: found[key] for call, key in keys.items()}


def _key(call: OperatorCall, constants: frozenset[str], around: str) -> str:
    """What is equal for calls that one kernel serves."""
    op = call.op
    types = [(name, tensor.dtype.name) for name, tensor in op.tensors.items()]
    return content_key(around, op.name, op.text, types, sorted(call.sizes.items()), sorted(constants))


def _made(key: str, call: OperatorCall, constants: frozenset[str]) -> StepKernel | LoweringError:
    """A kernel generated and compiled; its record is kept."""
    try:
        kernel, packings, shares = _generated(call, constants)
    except LoweringError as error:
        return error
    facts = _compiled(kernel, aliases=bool(read_at_own_cell(call.op)))
    facts |= {"packed": [_packed(each) for each in packings], "shares": [shares.divided, shares.alone]}
    with suppress(OSError):
        write_file(_place(key), json.dumps(facts).encode())
    opened = _opened(key, facts)
    assert opened is not None
    return opened


def _compiled(kernel: Kernel, *, aliases: bool) -> dict[str, Any]:
    """What must be known of a kernel beside its library, which is there afterwards."""
    signature, job = kernel.signature, _job(kernel, aliases=aliases)
    load(job)
    return {
        "job": job.key,
        "parameters": [each.name for each in (*signature.inputs, *signature.outputs)],
        "zeros": [each.name for each in signature.outputs if each.zero_fill],
        "checks": [asdict(check) for check in signature.checks],
    }


def _packed(packing: Packing) -> dict[str, Any]:
    (array,) = packing.kernel.signature.outputs
    shape = [constant(extent) for extent in array.shape]
    facts = {"array": packing.array, "source": packing.source, "dtype": array.dtype.numpy.str, "shape": shape}
    return {**facts, "kernel": _compiled(packing.kernel, aliases=False)}


def step_schedule(call: OperatorCall) -> Schedule:
    """The schedule of the kernel that a call of the operator with dense arrays of these types would run."""
    return _plan(call).schedule


def _generated(
    call: OperatorCall, constants: frozenset[str] = frozenset()
) -> tuple[Kernel, tuple[Packing, ...], ThreadShares]:
    """The kernel that a call of the operator with dense arrays of these types would run, those that pack constants, and
    what of it threads divide.
    """
    with known_operands(constants):
        plan = _plan(call)
    made = packed_inputs(plan.schedule, plan.target, constants, unchecked=plan.unchecked)
    return *made, thread_shares(plan.schedule.program, plan.schedule.tree, plan.target)


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
        return _opened(key, json.loads(_place(key).read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _place(key: str) -> Path:
    return subdirectory("steps") / f"{key}.json"


def _opened(key: str, facts: Mapping[str, Any]) -> StepKernel | None:
    library = load_known(facts["job"])
    if library is None:
        return None
    share_pool(library.handle)
    workspace = library.handle.wb_step_workspace
    workspace.restype, workspace.argtypes = ctypes.c_int64, [ctypes.c_int]
    address = ctypes.cast(library.handle.wb_step, ctypes.c_void_p).value or 0
    checks = tuple(IndexCheck(**{**check, "seen": None}) for check in facts["checks"])
    packed: list[PackedConstant] = []
    for each in facts.get("packed", ()):
        own = _opened(each["kernel"]["job"], each["kernel"])
        if own is None:
            return None
        shape = tuple(each["shape"])
        packed.append(PackedConstant(each["array"], each["source"], np.dtype(each["dtype"]), shape, own))
    names = tuple(facts["parameters"]), tuple(facts["zeros"])
    shares = ThreadShares(*facts.get("shares", (0.0, 0.0)))
    return StepKernel(key, *names, checks, address, workspace, tuple(packed), shares)


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
