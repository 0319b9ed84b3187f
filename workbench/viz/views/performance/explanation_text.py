"""An explanation in sentences and tables."""

from __future__ import annotations

from workbench.runtime.measuring.timing import duration
from workbench.viz.draw.quantities import bytes_text, count_text
from workbench.viz.draw.tables import Table, table_text
from workbench.viz.views.performance.ablation_data import Removal
from workbench.viz.views.performance.ablation_drawing import ratio_words, step_words
from workbench.viz.views.performance.explanation_data import Explanation
from workbench.viz.views.performance.hot_loops import StatementLoop
from workbench.wording import number_of

# A step that changes less than this is within what one machine does to another's measurement.
WORTH = 1.1
BEST = 3
IMPOSSIBLE = 1.05
# Vectors of which a larger part is used are full.
FULL = 0.97
# The part of the time that is left without waits for memory: all but what measurements differ by.
NO_WAITS = 0.93


def explanation_text(found: Explanation) -> str:
    """Sentences, then the loops, the traffic and the steps as tables."""
    lines = [measured_headline(found), *(f"  {s}" for s in sentences(found))]
    if found.loops:
        lines += ["", *table_text(loop_table(found))]
    lines += ["", *table_text(traffic_table(found))]
    if found.removals:
        lines += ["", *table_text(step_table(found.removals))]
    return "\n".join(lines)


def measured_headline(found: Explanation) -> str:
    """What was measured, and how fast it is."""
    program, threads = found.program, number_of(found.threads, "thread")
    sizes = ", ".join(f"{k}={v}" for k, v in program.sizes.items())
    rate = f"{count_text(found.flops_per_second / 1e9)} GFLOP/s" if found.flops else ""
    speed = rate or f"{count_text(found.bytes_per_second / 1e9)} GB/s"
    return f"{program.name}{f' for {sizes}' if sizes else ''}: {duration(found.timed.seconds)}, {speed} on {threads}"


def sentences(found: Explanation) -> list[str]:
    """What decides, in words: the roof above, the hot loops, the steps that give most."""
    return [*_roof(found), *_waits(found), *_machine(found), *_steps(found.removals)]


def _roof(found: Explanation) -> list[str]:
    if found.entry is None or found.roofline is None:
        moved = ", ".join(f"{bytes_text(level.moved_bytes)} behind {level.name}" for level in found.levels)
        return [f"It does no arithmetic: what counts is traffic ({moved})."]
    tight, peak = found.entry.tightest, found.roofline.ceilings.flops_per_second
    share, bound = (found.entry.measured or 0.0) / tight.bound, f"{count_text(tight.bound / 1e9)} GFLOP/s"
    if share > IMPOSSIBLE:
        return [
            f"It is above its roof of {bound}: measure the ceilings again, wb.ceilings(again=True), when all is quiet."
        ]
    moved = f"the {bytes_text(tight.moved_bytes)} between {tight.behind} and {tight.cache}"
    by = "arithmetic" if tight.bound >= peak else moved
    return [f"It runs at {share:.0%} of what the roofline allows ({bound}, bound by {by})."]


def _waits(found: Explanation) -> list[str]:
    """What binds below the roof: instructions or memory, as a call shows whose arrays stay near the core."""
    left = found.timed.without_waiting
    if left is None:
        return []
    time = duration(left * found.timed.seconds)
    if left > NO_WAITS:
        return [f"With its arrays on a few pages, near the core, it takes {time}, as long: memory does not bind it."]
    return [f"With its arrays on a few pages, near the core, it takes {time} ({left:.0%}): the rest is waiting."]


def _machine(found: Explanation) -> list[str]:
    if found.unread:
        return [f"Its machine code was not read: {found.unread}."]
    return [_loop(loop, found.target.vector_bits) for loop in found.hot] or ["No loop of its machine code stands out."]


