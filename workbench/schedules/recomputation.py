"""How often a step computes the same thing."""

from __future__ import annotations

from functools import reduce

from workbench.errors import ScheduleError
from workbench.poly import isl, unpack
from workbench.poly.program import Program
from workbench.records import record


@record
class Recomputation:
    """Of the instances a step made, `computed` in all stand for `needed` different ones of the program before."""

    computed: int
    needed: int

    @property
    def ratio(self) -> float:
        """How often each is computed; 1.0 when none is computed twice."""
        return self.computed / self.needed if self.needed else 1.0

    def __str__(self) -> str:
        return f"{self.computed} instances computed, {self.needed} needed ({self.ratio:.2f} times each)"


@isl.guarded
def recomputation(program: Program) -> Recomputation:
    """Instances of the statements that the last step computes anew; the sizes must be known."""
    if program.symbols:
        names = ", ".join(program.symbols)
        raise ScheduleError(f"the count depends on sizes left symbolic: {names}; give them to wb.schedule(op, ...)")
    computed, needed = 0, {}
    for s in program.statements:
        if s.part == "computes" and s.origin:
            instances = isl.parse_set(s.domain)
            computed += unpack.count(instances)
            image = instances.apply(isl.parse_map(s.origin))
            needed.setdefault(image.get_tuple_name(), []).append(image)
    return Recomputation(computed, sum(unpack.count(reduce(isl.Set.union, found)) for found in needed.values()))
