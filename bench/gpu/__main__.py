"""`make gpu`: install what is missing, run the tests marked `gpu` and the benchmark, write JSON and a table."""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from bench.gpu.cases import CASES
from bench.gpu.installing import environment, installed
from bench.gpu.results import RESULTS, ROOT, Entry, Results, sources_digest
from bench.gpu.testing import collected, run_tests

PARTS = ("tests", "bench")
STATE = ROOT / ".gpu"
CASE_SECONDS = 150
NO_GPU = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if all that was run is well, 1 if not, 3 without a GPU."""
    options = _options(arguments)
    deadline = time.monotonic() + options.seconds
    results = Results(sources_digest())
    for file in [*sorted(RESULTS.glob("*.json")), *sorted(STATE.glob("*.json")), *options.resume]:
        results.go_on_from(file)
    if not _driver_there():
        print("NO GPU: nothing was measured.\nNo NVIDIA driver is found on this machine (libcuda.so.1).", flush=True)
        return NO_GPU
    for sentence in installed(build=options.pycuda):
        results.note(sentence)
    facts = _facts()
    if "gpu" not in facts:
        print(f"NO GPU: nothing was measured.\n{facts.get('no gpu', facts.get('failed', ''))}", flush=True)
        return NO_GPU
    results.facts = facts
    print("\n".join(f"{name}: {value}" for name, value in facts.items()), flush=True)
    results.save()
    try:
        if "tests" in options.part:
            _tests(results, options, deadline)
        if "bench" in options.part:
            _bench(results, options, deadline)
    except Exception as reason:  # what was found until now must come back
        results.note(f"the run ended early: {type(reason).__name__}: {reason}")
    return _left(results)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.gpu", description=__doc__)
    add = parser.add_argument
    add("--part", default=",".join(PARTS), help=f"with commas: {','.join(PARTS)} (both)")
    add("--seconds", type=float, default=480, help="time for all of it (480); what is left over is for another run")
    add("--workers", type=int, default=min(8, os.cpu_count() or 1), help="processes of tests that share the GPU (8)")
    add("--profile", default="ci", choices=("quick", "ci", "full"), help="how many random schedules (ci: 200)")
    add("--only", default="", help="only tests and cases whose names have this in them")
    add("--again", action="store_true", help="also what was run before and failed")
    add("--resume", type=Path, nargs="*", default=[], help="JSON files of earlier runs to go on from")
    add("--no-pycuda", dest="pycuda", action="store_false", help="do not build PyCUDA; cuda.bindings serves")
    options = parser.parse_args(arguments)
    options.part = options.part.split(",")
    if unknown := {*options.part} - {*PARTS}:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    return options


def _driver_there() -> bool:
    """Whether this machine may have a GPU; a stand-in for one counts."""
    if os.environ.get("WORKBENCH_GPU_DRIVER"):
        return True
    try:
        return bool(ctypes.CDLL("libcuda.so.1"))
    except OSError:
        return False


def _facts() -> dict[str, str]:
    command = (sys.executable, "-m", "bench.gpu.machine_facts")
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr[-1500:]}


def _open(section: dict[str, Entry], names: Sequence[str], options: argparse.Namespace) -> list[str]:
    """Names that are asked for and not done."""
    wanted = [name for name in names if options.only in name]
    good = ("passed", "skipped")
    done = {n for n, e in section.items() if not options.again or e.get("outcome") in good or "against_best" in e}
    return [name for name in wanted if name not in done]


def _tests(results: Results, options: argparse.Namespace, deadline: float) -> None:
    section, lock = results.sections["tests"], Lock()
    names = _open(section, collected(options.profile), options)
    # The benchmark gets the second half of the time if it is asked for too.
    end = deadline if "bench" not in options.part else (time.monotonic() + deadline) / 2

    def keep(name: str, entry: Entry) -> None:
        with lock:
            section[name] = entry
            results.save()
        if entry["outcome"] not in ("passed", "skipped"):
            print(f"{entry['outcome']}: {name}", flush=True)

    run_tests(names, options.workers, options.profile, end, keep)
    left = sum(name not in section for name in names)
    print(f"tests: {len(names) - left} run, {left} left", flush=True)


def _bench(results: Results, options: argparse.Namespace, deadline: float) -> None:
    section = results.sections["bench"]
    names = _open(section, [case.name for case in CASES], options)
    for name in names:
        if time.monotonic() > deadline - 20:
            break
        section[name] = _case(name, min(CASE_SECONDS, deadline - time.monotonic()))
        results.save()
        times = {k: round(v, 1) for k, v in section[name].get("device_us", {}).items()}
        print(f"{name}: {times} {section[name].get('failed', '')[:200]}", flush=True)
    print(f"benchmark: {sum(name not in section for name in names)} cases left", flush=True)


def _case(name: str, seconds: float) -> Entry:
    """What the process of a case left; also if it crashed or ran out of time."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "case.json")
        command = (sys.executable, "-m", "bench.gpu.one_case", name, str(file))
        variables = {"WORKBENCH_GPU_DRIVER": "cuda.bindings", **environment()}
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=seconds, check=False
            )
            said = "" if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr[-1500:]}"
        except subprocess.TimeoutExpired:
            said = f"stopped after {seconds:.0f} s"
        entry: Entry = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {**entry, "failed": entry.get("failed", said)} if said else entry


def _left(results: Results) -> int:
    """Write everything once more; the exit status."""
    file = results.save()
    print(file.with_suffix(".md").read_text(encoding="utf-8"), flush=True)
    print(f"written: {file} and {file.with_suffix('.md').name}", flush=True)
    STATE.mkdir(exist_ok=True)
    (STATE / "state.json").write_text(json.dumps(results.as_json()), encoding="utf-8")
    bad = [e for e in results.sections["tests"].values() if e["outcome"] not in ("passed", "skipped")]
    return int(bool(bad or any(e.get("failed") for e in results.sections["bench"].values())))


if __name__ == "__main__":
    sys.exit(main())
