"""isl's affine scheduler: a program's tree by optimisation, at three levels of fusion."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, reduce
from typing import Literal

from workbench.errors import BudgetExceeded, LoweringError, ScheduleError, WorkbenchError
from workbench.lang.algebra.polynomial import Polynomial, expression
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Const, Expr, Index, Size
from workbench.poly.dependence.flow import dependences
from workbench.poly.lowering import lower
from workbench.poly.programs.program import Dependence, Program, ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Loop, Sequence, Tree, statements
from workbench.poly.scheduling.hoisting import hoisted
from workbench.poly.scheduling.worker import WORKER, Problem
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.names import from_isl
from workbench.records import record

Fusion = Literal["none", "default", "max"]
FUSIONS: tuple[Fusion, ...] = ("none", "default", "max")


@lru_cache(maxsize=128)
def isl_tree(program: Program, fusion: Fusion = "none", seconds: float = 20.0) -> Tree:
    """The tree isl's scheduler finds (a Pluto-like optimiser: parallel loops outside, short reuse distances).

    `fusion` is "none" (statements that do not depend on each other in a cycle stay apart), "default" (isl's
    choice) or "max" (whatever can share loops does).  Reductions are relaxed: their updates may be
    reordered, but a loop is not called parallel because of that.  The problem is solved with symbolic sizes
    where the operator allows it, which is much faster, and in a process of its own; BudgetExceeded after `seconds`,
    ScheduleError where isl finds nothing.
    """
    if fusion not in FUSIONS:
        raise ScheduleError(f"unknown fusion {fusion!r}; known: {', '.join(FUSIONS)}")
    general = _symbolic(program)
    problem = _problem(general, fusion)
    if not problem.domain:
        return Sequence(tuple(Leaf(s.id) for s in program.statements))
    return _named(hoisted(general, _tree(general, _solved(program, problem, seconds))), frozenset())


def _solved(program: Program, problem: Problem, seconds: float) -> str:
    """isl's schedule, with care in the first half of the time and without in the second."""
    try:
        try:
            return WORKER.solve(problem, seconds / 2)
        except BudgetExceeded:
            return WORKER.solve(replace(problem, careful=False), seconds / 2)
    except BudgetExceeded as reason:
        stopped = str(reason).replace(f"{seconds / 2:g} s", f"{seconds:g} s")
        raise BudgetExceeded(f"{stopped}. {_easier(problem.fusion, seconds)}") from None
    except WorkbenchError as reason:
        raise ScheduleError(
            f"{program.name}: isl's scheduler finds no order with fusion={problem.fusion!r} ({reason}); "
            "wb.schedule(op) and wb.autoschedule(op) without fusion= do without it"
        ) from reason


def _easier(fusion: str, seconds: float) -> str:
    """What to ask in place of a question that takes too long."""
    others = {"max": "fusion='default' or 'none'", "default": "fusion='none'"}
    first = f"Use {others[fusion]}, wb.autoschedule(op)" if fusion in others else "Use wb.autoschedule(op)"
    longer = f"wb.poly.isl_tree(program, {fusion!r}, seconds={2 * seconds:g})"
    return f"{first} without fusion=, or allow more time: {longer}"


def _symbolic(program: Program) -> Program:
    """The same operator with its sizes left symbolic, if it can be lowered so."""
    op = program.definition
    if op is None or not program.sizes:
        return program
    for kept in ({}, {n: v for n, v in program.sizes.items() if n in op.scalars}):
        try:
            return lower(op, kept)
        except LoweringError:
            continue
    return program


@isl.guarded
def _problem(program: Program, fusion: Fusion) -> Problem:
    found = dependences(program)
    ordered = _union(program, [d for d in found if d.kind != "reduction"])
    return Problem(
        domain=_union_text([s.domain for s in program.statements]),
        validity=ordered,
        coincidence=_union(program, list(found)),
        proximity=_union(program, [d for d in found if d.kind == "flow"]),
        context=program.context,
        fusion=fusion,
    )


def _union(program: Program, chosen: list[Dependence]) -> str:
    if not chosen:
        return "{ }"
    relations = (isl.UnionMap.from_map(isl.parse_map(d.relation)) for d in chosen)
    return isl.text_of(reduce(isl.UnionMap.union, relations).coalesce())


def _union_text(domains: list[str]) -> str:
    sets = (isl.UnionSet.from_set(isl.parse_set(d)) for d in domains)
    return isl.text_of(reduce(isl.UnionSet.union, sets)) if domains else ""


