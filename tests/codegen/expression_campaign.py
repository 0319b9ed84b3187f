"""Random expressions in every way of computing, as many as one has time for.

    python -m tests.codegen.expression_campaign --expressions 50000 --seed 1000

One batch in eight is compiled with the flags that users get, the others without optimisation: what is tried is the
text.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.codegen.expression_ways import BATCH, WIDTHS, batch, building, differences
from workbench.errors import WorkbenchError

OPTIMISED = 8  # batches for each that is compiled with the flags that users get


def run(first: int, count: int, command: str, folder: Path) -> Counter[str]:
    """Try `count` batches from a seed on; print what differs."""
    tally: Counter[str] = Counter()
    begun = time.monotonic()
    for number in range(count):
        seed = first + number
        with building(folder, "" if seed % OPTIMISED == 0 else "-O0", command):
            found = failures(seed)
        tally.update(expressions=BATCH, differences=len(found))
        for text in found:
            print(f"seed {seed}, {WIDTHS[seed % 4]} bits: {text}", flush=True)
        if number % 20 == 19:
            said = ", ".join(f"{n} {what}" for what, n in tally.items())
            print(f"{time.monotonic() - begun:6.0f} s: {said}", flush=True)
    return tally


def failures(seed: int) -> list[str]:
    """What is wrong with the batch of a seed; an error of the road is found in the single expression, if it has one."""
    width = WIDTHS[seed % len(WIDTHS)]
    try:
        return differences(batch(seed), seed, width)
    except WorkbenchError as error:
        alone = [text for e in batch(seed) for text in _alone(e, seed, width)]
        return alone or [f"{type(error).__name__}: {error}"]


def _alone(expression: str, seed: int, width: int) -> list[str]:
    try:
        return differences([expression], seed, width)
    except WorkbenchError as error:
        return [f"{type(error).__name__}: {error}\n    {expression}"]


def main(arguments: list[str]) -> int:
    """The command line; 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--expressions", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compiler", default="gcc")
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore", RuntimeWarning)
    with TemporaryDirectory() as folder:
        tally = run(chosen.seed, -(-chosen.expressions // BATCH), chosen.compiler, Path(folder))
    print(", ".join(f"{n} {what}" for what, n in tally.items()))
    return 1 if tally["differences"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
