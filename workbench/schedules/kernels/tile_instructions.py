"""Instructions that multiply tiles of 8- and 16-bit numbers, as data: those of AMX and the matrix instructions of ARM.

    C(m,n) += A(m,k,q) * B(k,n,q)   for a tile of m and n, some groups k of neighbouring contributions q

A schedule gets there by packing (`stage`, `transform_layout` with `k / 4` outside and `k % 4` innermost), blocks, and
`replace` of the loops over a tile's rows, its columns, groups, and a group.  What is left over at the ends is a tile of
fewer rows, columns or groups: AMX is told how large its tiles are, elsewhere the last row or column is read again and
not kept.  Operands that do not lie as an instruction loads them are multiplied by loops.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from workbench.lang.dtypes import DTYPES
from workbench.lang.expr import Read
from workbench.poly.programs.program import ProgramStatement
from workbench.poly.programs.tree import Loop
from workbench.records import record
from workbench.schedules.kernels.lane_instructions import ARM, X86, operands
from workbench.schedules.kernels.micro_kernels import ProcessorKernel

MOVERS = 4
"""Loops that a tile takes: rows, columns, groups, and the contributions of a group."""


@record
class TileInstruction(ProcessorKernel):
    """An instruction with the loads and stores of its tiles, of any size up to `rows` x `columns` and larger ones.

    `operands` are the element types of what is read along the rows and along the columns, `result` that of the sums.
    A `group` of contributions lies side by side in both operands; a whole tile takes `depth` of them.  `anyhow`: rows
    and columns may lie as they like, else groups and cells along the columns are neighbours.
    """

    operands: tuple[str, str] = ("", "")
    result: str = ""
    group: int = 0
    rows: int = 0
    columns: int = 0
    depth: int = 0
    anyhow: bool = False


def tile_fit(kernel: TileInstruction, s: ProgramStatement, inner: tuple[Loop, ...]) -> tuple[Read, Read] | str:
    """The operands in the order of the instruction, where it executes the loops `inner`; else what stands against that.
    """
    if s.kind != "update" or s.reduction != "+" or len(s.targets) != 1:
        return f"{s.name} is no sum"
    if len(inner) != MOVERS:
        return (
            f"{kernel.name} multiplies tiles: it takes loops over rows, columns, groups of {kernel.group} "
            f"contributions and a group, not {', '.join(x.name for x in inner)} alone"
        )
    return operands(kernel, s.values[0]) or f"{s.name} does not hold {kernel.definition.strip()}"


def tile_instruction_for(left: str, right: str, result: str, isa: Collection[str]) -> TileInstruction | None:
    """The instruction of a machine for rows and columns of these element types; None if it has none."""
    fitting = (x for x in tile_instructions() if x.result == result and x.operands == (left, right))
    return next((x for x in fitting if {*x.isa} <= {*isa}), None)


# -- The instructions --

@cache
def tile_instructions() -> tuple[TileInstruction, ...]:
    """Every instruction; those for bfloat16 round in their own way and take denormal operands for zero."""
    signs = {"s": "int8", "u": "uint8"}
    amx = [_amx(f"tdpb{a}{b}d", (signs[a], signs[b])) for a in "su" for b in "su"]
    byte, word = "int32x4_t", "float32x4_t"
    return (
        *amx,
        _amx("tdpbf16ps", ("bfloat16", "bfloat16")),
        _arm("smmla", ("int8", "int8"), f"vmmlaq_s32(({byte})r, (int8x16_t)x, (int8x16_t)y)"),
        _arm("usmmla", ("uint8", "int8"), f"vusmmlaq_s32(({byte})r, (uint8x16_t)x, (int8x16_t)y)"),
        _arm("ummla", ("uint8", "uint8"), "vmmlaq_u32((uint32x4_t)r, (uint8x16_t)x, (uint8x16_t)y)"),
        _arm("bfmmla", ("bfloat16", "bfloat16"), f"vbfmmlaq_f32(({word})r, (bfloat16x8_t)x, (bfloat16x8_t)y)"),
    )


def _amx(name: str, pair: tuple[str, str]) -> TileInstruction:
    """A tile of 16 x 16 sums takes a row of 64 bytes of A, and 16 groups of 4 bytes of each column of B."""
    half = pair[0] == "bfloat16"
    isa, header = ("amx_tile", "amx_bf16" if half else "amx_int8"), X86 + "#include <unistd.h>\n"
    return _tiled(name, isa, pair, (4, 32, 32, 64), header + _LOOPS + _AMX, f"_tile_{name[1:]}")


def _arm(name: str, pair: tuple[str, str], dot: str) -> TileInstruction:
    """Two rows of 8 bytes times two columns of 8 bytes; 16 such products stay in registers."""
    isa = ("bf16" if pair[0] == "bfloat16" else "i8mm",)
    return _tiled(name, isa, pair, (8, 8, 8, 8), ARM + _LOOPS + _PAIRS, dot)


def _tiled(
    name: str, isa: tuple[str, ...], pair: tuple[str, str], tile: tuple[int, int, int, int], text: str, dot: str
) -> TileInstruction:
    """The instruction whose text is filled in; `tile` are bytes of a group, rows, columns, bytes of a whole depth."""
    (left, right), (group, rows, columns, depth) = pair, tile
    size, result = DTYPES[left].bytes, "float32" if left == "bfloat16" else "int32"
    values = {
        "DOT": dot, "ARGUMENTS": _ARGUMENTS, "GROUP": str(group // size), "LEFT": DTYPES[left].c_name,
        "RIGHT": DTYPES[right].c_name, "SUM": DTYPES[result].c_name, "NAME": f"wb_{name}",
    }  # fmt: skip
    source = text.replace("$NUMBER$", "wb_stored_bf16" if result == "float32" else "(int32_t)")
    for key, value in values.items():
        source = source.replace(f"${key}$", value)
    a, b = f"{result}(A(m,k,q))", f"{result}(B(k,n,q))"
    definition = f"def wb_{name}({left}(M,K,Q) A, {right}(K,N,Q) B) -> (C) {{ C(m,n) += {a} * {b} }}"
    return TileInstruction(
        f"wb_{name}", definition, source, sizes=(("Q", group // size),), isa=isa, operands=pair, result=result,
        group=group // size, rows=rows, columns=columns, depth=depth // size,
        anyhow=group == depth,
    )  # fmt: skip


_ARGUMENTS = """\
const $LEFT$ *A, int64_t A_m, int64_t A_k, int64_t A_q, const $RIGHT$ *B, int64_t B_k, int64_t B_n, int64_t B_q,
    $SUM$ *C, int64_t C_m, int64_t C_n, int64_t M, int64_t K, int64_t Q, int64_t N"""

_LOOPS = """\
#ifndef WB_STORED_BF16
#define WB_STORED_BF16
WB_INLINE float wb_stored_bf16(uint16_t x)
{
    const uint32_t bits = (uint32_t)x << 16;
    float number;
    __builtin_memcpy(&number, &bits, 4);
    return number;
}
#endif
/* For operands that lie otherwise. */
static void $NAME$_loops($ARGUMENTS$)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            for (int64_t k = 0; k < K; k++)
                for (int64_t q = 0; q < Q; q++)
                    C[m*C_m + n*C_n] += $NUMBER$(A[m*A_m + k*A_k + q*A_q]) * $NUMBER$(B[k*B_k + n*B_n + q*B_q]);
}
"""

_AMX = """\
/* `steps` times `deep` groups: tiles 0 to 3 hold sums, 4 and 5 rows of A, 6 and 7 columns of B, each as large as it is
   here; there is none of a size 0. */
