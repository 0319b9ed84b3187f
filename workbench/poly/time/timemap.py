"""Time, level by level: the order a person would write, the loops two statements share, what comes before what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from workbench.errors import ScheduleError
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Const, Expr, Index, substitute
from workbench.poly.programs.affine import NotAffine, affine_text
from workbench.poly.programs.program import Nest, Program, ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, path
from workbench.poly.sets import isl
from workbench.poly.sets.injectivity import determines
from workbench.poly.sets.names import to_isl
from workbench.records import record


@record(slots=True)
class Shared:
    """The loops around both of two statements, outermost first, and what comes after them.

    `position` is -1 when the source's branch of the innermost common Sequence stands first, +1 when it
    stands later, 0 when the statements are one and the same.
    """

    loops: tuple[Loop, ...]
    position: int


def shared(tree: Tree, source: str, target: str) -> Shared:
    """What two statements (by id) have in common on the way from the root."""
    loops: tuple[Loop, ...] = ()
    while True:
        match tree:
            case Band(own, child):
                loops, tree = loops + own, child
            case Mark(_, child):
                tree = child
            case Leaf():
                return Shared(loops, 0)
            case Sequence(children):
                a, b = _branch(tree, source), _branch(tree, target)
                if a != b:
                    return Shared(loops, -1 if a < b else 1)
                tree = children[a]


def _branch(tree: Sequence, statement: str) -> int:
    if statement not in tree.places:
        raise ScheduleError(f"the schedule tree does not contain statement {statement}")
    return tree.places[statement]


def row(loop: Loop, statement: ProgramStatement, program: Program) -> Expr:
    """A statement's time component at a loop in normal form, over its dims and the symbols.

    Raises ScheduleError when the loop has none for it.
    """
    try:
        expr = loop.row(statement.id)
    except KeyError as error:
        raise ScheduleError(f"loop {loop.name} has no row for statement {statement.name}") from error
    return expr if isinstance(expr, Index) else _bound(expr, program.bound)


@lru_cache(maxsize=1 << 14)
def _bound(expr: Expr, sizes: tuple[tuple[str, int], ...]) -> Expr:
    return simplify(substitute(expr, {n: Const(v, INT64) for n, v in sizes}))


def row_text(loop: Loop, statement: ProgramStatement, program: Program, *, primed: bool = False) -> str:
    """isl text of `row`; `primed` writes the dims as those of a target instance (`m'`)."""
    dims = statement.dims if primed else ()
    try:
        return _affine_text(row(loop, statement, program), dims)
    except NotAffine as error:
        raise ScheduleError(
            f"loop {loop.name}: the row of statement {statement.name} is not affine"
        ) from error


@lru_cache(maxsize=1 << 14)
def _affine_text(expr: Expr, primed: tuple[str, ...]) -> str:
    return affine_text(substitute(expr, {d: Index(_prime(d)) for d in primed}) if primed else expr)


def instance(statement: ProgramStatement, *, primed: bool = False) -> str:
    """isl tuple of an instance, `S0[m, n]` or `S0[m', n']`."""
    dims = (_prime(d) if primed else to_isl(d) for d in statement.dims)
    return f"{statement.id}[{', '.join(dims)}]"


def _prime(dim: str) -> str:
    return f"{dim}'"


def prefix(program: Program) -> str:
    """isl's parameter list of a program, `[M, N] -> `."""
    return f"[{', '.join(map(to_isl, program.symbols))}] -> " if program.symbols else ""


def domain_of(program: Program, own: ProgramStatement) -> isl.Set:
    """The instances of a statement under the program's context."""
    return isl.parse_set(own.domain).intersect_params(isl.parse_set(program.context))


def compare(
    program: Program, loop: Loop, source: ProgramStatement, target: ProgramStatement, comparison: str
) -> isl.Map:
    """Pairs of instances whose time components at a loop compare so (`<`, `=`, `>`, `<=`, `!=`): source first."""
    a, b = (_component(program, loop, s) for s in (source, target))
    match comparison:
        case "<":
            return a.lt_map(b)
        case "=":
            return a.eq_map(b)
        case ">":
            return a.gt_map(b)
        case "<=":
            return a.le_map(b)
        case "!=":
            return a.lt_map(b).union(a.gt_map(b))
    raise ValueError(f"{comparison!r} compares nothing")


def _component(program: Program, loop: Loop, statement: ProgramStatement) -> isl.PwAff:
    """A statement's time component as a function of its instances."""
    try:
        return _function(row(loop, statement, program), statement.id, statement.dims, program.symbols)
    except NotAffine as error:
        raise ScheduleError(
            f"loop {loop.name}: the row of statement {statement.name} is not affine"
        ) from error


