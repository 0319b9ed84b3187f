"""Candidate schedules against the default recipe on the GPU: `python -m bench.gpu.variants [--only X] [--seconds N]`.

Each variant is built in a process of its own, many at once, and measured in a CUDA graph while nobody else is on the
GPU; its result is compared with PyTorch's.  What is known is written after each: $OUT, else bench/results.  With
`--dry` nothing is measured: every variant is compiled, and what its kernels take is told.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import multiprocessing
import os
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.gpu.cases import CASES, GpuCase
from bench.gpu.installing import SITE, environment, installed
from bench.gpu.results import RESULTS, ROOT, Entry
from bench.gpu.variant_choices import PEER, VARIANTS, Decisions

VARIANT_SECONDS = 60
SHOWN = 300
DEFAULT = "default"

Named = tuple[str, str, Decisions]


def planned(only: str) -> list[Named]:
    """(case, variant, decisions): peer and default of every case, then the first variant of each, the second, …"""
    chosen = {case: rows for case, rows in VARIANTS.items() if only in case}
    first = [(case, label, {}) for case in chosen for label in (DEFAULT, PEER)]
    later = sorted(
        ((place, case, label, decisions) for case, rows in chosen.items()
         for place, (label, decisions) in enumerate(rows.items())), key=lambda row: row[0],
    )  # fmt: skip
    return [*first, *(row[1:] for row in later)]


def case_named(name: str) -> GpuCase:
    """The case of the benchmark."""
    return next(case for case in CASES if case.name == name)


def schedule_of(case: GpuCase, decisions: Decisions, target: str) -> Any:
    """The default recipe with these decisions."""
    import workbench as wb
    from workbench.schedules.recipes.decisions import deciding

    operator = wb.ops.load(case.operator)
    if not decisions:
        return wb.autoschedule(operator, target, sizes=case.sizes)
    with deciding(decisions) as asked:
        schedule = wb.autoschedule(operator, target, sizes=case.sizes)
    if unknown := {*decisions} - {*asked.asked}:
        raise ValueError(f"nobody asked for {', '.join(sorted(unknown))}; asked: {', '.join(asked.asked)}")
    return schedule


def compiled(case: GpuCase, decisions: Decisions, target: str) -> tuple[Any, Entry]:
    """The schedule, and what its kernels take."""
    import workbench as wb
    from workbench.runtime.compilers.gpu_compiling import gpu_resources

    started = time.perf_counter()
    schedule = schedule_of(case, decisions, target)
    scheduled = time.perf_counter()
    resources = gpu_resources(wb.generate(schedule, target=target, unchecked=True)) if target != "cuda" else ""
    return schedule, {
        "key": schedule.key, "schedule": schedule.python(), "resources": str(resources),
        "schedule_seconds": scheduled - started, "compile_seconds": time.perf_counter() - scheduled,
    }  # fmt: skip


def measured(named: Named, lock: Path, *, dry: bool) -> Entry:
    """One variant built, checked and timed."""
    name, label, decisions = named
    case = case_named(name)
    if dry:
        return {} if label == PEER else compiled(case, decisions, "h200")[1]
    import torch

    from bench.gpu.one_case import gpu_target

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    schedule, entry = (None, {}) if label == PEER else compiled(case, decisions, gpu_target())
    given, kernel = _arguments(case), None
    if schedule is not None:
        import workbench as wb

        kernel = wb.build(schedule, target=gpu_target(), unchecked=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        return {**entry, **_on_gpu(case, given, kernel)}


def _arguments(case: GpuCase) -> tuple[Any, ...]:
    import torch

    from bench.gpu.one_case import arguments

    return tuple(
        a if isinstance(a, torch.Tensor) else a.item() if hasattr(a, "item") else a for a in arguments(case)
    )


def _on_gpu(case: GpuCase, given: tuple[Any, ...], kernel: Any) -> Entry:
    """The time of a kernel, or of the peer where there is none; alone on the GPU."""
    from bench.gpu.one_case import IN_GRAPH, device_seconds, in_graph, relative_error
    from bench.peers import torch_peers

    peer = getattr(torch_peers, case.torch)
    if kernel is None:
        return {"microseconds": device_seconds(in_graph(lambda: peer(*given)), IN_GRAPH) * 1e6}
    out = kernel(*given)
    error = relative_error(out, peer(*given))
    seconds = device_seconds(in_graph(lambda: kernel(*given, out=out)), IN_GRAPH)
    error = max(error, relative_error(out, peer(*given)))
    return {"microseconds": seconds * 1e6, "error": error, "right": error <= case.tolerance}


def _child(named: Named, lock: Path, dry: bool, told: Connection) -> None:
    try:
        told.send(measured(named, lock, dry=dry))
    except BaseException as reason:  # one variant's trouble is not the others'
        traceback.print_exc()
        told.send({"failed": f"{type(reason).__name__}: {reason}"[:SHOWN]})


def run_all(plan: Sequence[Named], seconds: float, workers: int, *, dry: bool) -> Iterator[tuple[Named, Entry]]:
    """What became of each variant, in the order in which they are done; those not reached in time are left out."""
    context, deadline = multiprocessing.get_context("fork"), time.monotonic() + seconds
    waiting, running = list(plan), dict[Connection, tuple[BaseProcess, Named, float]]()
    with TemporaryDirectory() as folder:
        lock = Path(folder, "gpu")
        while (waiting or running) and time.monotonic() < deadline:
            while waiting and len(running) < workers:
                named = waiting.pop(0)
                told, tell = context.Pipe(duplex=False)
                process = context.Process(target=_child, args=(named, lock, dry, tell), daemon=True)
                process.start()
                tell.close()
                running[told] = process, named, time.monotonic() + VARIANT_SECONDS
            ended = wait(list(running), timeout=0.2)
            for told in list(running):
                if told in ended or time.monotonic() > running[told][2]:
                    process, named, _ = running.pop(told)
                    yield named, _received(told, process, in_time=told in ended)
        for process, _, _ in running.values():
            process.kill()


def _received(told: Connection, process: BaseProcess, *, in_time: bool) -> Entry:
    """What a process said before it ended."""
    try:
        entry: Entry = told.recv() if in_time else {"failed": f"stopped after {VARIANT_SECONDS} s"}
    except EOFError:
        process.join(5)
        entry = {"failed": f"exit status {process.exitcode}"}
    if not in_time:
        process.kill()
    return entry


def table(found: dict[str, dict[str, Entry]]) -> str:
    """For each case its variants by time, with the ratio to PyTorch's."""
    lines: list[str] = []
    for case, rows in found.items():
        peer = rows.get(PEER, {}).get("microseconds")
        lines += ["", f"## {case}", "", "| variant | µs | PyTorch / it | error | kernels |", "|---|---|---|---|---|"]
        for label, row in sorted(rows.items(), key=lambda item: item[1].get("microseconds", 1e30)):
            time_us, error = row.get("microseconds"), row.get("error")
            ratio = f"{peer / time_us:.2f}" if peer and time_us else ""
            said = row.get("failed", "") or ("" if row.get("right", True) else "WRONG")
            cells = [label, f"{time_us:.4g}" if time_us else "", ratio, f"{error:.1e} {said}" if error else said]
            lines.append(f"| {' | '.join([*cells, _brief(row.get('resources', ''))])} |")
    return "\n".join(lines).strip() + "\n"


