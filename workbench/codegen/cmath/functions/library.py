"""Functions left to the C library, and float32 functions computed in doubles."""

from __future__ import annotations

from workbench.codegen.cmath.functions import error_function, special
from workbench.codegen.cmath.primitive import number_constants
from workbench.codegen.cmath.template import Recipe

PAIR = "$T a, $T b"

# float32 through the library's float functions, which are good to 2 ulp
SAME = ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "sinh", "tan", "logb", "cbrt")
SAME_PAIR = ("atan2", "fdim", "fmod", "hypot", "nextafter", "remainder")
# float32 through the library's double functions, whose float functions are off by many ulp
BETTER = ("erfc", "j0", "j1", "y0", "y1", "lgamma", "tgamma")


def _call(name: str, parameters: str) -> Recipe:
    arguments = ", ".join(p.split()[-1] for p in parameters.split(","))
    body = f"    return {name}${{F}}({arguments});"
    return Recipe(body, parameters, constants=number_constants, scalar_only=True)


def _through_double(name: str, parameters: str) -> Recipe:
    arguments = ", ".join(p.split()[-1] for p in parameters.split(","))
    return Recipe(f"    return ($T)$D.{name}({arguments});", parameters, scalar_only=True)


RECIPES: dict[str, Recipe] = {
    **{name: _call(name, "$T x") for name in SAME},
    **{name: _call(name, PAIR) for name in SAME_PAIR},
    # towards minus infinity, as the language's %
    "mod": Recipe(
        "    $T r = fmod${F}(a, b);\n    return r == 0 ? $copysign(r, b) : (r < 0) != (b < 0) ? r + b : r;",
        PAIR,
        constants=number_constants,
        scalar_only=True,
    ),
    "floordiv": Recipe("    return a / b;", PAIR),
}
FLOAT64_RECIPES: dict[str, Recipe] = {name: _call(name, "$T x") for name in BETTER}
FLOAT32_RECIPES: dict[str, Recipe] = {
    name: _through_double(name, recipe.parameters)
    for name, recipe in (FLOAT64_RECIPES | error_function.FLOAT64_RECIPES | special.FLOAT64_RECIPES).items()
    if "int" not in recipe.parameters
}
