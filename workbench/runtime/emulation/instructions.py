"""What a processor executes in place of a warp's instruction: C++ from the places of its registers.

The lanes exchange their registers, and each computes the cells that it holds, contribution after contribution.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.lang.dtypes import DType
from workbench.schedules.kernels.micro_kernels import known_kernels
from workbench.schedules.kernels.warp_instructions import LANES, Fragment, WarpInstruction

EXCHANGE = """
namespace wb_cpu {
template <int WORDS> struct Words { uint32_t word[WORDS]; };

/* The registers of all lanes; every lane of the warp has to come. */
template <int WORDS> WB_CPU_SLOW void exchange(int64_t line, const uint32_t *own, Words<WORDS> *all) {
    Words<WORDS> value;
    for (int n = 0; n < WORDS; ++n) value.word[n] = own[n];
    publish(line, 0xffffffffu, value);
    for (unsigned lane = 0; lane < WARP; ++lane) all[lane] = taken<Words<WORDS>>(0xffffffffu, lane);
    here->collectives++;
}
WB_CPU float element_bfloat16(const uint32_t *words, int n) {
    return __uint_as_float((words[n / 2] >> n % 2 * 16) << 16);
}
WB_CPU float element_float16(const uint32_t *words, int n) {
    return __half2float({(uint16_t)(words[n / 2] >> n % 2 * 16)});
}
WB_CPU float element_float32(const uint32_t *words, int n) { return __uint_as_float(words[n]); }
WB_CPU float shortened(float value, int bits) {
    uint32_t whole = __float_as_uint(value), half = bits ? 1u << (22 - bits) : 0;
    return value - value == 0 ? __uint_as_float((whole + half) & ~(2 * half - (half != 0))) : value;
}
}  // namespace wb_cpu
"""

LDMATRIX = """
namespace wb_cpu {
/* The lanes exchange where their rows begin; each takes two neighbours of every matrix. */
template <int count, bool turned> WB_CPU_SLOW void load_matrices(int64_t line, uint32_t *own, const uint16_t *row) {
    WB_CPU_SEES(own, 4 * count, WRITE, line);
    publish(line, 0xffffffffu, row);
    unsigned lane = here->linear % WARP, first = lane / 4, second = lane % 4 * 2;
    for (unsigned n = 0; n < count; ++n) {
        const uint16_t *low = taken<const uint16_t *>(0xffffffffu, 8 * n + (turned ? second : first));
        const uint16_t *high = turned ? taken<const uint16_t *>(0xffffffffu, 8 * n + second + 1) : low;
        low += turned ? first : second;
        high += turned ? first : second + 1;
        WB_CPU_SEES(low, 2, READ, line);
        WB_CPU_SEES(high, 2, READ, line);
        own[n] = *(const volatile uint16_t *)low | (uint32_t)*(const volatile uint16_t *)high << 16;
    }
    here->collectives++;
}
}  // namespace wb_cpu
""" + "".join(
    f"#define wb_ldmatrix_x{count}{trans}(own, row) ::wb_cpu::load_matrices<{count}, {turned}>(__LINE__, own, row)\n"
    for count in (1, 2, 4)
    for trans, turned in (("", "false"), ("_trans", "true"))
)


def instructions_in(source: str) -> str:
    """C++ for the instructions that a text mentions, to stand before it; empty if there are none."""
    found = [k for k in known_kernels() if isinstance(k, WarpInstruction) and k.name in source]
    loads = LDMATRIX if "wb_ldmatrix_x" in source else ""
    return "".join((EXCHANGE, loads, *(text for k in found for text in _lines(k)))) if found else ""


def _lines(kernel: WarpInstruction) -> Iterator[str]:
    m, n, k = kernel.shape
    dtype, name = kernel.operator.tensors["A"].dtype, kernel.name
    words = [f.registers * dtype.bits // 32 for f in (kernel.left, kernel.right)]
    kept = f"const unsigned char at[{LANES}][{kernel.result.registers}][2] = {_places(kernel.result)};"
    yield f"""
#define {name}(d, a, b) ::wb_cpu::{name}_lanes(__LINE__, d, a, b)
namespace wb_cpu {{
WB_CPU_SLOW void {name}_lanes(int64_t line, float *d, const uint32_t *a, const uint32_t *b) {{
    static {kept}
    Words<{words[0]}> lefts[WARP];
    Words<{words[1]}> rights[WARP];
    float left[{m}][{k}], right[{k}][{n}];
    WB_CPU_SEES(d, sizeof(float) * {kernel.result.registers}, UPDATE, line);
    WB_CPU_SEES(a, sizeof *a * {words[0]}, READ, line);
    WB_CPU_SEES(b, sizeof *b * {words[1]}, READ, line);
    exchange(line, a, lefts);
    exchange(line, b, rights);
{_spread("left", kernel.left, dtype, kernel.mantissa)}{_spread("right", kernel.right, dtype, kernel.mantissa)}\
    for (int r = 0; r < {kernel.result.registers}; ++r) {{
        const unsigned char *cell = at[here->linear % WARP][r];
        for (int k = 0; k < {k}; ++k) d[r] += left[cell[0]][k] * right[k][cell[1]];
    }}
}}
}}  // namespace wb_cpu
"""


def _spread(name: str, fragment: Fragment, dtype: DType, mantissa: int) -> str:
    """The elements of an operand from the registers of the lanes to their rows and columns."""
    value = f"element_{dtype.name}({name}s[lane].word, r)"
    value = f"shortened({value}, {mantissa})" if mantissa else value
    table = f"static const unsigned char {name}_at[{LANES}][{fragment.registers}][2] = {_places(fragment)};"
    return f"""\
    {table}
    for (unsigned lane = 0; lane < WARP; ++lane)
        for (int r = 0; r < {fragment.registers}; ++r)
            {name}[{name}_at[lane][r][0]][{name}_at[lane][r][1]] = {value};
"""


def _places(fragment: Fragment) -> str:
    """Row and column of each register of each lane."""
    rows = [[fragment.place(lane, r) for r in range(fragment.registers)] for lane in range(LANES)]
    return "{" + ", ".join("{" + ", ".join(f"{{{x}, {y}}}" for x, y in row) + "}" for row in rows) + "}"
