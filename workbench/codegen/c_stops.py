"""Where a running kernel looks whether it is to stop: once an iteration of its outer loops.

Whoever compiles the text may define WB_STOPPED, what an iteration asks before it begins; without that it is 0, and the
compiler leaves the question out.  Loops of few iterations do not count.  Of the others the outermost is an outer one,
and the next if two more levels stand inside, as the outermost may run only once.
"""

from __future__ import annotations

from workbench.codegen.index_checks import late_uses
from workbench.codegen.nest import For, Invoke, Nest, children
from workbench.lang.expr import Call, Expr
from workbench.lang.normal_form import constant
from workbench.poly.program import Program

STOPPED = """#ifndef WB_STOPPED
#define WB_STOPPED 0
#endif
"""
FEW = 8
"""Iterations that are soon over, if each is."""


def stoppable(program: Program, *, checked: bool) -> bool:
    """Whether iterations may be left out: not where unchecked subscripts come from what the kernel computes."""
    return checked or not late_uses(program)


def looks(loop: For, around: int) -> bool:
    """Whether each iteration looks, with so many loops around that have more than a few."""
    inside = 0 if has_few(loop) else levels(loop.body)
    return (around == 0 and inside > 0) or (around == 1 and inside > 1)


def has_few(loop: For) -> bool:
    """Whether the loop surely has few iterations, if it does not begin below 0."""
    end, begin = _most(loop.upper), constant(loop.lower)
    return end is not None and end - min(begin or 0, 0) <= FEW * loop.step


def _most(bound: Expr) -> int | None:
    """A number that a bound does not exceed; None without one to be seen."""
    match bound:
        case Call("min", arguments, _):
            return min((most for most in map(_most, arguments) if most is not None), default=None)
        case Call("whole", (count, _), _):
            return _most(count)
    return constant(bound)


def levels(nest: Nest) -> int:
    """How deep loops stand in one another; unrolled ones are none, a micro-kernel is one."""
    if isinstance(nest, Invoke):
        return 1
    own = isinstance(nest, For) and nest.kind != "unroll"
    return own + max(map(levels, children(nest)), default=0)
