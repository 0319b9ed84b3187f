"""How many orders of isl's scheduler are said as named steps: `python -m bench.schedules.explained`.

Those of the operators of the library and of the PolyBench kernels of tests/polybench, for each level of fusion.

An order counts as explained when no step of its schedule is `affine`, which takes a time map as it is.  Sizes are left
symbolic where they can be.  Nothing is timed but how long a schedule took to find.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import workbench as wb
from workbench.errors import LoweringError, WorkbenchError
from workbench.lang.operator import Operator
from workbench.poly.programs.program import Program

FUSIONS = ("none", "default", "max")
KERNELS = Path(__file__).resolve().parents[2] / "tests" / "polybench"
Load = Callable[[str], Operator | Program]


@dataclass(frozen=True)
class Answer:
    """Whether one order is explained, by how many steps, and why not."""

    name: str
    explained: bool
    steps: int
    seconds: float
    reason: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; exit status 1 if fewer than 90 % are explained somewhere."""
    parser = argparse.ArgumentParser("python -m bench.schedules.explained", description=__doc__)
    parser.add_argument("filters", nargs="*", help="parts of names; everything if none")
    wanted = parser.parse_args(arguments).filters
    least = 1.0
    print("| | " + " | ".join(f"fusion {f}" for f in FUSIONS) + " |\n|---|" + "---|" * len(FUSIONS))
    for title, names, load in collections():
        chosen = [n for n in names if not wanted or any(w in n for w in wanted)]
        found = {f: list(answers(chosen, load, f)) for f in FUSIONS if chosen}
        shares = {f: sum(a.explained for a in given) / len(given) for f, given in found.items()}
        least = min(least, *shares.values()) if shares else least
        cells = [f"{sum(a.explained for a in given)} of {len(given)} ({shares[f]:.0%})" for f, given in found.items()]
        print(f"| {title} | {' | '.join(cells) or 'no such name'} |", flush=True)
        for fusion, given in found.items():
            for a in (a for a in given if not a.explained):
                print(f"  fusion {fusion}: {a.name}: {a.reason}", file=sys.stderr)
    return int(least < 0.9)


def collections() -> Iterator[tuple[str, list[str], Load]]:
    """The operators and the kernels, by name."""
    yield "operators", list(wb.ops.list()), wb.ops.load
    names = sorted(path.stem for path in KERNELS.glob("*.c"))
    yield "PolyBench", names, lambda name: wb.from_c((KERNELS / f"{name}.c").read_text(encoding="utf-8"))


def answers(names: Sequence[str], load: Load, fusion: str) -> Iterator[Answer]:
    """One answer a name."""
    for name in names:
        start = time.perf_counter()
        try:
            trace = scheduled(load(name), fusion).trace
            affine = sum(step.name == "affine" for step in trace)
            reason = f"{affine} affine step{'s' * (affine > 1)}" if affine else ""
        except WorkbenchError as error:
            trace, reason = (), f"{type(error).__name__}: {str(error).splitlines()[0]}"
        seconds = time.perf_counter() - start
        yield Answer(name, not reason, len(trace), seconds, reason)
        if seconds > 5:
            print(f"  fusion {fusion}: {name} took {seconds:.0f} s", file=sys.stderr, flush=True)


def scheduled(given: Operator | Program, fusion: str) -> wb.Schedule:
    """isl's schedule for symbolic sizes, or for those of an example where a range needs them."""
    try:
        return wb.autoschedule(given, fusion=fusion)  # type: ignore[arg-type]
    except LoweringError:
        if not isinstance(given, Operator):
            raise
        return wb.autoschedule(given, fusion=fusion, sizes=given.examples[0])  # type: ignore[arg-type]


if __name__ == "__main__":
    sys.exit(main())
