"""The one question for every step: does each instance still see the values it saw before?"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from workbench import poly
from workbench.poly.order import Violation
from workbench.poly.program import Program
from workbench.poly.tree import Tree

Outcome = Literal["legal", "illegal", "unproved"]


@dataclass(frozen=True)
class Verdict:
    """What is known of a schedule.  Truthy when it is legal.

    `violations` prove it illegal, each with the smallest sizes and two instances; a schedule whose only
    violations come from inexact accesses (gathers) is "unproved".  `program` and `tree` are what was judged.
    """

    outcome: Outcome
    violations: tuple[Violation, ...] = ()
    program: Program | None = field(default=None, compare=False, repr=False)
    tree: Tree | None = field(default=None, compare=False, repr=False)

    def __bool__(self) -> bool:
        return self.outcome == "legal"

    def explain(self, program: Program) -> str:
        """One line a violation, with the instances named as the user knows them."""
        if self:
            return "legal"
        return "; ".join(dict.fromkeys(explain(program, v) for v in self.violations[:3]))

    def __str__(self) -> str:
        return self.outcome if self else f"{self.outcome}: {len(self.violations)} violated dependences"


@lru_cache(maxsize=512)
def judge(program: Program, tree: Tree) -> Verdict:
    """Compare every dependence of the program with the order of the tree."""
    violations = poly.violations(program, tree)
    if not violations:
        return Verdict("legal", (), program, tree)
    exact = any(v.dependence is None or v.dependence.exact for v in violations)
    return Verdict("illegal" if exact else "unproved", violations, program, tree)


def explain(program: Program, violation: Violation) -> str:
    """`would race on C (reduction, loop k): C(0,0,0) → C(0,0,1) for M=1, N=1, K=2`."""
    dependence = violation.dependence
    if dependence is None:
        name = program.statement(violation.statement).name
        return f"two instances of {name} share one time: {violation.source} and {violation.target}"
    verb = "would race on" if violation.reason == "race" else "would break the order on"
    level = f", loop {violation.loop}" if violation.loop else ""
    sizes = ", ".join(f"{k}={v}" for k, v in violation.sizes.items())
    source = instance(program, dependence.source, violation.source)
    target = instance(program, dependence.target, violation.target)
    shown = f" for {sizes}" if sizes else ""
    return f"{verb} {dependence.array} ({dependence.kind}{level}): {source} → {target}{shown}"


def instance(program: Program, statement: str, point: dict[str, int]) -> str:
    """`C(0,0,1)`: a statement instance as a person writes it."""
    named = program.statement(statement)
    return f"{named.name}({','.join(str(point[d]) for d in named.dims)})"
