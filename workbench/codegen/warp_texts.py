"""The functions of a file around a warp's instruction: loads of its operands, and blocks of several fragments."""

from __future__ import annotations

from workbench.codegen.c_helpers import Helpers
from workbench.codegen.nest import Invoke
from workbench.errors import CodegenError
from workbench.lang.normal_form import constant
from workbench.records import record
from workbench.schedules.micro_kernels import registered
from workbench.schedules.warp_instructions import Fragment, WarpInstruction

PAIR = """\
/* Two neighbours of a fragment as one register; what is not there is 0. */
WB_INLINE uint32_t wb_pair(const uint16_t *cell, int64_t apart, int64_t left)
{
    return left > 1 ? cell[0] | (uint32_t)cell[apart] << 16 : left > 0 ? cell[0] : 0;
}
"""
WIDE_PAIR = """\
/* The same where both lie side by side, and 4 bytes may be read at once. */
WB_INLINE uint32_t wb_wide_pair(const uint16_t *cell, int64_t left)
{
    return left > 1 ? *(const uint32_t *)cell : left > 0 ? cell[0] : 0;
}
"""
WORD = """\
/* The bits of one element of a fragment; 0 if it is not there. */
WB_INLINE uint32_t wb_word(const float *cell, bool there)
{
    uint32_t bits = 0;
    if (there) __builtin_memcpy(&bits, cell, sizeof bits);
    return bits;
}
"""
TEXTS = {"wb_pair": PAIR, "wb_wide_pair": WIDE_PAIR, "wb_word": WORD}


@record
class Operand:
    """How one operand is loaded: its name, its fragment, the start of a fragment and the limit along both axes."""

    name: str
    fragment: Fragment
    start: tuple[str, str]
    strides: tuple[str, str]
    limits: tuple[str, str]
    load: str


def block_function(helpers: Helpers, call: Invoke, wide: tuple[bool, bool]) -> str:
    """Name of the function that executes a call, noted as used.

    `wide` says of both operands whether pairs of neighbours may be read at once.
    """
    kernel = registered(call.kernel)
    assert isinstance(kernel, WarpInstruction)
    m, n, _ = kernel.shape
    bits = call.arrays[0][0].dtype.bits
    loads = ["wb_word" if bits == 32 else "wb_wide_pair" if pairs else "wb_pair" for pairs in wide]
    left = Operand("a", kernel.left, (f"{m}*i", "k"), ("a_m", "a_k"), ("rows", "depth"), loads[0])
    right = Operand("b", kernel.right, ("k", f"{n}*j"), ("b_k", "b_n"), ("depth", "columns"), loads[1])
    for load in loads:
        helpers.text(load, TEXTS[load])
    helpers.text(kernel.name, f"#ifndef {kernel.name}\n{kernel.source}#endif\n")
    spans = [constant(s) or 0 for s in call.sizes[:3]]
    kinds = "".join({"wb_wide_pair": "w", "wb_pair": "s"}.get(x, "") for x in loads)
    name = f"{kernel.name}_{'x'.join(map(str, spans))}" + (f"_{kinds}" if kinds else "")
    return helpers.text(name, _text(name, kernel, spans, left, right, call.arrays[0][0].dtype.c_name))


def _text(name: str, kernel: WarpInstruction, spans: list[int], left: Operand, right: Operand, kind: str) -> str:
    rows, columns = spans[0] // kernel.shape[0], spans[1] // kernel.shape[1]
    first, second = _loads(left, kind), _loads(right, kind)
    registers = kernel.result.registers
    said = f"{spans[0]} x {spans[1]} cells and {spans[2]} contributions"
    lines = [
        f"/* c += a * b for {said}, by the 32 lanes of a warp; beyond rows, columns and depth there are zeros. */",
        f"WB_INLINE void {name}(",
        f"    float *c, const {kind} *a, int64_t a_m, int64_t a_k, const {kind} *b, int64_t b_k, int64_t b_n,",
        "    int64_t rows, int64_t columns, int64_t depth)",
        "{",
        "    const int64_t x = threadIdx.x, y = threadIdx.y;",
        "    __syncwarp();",
        f"    WB_UNROLL for (int64_t k = 0; k < {spans[2]}; k += {kernel.shape[2]}) {{",
        f"        uint32_t left[{rows}][{len(first)}], right[{len(second)}];",
        f"        WB_UNROLL for (int64_t i = 0; i < {rows}; i++) {{",
        *(f"            left[i][{r}] = {text};" for r, text in enumerate(first)),
        "        }",
        f"        WB_UNROLL for (int64_t j = 0; j < {columns}; j++) {{",
        *(f"            right[{r}] = {text};" for r, text in enumerate(second)),
        f"            WB_UNROLL for (int64_t i = 0; i < {rows}; i++)",
        f"                {kernel.name}(c + {registers}*({columns}*i + j), left[i], right);",
        "        }",
        "    }",
        "    __syncwarp();",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _loads(operand: Operand, kind: str) -> list[str]:
    """The load of each register of a lane."""
    per = 2 if kind == "uint16_t" else 1
    return [_load(operand, r * per) for r in range(operand.fragment.registers // per)]


def _load(operand: Operand, register: int) -> str:
    at = [_coordinate(operand, axis, register) for axis in (0, 1)]
    cell = " + ".join(f"({text})*{stride}" for text, stride in zip(at, operand.strides, strict=True))
    there = [f"{text} < {limit}" for text, limit in zip(at, operand.limits, strict=True)]
    if operand.load == "wb_word":
        return f"wb_word({operand.name} + {cell}, {' && '.join(there)})"
    pair = operand.fragment.register[0].index(1)
    left = f"{there[1 - pair]} ? {operand.limits[pair]} - ({at[pair]}) : 0"
    apart = "" if operand.load == "wb_wide_pair" else f"{operand.strides[pair]}, "
    return f"{operand.load}({operand.name} + {cell}, {apart}{left})"


def _coordinate(operand: Operand, axis: int, register: int) -> str:
    """`16*i + y + 8`: the row or column of a register's first element in a lane."""
    lane = operand.fragment.lane
    terms = [operand.start[axis]]
    for name, bits in (("y", lane[2:]), ("x", lane[:2])):
        step = bits[0][axis]
        if any(move[axis] != step << i for i, move in enumerate(bits)):
            raise CodegenError(f"the lanes of {operand.name} do not follow one another along thread.{name}")
        terms += [] if not step else [name] if step == 1 else [f"{step}*{name}"]
    number = operand.fragment.place(0, register)[axis]
    return " + ".join([*terms, *([str(number)] if number else [])])
