"""Texts of the tiles of products on whole vector registers."""

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
    """The text of a tile: the body of `(int64_t depth, const <left> *a, const <right> *b, <result> *c, ...)`.

    It adds to `c`, whose rows are `pitch` elements apart, the sums over two panels of `depth` contributions, for any
    number of rows `$HEIGHT$` and registers `$WIDTH$`, each with so many columns as it has `lanes`.  The sums begin with
    what `$BEGIN$` says: nothing, or what the array `less` holds for each column, negated.
    """

    text: str
    lanes: int

    def heights(self, rows: int) -> tuple[int, ...]:
        """Numbers of rows a tile is written for, most first: what is left over at the end is not all padding."""
        return (rows, *(h for h in (8, 4, 2, 1) if h < rows))

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
