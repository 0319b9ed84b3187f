"""Functions of C that old records name: products of 8- and 16-bit numbers, which are schedules now.

    replace("C/m", "wb_vnni512_ss_i8_i8")

A record with such a step is read, and computes what it did, by plain loops: what made the functions fast, packing and
an instruction at the bottom, is in today's recipes, which need no record.
"""

from __future__ import annotations

import re
from functools import cache

from workbench.lang.dtypes import DTYPES
from workbench.schedules.kernels.micro_kernels import MicroKernel

TYPES = {"i8": "int8", "u8": "uint8", "bf16": "bfloat16", "f16": "float16", "f32": "float32"}
INSTRUCTIONS = "amx|vnni|madd|bf16|sdot|udot|usdot|bfdot|smmla|usmmla|ummla|bfmmla|widened"
NAME = re.compile(
    rf"wb_(?:{INSTRUCTIONS})\w*?_({'|'.join(TYPES)})_({'|'.join(TYPES)})(?:_c([12])k([123])(r0)?)?", re.ASCII
)

WIDENED = {"bfloat16": "wb_former_bf16", "float16": "wb_former_f16"}
CONVERSIONS = """\
#ifndef WB_FORMER
#define WB_FORMER
WB_INLINE float wb_former_bf16(uint16_t x) {
    const uint32_t u = (uint32_t)x << 16;
    float f; __builtin_memcpy(&f, &u, 4);
    return f;
}
WB_INLINE float wb_former_f16(uint16_t h) {
    uint32_t u = (uint32_t)(h & 0x7fffu) << 13;
    float y; __builtin_memcpy(&y, &u, 4);
    y *= 0x1p112f;
    __builtin_memcpy(&u, &y, 4);
    u |= (y < 65536.0f ? 0u : 0x7f800000u) | (uint32_t)(h & 0x8000u) << 16;
    __builtin_memcpy(&y, &u, 4);
    return y;
}
#endif
"""


@cache
def former_function(name: str) -> MicroKernel | None:
    """The product that a function of this name computed, of one or two loops over columns (`c2`), one to three over
    contributions (`k3`), and rows unless it was a vector's (`r0`); None if there was none of the name.
    """
    found = NAME.fullmatch(name)
    if found is None:
        return None
    left, right, columns, depths, vector = found.groups()
    loops = ("" if vector else "m", "krs"[: int(depths or 1)], "yn"[-int(columns or 1) :])
    return _product(name, TYPES[left], TYPES[right], loops)


def _product(name: str, left: str, right: str, loops: tuple[str, str, str]) -> MicroKernel:
    rows, depths, columns = loops
    result = "int32" if left.endswith("int8") else "float32"
    inner = columns[:-1] + depths[1:2] + columns[-1] + depths[2:]
    arrays = {"A": rows + depths, "B": depths[0] + inner, "C": rows + columns}
    cells = {a: f"{a}({','.join(names)})" for a, names in arrays.items()}
    sizes = {a: ",".join(names.upper()) for a, names in arrays.items()}
    value = f"{result}({cells['A']}) * {result}({cells['B']})"
    parameters = f"{left}({sizes['A']}) A, {right}({sizes['B']}) B"
    definition = f"def product({parameters}) -> (C) {{ {cells['C']} += {value} }}"
    return MicroKernel(name, definition, _source(name, (left, right, result), arrays, loops))


def _source(name: str, types: tuple[str, str, str], arrays: dict[str, str], loops: tuple[str, str, str]) -> str:
    """Plain loops with the arguments of a micro-kernel."""
    places = {a: " + ".join(f"{i}*{a}_{i}" for i in names) for a, names in arrays.items()}
    given = zip("ABC", ("const ", "const ", ""), types, strict=True)
    arguments = [
        x for a, const, kind in given
        for x in (f"{const}{DTYPES[kind].c_name} *{a}", *(f"int64_t {a}_{i}" for i in arrays[a]))
    ]  # fmt: skip
    rows, depths, columns = loops
    arguments += [f"int64_t {i.upper()}" for i in rows + depths + columns]
    heads = "".join(f"    for (int64_t {i} = 0; {i} < {i.upper()}; {i}++)\n" for i in rows + columns + depths)
    wide = [WIDENED.get(kind, f"({DTYPES[types[2]].c_name})") for kind in types[:2]]
    factors = (f"{wide[n]}({a}[{places[a]}])" for n, a in enumerate("AB"))
    sum_ = f"        C[{places['C']}] += {' * '.join(factors)};\n"
    return f"{CONVERSIONS}static void {name}({', '.join(arguments)})\n{{\n{heads}{sum_}}}\n"
