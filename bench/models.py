"""Whole networks: built models against PyTorch eager, torch.compile and ONNX Runtime, one process a contender.

    python -m bench.models [--networks mlp resnet] [--threads 1 2] [--seconds 0.5] [--rounds 5] [--out FILE]

Contenders alternate in rounds; the time of one is the median of its rounds' medians.  What they compute is compared
with eager.  Prints a row a network and number of threads, and the profile of ours by node; writes JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.facts import load, machine, software
from bench.worker_pool import Worker

NAMES = ("workbench", "eager", "torch.compile", "onnxruntime")
LIMIT_SECONDS = 600.0


def compared(network: str, threads: int, seconds: float, rounds: int, folder: Path) -> dict[str, Any]:
    """The contenders at one network."""
    found: dict[str, Any] = {}
    workers = {name: Worker(name, threads, folder / name, "bench.models_worker") for name in NAMES}
    try:
        for name, worker in workers.items():
            found[name] = worker.ask({"do": "prepare", "network": network}, LIMIT_SECONDS)
            if "first_seconds" in found[name]:
                worker.ask({"do": "results", "file": str(folder / f"{name}.npy")}, LIMIT_SECONDS)
        running = [name for name in NAMES if "first_seconds" in found[name]]
        turns: dict[str, list[dict[str, Any]]] = {name: [] for name in running}
        for _ in range(rounds):
            for name in running:
                turns[name].append(workers[name].ask({"do": "time", "seconds": seconds / rounds}, LIMIT_SECONDS))
    finally:
        for worker in workers.values():
            worker.close()
    expected = np.load(folder / "eager.npy")
    for name in running:
        medians = [statistics.median(turn["batches"]) for turn in turns[name]]
        found[name]["seconds"] = statistics.median(medians)
        found[name]["rounds"] = medians
        found[name]["least"] = min(min(turn["batches"]) for turn in turns[name])
        found[name]["peak_kilobytes"] = turns[name][-1]["peak_kilobytes"]
        difference = np.abs(np.load(folder / f"{name}.npy") - expected).max() / np.abs(expected).max()
        found[name]["difference"] = float(difference)
    return {"network": network, "threads": threads, "contenders": found}


def row(one: dict[str, Any]) -> str:
    """A line of the table: milliseconds of each (median, fastest batch), how much faster ours is than it."""
    contenders = one["contenders"]
    own = contenders["workbench"].get("seconds")
    cells = []
    for name in NAMES:
        took = contenders[name].get("seconds")
        if took is None:
            cells.append(contenders[name].get("unavailable") or contenders[name].get("failed") or "-")
        else:
            ratio = f" ({took / own:.2f})" if own and name != "workbench" else ""
            cells.append(f"{took * 1e3:.3f}, {contenders[name]['least'] * 1e3:.3f} ms{ratio}")
    return f"{one['network']:12} {one['threads']}  " + "  ".join(f"{cell:26}" for cell in cells)


def geometric_mean(ratios: list[float]) -> float:
    """Of how much faster ours is."""
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan


def main() -> None:
    from bench.networks import NETWORKS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("bench/out/models.json"))
    given = parser.parse_args()
    results = []
    print(f"{'network':12} T  " + "  ".join(f"{name:26}" for name in NAMES))
    for network in given.networks:
        for threads in given.threads:
            with tempfile.TemporaryDirectory() as folder:
                results.append(compared(network, threads, given.seconds, given.rounds, Path(folder)))
            print(row(results[-1]), flush=True)
    for name in NAMES[1:]:
        pairs = [[one["contenders"][each].get("seconds") for each in (name, "workbench")] for one in results]
        ratios = [theirs / ours for theirs, ours in pairs if theirs and ours]
        print(f"geometric mean against {name}: {geometric_mean(ratios):.2f} over {len(ratios)}")
    for one in results:
        print(f"\n{one['network']}, {one['threads']} threads\n{one['contenders']['workbench'].get('profile', '')}")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    facts = {"machine": machine(), "software": software(), "load": load(), "results": results}
    given.out.write_text(json.dumps(facts, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
