"""Arenas of the offset planner beside TVM's tokens and what is needed, for random graphs and the buffers of known
networks: `python -m bench.models.memory`.  Nothing is run, only planned.

Bytes are those of the arena, aligned to 64, without parameters and arguments.  "offsets" keeps the order and shares
nothing but views, as tokens do; "+ sharing" overwrites and composes in place; "+ order" also looks for another order.
The bound of each column is what is alive at its worst moment.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from time import perf_counter

from bench.models.memory_graphs import NETWORKS, random_graph, symbolic_transformer, with_batch
from workbench.graph.memory import Lifetimes, MemoryPlan, SymbolicMemoryPlan, faults, plan

RANDOM_GRAPHS = 500
SECONDS = 0.5
LONG = 10


@dataclass(frozen=True)
class Planned:
    """The arenas of one graph in bytes, their bounds, and the seconds that planning took."""

    name: str
    steps: int
    tokens: int
    offsets: int
    offsets_bound: int
    shared: int
    shared_bound: int
    ordered: int
    ordered_bound: int
    seconds: float

    @property
    def against_tokens(self) -> float:
        return self.offsets / max(self.tokens, 1)

    @property
    def against_bound(self) -> float:
        return self.offsets / max(self.offsets_bound, 1)

    @property
    def off_peak(self) -> float:
        """How much sharing and order take off the arena of offsets alone."""
        return 1 - self.ordered / max(self.offsets, 1)


def planned(name: str, lifetimes: Lifetimes) -> Planned:
    """All plans of a graph; RuntimeError if the judge finds a fault in one."""
    tokens = _checked(lifetimes, "tokens")
    offsets = _checked(lifetimes, sharing=False, reorder=False)
    shared = _checked(lifetimes, reorder=False)
    start = perf_counter()
    ordered = _checked(lifetimes)
    seconds = perf_counter() - start
    arenas = (n for one in (offsets, shared, ordered) for n in (one.bytes, one.needed_bytes))
    return Planned(name, len(lifetimes.steps), tokens.bytes, *arenas, seconds)


def _checked(lifetimes: Lifetimes, planner: str = "offsets", **asked: bool) -> MemoryPlan:
    found = plan(lifetimes, planner, seconds=SECONDS, **asked)
    assert isinstance(found, MemoryPlan)
    if wrong := faults(found, lifetimes):
        raise RuntimeError(f"the judge refuses a plan: {wrong[0]}")
    return found


@dataclass(frozen=True)
class AllSizes:
    """A plan for all sizes beside plans for one: the worst ratio over samples, seconds to plan and to place."""

    name: str
    worst: float
    against_greatest: float
    plan_seconds: float
    place_seconds: float


def for_all_sizes(name: str, lifetimes: Lifetimes, values: Iterable[int]) -> AllSizes:
    """Plan once, place at some values of the one size there is, and plan for each of them alone."""
    ((size, _),) = lifetimes.bounds
    start = perf_counter()
    found = plan(lifetimes, seconds=SECONDS)
    plan_seconds = perf_counter() - start
    assert isinstance(found, SymbolicMemoryPlan)
    ratios, least, place_seconds = [], [], []
    for value in values:
        start = perf_counter()
        _, total = found.offsets({size: value})
        place_seconds.append(perf_counter() - start)
        if wrong := faults(found.at({size: value})):
            raise RuntimeError(f"the judge refuses a plan for all sizes: {wrong[0]}")
        ratios.append(total / _checked(lifetimes.at({size: value})).bytes)
        least.append(total / found.most_bytes)
    return AllSizes(name, max(ratios), mean(least), plan_seconds, mean(place_seconds))


# -- tables ----------------------------------------------------------------------------------------


def network_rows(rows: list[Planned]) -> list[str]:
    """A line for each network, MiB and ratios."""
    head = f"{'':14} {'steps':>5} {'tokens':>9} {'offsets':>9} {'÷ tokens':>8} {'÷ bound':>7}"
    lines = [f"{head} {'+ sharing':>9} {'+ order':>9} {'÷ bound':>7} {'off peak':>8} {'seconds':>7}"]
    for row in rows:
        line = f"{row.name:14} {row.steps:5} {_mib(row.tokens)} {_mib(row.offsets)} {row.against_tokens:8.3f}"
        line += f" {row.against_bound:7.3f} {_mib(row.shared)} {_mib(row.ordered)}"
        lines.append(f"{line} {row.ordered / row.ordered_bound:7.3f} {row.off_peak:8.1%} {row.seconds:7.2f}")
    return lines


def _mib(count: int) -> str:
    return f"{count / 2**20:9.3f}"


def random_lines(rows: list[Planned]) -> list[str]:
    """The figures that M4 asks for."""
    worse = [row.name for row in rows if row.offsets > row.tokens]
    near = mean(row.against_bound <= 1.05 for row in rows)
    return [
        f"{len(rows)} random graphs of 2 to {max(row.steps for row in rows)} steps",
        f"  offsets never above tokens: {'yes' if not worse else ', '.join(worse)}",
        f"  offsets / tokens, mean: {_beside_its_bound(rows)}",
        f"  of {LONG} steps and more: {_beside_its_bound([row for row in rows if row.steps >= LONG])}",
        f"  within 5 % of the bound: {near:.1%}, at the bound: {mean(row.against_bound <= 1 for row in rows):.1%}, "
        f"worst {max(row.against_bound for row in rows):.3f}",
        f"  with sharing / tokens, mean: {mean(row.shared / max(row.tokens, 1) for row in rows):.3f}, "
        f"and order: {mean(row.ordered / max(row.tokens, 1) for row in rows):.3f}",
        f"  seconds a plan, mean {mean(row.seconds for row in rows):.2f}, most {max(row.seconds for row in rows):.2f}",
    ]


def _beside_its_bound(rows: list[Planned]) -> str:
    """The mean, and what it would be if nothing lay in an arena but what is alive: graphs of a few steps leave little
    to arrange, so that tokens waste little on them.
    """
    if not rows:
        return "none"
    bound = mean(row.offsets_bound / max(row.tokens, 1) for row in rows)
    return f"{mean(row.against_tokens for row in rows):.3f} (the bound: {bound:.3f})"


def size_rows(rows: list[AllSizes]) -> list[str]:
    """A line for each plan for all sizes."""
    lines = [f"{'for all sizes':22} {'÷ own plan, worst':>17} {'÷ greatest, mean':>16} {'plan s':>7} {'place ms':>8}"]
    return lines + [
        f"{r.name:22} {r.worst:17.3f} {r.against_greatest:16.3f} {r.plan_seconds:7.2f} {1e3 * r.place_seconds:8.1f}"
        for r in rows
    ]


def main() -> int:
    """Print the tables; `--output` also writes the numbers as JSON."""
    parser = argparse.ArgumentParser("python -m bench.models.memory", description=__doc__)
    parser.add_argument("--graphs", type=int, default=RANDOM_GRAPHS, help=f"random graphs ({RANDOM_GRAPHS})")
    parser.add_argument("--output", type=Path, help="a file for the numbers")
    options = parser.parse_args()
    networks = [planned(name, build()) for name, build in NETWORKS.items()]
    _say(network_rows(networks))
    batches = {f"{name}, batch": with_batch(build(), (1, 64)) for name, build in NETWORKS.items()}
    sizes = [for_all_sizes(name, lifetimes, (1, 3, 16, 64)) for name, lifetimes in batches.items()]
    sizes.append(for_all_sizes("transformer, tokens", symbolic_transformer(), (1, 16, 100, 512, 2048)))
    _say(size_rows(sizes))
    graphs = [planned(f"random {seed}", random_graph(seed)) for seed in range(options.graphs)]
    _say(random_lines(graphs))
    if options.output:
        found = {"networks": networks, "sizes": sizes, "random": graphs}
        options.output.write_text(
            json.dumps({k: [asdict(row) for row in v] for k, v in found.items()}, indent=1) + "\n"
        )
    return 0


def _say(lines: list[str]) -> None:
    print("\n".join(lines), end="\n\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
