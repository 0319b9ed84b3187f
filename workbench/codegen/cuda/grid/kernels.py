"""From the order of a grid to one nest a kernel: regions become kernels, serial loops around them the host's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from workbench import poly
from workbench.codegen.cuda.grid.counting_loops import counting
from workbench.codegen.cuda.grid.tail_guards import in_whole_pieces
from workbench.codegen.cuda.grid.thread_arrays import in_registers, plain
from workbench.codegen.cuda.grid.unit_block_loops import with_lost_blocks
from workbench.codegen.cuda.grid.wide_accesses import wide
from workbench.codegen.nest.from_program import atomic, nest_of
from workbench.codegen.nest.nest import Block, Define, For, If, Nest, Place, transform, walk, writes
from workbench.codegen.passes.known_guards import without_known
from workbench.codegen.passes.pipeline import REWRITES, Lowering
from workbench.codegen.passes.register_tiles.accumulators import inlined
from workbench.errors import CodegenError
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Const, Expr, Index, Unary, index_names, substitute
from workbench.poly.programs.program import Array, Program
from workbench.poly.programs.tree import AXES, LoopKind, Tree, path
from workbench.poly.threads.grid import Region, is_thread, on_grid, regions
from workbench.poly.time.concurrency import atomic_statements, is_block
from workbench.records import record
from workbench.target import Target

# The rewrites of the road to C that know nothing of processors.
PLACED = ("storage of local arrays", "subscripts of collapsed loops")
KEPT = ("vector loops and register tiles", "full blocks", "invariant values")


Starts = Mapping[tuple[str, LoopKind], Expr]


@record
class KernelNest:
    """What one kernel executes: the nest, with loops of block and thread kinds, and its region."""

    region: Region
    nest: Nest


@record
class HostLoop:
    """A serial loop around kernels."""

    loop: For
    body: tuple[HostNode, ...]


HostNode = KernelNest | HostLoop


@record
class Grid:
    """A program as a grid executes it: the tree, the host's steps, and local arrays that live outside of kernels.

    `starts` are the iterations of thread loops that thread 0 executes, by statement and axis, in terms of the loops
    around, where they are not 0; of statements in `shifted`, which thread executes an iteration is not known.
    """

    tree: Tree
    steps: tuple[HostNode, ...]
    outside: frozenset[str]
    shifted: frozenset[str]
    starts: Starts


def grid_of(program: Program, tree: Tree, target: Target) -> Grid:
    """The kernels of a schedule; CodegenError if one has loops of which none is bound."""
    order = on_grid(tree)
    found = regions(order)
    for region in found:
        _refuse_unbound(program, region)
    nest, shifted, starts = _rewritten(program, order, target, found)
    outside: set[str] = set()
    steps = tuple(_steps(nest, found, (), outside))
    return Grid(order, steps, frozenset(outside), shifted, starts)


def _refuse_unbound(program: Program, region: Region) -> None:
    if region.bound or not region.loops:
        return
    name = program.statement(region.statements[0]).name
    loops = ", ".join(x.name for x in region.loops)
    first = f"{name}/{region.loops[0].name}"
    raise CodegenError(
        f"no CUDA for {program.name}: no loop around statement {name} is bound (its loops: {loops}); add "
        f"bind({first!r}, 'block.x') or another axis; where every loop must stay serial, a loop of one iteration: "
        f"add_unit_loop({name!r}, 0) and bind('{name}/u', 'block.x')"
    )


def _rewritten(
    program: Program, tree: Tree, target: Target, found: tuple[Region, ...]
) -> tuple[Nest, frozenset[str], Starts]:
    nest = atomic(nest_of(program, poly.scan(program, tree)), atomic_statements(tree))
    nest = with_lost_blocks(transform(nest, lambda n: _looped(n, tree)), program, tree, found)
    given = Lowering(program, tree, target)
    nest = _applied(PLACED, nest, given)
    shifted, starts = _numbered(nest, tree)
    nest = counting(nest, lambda x: any(isinstance(n, For) and is_block(_axis(n, tree)) for n in walk(x.body)))
    return in_whole_pieces(transform(nest, lambda n: _with_axis(n, tree))), shifted, starts


def _numbered(nest: Nest, tree: Tree) -> tuple[frozenset[str], Starts]:
    """`shifted` and `starts` of a `Grid`, from the nest before its loops count from 0."""
    loops = [n for n in walk(nest) if isinstance(n, For)]
    uneven = [n for n in loops if n.step != 1 or (n.kind == "vector" and constant(n.lower) != 0)]
    shifted = {w.statement for n in uneven if n.kind == "vector" or is_thread(_axis(n, tree)) for w in writes(n)}
    even = {(n.variable, n.loop) for n in walk(nest) if isinstance(n, For | Define) and n.loop and n not in uneven}
    names: dict[str, Expr] = {variable: Index(loop, INT64) for variable, loop in even}
    starts: dict[tuple[str, LoopKind], Expr] = {}
    for loop in (n for n in loops if is_thread(_axis(n, tree))):
        start = simplify(substitute(loop.lower, names))
        known = index_names(loop.lower) <= {*names}
        for statement in {w.statement for w in writes(loop)}:
            if not known or starts.setdefault((statement, _axis(loop, tree)), start) != start:
                shifted.add(statement)
    return frozenset(shifted), {key: start for key, start in starts.items() if constant(start) != 0}


def finished(nest: Nest, given: Lowering, arrays: Mapping[str, Array], own: frozenset[str]) -> Nest:
    """The nest of one kernel after the other rewrites.

    `arrays` are those that wide accesses may touch, as they are stored; `own` those that each thread has for itself.
    """
    nest = plain(nest, own)
    nest = transform(nest, lambda n: replace(n, kind="parallel") if isinstance(n, For) and n.kind in AXES else n)
    nest = in_registers(_applied(KEPT, wide(nest, arrays, own), given), own)
    return without_known(transform(nest, lambda n: _with_axis(n, given.tree)))


def _applied(names: tuple[str, ...], nest: Nest, given: Lowering) -> Nest:
    for rewrite in REWRITES:
        if rewrite.name in names:
            nest = rewrite.apply(nest, given)
    return nest


def _looped(node: Nest, tree: Tree) -> Nest:
    """Bound loops as loops that rewrites leave alone, also those of one iteration."""
    match node:
        case Define(variable, value, body, loop) if loop and _axis(node, tree) in AXES:
            return For(variable, loop, value, simplify(Binary("+", value, Const(1, INT64), INT64)), body, 1, "parallel")
        case For() if node.kind in AXES:
            return replace(node, kind="parallel")
    return node


def _with_axis(node: Nest, tree: Tree) -> Nest:
    if isinstance(node, For) and node.kind == "parallel":
        return replace(node, kind=_axis(node, tree))
    return node


def _axis(node: For | Define, tree: Tree) -> LoopKind:
    """The kind that the schedule gave to a loop."""
    inside = next(writes(node.body), None)
    if inside is None:
        return "serial"
    kinds: list[LoopKind] = [x.kind for x in path(tree, inside.statement) if x.name == node.loop]
    return kinds[0] if kinds else "serial"


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
