"""`from_c`: a C loop nest becomes a Program."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.fromc.raising import Raised, raise_c
from workbench.poly.lowering import lower
from workbench.poly.programs.binding import given_sizes
from workbench.poly.programs.program import Program


def from_c(
    text: str,
    /,
    function: str = "",
    *,
    region: str = "",
    reassociate: bool = False,
    sizes: Mapping[str, int] | None = None,
    **symbols: int,
) -> Program:
    """The program of a C function, or of a bare loop nest with its declarations; accepted wherever an operator is.

    Integers that stand in extents, bounds, conditions and subscripts are the sizes: `wb.schedule(program, n=64)`.
    Each assignment is a statement named after its array (`C`, `C.1`), its dims are the loop variables, and the naive
    order is that of the text.  Arrays are updated in place: `program(A, B)` takes what the C function takes, with or
    without the sizes.  A pointer `double *p` is a one-dimensional array as long as what it is given.  The scalar C
    that `wb.generate` prints can be read too: `from_c(kernel.source, kernel.signature.function)`.

    `function` names the one meant where the text has several; the rest of the text is not looked at.  C fixes the order
    of a sum of floats; `reassociate=True` declares `x += e` (also *, minimum and maximum) a reduction, whose order is
    free, as it always is of integers.
    Sizes may be bound at once, as keywords or `sizes={...}`: `A[i*n + j]` is only known exactly when n is.

    Raises OperatorError for what is not affine or not read (pointers that move, while, calls with effects), with its
    line, a caret, and what to write instead; LoweringError where a bound is not affine before a size is known.
    """
    given = given_sizes(sizes, symbols)
    return lower(raise_c(text, function, region=region, reassociate=reassociate).operator, given)


def raised_from(program: Program) -> Raised | None:
    """What the C text of a program means; None for a program that does not come from C."""
    definition = program.original.definition
    if definition is None or definition.language != "c":
        return None
    return raise_c(definition.text)
