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
from workbench.lang.dtypes import DTYPES, INT32, INT64, DType
from workbench.lang.expr import Const, Read, substitute
from workbench.schedules.kernels.lane_instructions import WORD_BYTES, LaneInstruction, function_text, operands
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
    words = [] if found is None else [_word(lanes, write, kernel, read) for read in found]
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


def _word(lanes: Lanes, write: Write, kernel: LaneInstruction, read: Read) -> str | None:
    """The words of an operand: one for all lanes, or one after the other; None where it lies otherwise."""
    own, values = write.group, lanes.values
    assert own is not None
    if address_stride(values, read.tensor, read.subscripts, own.variable) != 1:
        return None
    at = tuple(simplify(substitute(s, {own.variable: Const(0, INT64)})) for s in read.subscripts)
    place, step = values.element(read.tensor, at), address_stride(values, read.tensor, at, lanes.lane.variable)
    wide = read.dtype.bytes * kernel.group < WORD_BYTES
    if step == 0:
        word = _pair(lanes, read.dtype) if wide else values.helpers.text("wb_word", WORD)
        return lanes.splat(f"{word}(&{place})", INT32)
    if step != own.count:
        return None
    if wide:
        return _pairs(lanes, kernel, read.dtype, place)
    words = f"*(const int32_t *)&{place}"
    return lanes.first(INT32, words) if lanes.lane.limit is not None else (
        f"*(const {values.helpers.type(INT32, lanes.lane.count)}_u *)&{place}"
    )  # fmt: skip


# -- Bytes that become integers of 16 bits on their way to the registers --

def _pair(lanes: Lanes, dtype: DType) -> str:
    """Name of the function that makes a word of two bytes."""
    name = f"wb_pair_{dtype.name}"
    text = "    return (int32_t)((uint32_t)p[1] << 16 | (uint16_t)p[0]);\n"
    return lanes.values.helpers.text(name, f"WB_INLINE int32_t {name}(const {dtype.c_name} *p) {{\n{text}}}\n")


def _pairs(lanes: Lanes, kernel: LaneInstruction, dtype: DType, place: str) -> str:
    """A vector of words of two bytes each, or of those that there are."""
    count, helpers = lanes.lane.count, lanes.values.helpers
    vector = helpers.type(INT32, count)
    name, early = f"{vector}_of_{dtype.name}", lanes.lane.limit is not None
    helpers.text(kernel.header, kernel.header)
    helpers.text(name, _WIDENING.format(name=name, c=dtype.c_name, bytes=2 * count, wide=4 * count, vector=vector))
    if not early:
        return f"{name}(&{place})"
    bits = 16 * count
    sizes = {"bytes": 2 * count, "half": count, "bits": bits, "short": "" if bits == 128 else bits}
    helpers.text(f"{name}_first", _FIRST.format(name=name, c=dtype.c_name, vector=vector, **sizes))
    return f"{name}_first(&{place}, {lanes.values.text(lanes.lane.present)})"


_WIDENING = """\
WB_INLINE {vector} {name}(const {c} *p) {{
    typedef {c} S __attribute__((vector_size({bytes}), aligned(1), may_alias));
    typedef int16_t W __attribute__((vector_size({wide})));
    return ({vector})__builtin_convertvector(*(const S *)p, W);
}}
"""

_FIRST = """\
WB_INLINE {vector} {name}_first(const {c} *p, int64_t words) {{
    {c} first[{bytes}] = {{0}};
#if defined(__AVX512BW__) && defined(__AVX512VL__) && (defined(_IMMINTRIN_H_INCLUDED) || defined(__IMMINTRIN_H))
    const unsigned there = (1u << (words < {half} ? words : {half})) - 1;
    _mm{short}_storeu_si{bits}((__m{bits}i *)first, _mm{short}_maskz_loadu_epi16(there, p));
#else
    __builtin_memcpy(first, p, 2*(size_t)(words < {half} ? words : {half}));
#endif
    return {name}(first);
}}
"""
