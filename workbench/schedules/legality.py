"""The one question for every step: does each instance still see the values it saw before?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

from workbench import poly
from workbench.errors import BudgetExceeded
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Const, Expr, substitute
from workbench.lang.expr import reads as reads_of
from workbench.lang.printing.printer import show
from workbench.poly.dependence.equivalence import Difference, differing
from workbench.poly.dependence.violations import Violation, violated
from workbench.poly.programs.marks import ExecutedBy
from workbench.poly.programs.program import Access, Program
from workbench.poly.programs.tree import Band, Mark, Sequence, Tree, all_serial, at_once, loops, statements, unmarked
from workbench.poly.sets import isl
from workbench.poly.time.barrier_order import divergent
from workbench.poly.time.concurrency import misplaced
from workbench.poly.time.timemap import collisions
from workbench.records import record
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.poly.programs.size_set import SizeSet

LONGEST_CONDITION = 60  # characters; a longer one is not read in a message
Outcome = Literal["legal", "illegal", "unproved", "unknown"]


@record
class Verdict:
    """What is known of a schedule.  Truthy when it is legal.

    `violations` prove it illegal, each with the smallest sizes and two instances; a schedule whose only violations come
    from inexact accesses (gathers) is "unproved": data could break it.  `differences` are values that an instance or
    storage step lets come from elsewhere.  "unknown" means that a budget ended before the answer; it is never taken for
    legal.  `reason` says these two, or why a step does not fit at all.  `program` and `tree` are what was judged.
    """

    outcome: Outcome
    violations: tuple[Violation, ...] = ()
    program: Program | None = field(default=None, compare=False, repr=False)
    tree: Tree | None = field(default=None, compare=False, repr=False)
    reason: str = ""
    differences: tuple[Difference, ...] = ()

    def __bool__(self) -> bool:
        return self.outcome == "legal"

    @cached_property
    def valid_for(self) -> SizeSet:
        """The exact set of sizes for which the schedule is (proved) legal: `dict(N=1) in verdict.valid_for`."""
        from workbench.poly.programs.size_set import no_sizes, size_set  # for who asks

        assert self.program is not None
        if self.outcome == "legal":
            return size_set(self.program)
        if self.tree is None or self.outcome == "unknown" or not (self.violations or self.differences):
            return no_sizes(self.program)
        collisions = [v.relation for v in self.violations]
        moved = [text for before, after in _derivations(self.program) for text in differing(before, after)]
        return size_set(self.program, (*violated(self.program, self.tree), *collisions, *moved))

    def explain(self, program: Program | None = None) -> str:
        """One line a violation, with the instances named as the user knows them."""
        of = program or self.program
        if self or of is None:
            return str(self)
        lines = dict.fromkeys(explain_violation(of, v) for v in self.violations[:3])
        return "; ".join((*lines, *filter(None, (self.reason, self._otherwise()))))

    def _otherwise(self) -> str:
        """For which sizes it would be legal, if that is worth a word."""
        if not (self.violations or self.differences) or self.program is None or not self.program.symbols:
            return ""
        sizes = str(self.valid_for)
        return "" if sizes == "no sizes" or " or " in sizes or len(sizes) > LONGEST_CONDITION else f"legal for {sizes}"

    def __str__(self) -> str:
        if self:
            return "legal"
        if self.reason:
            return f"{self.outcome}: {self.reason}"
        return f"{self.outcome}: {number_of(len(self.violations), 'violated dependence')}"


def _derivations(program: Program) -> list[tuple[Program, Program]]:
    """(before, after) of every step that derived the program from the operator's, as they were compared."""
    if program.parent is None:
        return []
    return [*_derivations(program.parent), (program.parent, program.shown_by or program)]


def verdict_on(program: Program, tree: Tree, differences: tuple[Difference, ...] = ()) -> Verdict:
    """The verdict on an order, given what instance and storage steps broke; "unknown" when a budget ends first."""
    if differences:
        outcome = "illegal" if any(_is_exact(program, d.array) for d in differences) else "unproved"
        return Verdict(outcome, (), program, tree, "; ".join(map(str, differences[:3])), differences)
    try:
        return judge(program, tree)
    except BudgetExceeded as error:
        return Verdict("unknown", (), program, tree, f"not known to be legal, so refused: {error}")


@lru_cache(maxsize=512)
def judge(program: Program, tree: Tree) -> Verdict:
    """Compare every dependence of the program with the order of the tree; BudgetExceeded if that takes too long."""
    fault = misplaced(tree) or divergent(program, tree)
    if fault:
        return Verdict("illegal", (), program, tree, fault)
    tree = as_executed(tree)
    if _is_own_order(program, tree):
        return Verdict("legal", (), program, tree)
    violations = poly.violations(program, tree)
    if not violations:
        return Verdict("legal", (), program, tree)
    exact = any(v.dependence is None or v.dependence.exact for v in violations)
    return Verdict("illegal" if exact else "unproved", violations, program, tree)


