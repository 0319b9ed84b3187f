"""Texts of the tiles of products: whole vector registers, AMX, and the matrix instructions of ARM."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.records import record

CHAINS = 8
"""Sums that must be independent of one another to keep two units busy."""


def filled(text: str, values: Mapping[str, object]) -> str:
    """The text with every `$NAME$` replaced."""
    for name, value in values.items():
        text = text.replace(f"${name}$", str(value))
    return text


@record
class Tile:
    """The text of a tile: the body of `(int64_t depth, const <left> *a, const <right> *b, <result> *c)`.

    Without `lanes` it stores in `c`, a matrix of rows x columns, the sums over two panels of `depth` contributions.
    With `lanes`, the columns in a register, it is for any number of rows `$HEIGHT$` and registers `$WIDTH$`.  `c` has
    rows of `pitch` elements; the sums are added to what is there.  They begin with what `$BEGIN$` says: nothing, or
    what the array `less` holds for each column, negated.
    """

    text: str
    lanes: int = 0

    def heights(self, rows: int) -> tuple[int, ...]:
        """Numbers of rows a tile is written for, most first: what is left over at the end is not all padding."""
        return (rows, *(h for h in (8, 4, 2, 1) if h < rows)) if self.lanes else (rows,)

    def body(self, height: int, width: int, begin: str) -> str:
        """The text for tiles of some rows and registers; low ones have several sums for each cell."""
        ways = max(1, min(4, CHAINS // (height * width)))
        values = {"HEIGHT": height, "WIDTH": width, "WAYS": ways, "BEGIN": begin}
        return filled(self.text, values).strip("\n")


def vectors(rows: int, columns: int, bits: int, dot: str, *, group: int, word: str, result: str) -> Tile:
    """The tile of an instruction on whole registers.

    `dot` is an expression of sums `r` and words `x` (the same in all lanes) and `y`: vectors of 32-bit elements, whose
    types are V for sums and W for words.  A word holds a group.
    """
    values = {"BYTES": bits // 8, "DOT": dot, "GROUP": group, "WORD": word, "SUM": result}
    return Tile(filled(_VECTORS, values), bits // 32)


_VECTORS = """\
    typedef $SUM$ V __attribute__((vector_size($BYTES$), may_alias));
    typedef $SUM$ U __attribute__((vector_size($BYTES$), may_alias, aligned(4)));
    typedef $WORD$ W __attribute__((vector_size($BYTES$), may_alias));
    enum { LANES = $BYTES$ / 4 };
    V sums[$WAYS$][$HEIGHT$][$WIDTH$];
    (void)less;
    WB_UNROLL for (int i = 0; i < $HEIGHT$; i++)
        WB_UNROLL for (int j = 0; j < $WIDTH$; j++) {
            sums[0][i][j] = $BEGIN$;
            WB_UNROLL for (int w = 1; w < $WAYS$; w++) sums[w][i][j] = (V){0};
        }
    for (int64_t k = 0; k < depth; k += $WAYS$*$GROUP$)
        WB_UNROLL for (int w = 0; w < $WAYS$; w++, a += $HEIGHT$*$GROUP$, b += $WIDTH$*LANES*$GROUP$)
            WB_UNROLL for (int i = 0; i < $HEIGHT$; i++) {
                $WORD$ word;
                __builtin_memcpy(&word, a + i*$GROUP$, 4);
                const W x = word - (W){0};
                WB_UNROLL for (int j = 0; j < $WIDTH$; j++) {
                    const W y = ((const W *)b)[j];
                    const V r = sums[w][i][j];
                    sums[w][i][j] = $DOT$;
                }
            }
    WB_UNROLL for (int i = 0; i < $HEIGHT$; i++)
        WB_UNROLL for (int j = 0; j < $WIDTH$; j++) {
            WB_UNROLL for (int w = 1; w < $WAYS$; w++) sums[0][i][j] += sums[w][i][j];
            U *to = (U *)(c + i*pitch + j*LANES);
            *to += sums[0][i][j];
        }
"""

AMX_BEGIN = """\
static const struct { uint8_t palette, row, zero[14]; uint16_t bytes[16]; uint8_t rows[16]; } shape = {
        1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
#if defined(__linux__)
    static int asked;  /* Linux lends the tiles' state to a process that asks: arch_prctl(ARCH_REQ_XCOMP_PERM, 18). */
    if (!asked) asked = 1 + (int)syscall(158, 0x1023, 18);
#endif
    _tile_loadconfig(&shape);"""


def tiles(dot: str, group: int) -> Tile:
    """The tile of an instruction of AMX, 32 x 32 sums in four tiles of 16 x 16.

    A row of A's panel has 64 bytes (`group` elements), a row of B's 32 groups of 4 bytes.
    """
    return Tile(filled(_TILES, {"DOT": dot, "GROUP": group}))


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


def pairs(dot: str, group: int, sums: str, left: str, right: str) -> Tile:
    """The tile of an instruction of ARM that multiplies two rows by two columns, 8 x 8 sums; the last are C types."""
    return Tile(filled(_PAIRS, {"DOT": dot, "GROUP": group, "SUMS": sums, "LEFT": left, "RIGHT": right}))


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
