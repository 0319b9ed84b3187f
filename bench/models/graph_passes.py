"""What the default line of passes takes on a network of 170 operators, by pass.

    python -m bench.models.graph_passes

The first round of a process reads and composes what the others remember: so the line is also measured in processes of
their own, where its parts are loaded as well.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

import workbench as wb
from workbench.graph import Builder, Model
from workbench.graph.optimizing import default_line

LEAST_SECONDS = 0.01
"""What a pass takes at least, to be named."""


def dense_network(blocks: tuple[int, ...] = (6, 12, 14), growth: int = 4, seed: int = 0) -> Model:
    """A DenseNet: each layer normalises, rectifies and convolves all that was made before it (Huang et al., 2017)."""
    random = np.random.default_rng(seed)
    rectify = wb.operator("def rectify4<T>(T(A,B,C,D) x) -> (y) { y(a,b,c,d) = max(x(a,b,c,d), 0) }")
    joined = wb.operator("""
def joined<T>(T(A,B,C,D) x, T(A,E,C,D) y) -> (z) {
    z(a,b,c,d) = b < B ? x(a,b,c,d) : y(a,b-B,c,d) where a in 0:A, b in 0:B+E, c in 0:C, d in 0:D
}""")
    b = Builder()

    def weights(*shape: int) -> np.ndarray:
        return (0.1 * random.standard_normal(shape)).astype(np.float32)

    def normalised(x, channels: int):
        mean, shift, scale = weights(channels), weights(channels), weights(channels)
        return b.call(
            "batch_norm_inference", x, mean, 1 + np.abs(weights(channels)), scale, shift, np.float32(1e-5),
        )  # fmt: skip

    def convolved(x, channels: int, out: int, window: int):
        return b.call("conv2d", x, weights(out, channels, window, window), stride=1, pad=window // 2, dilation=1)

    channels = 8
    x = convolved(b.parameter("x", "float32[n, 3, 32, 32]"), 3, channels, 3)
    x = b.call(rectify, normalised(x, channels))
    for layers in blocks:
        for _ in range(layers):
            new = convolved(b.call(rectify, normalised(x, channels)), channels, growth, 3)
            new = normalised(new, growth)
            x, channels = b.call(joined, x, new), channels + growth
        x = convolved(b.call(rectify, normalised(x, channels)), channels, channels // 2, 1)
        channels //= 2
    return b.model(x)


def cold() -> dict[str, Any]:
    """What the line takes in a process of its own, which has seen none of the operators: seconds of a processor."""
    command = [sys.executable, "-m", "bench.models.graph_passes", "--as-json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measured() -> dict[str, Any]:
    """Seconds of a processor of each pass that took any, of the whole line, and of printing what comes of it."""
    model, found = dense_network(), {}
    start = process_time()
    for step in default_line(model).parts:
        begin = process_time()
        model = model | step
        found[step.name] = process_time() - begin
    whole = process_time()
    str(model)
    passes = {name: seconds for name, seconds in found.items() if seconds >= LEAST_SECONDS}
    return {"passes": passes, "whole": whole - start, "text": process_time() - whole}


def shown(found: dict[str, Any]) -> str:
    """A row: the whole line, its passes, the text."""
    passes = ", ".join(f"{name} {seconds:.2f}" for name, seconds in found["passes"].items())
    return f"{found['whole']:.2f} s of a processor ({passes}), and {found['text']:.2f} s for the text"


def main() -> None:
    """Prints the history of the default line and of printing the result, then the same in fresh processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--as-json", action="store_true", help="measure this process once, for another")
    given = parser.parse_args()
    if given.as_json:
        print(json.dumps(measured()))
        return
    for _ in range(given.rounds):
        model = dense_network()
        start, own = perf_counter(), process_time()
        found = wb.optimize(model)
        middle, own = perf_counter(), process_time() - own
        text = str(found)
        end = perf_counter()
        print(found.history)
        print(f"in all {middle - start:.3f} s, {own:.3f} s of a processor; its text takes {end - middle:.3f} s")
        assert wb.model(text, found.constants) == found
    rows = [cold() for _ in range(given.rounds)]
    for row in rows:
        print(f"in a fresh process {shown(row)}")
    print(f"median of {len(rows)} fresh processes: {median(row['whole'] for row in rows):.2f} s of a processor")


if __name__ == "__main__":
    main()
