"""Products in blocks: the C text of the loops around packed panels and tiles.

Depths are numbered over all reduced loops, and columns over all loops of the second operand alone: `at` says where a
depth lies in either operand.  The columns of a picture run over whole rows of the operand, whose ends are computed and
not kept, so that loads need not stop at the end of a row.
"""

from __future__ import annotations

STACK = """\
#ifndef WB_STACK
#if defined(__linux__)
#define WB_STACK(most, least) (most)
#else
#define WB_STACK(most, least) (least)  /* elsewhere threads may have half a megabyte for all */
#endif
#endif
"""

TILE_OF = """\
static __attribute__((noinline))
void $NAME$_tile_$HEIGHT$x$WIDTH$(int64_t depth, const $A_TYPE$ *a, const $B_TYPE$ *b, $RESULT$ *c, int64_t pitch,
                   const $RESULT$ *less)
"""

ARGUMENTS = """\
const $LEFT$ *A, int64_t A_m, int64_t A_k, int64_t A_r, int64_t A_s,
                   const $RIGHT$ *B, int64_t B_k, int64_t B_y, int64_t B_r, int64_t B_x, int64_t B_s,
                   $RESULT$ *C, int64_t C_m, int64_t C_y, int64_t C_x,
                   int64_t M, int64_t K, int64_t R, int64_t S, int64_t Y, int64_t X"""

ADDED = """\
/* A tile's sums, added to those of its cells that are in the picture. */
WB_INLINE void $NAME$_added($RESULT$ *C, int64_t C_m, int64_t C_y, int64_t C_x, const $RESULT$ *restrict c,
                            int64_t rows, int64_t n, int64_t columns, int64_t pitch, int64_t X)
{
    for (int64_t j = 0; j < columns;) {
        const int64_t y = (n + j) / pitch, x = (n + j) % pitch;
        const int64_t left = columns - j < pitch - x ? columns - j : pitch - x;
        const int64_t kept = x >= X ? 0 : left < X - x ? left : X - x;
        for (int64_t r = 0; r < rows; r++) {
            $RESULT$ *restrict to = C + r*C_m + y*C_y + x*C_x;
            const $RESULT$ *restrict from = c + r*$COLUMNS$ + j;
            if (C_x == 1)
                for (int64_t i = 0; i < kept; i++) to[i] += from[i];
            else
                for (int64_t i = 0; i < kept; i++) to[i*C_x] += from[i];
        }
        j += left;
    }
}
"""

BLOCKS = """\
static void $NAME$_blocks($ARGUMENTS$)
{
    enum { ROWS = $ROWS$, COLUMNS = $COLUMNS$, DEPTH = $DEPTH$, STEP = $STEP$ };
    enum { MOST = WB_STACK($MOST$), WIDE = WB_STACK($WIDE$) };
    _Alignas(64) $A_TYPE$ a[MOST*DEPTH];
    _Alignas(64) $B_TYPE$ b[WIDE*DEPTH];
    _Alignas(64) $RESULT$ c[ROWS*COLUMNS];
    int64_t a_at[DEPTH], b_at[DEPTH];
    const int64_t K_all = K*R*S, parts = (K_all + DEPTH - 1) / DEPTH, blocks = (M + MOST - 1) / MOST;
    if (!parts || M < 1 || X < 1 || Y < 1) return;
    const int64_t pitch = Y > 1 ? B_y : X, N = (Y - 1)*pitch + X;
    const int64_t deep = ((K_all + parts - 1) / parts + STEP - 1) / STEP * STEP;
    const int64_t high = ((M + blocks - 1) / blocks + ROWS - 1) / ROWS * ROWS;
$CONSTANTS$\
    for (int64_t k = 0; k < K_all; k += deep) {
        const int64_t depth = K_all - k < deep ? K_all - k : deep, padded = (depth + STEP - 1) / STEP * STEP;
        int a_run = 1, b_run = 1;
        for (int64_t d = 0, s = k % S, r = k / S % R, q = k / S / R; d < depth; d++) {
            a_at[d] = q*A_k + r*A_r + s*A_s;
            b_at[d] = q*B_k + r*B_r + s*B_s;
            a_run &= !d || a_at[d] == a_at[d - 1] + 1;
            b_run &= !d || b_at[d] == b_at[d - 1] + 1;
            if (++s == S) {
                s = 0;
                if (++r == R) r = 0, q++;
            }
        }
        for (int64_t m = 0; m < M; m += high) {
            const int64_t rows = M - m < high ? M - m : high;
            $NAME$_rows(a, A + m*A_m, A_m, rows, a_at, a_run, depth, padded);
            for (int64_t w = 0; w < N; w += WIDE) {
                const int64_t wide = N - w < WIDE ? N - w : WIDE;
                $NAME$_columns(b, B + w*B_x, B_x, wide, b_at, b_run, depth, padded);
                for (int64_t p = 0; p < wide; p += COLUMNS) {
                    const int64_t columns = wide - p < COLUMNS ? wide - p : COLUMNS, n = w + p;
                    const $B_TYPE$ *panel = b + p*padded;
                    const int64_t width = (columns + $LANES$ - 1) / $LANES$;
                    const int whole = columns == width*$LANES$ && C_x == 1 && n % pitch + columns <= X;
$LESS$\
                    for (int64_t i = 0; i < rows; i += ROWS) {
                        const int64_t left = rows - i < ROWS ? rows - i : ROWS, height = $NAME$_rows_lanes(left);
                        $RESULT$ *to = C + (m + i)*C_m + n / pitch*C_y + n % pitch;
                        if (whole && left == height) {
                            for (int64_t r = 0; r < height; r++)
                                for (int64_t j = 0; j < COLUMNS; j += $LINE$) __builtin_prefetch(to + r*C_m + j, 1);
                            $NAME$_tile(height, width, padded, a + i*padded, panel, to, C_m, $SUMS$);
                            continue;
                        }
                        __builtin_memset(c, 0, sizeof(c));
                        $NAME$_tile(height, width, padded, a + i*padded, panel, c, COLUMNS, $SUMS$);
                        $NAME$_added(C + (m + i)*C_m, C_m, C_y, C_x, c, left, n, columns, pitch, X);
                    }
                }
            }
        }
    }
}
"""

LESS = """\
                    __builtin_memset(sums, 0, sizeof(sums));
                    $NAME$_tile(1, width, padded, offset, panel, sums, COLUMNS, sums);
"""

OFFSETS = """\
    _Alignas(64) $A_TYPE$ offset[DEPTH];
    _Alignas(64) $RESULT$ sums[COLUMNS];
    __builtin_memset(offset, $OFFSET$, sizeof(offset));
"""

ENTRY = """\
static void $NAME$($TAKEN$)
{
    if ($Y$ == 1 || ($B_n$ == 1 && $B_y$ >= $N$ && $B_y$ < 2*$N$)) {
        $NAME$_blocks($GIVEN$);
        return;
    }
    for (int64_t wb_y = 0; wb_y < $Y$; wb_y++)
        $NAME$_blocks($EACH$);
}
"""

CASE = "    case 16*$HEIGHT$ + $WIDTH$: $NAME$_tile_$HEIGHT$x$WIDTH$(depth, a, b, c, pitch, less); break;\n"

CHOICE = """\
WB_INLINE void $NAME$_tile(int64_t height, int64_t width, int64_t depth, const $A_TYPE$ *a, const $B_TYPE$ *b,
                           $RESULT$ *c, int64_t pitch, const $RESULT$ *less)
{
    switch (16*height + width) {
$CASES$\
    }
}
"""
