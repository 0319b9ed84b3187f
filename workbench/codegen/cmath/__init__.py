"""The C text of the language's functions: scalars and vectors from one template, without -ffast-math.

`scalar` and `vector` give a `Helper`, `in_order` all that must stand before it; `vector_types` the typedefs,
`conversion` the 16-bit floats, `converted` all other conversions, `ulp_bound` the stated accuracy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.face import deferred

if TYPE_CHECKING:
    from workbench.codegen.cmath.accuracy import ulp_bound
    from workbench.codegen.cmath.catalogue import conversion, scalar, vector
    from workbench.codegen.cmath.helper import Helper, in_order
    from workbench.codegen.cmath.shape import vector_types
    from workbench.codegen.cmath.to_integers import scalar_to_integer
    from workbench.codegen.cmath.widths import converted

# Which submodule gives a name.
NAMES = {
    "Helper": "helper",
    "conversion": "catalogue",
    "converted": "widths",
    "in_order": "helper",
    "scalar": "catalogue",
    "scalar_to_integer": "to_integers",
    "ulp_bound": "accuracy",
    "vector": "catalogue",
    "vector_types": "shape",
}

__all__ = [
    "Helper",
    "conversion",
    "converted",
    "in_order",
    "scalar",
    "scalar_to_integer",
    "ulp_bound",
    "vector",
    "vector_types",
]

__getattr__ = deferred(__name__, NAMES)
