"""The functions on floats, by element type, from the files that write them."""

from __future__ import annotations

from workbench.codegen.cmath import primitive
from workbench.codegen.cmath.functions import (
    arc_tangent,
    elementary,
    error_function,
    exponential,
    extremes,
    half,
    library,
    logarithm,
    power,
    special,
    trigonometric,
)
from workbench.codegen.cmath.template import Recipe

FLOATS: dict[str, Recipe] = {
    **primitive.PRIMITIVES,
    **extremes.RECIPES,
    **elementary.RECIPES,
    **exponential.RECIPES,
    **logarithm.RECIPES,
    **trigonometric.RECIPES,
    **arc_tangent.RECIPES,
    **error_function.RECIPES,
    **power.RECIPES,
    **library.RECIPES,
}
SINGLE = FLOATS | {
    **logarithm.FLOAT32_RECIPES,
    **trigonometric.FLOAT32_RECIPES,
    **power.FLOAT32_RECIPES,
    **library.FLOAT32_RECIPES,
    **half.FLOAT32_RECIPES,
}
DOUBLE = FLOATS | {
    **logarithm.FLOAT64_RECIPES,
    **trigonometric.FLOAT64_RECIPES,
    **error_function.FLOAT64_RECIPES,
    **power.FLOAT64_RECIPES,
    **library.FLOAT64_RECIPES,
    **special.FLOAT64_RECIPES,
}
