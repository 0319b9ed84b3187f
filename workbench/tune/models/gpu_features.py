"""Features of a schedule for a GPU: what its kernels are made of, what warps ask for, what the model takes it to be.

The numbers that AutoTVM and Ansor give their models for a GPU (threads, blocks, staging, what is written out), and in
place of its innermost strides the sectors and turns that warps cost.
"""

from __future__ import annotations

from math import log2

from workbench.schedules import Schedule
from workbench.schedules.steps import Pipeline, StorageAlign
from workbench.target import Target
from workbench.tune.models.gpu_times import KernelTime, kernel_times, total_seconds
from workbench.tune.models.gpu_work import KernelWork, Traffic, kernel_works


def gpu_features(schedule: Schedule, target: Target) -> dict[str, float]:
    """The features of a schedule for a GPU, each a finite number; `cycles` is the analytic prediction, as a logarithm.

    WorkbenchError where no text can be written, or something cannot be counted.
    """
    works, times = kernel_works(schedule, target), kernel_times(schedule, target)
    seconds = total_seconds(times)
    result = {
        "cycles": _log(seconds * target.device.clock_mhz * 1e6),
        "kernels": float(sum(t.starts for t in times)),
        "statements": float(len(schedule.program.statements)),
        "padded": float(sum(isinstance(s, StorageAlign) for s in schedule.trace)),
        "asynchronous": float(any(isinstance(s, Pipeline) and s.async_ for s in schedule.trace)),
    }
    shares = [t.starts * t.seconds / seconds for t in times]
    parts = [_of_kernel(w, t, target) for w, t in zip(works, times, strict=True)]
    for name in parts[0] if parts else ():
        result[name] = sum(part[name] * share for part, share in zip(parts, shares, strict=True))
    heaviest = max(range(len(parts)), key=lambda n: shares[n], default=None)
    if heaviest is not None:
        result |= {f"first_{name}": value for name, value in parts[heaviest].items()}
    return result


def _of_kernel(work: KernelWork, time: KernelTime, target: Target) -> dict[str, float]:
    gpu = target.device
    warps = -(-work.threads // gpu.warp_threads)
    found = {
        "threads": _log(work.threads),
        "blocks": _log(work.blocks),
        "waves": _log(work.blocks / max(1, gpu.multiprocessors * time.blocks)),
        "partial_warps": work.threads / (warps * gpu.warp_threads),
        "occupancy": time.occupancy,
        "registers": time.registers / gpu.thread_registers,
        "shared_bytes": _log(work.shared_bytes),
        "stages": float(work.stages),
        "tensor": float(work.tensor),
        "cells": _log(work.cells),
        "steps": _log(work.steps),
        "operations": _log(work.operations),
    }
    for memory in ("global", "shared"):
        found |= _of_traffic(memory, work.of(memory), work)
    return found | {f"roof_{name.replace(' ', '_')}": _log(1e9 * value) for name, value in _roofs(time).items()}


def _roofs(time: KernelTime) -> dict[str, float]:
    """Seconds of each roof; the same names for every kernel."""
    names = ("arithmetic", "instructions", "banks", "first cache", "second cache", "memory", "waiting")
    return {name: time.roofs.get(name, 0.0) for name in names}


def _of_traffic(memory: str, traffic: tuple[Traffic, ...], work: KernelWork) -> dict[str, float]:
    """Accesses of warps to one kind of memory: how many, what one costs, how wide they are, operations on each."""
    requests, units = sum(t.requests for t in traffic), sum(t.units for t in traffic)
    return {
        f"{memory}_requests": _log(requests),
        f"{memory}_units": units / requests if requests else 0.0,
        f"{memory}_worst": max((t.average for t in traffic), default=0.0),
        f"{memory}_wide": sum(t.requests * t.wide_bytes for t in traffic) / requests if requests else 0.0,
        f"{memory}_reuse": _log(work.operations / requests) if requests else 0.0,
    }


def _log(value: float) -> float:
    return log2(max(value, 2.0**-20)) if value > 0 else 0.0
