"""The functions of a file around a warp's instruction: loads of its operands, and blocks of several fragments."""

from __future__ import annotations

from workbench.codegen.c.helpers import Helpers
from workbench.codegen.nest.nest import Invoke
from workbench.errors import CodegenError
from workbench.lang.algebra.normal_form import constant
from workbench.records import record
from workbench.schedules.kernels.matrix_loads import MOST, SIDE, MatrixLoad
from workbench.schedules.kernels.micro_kernels import registered
from workbench.schedules.kernels.warp_instructions import Fragment, WarpInstruction

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


LETTERS = {"wb_wide_pair": "w", "wb_pair": "s"}
Load = str | MatrixLoad


@record
class Operand:
    """How one operand is loaded: pointer, registers, how many fragments along which variable, the start of a fragment,
    strides and limits along both axes."""

    name: str
    registers: str
    variable: str
    count: int
    fragment: Fragment
    start: tuple[str, str]
    strides: tuple[str, str]
    limits: tuple[str, str]
    load: Load


def block_function(helpers: Helpers, call: Invoke, loads: tuple[Load, Load], *, whole: bool) -> str:
    """Name of the function that executes a call, noted as used.

    `loads` are the functions that load both operands; where the part is `whole`, nothing of it is beyond the sizes.
    """
    kernel = registered(call.kernel)
    assert isinstance(kernel, WarpInstruction)
    m, n, _ = kernel.shape
    spans = [constant(s) or 0 for s in call.sizes[:3]]
    counts = spans[0] // m, spans[1] // n
    limits = (("", ""), ("", "")) if whole else (("rows", "depth"), ("depth", "columns"))
    places = ((f"{m}*i", "k"), ("a_m", "a_k"), limits[0]), (("k", f"{n}*j"), ("b_k", "b_n"), limits[1])
    left = Operand("a", "left", "i", counts[0], kernel.left, *places[0], loads[0])
    right = Operand("b", "right", "j", counts[1], kernel.right, *places[1], loads[1])
    for load in loads:
        if isinstance(load, str):
            helpers.text(load, TEXTS[load])
    kind = call.arrays[0][0].dtype.c_name
    lines = [*_loading(helpers, left, kind), *_loading(helpers, right, kind)]
    helpers.text(kernel.name, f"#ifndef {kernel.name}\n{kernel.source}#endif\n")
    letters = "".join(("t" if x.turned else "m") if isinstance(x, MatrixLoad) else LETTERS.get(x, "") for x in loads)
    only_whole = whole and not any(isinstance(x, MatrixLoad) for x in loads)
    parts = (kernel.name, "x".join(map(str, spans)), letters, "whole" * only_whole)
    name = "_".join(filter(None, parts))
    return helpers.text(name, _text(name, kernel, spans, (left, right), kind, lines))


