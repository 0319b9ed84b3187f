"""The operators as TVM's tensor expressions, tuned by MetaSchedule for this processor.

A function gets the inputs as TVM's tensors (numbers as they are) and returns the result.  What a search found is kept
beside the environment, for each operator, sizes, processor and number of threads, and taken from there the next time.
"""

from __future__ import annotations

import json
import os
import sys
import time
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm import te, topi
from tvm.target.codegen import llvm_get_system_cpu

TRIALS = int(os.environ.get("WORKBENCH_BENCH_TVM_TRIALS", "64"))
SEED = 1
HISTORY = "history.jsonl"
BUILD_SECONDS = 120.0  # a process that builds imports TVM first, which alone may take half a minute


def prepare(name: str, arguments: list[Any], threads: int) -> tuple[Any, Any, str]:
    """(what to call, how to see its results, what it is)."""
    os.environ["TVM_NUM_THREADS"] = str(threads)
    arrays = [a for a in arguments if isinstance(a, np.ndarray)]
    given = [
        te.placeholder(a.shape, name=f"in{n}", dtype=str(a.dtype)) if isinstance(a, np.ndarray) else a
        for n, a in enumerate(arguments)
    ]
    result = globals()[name](*given)
    module = te.create_prim_func([*(g for g in given if isinstance(g, te.Tensor)), result])
    target = tvm.target.Target({"kind": "llvm", "mcpu": llvm_get_system_cpu(), "num-cores": threads})
    folder = _folder(name, arguments, threads)
    schedule = _tuned(module, target, folder)
    compiled = tvm.compile(schedule.mod, target)
    about = f"tvm {tvm.__version__}, MetaSchedule with {TRIALS} trials, {target}, kept in {folder}"
    shape, kind = tuple(int(n) for n in result.shape), str(result.dtype)
    call = partial(_called, compiled["main"], [tvm.runtime.tensor(a) for a in arrays], shape, kind)
    return call, lambda tensor: [tensor.numpy()], about


def _called(function: Any, inputs: list[Any], shape: tuple[int, ...], kind: str) -> Any:
    out = tvm.runtime.empty(shape, kind)
    function(*inputs, out)
    return out


def _folder(name: str, arguments: list[Any], threads: int) -> Path:
    """Where the best schedules of a search are kept."""
    sizes = [(a.shape, str(a.dtype)) if isinstance(a, np.ndarray) else a for a in arguments]
    said = repr((name, sizes, threads, llvm_get_system_cpu(), tvm.__version__, TRIALS, SEED))
    return Path(sys.prefix) / "tuned" / f"{name}-{sha256(said.encode()).hexdigest()[:12]}"


def _tuned(module: Any, target: Any, folder: Path) -> Any:
    begun = time.time()
    from tvm.s_tir import meta_schedule  # takes twenty seconds

    finished = folder / "finished"
    if finished.exists():
        database = meta_schedule.database.JSONDatabase(work_dir=str(folder))
    else:
        folder.mkdir(parents=True, exist_ok=True)
        patient = meta_schedule.builder.LocalBuilder(timeout_sec=BUILD_SECONDS)
        callbacks = [_clock(folder / HISTORY, begun), *meta_schedule.MeasureCallback.create("default")]
        database = meta_schedule.tune_tir(
            module, target, str(folder), TRIALS, builder=patient, seed=SEED, measure_callbacks=callbacks
        )
    found = meta_schedule.tir_integration.compile_tir(database, module, target)
    if found is None:
        raise RuntimeError(f"no trial of {TRIALS} was valid")
    finished.touch()
    return found


def _clock(file: Path, importing: float) -> Any:
    """A callback that writes a line for each batch that was measured: when (seconds since 1970), and the seconds of
    each trial (None where it failed).  The first line says how long MetaSchedule's import took, and when the search
    began.
    """
    from tvm.ir.utils import derived_object
    from tvm.s_tir.meta_schedule.measure_callback import PyMeasureCallback

    now = time.time()
    file.write_text(json.dumps({"import_seconds": now - importing, "began": now}) + "\n")

    @derived_object
    class Clock(PyMeasureCallback):
        def apply(self, scheduler: Any, task: int, candidates: Any, builds: Any, runs: Any) -> None:
            found = [[float(s) for s in r.run_secs] if r.run_secs else [] for r in runs]
            seconds = [sum(own) / len(own) if own else None for own in found]
            with file.open("a") as history:
                history.write(json.dumps({"at": time.time(), "seconds": seconds}) + "\n")

    return Clock()


def matmul(A: Any, B: Any) -> Any:
    return topi.matmul(A, B)


def tmm(A: Any, B: Any) -> Any:
    return topi.matmul(A, B, transp_b=True)


def batched_matmul(X: Any, Y: Any) -> Any:
    return topi.nn.batch_matmul(X, Y, transpose_a=False, transpose_b=False)


def conv2d(images: Any, K: Any, stride: int, pad: int, dilation: int) -> Any:
    return topi.nn.conv2d(images, K, stride, pad, dilation)


def mlp1(inputs: Any, W: Any, c: Any) -> Any:
    return topi.nn.relu(topi.add(topi.matmul(inputs, W), c))


def matmul_bias_gelu(A: Any, B: Any, b: Any) -> Any:
    x = topi.add(topi.matmul(A, B), b)
    inner = te.compute(x.shape, lambda *i: 0.7978845608 * (x[i] + 0.044715 * x[i] * x[i] * x[i]))
    return te.compute(x.shape, lambda *i: 0.5 * x[i] * (1.0 + te.tanh(inner[i])))


def softmax(X: Any) -> Any:
    return topi.nn.softmax(X)


def layer_norm(X: Any, gamma: Any, beta: Any, eps: float) -> Any:
    return topi.nn.layer_norm(X, gamma, beta, [1], eps)


def bias_relu(X: Any, bias: Any) -> Any:
    return topi.nn.relu(topi.add(X, bias))


def scaled_residual_relu(X: Any, s: Any, b: Any, R: Any) -> Any:
    return topi.nn.relu(topi.add(topi.add(topi.multiply(X, s), b), R))


def transpose(A: Any) -> Any:
    return topi.transpose(A)
