"""Operands of products in panels: the C text that copies them into the order in which registers read them.

A panel holds, for each group of neighbouring k, a word for each of its rows (of A) or columns (of B): "lanes" here.
Along memory lie either the lanes, and words are put together from several places, or the k, and squares of words
are transposed; anything else is gathered number by number.  What is missing at the end is zero.
"""

from __future__ import annotations

from workbench.lang.dtypes import DTYPES
from workbench.records import record
from workbench.schedules.kernels.product_tiles import filled

READ = {"bfloat16": "wb_word_bf16", "float16": "wb_word_f16"}
READ_FOUR = {"bfloat16": "wb_four_bf16", "float16": "wb_four_f16"}
CONVERSIONS = """\
#ifndef WB_WORDS
#define WB_WORDS
WB_INLINE float wb_word_bf16(uint16_t x) {
    uint32_t u = (uint32_t)x << 16;
    float f; __builtin_memcpy(&f, &u, 4);
    return f;
}
WB_INLINE float wb_word_f16(uint16_t h) {
    uint32_t u = (uint32_t)(h & 0x7fffu) << 13;
    float y; __builtin_memcpy(&y, &u, 4);
    y *= 0x1p112f;
    __builtin_memcpy(&u, &y, 4);
    u |= (y < 65536.0f ? 0u : 0x7f800000u) | (uint32_t)(h & 0x8000u) << 16;
    __builtin_memcpy(&y, &u, 4);
    return y;
}
/* Four at once. */
typedef float wb_four __attribute__((vector_size(16)));
typedef uint16_t wb_four_words __attribute__((vector_size(8)));
typedef uint32_t wb_four_wide __attribute__((vector_size(16)));
WB_INLINE wb_four wb_four_bf16(wb_four_words x) {
    return (wb_four)(__builtin_convertvector(x, wb_four_wide) << 16);
}
WB_INLINE wb_four wb_four_f16(wb_four_words h) {
#if defined(__F16C__)
    wb_four y;
    __asm__("vcvtph2ps %1, %0" : "=x"(y) : "m"(h));
    return y;
#else
    return (wb_four){wb_word_f16(h[0]), wb_word_f16(h[1]), wb_word_f16(h[2]), wb_word_f16(h[3])};
#endif
}
#endif
"""
VECTOR_BYTES = 16

AHEAD = 12
"""Depths after those being packed whose cache lines are asked for: rows may lie pages apart."""


@record
class Panel:
    """How an operand lies in a panel: the C type of an element, how many k stand together, what is added to each."""

    type: str
    group: int
    offset: int = 0

    @property
    def bytes(self) -> int:
        """Bytes of an element."""
        return {"float": 4}.get(self.type) or int("".join(x for x in self.type if x.isdigit())) // 8


def packing(name: str, source: str, panel: Panel, lanes: int, unit: int, last: str) -> str:
    """The function that copies an operand, elements of type `source`, into panels of `lanes` lanes.

    `unit` lanes along memory are copied at a time; `last` is the number of lanes of a panel with `n` of them filled.
    """
    read = f"{READ[source]}(%s)" if panel.type == "float" and source in READ else "%s"
    read += f" + {panel.offset}" if panel.offset else ""
    values = {
        "NAME": name, "SOURCE": DTYPES[source].c_name, "TYPE": panel.type, "LANES": lanes, "GROUP": panel.group,
        "UNIT": unit, "AHEAD": AHEAD, "LAST": last, "ANY": read % "src[at[q]]",
    }  # fmt: skip
    values |= {"LOADED": _four(panel, source, ["src"])}
    chunk = VECTOR_BYTES // panel.bytes
    if panel.group > 1 and lanes % chunk == 0:
        loads = [
            f"    const T v{q} = __builtin_convertvector(*(const S *)(src + at[{q}]), T){read[2:]};\n"
            for q in range(panel.group)
        ]
        values |= {"WORD": "uint32_t", "UNIT": chunk, "LOADS": "".join(loads), "MIXED": _mixed(panel, chunk)}
        return filled(_ANY + _VECTORS + _SQUARE + _PACKING, {"ALONG_LANES": _UNITS, "ALONG_DEPTH": _SQUARES} | values)
    across = _four(panel, source, [f"src + at[{q}] + r" for q in range(panel.group)])
    values |= {"WORD": panel.type if panel.group == 1 else "uint32_t", "ACROSS": across}
    return filled(_ANY + _UNIT + _SQUARE + _PACKING, {"ALONG_LANES": _UNITS, "ALONG_DEPTH": _SQUARES} | values)


