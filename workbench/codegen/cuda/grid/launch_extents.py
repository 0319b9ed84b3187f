"""How many blocks of how many threads a kernel needs, from the bounds of its bound loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice, product

from workbench.codegen.cuda.grid.launches import Amount
from workbench.codegen.nest.nest import For, Nest, writes
from workbench.codegen.nest.ranges import Ranges, interval, ranged
from workbench.errors import CodegenError
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Call, Const, Expr, index_names
from workbench.poly.programs.tree import LoopKind, Tree, at_once
from workbench.poly.programs.tree import loops as all_loops
from workbench.poly.threads.grid import is_thread
from workbench.poly.time.concurrency import is_block
from workbench.records import record
from workbench.target import Target

Head = tuple[str, LoopKind, Expr, Expr, int]
Parts = Mapping[tuple[str, str], int]

ZERO = Const(0, INT64)
BLOCK_LIMITS = (1024, 1024, 64)
GRID_LIMITS = ((1 << 31) - 1, 65535, 65535)
SYMBOLIC_THREADS = 256  # threads of a block whose loops have extents that only the call knows
BOUNDS = 64  # of a loop's bounds with many minima and maxima, how many forms are looked at
SYMBOLIC_BLOCKS = 1024  # blocks along an axis whose extent differs from block to block


@record
class Extents:
    """Grid and block of one kernel.

    Loops are known by `head`.  `exact` are the block loops whose iterations are just the blocks of their axis;
    `fitting` the thread loops with at most as many iterations as the block has threads along their axis, `full` those
    with just as many.  `own` are arrays of which each thread has one for itself, without the numbers of the thread.
    """

    grid: tuple[Amount, Amount, Amount] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    exact: frozenset[Head] = frozenset()
    fitting: frozenset[Head] = frozenset()
    full: frozenset[Head] = frozenset()
    own: frozenset[str] = frozenset()


def extents_of(nest: Nest, host: frozenset[str], target: Target, name: str, parts: Parts | None = None) -> Extents:
    """Grid and block of a kernel's nest; `host` are variables the host gives, `parts` is `parts_of` its order.

    CodegenError beyond the target's limits.
    """
    found = ((n, ranges) for n, ranges in ranged(nest) if isinstance(n, For) and at_once(n.kind))
    loops = [(n, _iterations(n, ranges, parts or {})) for n, ranges in found]
    threads = [x for x in loops if is_thread(x[0].kind)]
    block = _block(threads, target, name)
    grid, exact = _grid([x for x in loops if is_block(x[0].kind)], host)
    fitting: set[Head] = set()
    full: set[Head] = set()
    longer: set[Head] = set()
    for loop, most in threads:
        size = block[axis_number(loop.kind)]
        (fitting if most is not None and most <= size else longer).add(head(loop))
        if constant(iteration_count(loop)) == size and loop.step == 1:
            full.add(head(loop))
    return Extents(grid, block, frozenset(exact), frozenset(fitting - longer), frozenset(full))


def parts_of(tree: Tree) -> Parts:
    """(loop, statement) → the size of the blocks of which the loop counts through one.

    Bounds of what a triangle cuts are sums of such cuts; by intervals alone they may seem far longer than a block.
    """
    return {
        (loop.name, statement): int(row.right.value)
        for loop in all_loops(tree)
        for statement, row in loop.rows
        if isinstance(row, Binary) and row.op == "%" and isinstance(row.right, Const) and row.right.value > 0
    }


def thread_limit(loop: For, extents: Extents) -> Expr:
    """The bound of a loop over threads that begins at 0, without what the number of threads says already."""
    size, upper = extents.block[axis_number(loop.kind)], loop.upper
    if loop.lower != ZERO or loop.step != 1 or not (isinstance(upper, Call) and upper.function == "min"):
        return upper
    kept = tuple(e for e in upper.arguments if (constant(e) or 0) < size)
    return kept[0] if len(kept) == 1 else replace(upper, arguments=kept) if kept else upper


def head(loop: For) -> Head:
    """What tells the bound loops of a kernel apart."""
    return loop.variable, loop.kind, loop.lower, loop.upper, loop.step


def axis_number(kind: LoopKind) -> int:
    """0, 1, 2 for x, y, z."""
    return "xyz".index(kind[-1])


def iteration_count(loop: For) -> Expr:
    """Iterations of a loop, if it has any."""
    length = Binary("-", loop.upper, loop.lower, INT64)
    if loop.step != 1:
        length = Binary("/", Binary("+", length, Const(loop.step - 1, INT64), INT64), Const(loop.step, INT64), INT64)
    return simplify(length)


def _iterations(loop: For, ranges: Ranges, parts: Parts) -> int | None:
    """The most iterations the loop ever has, None if sizes decide."""
    blocks = [parts.get((loop.loop, w.statement)) for w in writes(loop.body)]
    whole = [max(size for size in blocks if size)] if blocks and None not in blocks else []
    bounds = islice(product(_never_less(loop.upper), _never_more(loop.lower)), BOUNDS)
    limits = [interval(iteration_count(replace(loop, upper=u, lower=w)), ranges)[1] for u, w in bounds]
    known = [*whole, *(limit for limit in limits if limit is not None)]
    return max(0, min(known)) if known else None


def _never_less(e: Expr) -> list[Expr]:
    """What is at least as large as `e` and has one term of each minimum, and of each maximum that is taken away.

    The interval of a window's length in a tile, `min(b, d) - max(a, c)`, knows nothing of what `b - a` cancels.
    """
    if isinstance(e, Call) and e.function == "min":
        return [one for each in e.arguments for one in _never_less(each)]
    return _terms(e, _never_less, _never_more)


def _never_more(e: Expr) -> list[Expr]:
    """What is at most as large as `e`, likewise."""
    if isinstance(e, Call) and e.function == "max":
        return [one for each in e.arguments for one in _never_more(each)]
    return _terms(e, _never_more, _never_less)


def _terms(e: Expr, same: Callable[[Expr], list[Expr]], other: Callable[[Expr], list[Expr]]) -> list[Expr]:
    if not (isinstance(e, Binary) and e.op in ("+", "-")):
        return [e]
    rights = (same if e.op == "+" else other)(e.right)
    return [replace(e, left=left, right=right) for left, right in islice(product(same(e.left), rights), BOUNDS)]


def _block(loops: list[tuple[For, int | None]], target: Target, name: str) -> tuple[int, int, int]:
    known: dict[int, tuple[int, For]] = {}
    open_: dict[int, For] = {}
    for loop, most in loops:
        axis = axis_number(loop.kind)
        if most is None:
            open_[axis] = loop
        elif most >= known.get(axis, (0, loop))[0]:
            known[axis] = (most, loop)
    sizes = {axis: max(1, most) for axis, (most, _) in known.items()}
    _refuse_large(sizes, known, target, name)
    left = max(1, SYMBOLIC_THREADS // _product([s for a, s in sizes.items() if a not in open_]))
    for axis in sorted(open_):
        share = 32 if axis == 0 and len(open_) > 1 else left
        sizes[axis] = max(1, min(share, left, BLOCK_LIMITS[axis]))
        left = max(1, left // sizes[axis])
    return sizes.get(0, 1), sizes.get(1, 1), sizes.get(2, 1)


def _refuse_large(sizes: dict[int, int], known: dict[int, tuple[int, For]], target: Target, name: str) -> None:
    loops = ", ".join(f"{known[a][1].loop} has {sizes[a]} ({known[a][1].kind})" for a in sorted(sizes))
    advice = "tile the loops and bind the inner ones to threads, the outer ones to blocks"
    total = _product(list(sizes.values()))
    most = target.device.block_threads
    if total > most:
        raise CodegenError(
            f"{name}: a block of {total} threads is more than the {most} of target {target.name}: {loops}; {advice}"
        )
    for axis, size in sizes.items():
        if size > BLOCK_LIMITS[axis]:
            limit = f"{BLOCK_LIMITS[axis]} threads along thread.{'xyz'[axis]}"
            raise CodegenError(f"{name}: a block of target {target.name} has at most {limit}: {loops}; {advice}")


def _product(numbers: list[int]) -> int:
    total = 1
    for number in numbers:
        total *= number
    return total


def _grid(
    loops: list[tuple[For, int | None]], host: frozenset[str]
) -> tuple[tuple[Amount, Amount, Amount], set[Head]]:
    grid: list[Amount] = [1, 1, 1]
    exact: set[Head] = set()
    for axis in range(3):
        own = [(loop, most) for loop, most in loops if axis_number(loop.kind) == axis]
        if not own:
            continue
        loop, _ = own[0]
        count = iteration_count(loop)
        number = constant(count)
        if len(own) == 1 and index_names(count) <= host and (number is not None or axis == 0):
            grid[axis] = count if number is None else min(number, GRID_LIMITS[axis])
            if number is None or number <= GRID_LIMITS[axis]:
                exact.add(head(loop))
        elif len(own) == 1 and index_names(count) <= host:
            grid[axis] = Call("min", (count, Const(GRID_LIMITS[axis], INT64)), INT64)
        else:
            known = [most for _, most in own if most is not None]
            grid[axis] = max(1, min(max(known), GRID_LIMITS[axis])) if len(known) == len(own) else SYMBOLIC_BLOCKS
    return (grid[0], grid[1], grid[2]), exact