def _text(
    name: str, kernel: WarpInstruction, spans: list[int], operands: tuple[Operand, Operand], kind: str,
    loads: list[str],
) -> str:  # fmt: skip
    left, right = operands
    said = f"{spans[0]} x {spans[1]} cells and {spans[2]} contributions"
    beyond = "; beyond rows, columns and depth there are zeros" if left.limits[0] else ""
    matrices = [isinstance(x.load, MatrixLoad) for x in operands]
    words = [x.fragment.registers // (2 if kind == "uint16_t" else 1) for x in operands]
    result = f"c + {kernel.result.registers}*({right.count}*i + j)"
    return "\n".join([
        f"/* c += a * b for {said}, by the 32 lanes of a warp{beyond}. */",
        f"WB_INLINE void {name}(",
        f"    float *c, const {kind} *a, int64_t a_m, int64_t a_k, const {kind} *b, int64_t b_k, int64_t b_n"
        + (",\n    int64_t rows, int64_t columns, int64_t depth)" if left.limits[0] else ")"),
        "{",
        *(["    const int64_t x = threadIdx.x, y = threadIdx.y;"] if not all(matrices) else []),
        *(["    const unsigned lane = threadIdx.x + 4 * threadIdx.y;"] if any(matrices) else []),
        "    __syncwarp();",
        f"    WB_UNROLL for (int64_t k = 0; k < {spans[2]}; k += {kernel.shape[2]}) {{",
        f"        uint32_t left[{left.count * words[0]}];",
        f"        uint32_t right[{right.count * words[1]}];",
        *(f"        {line}" for line in loads),
        f"        WB_UNROLL for (int64_t i = 0; i < {left.count}; i++) {{",
        f"            WB_UNROLL for (int64_t j = 0; j < {right.count}; j++) {{",
        f"                {kernel.name}({result}, left + {words[0]}*i, right + {words[1]}*j);",
        "            }",
        "        }",
        "    }",
        "    __syncwarp();",
        "}",
    ]) + "\n"  # fmt: skip


def _loading(helpers: Helpers, operand: Operand, kind: str) -> list[str]:
    """The loads of all fragments of an operand for one step."""
    variable, load = operand.variable, operand.load
    step = fragments_together(load, operand.count) if isinstance(load, MatrixLoad) else 1
    next_one = f"{variable}++" if step == 1 else f"{variable} += {step}"
    loop = f"WB_UNROLL for (int64_t {variable} = 0; {variable} < {operand.count}; {next_one}) {{"
    words = operand.fragment.registers // (2 if kind == "uint16_t" else 1)
    if isinstance(load, MatrixLoad):
        along = 0 if variable in operand.start[0] else 1
        fragment = int(operand.start[along].partition("*")[0])
        function, cell = ldmatrix(helpers, load, step, (along, fragment), operand.start)
        address = " + ".join(f"({x})*{s}" for x, s in zip(cell, operand.strides, strict=True))
        return [loop, f"    {function}({operand.registers} + {words}*{variable}, {operand.name} + {address});", "}"]
    per = operand.fragment.registers // words
    at = [f"{operand.registers}[{words}*{variable}{f' + {r}' if r else ''}]" for r in range(words)]
    return [loop, *(f"    {cell} = {_load(operand, load, r * per)};" for r, cell in enumerate(at)), "}"]


def _load(operand: Operand, load: str, register: int) -> str:
    """The load of one register of a lane."""
    at = [_coordinate(operand, axis, register) for axis in (0, 1)]
    cell = " + ".join(f"({text})*{stride}" for text, stride in zip(at, operand.strides, strict=True))
    there = [f"{text} < {limit}" for text, limit in zip(at, operand.limits, strict=True) if limit]
    if load == "wb_word":
        return f"wb_word({operand.name} + {cell}, {' && '.join(there) or 'true'})"
    pair = operand.fragment.register[0].index(1)
    left = f"{there[1 - pair]} ? {operand.limits[pair]} - ({at[pair]}) : 0" if there else "2"
    apart = "" if load == "wb_wide_pair" else f"{operand.strides[pair]}, "
    return f"{load}({operand.name} + {cell}, {apart}{left})"


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


# -- Fragments loaded from shared memory by `ldmatrix`: the functions around the PTX, and where each lane points --
# Whoever defines a function's name before the text (as a processor does) takes its place.

SAID = "from shared memory: lane l points at row l % 8 of matrix l / 8, and gets two neighbours in"


def fragments_together(load: MatrixLoad, count: int) -> int:
    """How many fragments one load fetches."""
    return next(n for n in (4, 2, 1) if count % n == 0 and n * len(load.places) <= MOST)


def ldmatrix(
    helpers: Helpers, load: MatrixLoad, together: int, step: tuple[int, int], start: tuple[str, str]
) -> tuple[str, tuple[str, str]]:
    """Name of the function, noted as used, and the row and column at which a lane points.

    The next fragment lies `step` (axis, cells) further; `start` is where the first one begins.
    """
    axis, cells = step
    bits = [load.places[1 << b] for b in range(len(load.places).bit_length() - 1)]
    next_ones = [cells << b for b in range(together.bit_length() - 1)]
    bits += [(n, 0) if axis == 0 else (0, n) for n in next_ones]
    count = len(load.places) * together
    name = f"wb_ldmatrix_x{count}" + "_trans" * load.turned
    helpers.text(name, _function(name, count, turned=load.turned))
    return name, (_place(load, bits, start, 0), _place(load, bits, start, 1))


def _place(load: MatrixLoad, bits: list[tuple[int, int]], start: tuple[str, str], axis: int) -> str:
    """`16*i + lane % 16`: the coordinate at which a lane points."""
    moves, run = [m[axis] for m in bits], 0
    if axis == load.rows:
        run = next((n for n, m in enumerate(moves) if m != SIDE << n), len(moves))
    terms = [start[axis]] + ([f"lane % {SIDE << run}"] if axis == load.rows else [])
    for b, move in list(enumerate(moves))[run:]:
        last = "" if b == 1 else " % 2"  # of 32 lanes, 16 are beyond this bit
        terms += [f"lane / {SIDE << b}{last} * {move}"] if move else []
    return " + ".join(terms)


def _function(name: str, count: int, *, turned: bool) -> str:
    trans = ".trans" if turned else ""
    registers = ", ".join(f"%{n}" for n in range(count))
    outputs = ", ".join(f'"=r"(r[{n}])' for n in range(count))
    matrices = f"{count} matrices" if count > 1 else "A matrix"
    return f"""\
#ifndef {name}
/* {matrices} of {SIDE} x {SIDE} {SAID} {"column" if turned else "row"} l / 4 of each. */
WB_INLINE void {name}(uint32_t *r, const uint16_t *row)
{{
    asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{registers}}}, [%{count}];"
        : {outputs} : "r"((unsigned)__cvta_generic_to_shared(row)) : "memory");
}}
#endif
"""
