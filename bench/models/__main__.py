"""Ten whole networks: built models against PyTorch eager, torch.compile and ONNX Runtime, one process a contender.

    python -m bench.models [--networks mlp resnet] [--threads 1 2] [--seconds 1] [--rounds 5] [--out FILE]

Contenders are prepared two at a time, then alternate in rounds; the time of one is the median of its rounds' medians.
What they compute is compared with eager.  Prints a row a network and number of threads, at its end how long a word
takes from one processor to the other and back (on a virtual machine that changes), geometric means, and the profile of
ours by node; writes JSON.  Memory is the most a process holds while it is timed, less what it held before it prepared
its network: weights, temporaries, compiled code, and the libraries that this contender alone needs.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bench.facts import write_results
from bench.models.command_line import model_parser
from bench.workers.worker_pool import Worker

NAMES = ("workbench", "eager", "torch.compile", "onnxruntime")
LIMIT_SECONDS = 600.0
LEAST = 0.85
"""What no network should fall below."""
AT_ONCE = 2
"""Contenders that are prepared side by side."""


def compared(network: str, threads: int, seconds: float, rounds: int, folder: Path) -> dict[str, Any]:
    """The contenders at one network."""
    workers = {name: Worker(name, threads, folder / name, "bench.models.worker") for name in NAMES}

    def prepare(name: str) -> dict[str, Any]:
        made = workers[name].ask({"do": "prepare", "network": network}, LIMIT_SECONDS)
        if "first_seconds" in made:
            workers[name].ask({"do": "results", "file": str(folder / f"{name}.npy")}, LIMIT_SECONDS)
        return made

    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = dict(zip(workers, pool.map(prepare, workers), strict=True))
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
        found[name]["round_trips"] = [turn.get("round_trip") for turn in turns[name]]
        found[name]["least"] = min(min(turn["batches"]) for turn in turns[name])
        found[name] |= {key: turns[name][-1][key] for key in ("peak_kilobytes", "own_kilobytes")}
        difference = np.abs(np.load(folder / f"{name}.npy") - expected).max() / np.abs(expected).max()
        found[name]["difference"] = float(difference)
    return {"network": network, "threads": threads, "contenders": found}


def row(one: dict[str, Any]) -> str:
    """A line of the table: milliseconds of each (median, fastest batch), megabytes, how much faster ours is than it."""
    contenders = one["contenders"]
    own = contenders["workbench"].get("seconds")
    cells = []
    for name in NAMES:
        found = contenders[name]
        took = found.get("seconds")
        if took is None:
            cells.append(found.get("unavailable") or found.get("failed") or "-")
        else:
            ratio = f" ({took / own:.2f})" if own and name != "workbench" else ""
            memory = f"{found['own_kilobytes'] / 1024:.0f} MB"
            cells.append(f"{took * 1e3:.3f}, {found['least'] * 1e3:.3f} ms, {memory}{ratio}")
    return f"{one['network']:18} {one['threads']}  " + "  ".join(f"{cell:32}" for cell in cells) + _apart(one)


def _apart(one: dict[str, Any]) -> str:
    """How long a word took from one processor to the other and back, while these were timed; "" of one thread."""
    trips = [trip for found in one["contenders"].values() for trip in found.get("round_trips", ()) if trip]
    return f"{min(trips) * 1e9:.0f} to {max(trips) * 1e9:.0f} ns" if trips else ""


def means(results: list[dict[str, Any]]) -> list[str]:
    """Geometric means of how much faster ours is than each, and than the fastest of them at each row."""
    lines = []
    for label, names in {**{name: (name,) for name in NAMES[1:]}, "the best of them": NAMES[1:]}.items():
        ratios = [ratio for one in results if (ratio := _ratio(one, names)) is not None]
        if ratios:
            worst = f"{min(ratios):.2f} at worst, {sum(r < LEAST for r in ratios)} below {LEAST}"
            mean = statistics.geometric_mean(ratios)
            lines.append(f"geometric mean against {label}: {mean:.2f} over {len(ratios)} ({worst})")
    return lines


def _ratio(one: dict[str, Any], names: Sequence[str]) -> float | None:
    """How much faster ours is than the fastest of these; None where one of both is missing."""
    own = one["contenders"]["workbench"].get("seconds")
    theirs = [took for name in names if (took := one["contenders"][name].get("seconds"))]
    return min(theirs) / own if own and theirs else None


def main() -> None:
    from bench.models.networks import NETWORKS, TEN

    parser = model_parser(__doc__, "bench.models")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(TEN))
    given = parser.parse_args()
    results = []
    print(f"{'network':18} T  " + "  ".join(f"{name:32}" for name in NAMES))
    for network in given.networks:
        for threads in given.threads:
            with tempfile.TemporaryDirectory() as folder:
                results.append(compared(network, threads, given.seconds, given.rounds, Path(folder)))
            print(row(results[-1]), flush=True)
    print(*means(results), sep="\n")
    for one in results:
        print(f"\n{one['network']}, {one['threads']} threads\n{one['contenders']['workbench'].get('profile', '')}")
    write_results(given.out, results)


if __name__ == "__main__":
    main()
