"""Finding and replacing parts of a schedule tree; every step is written with these few functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from workbench.errors import ScheduleError, UnknownLoop, shown, unknown_name
from workbench.lang.expr import Binary, Expr
from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.loop_names import LoopName, loop_of
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import AXES, Band, Leaf, Loop, Mark, Sequence, Tree, loops, normal, path, statements
from workbench.records import record

Path = tuple[int, ...]


@record
class Site:
    """Where a loop stands: the path of child positions to its band, and its place in the band."""

    path: Path
    position: int
    band: Band

    @property
    def loop(self) -> Loop:
        return self.band.loops[self.position]


def children(tree: Tree) -> tuple[Tree, ...]:
    """The subtrees directly below a node; none below a leaf."""
    match tree:
        case Band(_, child) | Mark(_, child):
            return (child,)
        case Sequence(parts):
            return parts
        case Leaf():
            return ()


def at(tree: Tree, path: Path) -> Tree:
    """The subtree at a path."""
    for position in path:
        tree = children(tree)[position]
    return tree


def put(tree: Tree, path: Path, new: Tree) -> Tree:
    """The tree with the subtree at `path` replaced, in normal form."""
    return normal(_put(tree, path, new))


def _put(tree: Tree, path: Path, new: Tree) -> Tree:
    if not path:
        return new
    parts = list(children(tree))
    parts[path[0]] = _put(parts[path[0]], path[1:], new)
    if isinstance(tree, Sequence):
        return Sequence(tuple(parts))
    assert isinstance(tree, Band | Mark)
    return replace(tree, child=parts[0])


def sites(tree: Tree, path: Path = ()) -> list[Site]:
    """Every loop with its place, parents first."""
    found: list[Site] = []
    _gather(tree, path, found)
    return found


def _gather(tree: Tree, path: Path, found: list[Site]) -> None:
    match tree:
        case Band(own, child):
            found += [Site(path, i, tree) for i in range(len(own))]
            _gather(child, (*path, 0), found)
        case Mark(_, child):
            _gather(child, (*path, 0), found)
        case Sequence(parts):
            for i, child in enumerate(parts):
                _gather(child, (*path, i), found)


def in_kernel(tree: Tree, site: Site) -> bool:
    """Whether a loop stands inside one that is bound to blocks or threads."""
    around = [at(tree, site.path[:depth]) for depth in range(len(site.path))]
    outer = (*(x for node in around if isinstance(node, Band) for x in node.loops), *site.band.loops[: site.position])
    return any(loop.kind in AXES for loop in outer)


def find_loop(program: Program, tree: Tree, name: str) -> Site:
    """The loop called `name`, or `statement/name` where several nests use the name."""
    return find_loops(program, tree, (name,))[0]


def find_loops(program: Program, tree: Tree, names: Iterable[str]) -> list[Site]:
    """The loops of one step: a name that several nests use means the loop in the nest of the other names."""
    every = sites(tree)
    found = [(name, _named(program, tree, name, every)) for name in names]
    nests = {own[0].path for _, own in found if len(own) == 1}
    return [_only(program, name, [s for s in own if s.path in nests] or own) for name, own in found]


def named(program: Program, tree: Tree, name: str) -> list[Site]:
    """Every loop that `name` may mean; UnknownLoop if there is none."""
    return _named(program, tree, name, sites(tree))


def _named(program: Program, tree: Tree, name: str, every: list[Site]) -> list[Site]:
    if not isinstance(name, str):
        raise ScheduleError(f"a loop is named by a text such as 'm' or 'C/m', not {shown(name)}")
    wanted = LoopName(name)
    found = [s for s in every if s.loop.name == wanted.loop]
    if wanted.statement:
        identifier = statement_id(program, wanted.statement)
        found = [s for s in found if identifier in dict(s.loop.rows)]
    if not found:
        known = list(dict.fromkeys(x.name for x in loops(tree)))
        raise UnknownLoop(unknown_name("loop", name, known), name, known)
    return found


def _only(program: Program, name: str, found: list[Site]) -> Site:
    if len(found) > 1:
        names = [qualified(program, s) for s in found]
        raise ScheduleError(f"loop {name!r} stands in several nests; say which: {', '.join(names)}")
    return found[0]


def spelt(program: Program, tree: Tree, site: Site) -> LoopName:
    """The name by which a step finds this loop: plain, or `statement/loop` where several nests use the name."""
    several = sum(loop.name == site.loop.name for loop in loops(tree)) > 1
    return qualified(program, site) if several else LoopName(site.loop.name)


def neighbours(program: Program, tree: Tree) -> Iterator[tuple[LoopName, LoopName]]:
    """The names of loops directly inside one another, outer first."""
    found = sites(tree)
    for outer, inner in pairwise(found):
        if outer.path == inner.path:
            yield spelt(program, tree, outer), spelt(program, tree, inner)


def qualified(program: Program, site: Site) -> LoopName:
    """`statement/loop`, with the last statement under the loop."""
    identifier = statements(site.band)[-1]
    return loop_of(program.statement(identifier).name, site.loop.name)


def counts_blocks(loop: Loop) -> bool:
    """Whether a loop counts blocks of another loop: for some statement, as copies made for it have it as a dim."""
    return any(_divides(row, "/") for _, row in loop.rows)


def runs_in_blocks(loop: Loop) -> bool:
    """Whether a loop runs inside the blocks of another, for some statement."""
    return any(_divides(row, "%") for _, row in loop.rows)


def _divides(row: Expr, op: str) -> bool:
    match row:
        case Binary("+" | "-", left, right, _):
            return _divides(left, op) or _divides(right, op)
    return isinstance(row, Binary) and row.op == op


def own_loops(tree: Tree, statement: str) -> list[LoopName]:
    """The loops that only this statement (id) is in, outermost first."""
    return [LoopName(loop.name) for loop in path(tree, statement) if [s for s, _ in loop.rows] == [statement]]


def leaf_path(tree: Tree, statement: str) -> Path:
    """The path to a statement's leaf."""
    if isinstance(tree, Leaf):
        return ()
    for i, child in enumerate(children(tree)):
        if statement in statements(child):
            return (i, *leaf_path(child, statement))
    raise KeyError(statement)


