"""From the order of a grid to one nest a kernel: regions become kernels, serial loops around them the host's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace

from workbench.codegen.cuda.grid.block_code import Parts
from workbench.codegen.cuda.grid.launch_extents import Extents
from workbench.codegen.nest.nest import Block, Define, For, If, Nest, Place, walk, writes
from workbench.codegen.passes.register_tiles.accumulators import inlined
from workbench.errors import CodegenError
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Const, Expr, Index, Unary, index_names, substitute
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.program import Array, Program
from workbench.poly.programs.tree import AXES, Leaf, LoopKind, Tree, path
from workbench.poly.threads.grid import Region, is_thread
from workbench.records import record
from workbench.target import Target

Starts = Mapping[tuple[str, LoopKind], Expr]


@record
class KernelNest:
    """What one kernel executes, on its way to text: a pass gives another one.

    First it is a nest, with loops of block and thread kinds, of a `region`; `host` are the variables of the host's
    loops around, `name` is that of its function.  `tree` is the order of its statements, with sums over threads bound.
    `arrays` are all arrays as this kernel stores them, `places` says where its local ones live: "workspace", "shared"
    or "thread"; `shared` and `registers` are those of the block and of the threads that stand at its beginning,
    `cleared` those of threads that begin as 0, `aligned` those that wide accesses touch.  `late` are the statements
    (ids) that copy asynchronously.  In the end it is `code`: parts, and the places where threads wait.
    """

    region: Region
    nest: Nest
    host: tuple[str, ...] = ()
    name: str = ""
    tree: Tree = Leaf("")
    arrays: Mapping[str, Array] = field(default_factory=dict)
    extents: Extents = Extents()
    places: Mapping[str, str] = field(default_factory=dict)
    late: frozenset[str] = frozenset()
    registers: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    cleared: frozenset[str] = frozenset()
    aligned: frozenset[str] = frozenset()
    code: Parts | None = None

    @property
    def own(self) -> frozenset[str]:
        """The arrays that each thread has for itself."""
        return frozenset(name for name, place in self.places.items() if place == "thread")


NOWHERE = KernelNest(Region((), (), ()), Block(()))
"""A kernel without statements."""


@record
class HostLoop:
    """A serial loop around kernels."""

    loop: For
    body: tuple[HostNode, ...]


HostNode = KernelNest | HostLoop


@record
class Grid:
    """A program as a grid executes it, on its way to text: a pass gives another one.

    `tree` is its order and `stored` the program with its arrays as they are stored.  First there is one `nest` of all,
    then one for each kernel, in the host's `steps`.  `outside` are local arrays that live outside of kernels.  `starts`
    are the iterations of thread loops that thread 0 executes, by statement and axis, in terms of the loops around,
    where they are not 0; of statements in `shifted`, which thread executes an iteration is not known.
    """

    program: Program
    stored: Program
    tree: Tree
    target: Target
    regions: tuple[Region, ...]
    nest: Nest
    steps: tuple[HostNode, ...] = ()
    outside: frozenset[str] = frozenset()
    shifted: frozenset[str] = frozenset()
    starts: Starts = field(default_factory=dict)

    @property
    def nests(self) -> tuple[Nest, ...]:
        """The nest of all kernels, or that of each."""
        return tuple(k.nest for k in self.kernels) if self.steps else (self.nest,)

    @property
    def kernels(self) -> tuple[KernelNest, ...]:
        """Every kernel, in textual order."""
        return tuple(_kernels(self.steps))


def _kernels(nodes: tuple[HostNode, ...]) -> Iterator[KernelNest]:
    for node in nodes:
        if isinstance(node, KernelNest):
            yield node
        else:
            yield from _kernels(node.body)


def each_kernel(grid: Grid, change: Callable[[KernelNest], KernelNest]) -> Grid:
    """The grid with every kernel changed."""

    def visit(node: HostNode) -> HostNode:
        if isinstance(node, KernelNest):
            return change(node)
        return HostLoop(node.loop, tuple(map(visit, node.body)))

    return replace(grid, steps=tuple(map(visit, grid.steps)))


def refuse_unbound(program: Program, region: Region) -> None:
    """CodegenError if a kernel has loops of which none is bound."""
    if region.bound or not region.loops:
        return
    name = program.statement(region.statements[0]).name
    loops = ", ".join(x.name for x in region.loops)
    first = str(loop_of(name, region.loops[0].name))
    raise CodegenError(
        f"no CUDA for {program.name}: no loop around statement {name} is bound (its loops: {loops}); add "
        f"bind({first!r}, 'block.x') or another axis; where every loop must stay serial, a loop of one iteration: "
        f"add_unit_loop({name!r}, 0) and bind('{name}/u', 'block.x')"
    )


def bound_loop(node: Nest, tree: Tree) -> Nest:
    """A bound loop of one iteration as a loop; other nodes as they are."""
    match node:
        case Define(variable, value, body, loop) if loop and (kind := _kind(node, tree)) in AXES:
            return For(variable, loop, value, simplify(Binary("+", value, Const(1, INT64), INT64)), body, 1, kind)
    return node


def _kind(node: Define, tree: Tree) -> LoopKind:
    """The kind that the schedule gave to a loop."""
    inside = next(writes(node.body), None)
    if inside is None:
        return "serial"
    kinds: list[LoopKind] = [x.kind for x in path(tree, inside.statement) if x.name == node.loop]
    return kinds[0] if kinds else "serial"


def uneven_loops(nest: Nest) -> tuple[frozenset[str], Starts]:
    """`shifted` and `starts` of a `Grid`, from the nest before its loops count from 0."""
    loops = [n for n in walk(nest) if isinstance(n, For)]
    uneven = [n for n in loops if n.step != 1 or (n.kind == "vector" and constant(n.lower) != 0)]
    shifted = {w.statement for n in uneven if n.kind == "vector" or is_thread(n.kind) for w in writes(n)}
    even = {(n.variable, n.loop) for n in walk(nest) if isinstance(n, For | Define) and n.loop and n not in uneven}
    names: dict[str, Expr] = {variable: Index(loop, INT64) for variable, loop in even}
    starts: dict[tuple[str, LoopKind], Expr] = {}
    for loop in (n for n in loops if is_thread(n.kind)):
        start = simplify(substitute(loop.lower, names))
        known = index_names(loop.lower) <= {*names}
        for statement in {w.statement for w in writes(loop)}:
            if not known or starts.setdefault((statement, loop.kind), start) != start:
                shifted.add(statement)
    return frozenset(shifted), {key: start for key, start in starts.items() if constant(start) != 0}


def divided(nest: Nest, found: tuple[Region, ...]) -> tuple[tuple[HostNode, ...], frozenset[str]]:
    """The host's steps, and the local arrays that are placed around kernels."""
    outside: set[str] = set()
    return tuple(_steps(nest, found, (), outside)), frozenset(outside)