@lru_cache(maxsize=1 << 13)
def _function(component: Expr, identifier: str, dims: tuple[str, ...], symbols: tuple[str, ...]) -> isl.PwAff:
    names = f"[{', '.join(map(to_isl, symbols))}] -> " if symbols else ""
    text = f"{names}{{ {identifier}[{', '.join(map(to_isl, dims))}] -> [({_affine_text(component, ())})] }}"
    return isl.parse_function(text)


def compare_text(
    program: Program, loop: Loop, source: ProgramStatement, target: ProgramStatement, comparison: str
) -> str:
    """isl text of `compare`."""
    left = row_text(loop, source, program)
    right = row_text(loop, target, program, primed=True)
    pair = f"{instance(source)} -> {instance(target, primed=True)}"
    return f"{prefix(program)}{{ {pair} : {left} {comparison} {right} }}"


def before(
    program: Program,
    tree: Tree,
    source: str,
    target: str,
    pairs: isl.Map,
    together: Callable[[Loop], bool] = lambda _: False,
) -> Iterator[isl.Map]:
    """The pairs of instances that the tree, with every loop serial, executes in this order; one relation a
    level.  `together` says of which loops it is known that both instances of each pair stand in one iteration.
    """
    common = shared(tree, source, target)
    s, t = program.statement(source), program.statement(target)
    for loop in common.loops:
        if together(loop):
            continue
        earlier = pairs.intersect(compare(program, loop, s, t, "<"))
        if not earlier.is_empty():
            yield earlier
        pairs = pairs.intersect(compare(program, loop, s, t, "="))
        if pairs.is_empty():
            return
    if common.position < 0:
        yield pairs


def time_map(program: Program, tree: Tree, ids: tuple[str, ...]) -> isl.UnionMap:
    """Instances of some statements to their times, padded with zeros to a common length."""
    times = {s: time_components(program, tree, s) for s in ids}
    length = max(map(len, times.values()), default=0)
    pieces = [
        f"{instance(program.statement(s))} -> [{', '.join(t + ['0'] * (length - len(t)))}]"
        for s, t in times.items()
    ]
    return isl.parse_union_map(f"{prefix(program)}{{ {'; '.join(pieces)} }}")


def time_components(program: Program, tree: Tree, statement: str) -> list[str]:
    """isl texts of a statement's time: rows of its loops, positions in its sequences."""
    match tree:
        case Leaf():
            return []
        case Mark(_, child):
            return time_components(program, child, statement)
        case Band(own, child):
            rows = [row_text(loop, program.statement(statement), program) for loop in own]
            return rows + time_components(program, child, statement)
        case Sequence(children):
            position = _branch(tree, statement)
            return [str(position), *time_components(program, children[position], statement)]


def collisions(program: Program, tree: Tree, statement: ProgramStatement) -> isl.Map | None:
    """Pairs of different instances of one statement at one time, or None when each has its own."""
    loops = path(tree, statement.id)
    if determines(tuple(row(loop, statement, program) for loop in loops), statement.dims):
        return None
    rows = ((row_text(loop, statement, program, primed=p) for p in (False, True)) for loop in loops)
    same = " and ".join(f"({first}) = ({second})" for first, second in rows)
    ends = f"{instance(statement)} -> {instance(statement, primed=True)}"
    return _at_one_time(f"{prefix(program)}{{ {ends} : {same or 'true'} }}", statement.domain, program.context)


@lru_cache(maxsize=4096)
def _at_one_time(same: str, domain: str, context: str) -> isl.Map | None:
    """Pairs of different instances, among those that agree."""
    own = isl.parse_set(domain).intersect_params(isl.parse_set(context))
    pairs = isl.parse_map(same).intersect_domain(own).intersect_range(own)
    pairs = pairs.subtract(isl.Map.identity(pairs.get_space()))
    return None if pairs.is_empty() else pairs


def naive_tree(program: Program) -> Tree:
    """The program's own order: loops named after dims, those directly inside one another in one Band."""
    return program.reference if program.reference is not None else _sequence(program.order)


@lru_cache(maxsize=256)
def _sequence(items: tuple[Nest | str, ...]) -> Tree:
    trees = tuple(Leaf(item) if isinstance(item, str) else _band(item) for item in items)
    return trees[0] if len(trees) == 1 else Sequence(trees)


def _band(nest: Nest) -> Band:
    below = nest_statements(nest)
    rows = tuple(sorted((s, Index(nest.dim)) for s in below))
    loop = Loop(nest.dim, rows)
    child = _sequence(nest.body)
    if isinstance(child, Band):
        return Band((loop, *child.loops), child.child)
    return Band((loop,), child)


def nest_statements(item: Nest | str) -> tuple[str, ...]:
    """The statements of a part of the naive order."""
    return (item,) if isinstance(item, str) else tuple(s for inner in item.body for s in nest_statements(inner))
