"""The program of a C function whose pointers have known lengths; pieces of one block of memory among them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from workbench.fromc.raising import raise_c
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Const
from workbench.poly.lowering import lower_as_said
from workbench.poly.programs.program import Program

PIECE = re.compile(r" \*restrict (\w+) = \(\w+ \*\)\(\(char \*\)workspace \+ (\d+)\);")
TOTAL = re.compile(r"_workspace\(.*\)\n{\n.*\n    return (\d+);")
UNBOUNDED = 1 << 59


def raised_at(text: str, function: str, lengths: Mapping[str, int]) -> Program:
    """The program of a C function at these lengths of its pointers, in elements; others may be as long as they like.

    `T *restrict p = (T *)((char *)workspace + n);` is a piece of a block from byte n on: it ends where the next one
    begins, the last one at the number of bytes that the text's function `..._workspace` returns.
    """
    operator = raise_c(text, function, in_order=True).operator
    given = {f"{name}_length": length for name, length in lengths.items()}
    lengthy = [f"{name}_length" for name in operator.tensors if f"{name}_length" in operator.size_names]
    program = lower_as_said(operator, {name: given.get(name, UNBOUNDED) for name in lengthy})
    starts = {name: int(at) for name, at in PIECE.findall(text) if name in program.arrays}
    total = TOTAL.search(text)
    limits = {*starts.values(), int(total[1]) if total else 0}
    arrays = dict(program.arrays)
    for name, start in starts.items():
        size = min((e for e in limits if e > start), default=start) - start
        extent = Const(size // arrays[name].dtype.bytes, INT64)
        arrays[name] = replace(arrays[name], extent=(*arrays[name].extent[: arrays[name].times], extent))
    return replace(program, arrays=arrays)