def _steps(nest: Nest, found: tuple[Region, ...], host: tuple[str, ...], outside: set[str]) -> Iterator[HostNode]:
    """The kernels of a nest inside the host's loops `host`; arrays placed around kernels are added to `outside`."""
    within = [r for r in found if any(w.statement in r.statements for w in writes(nest))]
    if not within:
        return
    if len(within) == 1 and not _holds(nest, {x.name for x in within[0].host} - {*host}):
        yield KernelNest(within[0], nest)
        return
    match nest:
        case Block(body):
            yield from _joined([step for part in body for step in _steps(part, found, host, outside)])
        case For():
            yield HostLoop(nest, tuple(_steps(nest.body, found, (*host, nest.loop), outside)))
        case Define(variable, value, body, loop):
            yield from _steps(inlined(body, variable, value), found, (*host, loop), outside)
        case Place(array, body):
            outside.add(array)
            yield from _steps(body, found, host, outside)
        case If(condition, then, otherwise):
            yield from (_guarded(s, condition) for s in _steps(then, found, host, outside))
            if otherwise is not None:
                other = Unary("!", condition, BOOL)
                yield from (_guarded(s, other) for s in _steps(otherwise, found, host, outside))
        case _:
            raise CodegenError(f"a {type(nest).__name__.lower()} stands around several kernels")


def _holds(nest: Nest, loops: set[str]) -> bool:
    return any(isinstance(n, For | Define) and n.loop in loops for n in walk(nest))


def _joined(steps: list[HostNode]) -> list[HostNode]:
    """Neighbouring pieces of one region as one kernel."""
    found: list[HostNode] = []
    for step in steps:
        last = found[-1] if found else None
        if isinstance(step, KernelNest) and isinstance(last, KernelNest) and last.region == step.region:
            found[-1] = KernelNest(step.region, Block((last.nest, step.nest)))
        else:
            found.append(step)
    return found


def _guarded(step: HostNode, condition: Expr) -> HostNode:
    """The step under a condition, which each kernel looks at itself."""
    if isinstance(step, KernelNest):
        return KernelNest(step.region, If(condition, step.nest))
    return HostLoop(step.loop, tuple(_guarded(s, condition) for s in step.body))