def as_executed(tree: Tree) -> Tree:
    """The tree as it runs: a micro-kernel may execute the iterations of its part in any order, as if in lanes.

    Where later steps put other statements into the part, no micro-kernel can execute it any more.
    """
    match tree:
        case Mark(note, child):
            by_kernel = isinstance(note, ExecutedBy) and len(statements(child)) == 1
            inner = in_lanes(child) if by_kernel else as_executed(child)
            return tree if inner is child else Mark(note, inner)
        case Band(own, child):
            inner = as_executed(child)
            return tree if inner is child else Band(own, inner)
        case Sequence(children):
            parts = tuple(map(as_executed, children))
            return tree if all(a is b for a, b in zip(parts, children, strict=True)) else Sequence(parts)
    return tree


def in_lanes(tree: Tree) -> Tree:
    """The tree with every loop in lanes."""
    match tree:
        case Band(own, child):
            return Band(tuple(replace(x, kind="vector") for x in own), in_lanes(child))
        case Mark(note, child):
            return Mark(note, in_lanes(child))
        case Sequence(children):
            return Sequence(tuple(map(in_lanes, children)))
    return tree


@isl.guarded
def _is_own_order(program: Program, tree: Tree) -> bool:
    """Whether the tree is the order in which the program is right by definition, each instance at a time of its own."""
    if any(at_once(x.kind) or x.kind == "vector" for x in loops(tree)):
        return False
    if unmarked(all_serial(tree)) != unmarked(poly.naive_tree(program)):
        return False
    return program.parent is None or all(collisions(program, tree, s) is None for s in program.statements)


def _is_exact(program: Program, array: str) -> bool:
    """Whether every access to an array is known exactly, so that what differs surely differs."""
    accesses = [a for p in (program, program.original) for s in p.statements for a in s.accesses if a.array == array]
    return all(a.exact for a in accesses)


def explain_violation(program: Program, violation: Violation) -> str:
    """`would race on C (reduction, loop k): C(0,0,0) → C(0,0,1) for M=1, N=1, K=2`."""
    dependence = violation.dependence
    if dependence is None:
        name = program.statement(violation.statement).name
        return f"two instances of {name} share one time: {violation.source} and {violation.target}"
    would = "would" if dependence.exact else "could"
    verb = f"{would} race on" if violation.reason == "race" else f"{would} break the order on"
    level = f", loop {violation.loop}" if violation.loop else ""
    sizes = ", ".join(f"{k}={v}" for k, v in violation.sizes.items())
    source = instance(program, dependence.source, violation.source)
    target = instance(program, dependence.target, violation.target)
    shown = f" for {sizes}" if sizes else ""
    data = "" if dependence.exact else data_conditions(program, violation)
    return f"{verb} {dependence.array} ({dependence.kind}{level}): {source} → {target}{shown}{data}"


def instance(program: Program, statement: str, point: dict[str, int]) -> str:
    """`C(0,0,1)`: a statement instance as a person writes it."""
    named = program.statement(statement)
    return f"{named.name}({','.join(str(point[d]) for d in named.dims)})"


# -- What data would have to be for a may-dependence through a gather or scatter to be real --

def data_conditions(program: Program, violation: Violation) -> str:
    """`, if idx(0) = idx(1)`: contents of index arrays that make the witness a real conflict."""
    dependence = violation.dependence
    assert dependence is not None
    sizes = {**program.sizes, **violation.sizes}
    for source in _touching(program, dependence.source, dependence.array, writes=dependence.kind != "anti"):
        for target in _touching(program, dependence.target, dependence.array, writes=dependence.kind != "flow"):
            found = _meeting(source, target, {**sizes, **violation.source}, {**sizes, **violation.target})
            if found is not None:
                return f", if {' and '.join(found)}" if found else ", where the data let both happen"
    return ", if the data make them meet"


def _touching(program: Program, statement: str, array: str, *, writes: bool) -> Iterator[Access]:
    for access in program.statement(statement).accesses:
        if access.array == array and (access.kind == "write") == writes:
            yield access


def _meeting(first: Access, second: Access, here: dict[str, int], there: dict[str, int]) -> list[str] | None:
    """The equations under which two accesses touch one cell; None if they cannot."""
    equations = []
    for a, b in zip(first.subscripts, second.subscripts, strict=True):
        left, right = _at(a, here), _at(b, there)
        if left == right:
            continue
        if isinstance(left, Const) and isinstance(right, Const):
            return None
        equations.append(f"{show(left)} = {show(right)}")
    return equations


def _at(subscript: Expr, values: dict[str, int]) -> Expr:
    """The subscript with the values of the instance; reads of data stay."""
    bound = substitute(subscript, {name: Const(value, INT64) for name, value in values.items()})
    return bound if next(reads_of(bound), None) else simplify(bound)
