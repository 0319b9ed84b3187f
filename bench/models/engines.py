"""Models divided among engines by measured cost, against all on the host, all on one engine, and the rules.

    WORKBENCH_THREADS=1 OMP_NUM_THREADS=1 python -m bench.models.engines [--engines c,json] [--host interpreter] [names]

needs torch, onnx and onnxruntime.  Every division is evaluated end to end in one process, plain arrays in and out, in
many rounds, in each of which every one has its turn: the shortest of some calls in a row.  The table has the medians of
the rounds.  The ratio is that of the division by cost to the best of the others: the median of the rounds' ratios.
Divisions that are the same division are called in the same way, so their ratio says what the noise is.  Costs are
measured anew, in a cache that is gone afterwards.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import workbench as wb

ENGINES = "torch,onnxruntime,workbench"
ROUNDS, CALLS, MOST_SECONDS = 200, 4, 12.0
FEWEST_ROUNDS = 25
SECONDS_TO_COMPILE = 600.0


def models() -> dict[str, tuple[Any, tuple[int, ...]]]:
    """Name → module of PyTorch and the shape of its input: eight whose parts are of one kind."""
    import torch
    from torch import nn

    torch.manual_seed(0)

    def unit(i: int, o: int, k: int = 3, groups: int = 1) -> Any:
        convolution = nn.Conv2d(i, o, k, padding=k // 2, groups=groups, bias=False)
        return nn.Sequential(convolution, nn.BatchNorm2d(o), nn.ReLU())

    class Residual(nn.Module):
        def __init__(self, c: int) -> None:
            super().__init__()
            self.first, self.second = unit(c, c), nn.Conv2d(c, c, 3, padding=1)

        def forward(self, x: Any) -> Any:
            return torch.relu(x + self.second(self.first(x)))

    class Attention(nn.Module):
        def __init__(self, d: int) -> None:
            super().__init__()
            self.q, self.k, self.v, self.norm = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d), nn.LayerNorm(d)
            self.feed = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

        def forward(self, x: Any) -> Any:
            weights = torch.softmax(self.q(x) @ self.k(x).transpose(-1, -2) / 8, -1)
            x = self.norm(x + weights @ self.v(x))
            return self.norm(x + self.feed(x))

    class Gated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.up, self.gate, self.down = nn.Linear(128, 256), nn.Linear(128, 256), nn.Linear(256, 128)

        def forward(self, x: Any) -> Any:
            return x + self.down(torch.nn.functional.silu(self.gate(x)) * self.up(x))

    def mlp(d: int) -> Any:
        return nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, 2 * d), nn.ReLU(), nn.Linear(2 * d, 10))

    pool = nn.MaxPool2d(2)
    head = nn.Sequential(nn.Flatten(), nn.Linear(32 * 64, 10), nn.Softmax(-1))
    return {
        "mlp": (mlp(256), (64, 256)),
        "convolutions": (nn.Sequential(unit(3, 16), pool, unit(16, 32), pool, head), (1, 3, 32, 32)),
        "residual": (nn.Sequential(unit(3, 16), Residual(16), Residual(16)), (1, 3, 32, 32)),
        "depthwise": (nn.Sequential(unit(8, 32, 1), unit(32, 32, 3, 32), unit(32, 16, 1)), (1, 8, 28, 28)),
        "transformer": (Attention(64), (1, 64, 64)),
        "norms": (nn.Sequential(nn.LayerNorm(256), nn.GELU(), nn.LayerNorm(256), nn.Tanh()), (128, 256)),
        "gated": (nn.Sequential(Gated(), nn.LayerNorm(128), Gated()), (64, 128)),
        "mixer": (nn.Sequential(unit(3, 32), nn.Flatten(2), nn.Linear(256, 128), nn.LayerNorm(128), nn.GELU(),
                                nn.Linear(128, 64), nn.Softmax(-1)), (1, 3, 16, 16)),
    }  # fmt: skip


def chosen(names: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """Name, module and input: those whose parts are of one kind, then those of `bench.models.networks.mixed`."""
    import torch

    from bench.models.networks import MIXED, prepared

    for name, (module, shape) in models().items():
        if not names or name in names:
            yield name, module.eval(), torch.randn(shape)
    for name, network in MIXED.items():
        if not names or name in names:
            yield name, *prepared(network)


def taken_over(module: Any, example: Any) -> wb.Model:
    """The model that all divide: what is known is folded, normalisations are in the weights, nothing is there twice."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = wb.from_torch(module, example)
    passes = wb.passes
    model = model | passes.to_graph_form() | passes.fold_constants() | passes.simplify_inference()
    return model | passes.common_subexpressions() | passes.dead_code()


