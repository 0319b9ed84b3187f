"""Products through an instruction that multiplies groups of numbers: the C text around it.

    C(m,n) += A(m,k) * B(k,n)   for blocks of any size and any strides

The operands are copied into panels in the order in which registers read them, groups of neighbouring k together, padded
with zeros; a tile of cells stays in registers while k runs (Goto and van de Geijn, 2008).  A `Panel` says how one
operand is stored there; an instruction gives the text of the tile.
"""

from __future__ import annotations

from workbench.lang.dtypes import DTYPES
from workbench.records import record
from workbench.schedules.micro_kernels import ProcessorKernel
from workbench.schedules.product_tiles import filled

PANEL_BYTES = 160 << 10
"""Bytes of the stack that the panels of A take: they stay in the second-level cache."""

READ = {"bfloat16": "wb_word_bf16", "float16": "wb_word_f16"}
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
#endif
"""


Pair = tuple[str, str]


@record
class Panel:
    """How an operand lies in a panel: the C type of an element, how many k stand together, what is added to each."""

    type: str
    group: int
    offset: int = 0


@record
class ProductInstruction:
    """An instruction as `replace` and the recipes see it.

    `isa` are the features it needs, `bits` the only length of registers it is for (0: any), `operands` the pairs of
    element types it takes, `result` the type of the sums.  `tile` is the body of `(int64_t depth, const <left> *a,
    const <right> *b, <result> *c)`: it stores in `c`, a matrix of `rows` x `columns`, the sums over two panels of
    `depth` contributions.  `header` stands before all, `begin` and `end` are executed once a call; `depth`
    contributions are packed at a time.  `exact` says that it gives what the loops give, but for the order of the sum;
    an instruction that takes denormal operands for zero does not.
    """

    name: str
    isa: tuple[str, ...]
    operands: tuple[Pair, ...]
    result: str
    rows: int
    columns: int
    left: Panel
    right: Panel
    tile: str
    header: str = ""
    begin: str = ""
    end: str = ""
    depth: int = 256
    bits: int = 0
    exact: bool = True

    def kernel_name(self, left: str, right: str) -> str:
        """`wb_madd256_i8_u8`."""
        return f"{self.name}_{_short(left)}_{_short(right)}"

    def kernel(self, left: str, right: str) -> ProcessorKernel:
        """The micro-kernel for operands of these element types."""
        name = self.kernel_name(left, right)
        a, b = (f"{self.result}({array})" for array in ("A(m,k)", "B(k,n)"))
        definition = f"def product({left}(M,K) A, {right}(K,N) B) -> (C) {{ C(m,n) += {a} * {b} }}"
        return ProcessorKernel(name, definition, self._source(name, left, right), isa=self.isa)

    def _source(self, name: str, left: str, right: str) -> str:
        result = DTYPES[self.result].c_name
        most = PANEL_BYTES // (self.depth * _bytes(self.left.type)) // self.rows * self.rows
        tile = filled(_TILE, {"NAME": name, "A_TYPE": self.left.type, "B_TYPE": self.right.type, "RESULT": result})
        values = {
            "NAME": name, "LEFT": DTYPES[left].c_name, "RIGHT": DTYPES[right].c_name, "RESULT": result,
            "A_TYPE": self.left.type, "B_TYPE": self.right.type, "ROWS": self.rows, "COLUMNS": self.columns,
            "MOST": max(self.rows, most), "DEPTH": self.depth, "GROUP": max(self.left.group, self.right.group),
            "LESS": f" - {self.left.offset}*sums[j]" if self.left.offset else "",
            "BEGIN": self.begin, "END": self.end,
        }  # fmt: skip
        rows = _packing(f"{name}_rows", left, self.left, self.rows)
        columns = _packing(f"{name}_columns", right, self.right, self.columns)
        tile = f"{tile}{{\n{self.tile.strip(chr(10))}\n}}\n"
        sums = filled(_SUMS, values | {"GROUP": self.right.group}) if self.left.offset else ""
        values["SUMMED"] = f"{name}_sums(b, padded, sums);" if sums else ""
        return "".join([self.header, CONVERSIONS, rows, columns, sums, tile, filled(_PRODUCT, values)])


def _short(name: str) -> str:
    return name.replace("uint", "u").replace("bfloat", "bf").replace("float", "f").replace("int", "i")


def _bytes(c_type: str) -> int:
    return {"float": 4}.get(c_type) or int("".join(x for x in c_type if x.isdigit())) // 8


def _packing(name: str, source: str, panel: Panel, rows: int) -> str:
    """The function that copies an operand into a panel."""
    read = f"{READ[source]}(src[%s])" if panel.type == "float" and source in READ else "src[%s]"
    read += f" + {panel.offset}" if panel.offset else ""
    values = {
        "NAME": name, "SOURCE": DTYPES[source].c_name, "TYPE": panel.type, "ROWS": rows, "GROUP": panel.group,
        "ACROSS": read % "r + q*step", "ALONG": read % "r*row + q", "ANY": read % "r*row + q*step",
    }  # fmt: skip
    return filled(_PACKING, values)


_PACKING = """\
static __attribute__((noinline))
void $NAME$($TYPE$ *restrict dst, const $SOURCE$ *restrict src, int64_t row, int64_t step,
            int64_t rows, int64_t depth, int64_t padded)
{
    const int64_t whole = rows == $ROWS$ ? depth / $GROUP$ * $GROUP$ : 0;
    int64_t k = 0;
    if (row == 1)
        for (; k < whole; k += $GROUP$, dst += $ROWS$*$GROUP$, src += $GROUP$*step)
            for (int r = 0; r < $ROWS$; r++)
                WB_UNROLL for (int q = 0; q < $GROUP$; q++) dst[r*$GROUP$ + q] = $ACROSS$;
    else if (step == 1)
        for (; k < whole; k += $GROUP$, dst += $ROWS$*$GROUP$, src += $GROUP$)
            for (int r = 0; r < $ROWS$; r++)
                WB_UNROLL for (int q = 0; q < $GROUP$; q++) dst[r*$GROUP$ + q] = $ALONG$;
    for (; k < padded; k += $GROUP$, dst += $ROWS$*$GROUP$, src += $GROUP$*step) {
        const int64_t left = depth - k < $GROUP$ ? depth - k : $GROUP$;
        for (int r = 0; r < $ROWS$*$GROUP$; r++) dst[r] = 0;
        for (int64_t r = 0; r < rows; r++)
            for (int64_t q = 0; q < left; q++) dst[r*$GROUP$ + q] = $ANY$;
    }
}
"""

_SUMS = """\
WB_INLINE void $NAME$_sums(const $B_TYPE$ *b, int64_t padded, int32_t *restrict sums)
{
    for (int j = 0; j < $COLUMNS$; j++) sums[j] = 0;
    for (int64_t k = 0; k < padded; k += $GROUP$, b += $COLUMNS$*$GROUP$)
        for (int j = 0; j < $COLUMNS$; j++)
            WB_UNROLL for (int q = 0; q < $GROUP$; q++) sums[j] += b[j*$GROUP$ + q];
}
"""

_TILE = """\
static __attribute__((noinline))
void $NAME$_tile(int64_t depth, const $A_TYPE$ *a, const $B_TYPE$ *b, $RESULT$ *c)
"""

_PRODUCT = """\
static void $NAME$(const $LEFT$ *A, int64_t A_0, int64_t A_1, const $RIGHT$ *B, int64_t B_0, int64_t B_1,
                   $RESULT$ *C, int64_t C_0, int64_t C_1, int64_t M, int64_t K, int64_t N)
{
    enum { ROWS = $ROWS$, COLUMNS = $COLUMNS$, MOST = $MOST$, DEPTH = $DEPTH$ };
    _Alignas(64) $A_TYPE$ a[MOST*DEPTH];
    _Alignas(64) $B_TYPE$ b[COLUMNS*DEPTH];
    _Alignas(64) $RESULT$ c[ROWS*COLUMNS];
    _Alignas(64) int32_t sums[COLUMNS];
    (void)sums;
    $BEGIN$
    for (int64_t k = 0; k < K; k += DEPTH) {
        const int64_t depth = K - k < DEPTH ? K - k : DEPTH, padded = (depth + $GROUP$ - 1) / $GROUP$ * $GROUP$;
        for (int64_t m = 0; m < M; m += MOST) {
            const int64_t rows = M - m < MOST ? M - m : MOST;
            for (int64_t i = 0; i < rows; i += ROWS)
                $NAME$_rows(a + i*padded, A + (m + i)*A_0 + k*A_1, A_0, A_1,
                            rows - i < ROWS ? rows - i : ROWS, depth, padded);
            for (int64_t n = 0; n < N; n += COLUMNS) {
                const int64_t columns = N - n < COLUMNS ? N - n : COLUMNS;
                $NAME$_columns(b, B + k*B_0 + n*B_1, B_1, B_0, columns, depth, padded);
                $SUMMED$
                for (int64_t i = 0; i < rows; i += ROWS) {
                    $RESULT$ *to = C + (m + i)*C_0 + n*C_1;
                    $NAME$_tile(padded, a + i*padded, b, c);
                    if (columns == COLUMNS && rows - i >= ROWS && C_1 == 1) {
                        for (int64_t r = 0; r < ROWS; r++)
                            for (int64_t j = 0; j < COLUMNS; j++) to[r*C_0 + j] += c[r*COLUMNS + j]$LESS$;
                    } else {
                        for (int64_t r = 0; r < ROWS && r < rows - i; r++)
                            for (int64_t j = 0; j < columns; j++) to[r*C_0 + j*C_1] += c[r*COLUMNS + j]$LESS$;
                    }
                }
            }
        }
    }
    $END$
}
"""