@isl.guarded
def _tree(program: Program, schedule: str) -> Tree:
    root = isl.Schedule(schedule).get_root()
    live = [s.id for s in program.statements]
    (child,) = unpack.node_children(root)
    tree = _Reader(program).tree(child, tuple(live), frozenset())
    missing = tuple(Leaf(s) for s in live if s not in statements(tree))
    return Sequence((tree, *missing)) if missing else tree


@record
class _Reader:
    """Converts isl's schedule nodes."""

    program: Program

    def tree(self, node: isl.ScheduleNode, live: tuple[str, ...], taken: frozenset[str]) -> Tree:
        """The node and what is below it, for the statements in `live`."""
        kind = node.get_type()
        if kind == isl.schedule_node_type.band:
            return self._band(node, live, taken)
        if kind in (isl.schedule_node_type.sequence, isl.schedule_node_type.set):
            return self._sequence(node, live, taken)
        if kind == isl.schedule_node_type.leaf:
            leaves = tuple(Leaf(s) for s in live)
            return leaves[0] if len(leaves) == 1 else Sequence(leaves)
        (child,) = unpack.node_children(node)
        return self.tree(child, live, taken)

    def _sequence(self, node: isl.ScheduleNode, live: tuple[str, ...], taken: frozenset[str]) -> Tree:
        children = []
        for child in unpack.node_children(node):
            names = {s.get_tuple_name() for s in unpack.sets(child.filter_get_filter())}
            below = tuple(s for s in live if s in names)
            if below:
                (inner,) = unpack.node_children(child)
                children.append(self.tree(inner, below, taken))
        return children[0] if len(children) == 1 else Sequence(tuple(children))

    def _band(self, node: isl.ScheduleNode, live: tuple[str, ...], taken: frozenset[str]) -> Tree:
        schedule = node.band_get_partial_schedule()
        loops: list[Loop] = []
        for member in range(node.band_n_member()):
            rows = self._rows(schedule.get_union_pw_aff(member), live)
            name = _loop_name(rows, taken)
            taken |= {name}
            loops.append(Loop(name, tuple(sorted(rows.items()))))
        (child,) = unpack.node_children(node)
        below = self.tree(child, live, taken)
        held = set(statements(below))
        return Band(tuple(loop.only(held) for loop in loops), below) if loops else below

    def _rows(self, member: isl.UnionPwAff, live: tuple[str, ...]) -> dict[str, Expr]:
        rows: dict[str, Expr] = {s: Const(0, INT64) for s in live}
        for pw_aff in unpack.pw_affs(member):
            statement = pw_aff.get_tuple_id(isl.dim.in_).get_name()
            if statement in rows:
                rows[statement] = self._row(pw_aff, self.program.statement(statement))
        return rows

    def _row(self, pw_aff: isl.PwAff, statement: ProgramStatement) -> Expr:
        aff = unpack.single_aff(pw_aff)
        dims = [Index(d, INT64) for d in statement.dims]
        symbols = [Size(from_isl(s), INT64) for s in unpack.parameter_names(aff)]
        own = unpack.affine_coefficients(aff, isl.dim.in_, dims)
        terms = own + unpack.affine_coefficients(aff, isl.dim.param, symbols)
        linear = Polynomial({(part,): factor for part, factor in terms})
        return expression(linear + unpack.python_int(aff.get_constant_val()))


def _named(tree: Tree, taken: frozenset[str]) -> Tree:
    """The tree with names that say what the loops are now."""
    match tree:
        case Band(loops, child):
            own = []
            for loop in loops:
                own.append(replace(loop, name=_loop_name(dict(loop.rows), taken)))
                taken |= {own[-1].name}
            return Band(tuple(own), _named(child, taken))
        case Sequence(children):
            return Sequence(tuple(_named(c, taken) for c in children))
    return tree


def _loop_name(rows: dict[str, Expr], taken: frozenset[str]) -> str:
    """The dim's name where the loop simply runs over one dim, else `t0`, `t1`, ..."""
    varying = {e for e in rows.values() if not isinstance(e, Const)}
    if len(varying) == 1:
        (only,) = varying
        if isinstance(only, Index) and only.name not in taken:
            return only.name
    counter = 0
    while f"t{counter}" in taken:
        counter += 1
    return f"t{counter}"
