"""Writes that one instruction executes for a group of contributions in every lane (`LaneInstruction`).

    for k_i < 2: C_r += A(m, 2*k_o + k_i) * B(k_o, n_i, k_i)   →   C_r = wb_vdpbf16ps_16(C_r, A's word, B's 16 words)

Operands that do not lie as the instruction takes them are multiplied by the loop.
"""

from __future__ import annotations

from workbench.codegen.c.expressions.encoded_operands import Encoding, in_code
from workbench.codegen.c.expressions.lanes import Lanes, address_stride
from workbench.codegen.c.expressions.writes import held_local
from workbench.codegen.nest.nest import Write
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import DTYPES, INT32, INT64
from workbench.lang.expr import Const, Read, substitute
from workbench.schedules.kernels.lane_instructions import LaneInstruction, function_text, operands
from workbench.schedules.kernels.micro_kernels import registered

WORD = """\
WB_INLINE int32_t wb_word(const void *p) {
    int32_t word;
    __builtin_memcpy(&word, p, 4);
    return word;
}
"""


def group_write(lanes: Lanes, write: Write, encoding: Encoding) -> list[str]:
    """The call of the instruction for all lanes; empty where something does not lie in its order."""
    if write.group is None or not lanes.lane.variable:
        return []
    kernel, local = registered(write.group.instruction), held_local(lanes.values, write.cells[0])
    if not isinstance(kernel, LaneInstruction) or local is None or not kernel.function(lanes.lane.count):
        return []
    found = operands(kernel, write.values[0])
    if found is not None and kernel.shifted:
        found = in_code(found, encoding)
    words = [] if found is None else [_word(lanes, write, read) for read in found]
    if len(words) != 2 or None in words:
        return []
    return [called(lanes, kernel, lanes.values.register(local), (words[0] or "", words[1] or ""))]


def called(lanes: Lanes, kernel: LaneInstruction, register: str, words: tuple[str, str]) -> str:
    """The statement that adds the products of two vectors of words to a register."""
    helpers, count = lanes.values.helpers, lanes.lane.count
    helpers.text(kernel.header, kernel.header)
    name = kernel.function(count)
    helpers.text(name, function_text(kernel.name, kernel.result, count, dict(kernel.forms)[count]))
    own = helpers.type(DTYPES[kernel.result], count)
    return f"{register} = ({own}){name}(({name}_r){register}, ({name}_w){words[0]}, ({name}_w){words[1]});"


def _word(lanes: Lanes, write: Write, read: Read) -> str | None:
    """The words of an operand: one for all lanes, or one after the other; None where it lies otherwise."""
    own, values = write.group, lanes.values
    assert own is not None
    if address_stride(values, read.tensor, read.subscripts, own.variable) != 1:
        return None
    at = tuple(simplify(substitute(s, {own.variable: Const(0, INT64)})) for s in read.subscripts)
    place, step = values.element(read.tensor, at), address_stride(values, read.tensor, at, lanes.lane.variable)
    word = values.helpers.text("wb_word", WORD)
    if step == 0:
        return lanes.splat(f"{word}(&{place})", INT32)
    if step != own.count:
        return None
    words = f"*(const int32_t *)&{place}"
    return lanes.first(INT32, words) if lanes.lane.limit is not None else (
        f"*(const {values.helpers.type(INT32, lanes.lane.count)}_u *)&{place}"
    )  # fmt: skip
