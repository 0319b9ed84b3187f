"""The ladders of the gallery, rungs timed in turns: `python -m bench.schedules.ladders` says which fall.

A notebook times each rung when it is built, one after the other, so that whatever else the machine does falls on some
of them.  Here its cells are executed with a `then` that keeps the kernels; afterwards all rungs and all peers are timed
in rounds.  A rate is that of the median round.  A ladder holds if its last rung is the highest, within `--margin`; a
rung below the one before is printed with what it lost.  Exits with 1 where a ladder does not hold; writes JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import workbench as wb
from bench.facts import write_results
from bench.timing import batches

GALLERY = Path(__file__).resolve().parents[2] / "notebooks" / "gallery"
LAST = "end"  # the cell that draws the ladder


@dataclass
class Climbed:
    """What is timed of a notebook: its rungs and the peers beside them, each a call, and the operations of a call."""

    rungs: list[tuple[str, Callable[[], Any]]] = field(default_factory=list)
    peers: dict[str, Callable[[], Any]] = field(default_factory=dict)
    flops: float = 0.0

    @property
    def calls(self) -> dict[str, Callable[[], Any]]:
        """All calls by name; the same step twice has a number."""
        return {f"{at} {name}": call for at, (name, call) in enumerate(self.rungs)} | self.peers


def cells(path: Path) -> list[tuple[str, str]]:
    """(name, text) of the cells of Python of a notebook."""
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(cell["id"], "".join(cell["source"])) for cell in found if cell["cell_type"] == "code"]


def climbed(path: Path) -> Climbed:
    """The kernels of a notebook's ladder, built; its own measurements are left out."""
    found = Climbed()
    names: dict[str, Any] = {"__name__": path.stem}
    for name, text in cells(path):
        if name == LAST:
            break
        exec(compile(text, f"{path.name}, cell {name}", "exec"), names)
        if "arrays" in names:
            names["then"] = _keeping(found, names)
    found.flops = wb.ops.flops(names["op"], **names["sizes"])
    found.peers = {peer: _call(call, inputs) for peer, (call, inputs) in names["others"].items()}
    return found


def _keeping(found: Climbed, names: dict[str, Any]) -> Callable[..., wb.Schedule]:
    """What takes the place of a notebook's `then`: it builds and keeps, and measures nothing."""

    def then(schedule: wb.Schedule, step: Any = None) -> wb.Schedule:
        after = schedule if step is None else schedule | step
        kernel = wb.build(after)
        call = _call(kernel, [names["arrays"][p.name] for p in kernel.signature.inputs])
        found.rungs.append((str(step or "naive"), call))
        names["rungs"].append((1.0, str(step or "naive"), call()))
        return after

    return then


def _call(function: Callable[..., Any], inputs: list[Any]) -> Callable[[], Any]:
    return lambda: function(*inputs)


def rates(found: Climbed, seconds: float, rounds: int) -> dict[str, float]:
    """GFLOP/s of every call: of the median of its rounds, which the calls take in turns."""
    times: dict[str, list[float]] = {name: [] for name in found.calls}
    for _ in range(rounds):
        for name, call in found.calls.items():
            taken, _ = batches(call, seconds / rounds, seconds / rounds / 4)
            times[name].append(statistics.median(taken))
    return {name: found.flops / statistics.median(each) / 1e9 for name, each in times.items()}


def judged(rungs: list[float], margin: float) -> dict[str, Any]:
    """Whether a ladder holds, and which rungs lie below the one before, as number → part that is left."""
    parts = [after / before for before, after in pairwise(rungs)]
    lost = {at: part for at, part in enumerate(parts, 1) if part < 1 - margin}
    return {"holds": rungs[-1] >= max(rungs) * (1 - margin), "lost": lost}


def timed(path: Path, seconds: float, rounds: int, margin: float) -> dict[str, Any]:
    """One ladder, printed as its notebook shows it."""
    found = climbed(path)
    every = rates(found, seconds, rounds)
    names = [name for name, _ in found.rungs]
    values = [rate for name, rate in every.items() if name not in found.peers]
    peers = {name: rate for name, rate in every.items() if name in found.peers}
    said = judged(values, margin)
    print(f"\n{path.stem}: {'holds' if said['holds'] else 'DOES NOT HOLD: its last rung is below an earlier one'}")
    print(wb.viz.ladder(zip(names, values, strict=True), peers))
    for at, left in said["lost"].items():
        print(f"  rung {at}, {names[at]}: {left:.2f} of the one before")
    sys.stdout.flush()
    return {"ladder": path.stem, "rungs": list(zip(names, values, strict=True)), "peers": peers, **said}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = sorted(path.stem for path in GALLERY.glob("*.ipynb"))
    parser.add_argument("--ladders", nargs="+", choices=known, default=known)
    parser.add_argument("--seconds", type=float, default=1.0, help="of timing a rung, in all rounds")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--margin", type=float, default=0.03, help="what counts as equal")
    parser.add_argument("--out", type=Path, default=Path("bench/out/ladders.json"))
    given = parser.parse_args()
    results = [timed(GALLERY / f"{name}.ipynb", given.seconds, given.rounds, given.margin) for name in given.ladders]
    write_results(given.out, results)
    fallen = [one["ladder"] for one in results if not one["holds"]]
    print(f"\n{len(results) - len(fallen)} of {len(results)} ladders hold", *fallen)
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())
