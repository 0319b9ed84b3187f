"""Where the local arrays of one kernel live, and which of its copies are asynchronous."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from workbench.codegen.cuda.grid.block_code import code_of, pieces
from workbench.codegen.cuda.memory import fits_static
from workbench.codegen.cuda.wide_printing import moves_one_element
from workbench.codegen.nest.nest import Nest, Write, writes
from workbench.lang.algebra.normal_form import constant
from workbench.lang.expr import Read, reads
from workbench.poly.programs.marks import AsyncCopies
from workbench.poly.programs.program import Array
from workbench.poly.programs.tree import Tree, marked
from workbench.poly.regions.storage import elements

THREAD_ELEMENTS = 4096


def fitting_places(
    places: Mapping[str, str], arrays: Mapping[str, Array], outside: Collection[str], *, alone: bool, blocks: bool
) -> dict[str, str]:
    """The places, where what does not fit goes to the workspace, if no other block or thread needs its own.

    `outside` are arrays placed around kernels; `alone` says that a block has one thread, `blocks` that there are some.
    """
    found = dict(places)
    for array, where in places.items():
        large = (constant(elements(arrays[array])) or THREAD_ELEMENTS + 1) > THREAD_ELEMENTS
        if array in outside or (not blocks and where == "thread" and alone and large):
            found[array] = "workspace"
    shared = [a for a, where in found.items() if where == "shared"]
    if not blocks and not fits_static(arrays, shared):
        found.update(dict.fromkeys(shared, "workspace"))
    return found


def late_copies(nest: Nest, tree: Tree, places: Mapping[str, str], by_value: Collection[str]) -> frozenset[str]:
    """The statements marked as asynchronous that copy from global to shared memory.

    A copy that is used in its own piece is none: threads wait between pieces only.
    """
    found = []
    for statement in marked(tree, AsyncCopies):
        own = [w for w in writes(nest) if w.statement == statement]
        if own and all(_copies(w, places, by_value) for w in own):
            found.append(statement)
    parts = [p.nest for p in pieces(code_of(nest))] if found else []
    return frozenset(s for s in found if not any(_used_inside(part, s) for part in parts))


def _used_inside(nest: Nest, statement: str) -> bool:
    """Whether a nest reads what a statement in it writes."""
    made = {c.array for w in writes(nest) if w.statement == statement for c in w.cells}
    return any(r.tensor in made for w in writes(nest) for r in reads(*w.values))


def _copies(write: Write, places: Mapping[str, str], by_value: Collection[str]) -> bool:
    source = write.values[0]
    if not isinstance(source, Read):
        return False
    outside = places.get(source.tensor, "workspace") == "workspace"
    there = places.get(write.cells[0].array) == "shared"
    return moves_one_element(write) and outside and there and source.tensor not in by_value
