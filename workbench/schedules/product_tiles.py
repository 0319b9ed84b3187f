"""Texts of the tiles of products: whole vector registers, AMX, and the matrix instructions of ARM."""

from __future__ import annotations

from collections.abc import Mapping


def filled(text: str, values: Mapping[str, object]) -> str:
    """The text with every `$NAME$` replaced."""
    for name, value in values.items():
        text = text.replace(f"${name}$", str(value))
    return text


def vectors(rows: int, columns: int, bits: int, dot: str, *, group: int, word: str, result: str) -> str:
    """The tile of an instruction on whole registers.

    `dot` is an expression of sums `r` and words `x` (the same in all lanes) and `y`: vectors of 32-bit elements, whose
    types are V for sums and W for words.  A word holds a group.
    """
    values = {
        "ROWS": rows, "VECTORS": 32 * columns // bits, "BYTES": bits // 8, "DOT": dot, "GROUP": group, "WORD": word,
        "SUM": result, "COLUMNS": columns,
    }  # fmt: skip
    return filled(_VECTORS, values)


_VECTORS = """\
    typedef $SUM$ V __attribute__((vector_size($BYTES$), may_alias));
    typedef $WORD$ W __attribute__((vector_size($BYTES$), may_alias));
    V sums[$ROWS$][$VECTORS$];
    WB_UNROLL for (int i = 0; i < $ROWS$; i++)
        WB_UNROLL for (int j = 0; j < $VECTORS$; j++) sums[i][j] = (V){0};
    for (int64_t k = 0; k < depth; k += $GROUP$, a += $ROWS$*$GROUP$, b += $COLUMNS$*$GROUP$) {
        WB_UNROLL for (int i = 0; i < $ROWS$; i++) {
            $WORD$ word;
            __builtin_memcpy(&word, a + i*$GROUP$, 4);
            const W x = word - (W){0};
            WB_UNROLL for (int j = 0; j < $VECTORS$; j++) {
                const W y = ((const W *)b)[j];
                const V r = sums[i][j];
                sums[i][j] = $DOT$;
            }
        }
    }
    WB_UNROLL for (int i = 0; i < $ROWS$; i++)
        WB_UNROLL for (int j = 0; j < $VECTORS$; j++) ((V *)c)[i*$VECTORS$ + j] = sums[i][j];
"""

AMX_BEGIN = """\
static const struct { uint8_t palette, row, zero[14]; uint16_t bytes[16]; uint8_t rows[16]; } shape = {
        1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
#if defined(__linux__)
    static int asked;  /* Linux lends the tiles' state to a process that asks: arch_prctl(ARCH_REQ_XCOMP_PERM, 18). */
    if (!asked) asked = 1 + (int)syscall(158, 0x1023, 18);
#endif
    _tile_loadconfig(&shape);"""


def tiles(dot: str, group: int) -> str:
    """The tile of an instruction of AMX, 32 x 32 sums in four tiles of 16 x 16.

    A row of A's panel has 64 bytes (`group` elements), a row of B's 32 groups of 4 bytes.
    """
    return filled(_TILES, {"DOT": dot, "GROUP": group})


_TILES = """\
    _tile_zero(0); _tile_zero(1); _tile_zero(2); _tile_zero(3);
    for (int64_t k = 0; k < depth; k += $GROUP$, a += 32*$GROUP$, b += 32*$GROUP$) {
        _tile_loadd(4, a, 64);
        _tile_loadd(5, a + 16*$GROUP$, 64);
        _tile_loadd(6, b, 128);
        _tile_loadd(7, (const char *)b + 64, 128);
        $DOT$(0, 4, 6); $DOT$(1, 4, 7); $DOT$(2, 5, 6); $DOT$(3, 5, 7);
    }
    _tile_stored(0, c, 128);
    _tile_stored(1, c + 16, 128);
    _tile_stored(2, c + 16*32, 128);
    _tile_stored(3, c + 16*32 + 16, 128);
"""


def pairs(dot: str, group: int, sums: str, left: str, right: str) -> str:
    """The tile of an instruction of ARM that multiplies two rows by two columns, 8 x 8 sums; the last are C types."""
    return filled(_PAIRS, {"DOT": dot, "GROUP": group, "SUMS": sums, "LEFT": left, "RIGHT": right})


_PAIRS = """\
    $SUMS$ sums[4][4];
    WB_UNROLL for (int i = 0; i < 4; i++)
        WB_UNROLL for (int j = 0; j < 4; j++) sums[i][j] = ($SUMS$){0};
    for (int64_t k = 0; k < depth; k += $GROUP$, a += 8*$GROUP$, b += 8*$GROUP$)
        WB_UNROLL for (int i = 0; i < 4; i++)
            WB_UNROLL for (int j = 0; j < 4; j++)
                sums[i][j] = $DOT$(sums[i][j], *(const $LEFT$ *)(a + 2*$GROUP$*i), *(const $RIGHT$ *)(b + 2*$GROUP$*j));
    WB_UNROLL for (int i = 0; i < 4; i++)
        WB_UNROLL for (int j = 0; j < 4; j++)
            for (int l = 0; l < 4; l++) c[(2*i + l / 2)*8 + 2*j + l % 2] = sums[i][j][l];
"""
