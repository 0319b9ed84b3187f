"""Temporaries that nobody knows but registers have no memory: their cells need not be stored.

    { C_r = 0;  C_r += A * B;  O = max(C_r, 0);  C = C_r; }   →   { C_r = 0;  C_r += A * B;  O = max(C_r, 0); }
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.nest.nest import (
    Accumulate,
    Block,
    Cell,
    Define,
    For,
    Hold,
    If,
    Nest,
    Place,
    Write,
    children,
    transform,
    walk,
    writes,
)
from workbench.codegen.passes.register_tiles.accumulators import reads_of
from workbench.lang.expr import Expr, reads
from workbench.poly.programs.program import Program

Held = frozenset[Cell]


def without_dead_stores(nest: Nest, program: Program) -> Nest:
    """The nest without the stores, and without the places, of temporaries whose every touch is one of a register."""
    held = dict.fromkeys(x.cell.array for n in walk(nest) if isinstance(n, Accumulate) for x in n.locals)
    known = [a for a in held if program.arrays[a].role == "temporary"]
    dead = {array for array in known if _only_held(nest, array, frozenset())}

    def change(node: Nest) -> Nest:
        if isinstance(node, Accumulate) and {x.cell.array for x in node.locals} <= dead:
            return replace(node, stores=False)
        return node.body if isinstance(node, Place) and node.array in dead else node

    return transform(nest, change) if dead else nest


def _only_held(nest: Nest, array: str, held: Held) -> bool:
    """Whether registers that begin with values of their own stand for every cell of the array that is touched."""
    match nest:
        case Accumulate(locals_, _, body, loads, _):
            own = [x for x in locals_ if x.cell.array == array]
            if own and (loads or len(own) < len(locals_) or any(x.partial for x in own)):
                return False
            return _only_held(body, array, held | {x.cell for x in own})
        case Write(_, cells, values):
            subscripts = [e for c in cells for e in c.subscripts]
            touched = [r for e in (*values, *subscripts) for r in reads(e) if r.tensor == array]
            read = all(Cell(array, r.subscripts, r.dtype) in held for r in touched)
            return read and all(c in held for c in cells if c.array == array)
        case For() | If() | Define() | Hold():
            known = not any(r.tensor == array for e in _own(nest) for r in reads(e))
            return known and all(_only_held(child, array, held) for child in children(nest))
        case Block() | Place():
            return all(_only_held(child, array, held) for child in children(nest))
    written = {c.array for w in writes(nest) for c in w.cells}
    return array not in written | {r.tensor for r in reads_of(nest)}  # what micro-kernels take is in memory


def _own(nest: Nest) -> tuple[Expr, ...]:
    """The expressions of a node itself."""
    match nest:
        case For(_, _, lower, upper):
            return lower, upper
        case If(condition):
            return (condition,)
        case Define(_, value) | Hold(_, value):
            return (value,)
    return ()