def require_new(tree: Tree, site: Site, names: list[str], old: list[str]) -> None:
    """Refuse names that other loops of the same nest already bear."""
    own = set(statements(site.band))
    taken = {x.name for x in loops(tree) if own & {s for s, _ in x.rows}} - set(old)
    clash = [n for n in names if n in taken]
    if clash or len(set(names)) < len(names):
        raise ScheduleError(
            f"loop names must be new: {', '.join(clash or names)} {'exist already' if clash else 'repeat one another'} "
            f"(loops of the nest: {', '.join(sorted(taken))}); give others with names="
        )


def split_before(tree: Tree, path: Path, position: int) -> Tree:
    """Split the loops around the sequence at `path` before its child `position`."""
    sequence = at(tree, path)
    assert isinstance(sequence, Sequence)
    first = normal(Sequence(sequence.children[:position]))
    second = normal(Sequence(sequence.children[position:]))
    if not path or not isinstance(at(tree, path[:-1]), Band):
        return put(tree, path, Sequence((first, second)))
    band = at(tree, path[:-1])
    assert isinstance(band, Band)
    return put(tree, path[:-1], Sequence((band_around(band, first), band_around(band, second))))


def rest_of(site: Site) -> Tree:
    """What stands inside a loop: the inner loops of its band around the band's child."""
    inner = site.band.loops[site.position + 1 :]
    return Band(inner, site.band.child) if inner else site.band.child


def band_around(band: Band, child: Tree) -> Band:
    """The loops of `band` around some of its statements."""
    below = set(statements(child))
    return Band(tuple(loop.only(below) for loop in band.loops), child)