static void $NAME$_tile(const $LEFT$ *a, int64_t A_m, const $RIGHT$ *b, int64_t B_k, $SUM$ *c, int64_t C_m,
                        int rows, int columns, int64_t steps, int deep)
{
    const int r = rows < 16 ? rows : 16, s = rows - r, v = columns < 16 ? columns : 16, w = columns - v;
    const int high[8] = {r, r, s, s, r, s, deep, deep}, wide[8] = {v, w, v, w, deep, deep, v, w};
    struct { uint8_t palette, row, zero[14]; uint16_t bytes[16]; uint8_t rows[16]; } shape = {1, 0, {0}, {0}, {0}};
    for (int t = 0; t < 8; t++)
        if (high[t] && wide[t]) shape.rows[t] = (uint8_t)high[t], shape.bytes[t] = (uint16_t)(4*wide[t]);
    const int64_t a_row = A_m*(int64_t)sizeof(*a), b_row = B_k*(int64_t)sizeof(*b), c_row = C_m*(int64_t)sizeof(*c);
    _tile_loadconfig(&shape);
    _tile_loadd(0, c, c_row);
    if (w) _tile_loadd(1, c + 16, c_row);
    if (s) _tile_loadd(2, c + 16*C_m, c_row);
    if (s && w) _tile_loadd(3, c + 16*C_m + 16, c_row);
    for (int64_t k = 0; k < steps; k++, a += deep*$GROUP$, b += deep*B_k) {
        _tile_loadd(4, a, a_row);
        _tile_loadd(6, b, b_row);
        $DOT$(0, 4, 6);
        if (w) {
            _tile_loadd(7, b + 16*$GROUP$, b_row);
            $DOT$(1, 4, 7);
        }
        if (s) {
            _tile_loadd(5, a + 16*A_m, a_row);
            $DOT$(2, 5, 6);
            if (w) $DOT$(3, 5, 7);
        }
    }
    _tile_stored(0, c, c_row);
    if (w) _tile_stored(1, c + 16, c_row);
    if (s) _tile_stored(2, c + 16*C_m, c_row);
    if (s && w) _tile_stored(3, c + 16*C_m + 16, c_row);
}
static void $NAME$($ARGUMENTS$)
{
    if (Q != $GROUP$ || A_q != 1 || A_k != $GROUP$ || B_q != 1 || B_n != $GROUP$ || C_n != 1) {
        $NAME$_loops(A, A_m, A_k, A_q, B, B_k, B_n, B_q, C, C_m, C_n, M, K, Q, N);
        return;
    }
#if defined(__linux__)
    static int asked;  /* Linux lends the tiles' state to a process that asks: arch_prctl(ARCH_REQ_XCOMP_PERM, 18). */
    if (!asked) asked = 1 + (int)syscall(158, 0x1023, 18);
#endif
    for (int64_t m = 0; m < M; m += 32)
        for (int64_t n = 0; n < N; n += 32) {
            const int rows = M - m < 32 ? (int)(M - m) : 32, columns = N - n < 32 ? (int)(N - n) : 32;
            const $LEFT$ *a = A + m*A_m;
            const $RIGHT$ *b = B + n*$GROUP$;
            $SUM$ *c = C + m*C_m + n;
            const int64_t steps = K / 16, rest = K % 16;
            if (steps) $NAME$_tile(a, A_m, b, B_k, c, C_m, rows, columns, steps, 16);
            a += steps*16*$GROUP$;
            if (rest) $NAME$_tile(a, A_m, b + steps*16*B_k, B_k, c, C_m, rows, columns, 1, (int)rest);
        }
    _tile_release();
}
"""

_PAIRS = """\
typedef $SUM$ $NAME$_sums __attribute__((vector_size(16)));
/* Two groups, each 8 bytes. */
WB_INLINE uint64x2_t $NAME$_two(const void *p, const void *q)
{
    uint64_t x, y;
    __builtin_memcpy(&x, p, 8);
    __builtin_memcpy(&y, q, 8);
    return (uint64x2_t){x, y};
}
static void $NAME$($ARGUMENTS$)
{
    if (Q != $GROUP$ || A_q != 1 || B_q != 1) {
        $NAME$_loops(A, A_m, A_k, A_q, B, B_k, B_n, B_q, C, C_m, C_n, M, K, Q, N);
        return;
    }
    for (int64_t m = 0; m < M; m += 8)
        for (int64_t n = 0; n < N; n += 8) {
            const $LEFT$ *a[8];
            const $RIGHT$ *b[8];
            for (int i = 0; i < 8; i++) a[i] = A + (m + i < M ? m + i : M - 1)*A_m;
            for (int j = 0; j < 8; j++) b[j] = B + (n + j < N ? n + j : N - 1)*B_n;
            $NAME$_sums sums[4][4];
            WB_UNROLL for (int i = 0; i < 4; i++)
                WB_UNROLL for (int j = 0; j < 4; j++) sums[i][j] = ($NAME$_sums){0};
            for (int64_t k = 0; k < K; k++) {
                uint64x2_t ys[4];
                WB_UNROLL for (int j = 0; j < 4; j++) ys[j] = $NAME$_two(b[2*j] + k*B_k, b[2*j + 1] + k*B_k);
                WB_UNROLL for (int i = 0; i < 4; i++) {
                    const uint64x2_t x = $NAME$_two(a[2*i] + k*A_k, a[2*i + 1] + k*A_k);
                    WB_UNROLL for (int j = 0; j < 4; j++) {
                        const uint64x2_t y = ys[j];
                        const $NAME$_sums r = sums[i][j];
                        sums[i][j] = ($NAME$_sums)$DOT$;
                    }
                }
            }
            WB_UNROLL for (int i = 0; i < 4; i++)
                WB_UNROLL for (int j = 0; j < 4; j++)
                    for (int l = 0; l < 4; l++) {
                        const int64_t row = m + 2*i + l / 2, column = n + 2*j + l % 2;
                        if (row < M && column < N) C[row*C_m + column*C_n] += sums[i][j][l];
                    }
        }
}
"""
