"""Where a running kernel looks whether it is to stop: once an iteration of its outer loops.

Whoever compiles the text may define WB_STOPS, a number that changes when calls in progress are to end; without that
it is 0, and the compiler leaves the question out.  What is soon over does not look, nor do iterations that cost
little more than the look.  Of the other loops the outermost does, and the next if two more levels stand inside, as
the outermost may run only once.
"""

from __future__ import annotations

from workbench.codegen.c.index_checks import late_uses
from workbench.codegen.nest.nest import For, Invoke, Nest, Write, children
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Call, Expr
from workbench.poly.programs.program import Program

STOPS = """#ifndef WB_STOPS
#define WB_STOPS 0
#endif
"""
BEGAN = "wb_began"
"""What WB_STOPS was when the call began."""
FEW = 8
"""Iterations that are soon over, if each is."""
SOON = 1 << 22
"""Writes that are soon over: some hundredths of a second."""
LITTLE = 128
"""Writes that cost little more than a look."""


def stoppable(program: Program, *, checked: bool) -> bool:
    """Whether iterations may be left out: not where unchecked subscripts come from what the kernel computes."""
    return checked or not late_uses(program)


def looks(loop: For, outer: int) -> bool:
    """Whether each iteration looks, with so many loops around that have more than a few."""
    if has_few(loop) or (work(loop) or SOON) < SOON or (work(loop.body) or LITTLE) < LITTLE:
        return False
    inside = _levels(loop.body)
    return (outer == 0 and inside > 0) or (outer == 1 and inside > 1)


def has_few(loop: For) -> bool:
    """Whether the loop surely has few iterations."""
    return (_iterations(loop) or FEW + 1) <= FEW


def work(nest: Nest) -> int | None:
    """How many writes a nest executes at most, None where the text does not say (vectors count as one)."""
    if isinstance(nest, Write):
        return 1
    inside = [work(child) for child in children(nest)]
    known = [amount for amount in inside if amount is not None]
    if len(known) < len(inside):
        return None
    times = _iterations(nest) if isinstance(nest, For) else 1
    return None if times is None else times * sum(known)


def _iterations(loop: For) -> int | None:
    """A number that the iterations of a loop that begins at 0 or later do not exceed; None without one to be seen."""
    ends = [loop.upper, simplify(Binary("-", loop.upper, loop.lower, INT64))]
    most = [end for end in map(_most, ends) if end is not None]
    return max(0, -(-min(most) // loop.step)) if most else None


def _most(bound: Expr) -> int | None:
    match bound:
        case Call("min", arguments, _):
            return min((most for most in map(_most, arguments) if most is not None), default=None)
        case Call("whole", (count, _), _):
            return _most(count)
    return constant(bound)


def _levels(nest: Nest) -> int:
    """How deep loops stand in one another; unrolled ones are none, a micro-kernel is one."""
    if isinstance(nest, Invoke):
        return 1
    own = isinstance(nest, For) and nest.kind != "unroll"
    return own + max(map(_levels, children(nest)), default=0)