def _loop(loop: StatementLoop, bits: int) -> str:
    code, names = loop.code, ", ".join(loop.statements)
    own = f"{names} ({loop.share:.0%} of the work)"
    if not code.fused + code.others:
        width = f"{code.bits}-bit moves" if code.bits else "scalar moves"
        touches = f"{number_of(code.loads, 'load')}, {number_of(code.stores, 'store')}"
        return f"{own} computes nothing in its innermost loop: {width}, {touches}."
    width = f"{code.bits}-bit vectors" if code.vectorised else "one number at a time"
    full = f", {loop.filled:.0%} full" if loop.filled is not None and loop.filled < FULL else ""
    narrow = f" (of {bits} bits that the machine has)" if code.vectorised and code.bits < bits else ""
    counts = ((code.fused, "multiply-add"), (code.others, "other operation"))
    computed = " and ".join(number_of(n, what) for n, what in counts if n)
    each = "" if code.loads_per_fused is None else f" ({code.loads_per_fused:.2g} a multiply-add)"
    spilt = f"{number_of(code.spills, 'move')} between registers and the stack" if code.spills else "no spills"
    return f"{own} computes with {width}{narrow}{full}: {computed}, {number_of(code.loads, 'load')}{each}, {spilt}."


def _steps(removals: tuple[Removal, ...]) -> list[str]:
    known = sorted((r for r in removals if r.ratio and r.spread), key=lambda r: -(r.ratio or 0))
    best = [f"{_bare(r)} ({ratio_words(r.ratio)})" for r in known if r.ratio and r.ratio >= WORTH][:BEST]
    costs = [f"{_bare(r)} ({ratio_words(r.ratio)})" for r in known if r.spread and r.spread[1] < 1 / WORTH and r.ratio]
    found = [f"Most is gained by {'; '.join(best)}."] if best else []
    return found + ([f"Faster without {'; '.join(costs)}."] if costs else [])


def _bare(removal: Removal) -> str:
    return step_words(removal)


def loop_table(found: Explanation) -> Table:
    """A row for each innermost loop that executes statements; the hot ones are marked."""
    head = ("machine loop of", "in", "work", "width", "FMA", "other", "loads", "a FMA", "stores", "spills")
    rows = tuple(_loop_row(loop) for loop in found.loops)
    return Table(rows, "", head, mono=(0, 1), right=tuple(range(2, len(head))))


def _loop_row(loop: StatementLoop) -> tuple[str, ...]:
    code = loop.code
    name = ", ".join(loop.statements) + ("" if loop.main else " (remainder)") + (" ◂" if loop.hot else "")
    each = "–" if code.loads_per_fused is None else f"{code.loads_per_fused:.2f}"
    wide = "scalar" if not code.bits or (code.fused + code.others and not code.vectorised) else f"{code.bits} bit"
    numbers = (code.fused, code.others, code.loads, each, code.stores, code.spills)
    share = f"{loop.share:.0%}" if loop.main else ""
    return (name, loop.loop, share, wide, *map(str, numbers))


def traffic_table(found: Explanation) -> Table:
    """A row for each cache: what goes through between it and the memory behind."""
    rows = []
    for level in found.levels:
        rate = f"{level.moved_bytes / found.timed.seconds / 1e9:.3g} GB/s"
        kept = ", ".join(dict.fromkeys(level.keeps)) or "nothing"
        rows.append(
            (f"behind {level.name}", bytes_text(level.moved_bytes), rate, count_text(level.intensity), _cut(kept))
        )
    head = ("traffic", "bytes", "in the time measured", "FLOP/B", "it keeps one iteration of")
    return Table(tuple(rows), "", head, right=(1, 2, 3))


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


def step_table(removals: tuple[Removal, ...]) -> Table:
    """A row for each step: the ratio without it, its spread, or why there is none."""
    rows = []
    for r in removals:
        spread = f"{r.spread[0]:.3g} to {r.spread[1]:.3g}" if r.spread else r.reason
        rows.append((step_words(r), ratio_words(r.ratio) if r.ratio else "–", spread))
    return Table(tuple(rows), "", ("without", "time", "spread"), mono=(0,), right=(1,))