def _four(panel: Panel, source: str, places: list[str]) -> str:
    """Statements that make the vector `four`: words of one number from each place, or of neighbours from the only one.

    The numbers come as vectors, for compilers make none of a loop over single ones.
    """
    of, count = DTYPES[source], VECTOR_BYTES // panel.bytes
    size, part = count * of.bytes, count * of.bytes // len(places)
    lines = [
        f"typedef {of.c_name} S __attribute__((vector_size({size})));",
        f"typedef {panel.type} T __attribute__((vector_size({VECTOR_BYTES})));",
    ]
    if len(places) == 1:
        lines += ["S s;", f"__builtin_memcpy(&s, {places[0]}, {size});"]
    else:
        names = [f"p{q}" for q in range(len(places))]
        lines += [f"typedef uint{8 * part}_t P __attribute__((vector_size({size})));"]
        lines += [f"uint{8 * part}_t {', '.join(names)};"]
        lines += [f"__builtin_memcpy(&{p}, {x}, {part});" for p, x in zip(names, places, strict=True)]
        lines += [f"const S s = (S)(P){{{', '.join(names)}}};"]
    wide = panel.type == "float" and source in READ_FOUR
    taken = f"{READ_FOUR[source]}(s)" if wide else "__builtin_convertvector(s, T)"
    lines += [f"const T t = {taken}{f' + {panel.offset}' if panel.offset else ''};"]
    order = ", ".join(str(4 * q + r) for r in range(4) for q in range(len(places)))
    lines += [f"const T four = __builtin_shufflevector(t, t, {order});" if len(places) > 1 else "const T four = t;"]
    return "\n        ".join(lines)


