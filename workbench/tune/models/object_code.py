"""Features of what a compiler made of a schedule: read from the machine code of a candidate's library.

What counts are the innermost loops, and first the `hot` one, which computes the most numbers in an iteration: how wide
it computes, what it loads for each multiply-add, what it moves to the stack and back.  Trials keep them; the learned
model does without.  They are known of what was built only, and on held-out points of five spaces (Kendall's tau, mean
of `bench.tuning.replays.object_codes`) the model ranked

    learned from             without   known   absent in candidates   predicted from the schedule
    64 trials                  0.634   0.651                  0.609                         0.629
    64 trials, other sizes     0.653   0.676                  0.624                         0.646
    other sizes alone          0.577   0.608                  0.555                         0.578
    other operators alone      0.435   0.480                  0.423                         0.472

so that even knowing them would be worth 0.02 where a search has trials, for building each candidate that is looked at.
Only where nothing but other operators is known would predicting them help, and no search here learns from these alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from pathlib import Path

from workbench.errors import BuildError
from workbench.runtime.measuring.machine_code import Function, Instruction, functions_in
from workbench.runtime.measuring.machine_loops import (
    MachineLoop,
    computes,
    innermost_loops,
    instruction_lanes,
    register_bits,
)

PREFIX = "object_"
COUNTED = ("fused", "loads", "stores", "spills", "reloads", "gathers", "divisions", "calls")
WIDTHS = (512, 256, 128)


def object_features(library: Path) -> dict[str, float]:
    """The features of a library, named `object_...`; none where its machine code cannot be read."""
    try:
        return features_of_functions(functions_in(library))
    except BuildError:  # no objdump, or a processor whose code is not read
        return {}


def features_of_functions(functions: Sequence[Function]) -> dict[str, float]:
    """The features of machine code."""
    loops = innermost_loops(functions)
    found = {
        "instructions": log2(max(1, sum(len(f.instructions) for f in functions))),
        "loops": float(len(loops)),
        "spilling_loops": float(sum(x.spills > 0 for x in loops)),
    }
    hot = max(loops, key=_work, default=None)
    if hot is not None:
        found |= _of_loop(hot) | _widths(loops)
    return {f"{PREFIX}{name}": value for name, value in found.items()}


def of_schedule(features: Mapping[str, float]) -> dict[str, float]:
    """The features of a trial that are known before it is built, which a model may learn from."""
    return {name: value for name, value in features.items() if not name.startswith(PREFIX)}


def object_text(features: Mapping[str, float]) -> str:
    """What stands in the hot loop, in one line; "" where it is not known.

    >>> object_text({"object_hot_instructions": 5.0, "object_lanes": 16.0, "object_spills": 0.25})
    'hot loop: 32 instructions, 16 lanes; for each that computes: 0.25 spills'
    """
    own = {name.removeprefix(PREFIX): value for name, value in features.items() if name.startswith(PREFIX)}
    if "hot_instructions" not in own:
        return ""
    counts = {name: own[name] for name in COUNTED if own.get(name)}
    width = f"{own['lanes']:.3g} lanes" if own["lanes"] > 1 else "no lanes"
    first = f"hot loop: {round(2 ** own['hot_instructions'])} instructions, {width}"
    rest = ", ".join(f"{value:.2g} {name.replace('_', ' ')}" for name, value in counts.items())
    return f"{first}; for each that computes: {rest}" if rest else first


def _work(loop: MachineLoop) -> tuple[int, int]:
    """How much an iteration computes, and of loops that compute nothing how much it moves."""
    return loop.results, loop.loads + loop.stores


def _of_loop(loop: MachineLoop) -> dict[str, float]:
    """Counts for each instruction that computes, or for each of all where none does."""
    computing = [i for i in loop.instructions if computes(i)]
    count = len(computing) or len(loop.instructions)
    found = {
        "hot_instructions": log2(len(loop.instructions)),
        "instructions_per_result": log2(len(loop.instructions) / max(1, loop.results)),
        "lanes": loop.results / count,
        "fused": loop.fused / count,
        "loads": loop.loads / count,
        "stores": loop.stores / count,
        "spills": loop.spills / count,
        "reloads": loop.reloads / count,
        "gathers": sum("gather" in i.name for i in loop.instructions) / count,
        "divisions": sum(_divides(i) for i in computing) / count,
        "calls": len(loop.calls) / count,
    }
    if loop.loads_per_fused is not None:
        found["loads_per_multiply_add"] = loop.loads_per_fused
    return found


def _divides(i: Instruction) -> bool:
    return "div" in i.name or "sqrt" in i.name


def _widths(loops: Sequence[MachineLoop]) -> dict[str, float]:
    """The part of all numbers that registers of each width compute, and that is computed one by one."""
    found = dict.fromkeys((*(f"bits_{bits}" for bits in WIDTHS), "scalar"), 0.0)
    for i in (i for loop in loops for i in loop.instructions if computes(i)):
        found["scalar" if instruction_lanes(i) == 1 else f"bits_{register_bits(i)}"] += instruction_lanes(i)
    total = sum(found.values()) or 1.0
    return {name: value / total for name, value in found.items()}
