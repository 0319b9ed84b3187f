"""Integer division and shifts as the language defines them: towards minus infinity, x / 0 = 0, wrapping, no
undefined shift; and arithmetic that wraps around where the compiler takes for granted that it does not."""

from __future__ import annotations

from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, Value

PAIR = "$T a, $T b"
SHIFT = "$T a, int64_t n"


def integer_constants(shape: Shape) -> dict[str, Value]:
    """The width in bits."""
    return {"WIDTH": str(shape.bits)}


def _scalar(body: str, parameters: str = PAIR) -> Recipe:
    return Recipe(f"    {body}", parameters, constants=integer_constants, scalar_only=True)


UNSIGNED_RECIPES: dict[str, Recipe] = {
    "mul": _scalar("return ($T)(1u * ($U)a * ($U)b);"),
    "floordiv": _scalar("return b == 0 ? 0 : a / b;"),
    "mod": _scalar("return b == 0 ? 0 : a % b;"),
    "shl": _scalar("return (uint64_t)n >= $WIDTH ? 0 : ($T)(a << n);", SHIFT),
    "shr": _scalar("return (uint64_t)n >= $WIDTH ? 0 : ($T)(a >> n);", SHIFT),
}
SIGNED_RECIPES: dict[str, Recipe] = {
    "add": _scalar("return ($T)(($U)a + ($U)b);"),
    "sub": _scalar("return ($T)(($U)a - ($U)b);"),
    "mul": _scalar("return ($T)(1u * ($U)a * ($U)b);"),
    "neg": _scalar("return ($T)(0 - ($U)a);", "$T a"),
    # Magnitudes are divided: GCC 12 takes -x / 3 for -(x / 3) where both stand, although the least x has no opposite.
    "floordiv": _scalar(
        "if (b == 0) return 0;\n"
        "    $U s = ($U)-(b < 0 ? a > 0 : a < 0);\n"
        "    $U n = b < 0 ? ($U)(0 - ($U)a) : ($U)a, d = b < 0 ? ($U)(0 - ($U)b) : ($U)b;\n"
        "    return ($T)(s ^ (($U)(s ^ n) / d));"
    ),
    # Nothing remains of -1, by which the least number cannot be divided: that traps.
    "mod": _scalar(
        "if (b == 0 || b == -1) return 0;\n"
        "    $T r = ($T)(a % b);\n"
        "    return ($T)(r != 0 && (r < 0) != (b < 0) ? r + b : r);"
    ),
    "shl": _scalar("return (uint64_t)n >= $WIDTH ? 0 : ($T)(($U)a << n);", SHIFT),
    "shr": _scalar("return ($T)(a >> ((uint64_t)n >= $WIDTH ? $WIDTH - 1 : n));", SHIFT),
}