def _mixed(panel: Panel, chunk: int) -> str:
    """The elements of vectors v0, v1, ... side by side, then pairs of them: words, lane after lane, are stored."""
    lines, last = _side_by_side(8 * panel.bytes, chunk, "v0", "v1")
    if panel.group == 4:
        more, other = _side_by_side(8 * panel.bytes, chunk, "v2", "v3")
        low, first = _side_by_side(16 * panel.bytes, chunk // 2, last[0], other[0])
        high, second = _side_by_side(16 * panel.bytes, chunk // 2, last[1], other[1])
        lines, last = lines + more + low + high, first + second
    return lines + "".join(f"    ((U *)dst)[{n}] = (U){x};\n" for n, x in enumerate(last))


def _side_by_side(bits: int, lanes: int, a: str, b: str) -> tuple[str, list[str]]:
    """Two statements that make vectors `al` and `ah` of the elements of a and b in turn, and their names."""
    lines = ""
    for name, start in (("l", 0), ("h", lanes // 2)):
        order = ", ".join(f"{start + i}, {lanes + start + i}" for i in range(lanes // 2))
        lines += f"    const V{bits} {a}{name} = __builtin_shufflevector((V{bits}){a}, (V{bits}){b}, {order});\n"
    return lines, [f"{a}l", f"{a}h"]


_ANY = """\
WB_INLINE void $NAME$_any($TYPE$ *restrict dst, const $SOURCE$ *restrict src, const int64_t *at, int64_t count)
{
    for (int64_t q = 0; q < count; q++) dst[q] = $ANY$;
}
"""

_UNIT = """\
WB_INLINE void $NAME$_unit($WORD$ *restrict dst, const $SOURCE$ *restrict src, const int64_t *at)
{
    WB_UNROLL for (int r = 0; r < $UNIT$; r += 4) {
        $ACROSS$
        __builtin_memcpy(dst + r, &four, 16);
    }
}
"""

_VECTORS = """\
WB_INLINE void $NAME$_unit(uint32_t *restrict dst, const $SOURCE$ *restrict src, const int64_t *at)
{
    typedef $SOURCE$ S __attribute__((vector_size($UNIT$*sizeof($SOURCE$)), aligned(1), may_alias));
    typedef $TYPE$ T __attribute__((vector_size(16)));
    typedef uint32_t U __attribute__((vector_size(16), aligned(4), may_alias));
    typedef uint8_t V8 __attribute__((vector_size(16)));
    typedef uint16_t V16 __attribute__((vector_size(16)));
$LOADS$$MIXED$}
"""

_SQUARE = """\
/* Four words of each of four lanes. */
WB_INLINE void $NAME$_square($WORD$ *restrict dst, const $SOURCE$ *restrict src, int64_t row, int64_t lanes)
{
    typedef $WORD$ V __attribute__((vector_size(16), aligned(4), may_alias));
    V v[4];
    WB_UNROLL for (int r = 0; r < 4; r++, src += row) {
        $LOADED$
        v[r] = (V)four;
    }
    const V ab = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5), cd = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
    const V AB = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7), CD = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
    *(V *)dst = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *(V *)(dst + lanes) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    *(V *)(dst + 2*lanes) = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
    *(V *)(dst + 3*lanes) = __builtin_shufflevector(AB, CD, 2, 3, 6, 7);
}
"""

_UNITS = """\
    if (row == 1) {
        for (; k < whole; k += $GROUP$)
            for (int64_t p = 0; p < count; p += $LANES$) {
                const int64_t n = count - p < $LANES$ ? count - p : $LANES$, lanes = $NAME$_lanes(n);
                $TYPE$ *to = dst + p*padded + k*lanes;
                int64_t r = 0;
                if (k + $AHEAD$ < whole)
                    WB_UNROLL for (int q = 0; q < $GROUP$; q++) __builtin_prefetch(src + p + at[k + $AHEAD$ + q]);
                for (; r + $UNIT$ <= n; r += $UNIT$) $NAME$_unit(($WORD$ *)(to + r*$GROUP$), src + p + r, at + k);
                for (; r < n; r++) $NAME$_any(to + r*$GROUP$, src + p + r, at + k, $GROUP$);
            }
    } else
"""

_SQUARES = """\
            for (; k + 4*$GROUP$ <= whole; k += 4*$GROUP$) {
                int64_t r = 0;
                for (; r + 4 <= n; r += 4)
                    $NAME$_square(($WORD$ *)(to + k*lanes + r*$GROUP$), from + r*row + at[k], row, lanes);
                for (; r < n; r++)
                    WB_UNROLL for (int q = 0; q < 4; q++)
                        $NAME$_any(to + (k + q*$GROUP$)*lanes + r*$GROUP$, from + r*row, at + k + q*$GROUP$, $GROUP$);
            }
"""

_PACKING = """\
WB_INLINE int64_t $NAME$_lanes(int64_t n) { return $LAST$; }

/* `count` lanes, `row` apart in memory, `depth` numbers of each at the places `at` (`run`: one after the other). */
static __attribute__((noinline))
void $NAME$($TYPE$ *dst, const $SOURCE$ *src, int64_t row, int64_t count, const int64_t *at, int run,
            int64_t depth, int64_t padded)
{
    const int64_t whole = depth / $GROUP$ * $GROUP$, end = count / $LANES$ * $LANES$;
    int64_t k = 0;
    if (count > end) __builtin_memset(dst + end*padded, 0, sizeof(*dst)*padded*$NAME$_lanes(count - end));
$ALONG_LANES$\
    if (run)
        for (int64_t p = 0; p < count; p += $LANES$) {
            const int64_t n = count - p < $LANES$ ? count - p : $LANES$, lanes = $NAME$_lanes(n);
            const $SOURCE$ *from = src + p*row;
            $TYPE$ *to = dst + p*padded;
            k = 0;
$ALONG_DEPTH$\
        }
    for (int64_t p = 0; p < count; p += $LANES$) {
        const int64_t n = count - p < $LANES$ ? count - p : $LANES$, lanes = $NAME$_lanes(n);
        for (int64_t first = k; first < padded; first += $GROUP$) {
            const int64_t left = depth - first < $GROUP$ ? depth - first : $GROUP$;
            $TYPE$ *to = dst + p*padded + first*lanes;
            if (left < $GROUP$) __builtin_memset(to, 0, sizeof(*to)*lanes*$GROUP$);
            for (int64_t r = 0; r < n && left > 0; r++)
                $NAME$_any(to + r*$GROUP$, src + (p + r)*row, at + first, left);
        }
    }
}
"""
