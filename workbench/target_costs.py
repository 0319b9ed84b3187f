"""`Costs`: what a processor takes for what recipes weigh against one another, in seconds, and the ratios of these.

A data sheet does not say it: how many multiply-adds fit into the time of a copy, or turns of a loop into that of waking
other threads.  `wb.calibrate()` measures it; the defaults stand for processors in general.
"""

from __future__ import annotations

from dataclasses import field, fields

from workbench.errors import WorkbenchError, shown
from workbench.records import record

CYCLE = 2.0**-32
"""Seconds of a cycle of processors in general (4.3 GHz): a power of two, so that ratios of the defaults are exact."""


@record(slots=True)
class Costs:
    """What one core takes, and all of them together; `origin` says where the numbers come from.

    Seconds of a vector register: `multiply_add_seconds` where none waits for another, `multiply_add_latency_seconds`
    where each waits for the one before, `division_seconds`, `exponential_seconds`, `copied_vector_seconds` from the
    rows of a matrix into a panel.  Seconds of: `loop_turn_seconds` an iteration that does nothing,
    `gathered_element_seconds` an element found through an index, `missed_line_seconds` a line of memory that nobody
    asked for before, `region_seconds` beginning and ending a parallel region on all cores.  Bytes a second that a core
    reads from each level, and that all cores together read from memory.

    >>> Costs().multiply_adds_in_flight, Costs().multiply_adds_a_copy, Costs().turns_a_region, Costs().bytes_a_miss
    (8, 8, 4096, 4096)
    """

    cycle_seconds: float = CYCLE
    multiply_add_seconds: float = 0.5 * CYCLE
    multiply_add_latency_seconds: float = 4 * CYCLE
    division_seconds: float = 3 * CYCLE
    exponential_seconds: float = 9 * CYCLE
    copied_vector_seconds: float = 4 * CYCLE
    loop_turn_seconds: float = 1.5 * CYCLE
    gathered_element_seconds: float = 0.5 * CYCLE
    missed_line_seconds: float = 512 * CYCLE
    region_seconds: float = 6_144 * CYCLE
    l1_bytes_per_second: float = 64 / CYCLE
    l2_bytes_per_second: float = 40 / CYCLE
    l3_bytes_per_second: float = 16 / CYCLE
    memory_bytes_per_second: float = 4 / CYCLE
    all_memory_bytes_per_second: float = 8 / CYCLE
    origin: str = field(default="processors in general", compare=False)

    def __post_init__(self) -> None:
        """WorkbenchError for a cost that cannot be."""
        for name in QUANTITIES:
            value = getattr(self, name)
            if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < float("inf"):
                unit = "bytes a second" if name.endswith("bytes_per_second") else "seconds"
                raise WorkbenchError(f"Costs({name}={shown(value)}) does not fit; expected a positive number of {unit}")
        if not isinstance(self.origin, str):
            raise WorkbenchError(f"Costs(origin={shown(self.origin)}) does not fit; expected a text")

    # -- ratios: whole numbers where they count something, so that no schedule hangs on the last per cent of a clock --

    @property
    def multiply_adds_in_flight(self) -> int:
        """Multiply-adds that a core begins before the first one is done."""
        return max(1, round(self.multiply_add_latency_seconds / self.multiply_add_seconds))

    @property
    def multiply_adds_a_cycle(self) -> float:
        """Multiply-adds that begin in a cycle."""
        return self.cycle_seconds / self.multiply_add_seconds

    @property
    def latency_cycles(self) -> int:
        """Cycles from a multiply-add to one that waits for it."""
        return max(1, round(self.cycles(self.multiply_add_latency_seconds)))

    @property
    def multiply_adds_a_copy(self) -> int:
        """Multiply-adds that could begin while a vector is copied into a panel."""
        return max(1, round(self.copied_vector_seconds / self.multiply_add_seconds))

    @property
    def turns_a_region(self) -> int:
        """Turns of a loop in the time in which a parallel region begins and ends."""
        return max(1, round(self.region_seconds / self.loop_turn_seconds))

    @property
    def bytes_a_miss(self) -> int:
        """Bytes that must be on their way for memory to give them at its full rate (Little's law)."""
        return max(1, round(self.missed_line_seconds * self.all_memory_bytes_per_second))

    @property
    def memory_share(self) -> float:
        """The part of the memory's rate that one core reaches alone, at most 1."""
        return min(1.0, self.memory_bytes_per_second / self.all_memory_bytes_per_second)

    def cycles(self, seconds: float) -> float:
        """Seconds in cycles of this processor.

        >>> Costs().cycles(Costs().multiply_add_latency_seconds)
        4.0
        """
        return seconds / self.cycle_seconds

    def bytes_per_cycle(self, bytes_per_second: float) -> float:
        """A rate in bytes a cycle of this processor.

        >>> Costs().bytes_per_cycle(Costs().memory_bytes_per_second)
        4.0
        """
        return bytes_per_second * self.cycle_seconds

    def __str__(self) -> str:
        """A sheet: each cost, in cycles too, beside that of processors in general."""
        usual = Costs()
        rows = [self._row(name, usual) for name in QUANTITIES]
        return "\n".join([f"costs of {self.origin}", f"  {'':28} {'':>12} {'cycles':>9} {'in general':>11}", *rows])

    def _row(self, name: str, usual: Costs) -> str:
        own, other = getattr(self, name), getattr(usual, name)
        if name.endswith("bytes_per_second"):
            level = name.removesuffix("_bytes_per_second")
            what, text = f"read from {_LEVELS.get(level, level)}", f"{own / 1e9:.3g} GB/s"
            cycles = [f"{c.bytes_per_cycle(value):.3g} B" for c, value in ((self, own), (usual, other))]
        else:
            what, text = name.removesuffix("_seconds").replace("_", " "), f"{own * 1e9:,.4g} ns"
            cycles = [f"{c.cycles(value):,.3g}".replace("e+0", "e") for c, value in ((self, own), (usual, other))]
        return f"  {what:28} {text:>12} {cycles[0]:>9} {cycles[1]:>11}"


_LEVELS = {"l1": "L1", "l2": "L2", "l3": "L3", "all_memory": "memory, all cores"}
QUANTITIES = tuple(f.name for f in fields(Costs) if f.name != "origin")
"""The fields that are measured."""