def _brief(resources: str) -> str:
    """Threads, registers, spills, blocks on a multiprocessor of each kernel."""
    rows = [line.split() for line in resources.splitlines()[2:]]
    return "; ".join(f"{r[1]} thr {r[2]} reg {r[3]}+{r[5]} sp {r[7]} B {r[8]} bl" for r in rows if len(r) > 8)


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if every variant that was reached was right."""
    parser = argparse.ArgumentParser("python -m bench.gpu.variants", description=__doc__)
    parser.add_argument("--only", default="", help="part of a case's name")
    parser.add_argument("--seconds", type=float, default=150, help="time for all of it (150)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that build at once")
    parser.add_argument("--dry", action="store_true", help="compile only; no GPU is needed")
    options = parser.parse_args(arguments)
    if not options.dry:
        os.environ.setdefault("WORKBENCH_GPU_DRIVER", "cuda.bindings")
    _load()
    file = Path(os.environ.get("OUT") or RESULTS) / f"{time.strftime('%Y%m%dT%H%M%S')}-gpu-variants.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    plan, found = planned(options.only), dict[str, dict[str, Entry]]()
    for (case, label, decisions), entry in run_all(plan, options.seconds, options.workers, dry=options.dry):
        found.setdefault(case, {})[label] = {**entry, "decisions": decisions}
        said = entry.get("failed") or f"{entry.get('microseconds', 0):.1f} us, error {entry.get('error', '')}"
        print(f"{case}: {label}: {said}", flush=True)
        _write(file, json.dumps(found, indent=1))
        _write(file.with_suffix(".md"), table(found))
    done = sum(map(len, found.values()))
    print(table(found), f"{done} of {len(plan)} variants; written: {file}", sep="\n", flush=True)
    entries = [entry for rows in found.values() for entry in rows.values()]
    return int(any("failed" in entry or not entry.get("right", True) for entry in entries))


def _load() -> None:
    """What every process needs, once, before they are forked; nothing that touches the GPU."""
    os.environ.update(environment())
    sys.path[:0] = [str(SITE), str(ROOT)]
    if not all(map(_there, ("islpy", "lark", "ml_dtypes", "cuda.bindings"))):
        print(*installed(build=False), sep="\n", flush=True)
    import torch  # noqa: F401

    import bench.gpu.one_case  # noqa: F401
    import workbench as wb

    wb.autoschedule(wb.ops.load("matmul"), "h200", M=8, N=8, K=8)


def _there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _write(file: Path, text: str) -> None:
    partial = file.with_name(f"{file.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)


if __name__ == "__main__":
    sys.exit(main())
