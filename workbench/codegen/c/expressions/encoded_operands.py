"""Operands that an instruction takes in another code: signed bytes with the first bit flipped, 128 higher.

The first operand of `vpdpbusd` has no sign.  A buffer that is read for nothing else holds its bytes so, as whoever
fills it writes them; 128 times the sum of the other operand is taken away again (`compensation`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from workbench.codegen.c.expressions.values import Values
from workbench.codegen.nest.nest import For, Nest, Write, children, only, writes
from workbench.lang.algebra.normal_form import depends, simplify
from workbench.lang.dtypes import INT8
from workbench.lang.expr import Binary, Const, Expr, Read, reads, substitute, transform
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.schedules.kernels.lane_instructions import LaneInstruction, operands
from workbench.schedules.kernels.micro_kernels import registered

FLIPPED = Const(-128, INT8)


@record(frozen=False)
class Encoding:
    """Buffers that hold numbers in the code of an instruction, and panels whose sums are known, by their names in C.

    While `summing`, what is added too much is taken away afterwards.
    """

    arrays: frozenset[str] = frozenset()
    sums: dict[str, str] = field(default_factory=dict)
    summing: bool = False


def shifted(write: Write) -> LaneInstruction | None:
    """The instruction of a write that takes its first operand in another code."""
    kernel = None if write.group is None else registered(write.group.instruction)
    return kernel if isinstance(kernel, LaneInstruction) and kernel.shifted else None


def encoding(nest: Nest, program: Program) -> Encoding:
    """The local arrays of which every read is the word that such an instruction gives to all lanes."""
    found = set(_words(nest, "", program))
    if not found:
        return Encoding()
    others = {r.tensor for w in writes(nest) for r in _read(w) if (w.group is None or r.tensor not in _own(w))}
    mixed = {c.array for w in writes(nest) if w.reduction is not None or w.atomic for c in w.cells}
    several = {r for w in writes(nest) if shifted(w) for r in _own(w) if r not in found}
    return Encoding(frozenset(found - others - mixed - several))


def _words(nest: Nest, lane: str, program: Program) -> Iterator[str]:
    if isinstance(nest, For) and nest.lanes > 1:
        lane = nest.variable
    if isinstance(nest, Write) and (kernel := shifted(nest)) and lane:
        for read in operands(kernel, nest.values[0]) or ():
            if program.arrays[read.tensor].scope == "local" and not any(depends(s, lane) for s in read.subscripts):
                yield read.tensor
    for child in children(nest):
        yield from _words(child, lane, program)


def _own(write: Write) -> set[str]:
    kernel = shifted(write)
    found = operands(kernel, write.values[0]) if kernel else None
    return {r.tensor for r in found or ()}


def _read(write: Write) -> list[Read]:
    return [*reads(*write.values, *(s for c in write.cells for s in c.subscripts))]


def encoded(own: Encoding, write: Write) -> Write:
    """A write in the code of the buffer that it fills."""
    if not any(c.array in own.arrays for c in write.cells):
        return write
    pairs = zip(write.cells, write.values, strict=True)
    values = (Binary("^", v, FLIPPED, INT8) if c.array in own.arrays else v for c, v in pairs)
    return replace(write, values=tuple(values))


def decoded(own: Encoding, write: Write) -> Write:
    """A write with what it reads of such buffers as numbers again."""

    def change(node: Expr) -> Expr:
        if isinstance(node, Read) and node.tensor in own.arrays:
            return Binary("^", node, FLIPPED, INT8)
        return node

    return replace(write, values=tuple(transform(v, change) for v in write.values))


FLIP = """\
WB_INLINE void wb_flip(void *words, int64_t count) {
    typedef uint32_t V __attribute__((vector_size(16), aligned(1), may_alias));
    char *p = words;
    int64_t i = 0;
    for (; i + 4 <= count; i += 4, p += 16) *(V *)p ^= (V){0x80808080u, 0x80808080u, 0x80808080u, 0x80808080u};
    for (; i < count; i++, p += 4) {
        uint32_t word;
        __builtin_memcpy(&word, p, 4);
        word ^= 0x80808080u;
        __builtin_memcpy(p, &word, 4);
    }
}
"""


def flip(own: Encoding, values: Values, loop: For, write: Write) -> list[str]:
    """What changes the code of words that an unrolled loop copied, where their buffer has another one."""
    cell, inner = write.cells[0], only(loop.body)
    if cell.array not in own.arrays:
        return []
    first, count = {loop.variable: loop.lower}, "1"
    if isinstance(inner, For):
        first[inner.variable], count = inner.lower, values.text(inner.upper)
    at = tuple(simplify(substitute(s, first)) for s in cell.subscripts)
    return [f"{values.helpers.text('wb_flip', FLIP)}(&{values.element(cell.array, at)}, {count});"]


def in_code(found: tuple[Read, Read], own: Encoding) -> tuple[Read, Read] | None:
    """The operands, the one in another code first; None unless the sums of the other are known."""
    first, second = found if found[0].tensor in own.arrays else found[::-1]
    return (first, second) if own.summing and first.tensor in own.arrays and second.tensor in own.sums else None