def divisions(model: wb.Model, engines: list[str], host: str) -> dict[str, Any]:
    """Name → partition: by cost, all on the host, the rules with all engines, and with each alone."""
    options: Any = {"host": host, "keep": False, "timeout_seconds": SECONDS_TO_COMPILE}
    found = {"cost": wb.partition(model, engines, **options)}
    others = {"host": [], "rules": engines, **{f"rules, {each}": [each] for each in engines}}
    for name, of in others.items():
        found[name] = wb.partition(model, of, by="rules", **options)
    return found


def timed(partitions: dict[str, Any], x: np.ndarray) -> dict[str, list[float]]:
    """The seconds of each, round by round."""
    for each in partitions.values():
        each.evaluate(x)
        assert not each.reports, each.reports
    names = list(partitions)
    found: dict[str, list[float]] = {name: [] for name in names}
    begun = time.perf_counter()
    order = np.random.default_rng(0)
    for turn in range(ROUNDS):
        for name in map(str, order.permutation(names)):  # nobody always follows the same
            found[name].append(min(_seconds(partitions[name], x) for _ in range(CALLS)))
        if turn >= FEWEST_ROUNDS and time.perf_counter() - begun > MOST_SECONDS:
            break
    return found


def _seconds(partition: Any, x: np.ndarray) -> float:
    start = time.perf_counter()
    partition.evaluate(x)
    return time.perf_counter() - start


def against_best(times: dict[str, list[float]]) -> tuple[str, float]:
    """The best of the others, and the median of the ratios of the division by cost to it."""
    best = min((name for name in times if name != "cost"), key=lambda name: statistics.median(times[name]))
    return best, statistics.median(ours / theirs for ours, theirs in zip(times["cost"], times[best], strict=True))


def measured(name: str, module: Any, example: Any, given: argparse.Namespace) -> str:
    """The row of a model."""
    import torch

    x, start = example.numpy(), time.perf_counter()
    partitions = divisions(taken_over(module, example), given.engines.split(","), given.host)
    took = time.perf_counter() - start
    with torch.no_grad():
        wanted = module(example).numpy()
    np.testing.assert_allclose(partitions["cost"].evaluate(x), wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())
    times = timed(partitions, x)
    best, ratio = against_best(times)
    parts = " ".join(f"{each.engine.name}:{len(each.calls)}" for each in partitions["cost"].regions.values())
    row = ", ".join(f"{each} {statistics.median(seconds) * 1e6:.1f} us" for each, seconds in times.items())
    divided = f"{parts or 'all on the host'}; divided in {took:.0f} s"
    return f"{name}: {ratio:.3f} of the best other, {best} ({row}); {divided}"


def main(arguments: list[str]) -> None:
    """Print a row for each model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--engines", default=ENGINES)
    parser.add_argument("--host", default="kernels")
    parser.add_argument("--cache", help="a folder that stays, with kernels, and costs of divisions measured before")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args(arguments)
    import torch

    torch.set_num_threads(1)
    for name, module, example in chosen(given.names):
        with TemporaryDirectory(prefix="workbench-bench-") as folder, wb.settings(cache=given.cache or folder):
            print(measured(name, module, example, given), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
