"""CUDA's mathematical functions that C's library lacks, for the executor: the same texts that kernels in C have."""

from __future__ import annotations

import re

from workbench.codegen.cmath import in_order, scalar
from workbench.lang.dtypes import FLOAT32, FLOAT64

_NAMES = """cospi cyl_bessel_i0 cyl_bessel_i1 erfcinv erfcx erfinv exp10 norm3d norm4d normcdf normcdfinv rcbrt rhypot
rnorm3d rnorm4d sinpi"""
NOT_IN_C = frozenset(_NAMES.split())
"""Names for double; those for float end in f.  `rsqrt` is a macro of `cuda_values.hpp`: nearly every text calls it."""
_CALLED = re.compile(rf"\b({'|'.join(sorted(NOT_IN_C))})(f?)\s*\(")

def device_functions_in(source: str) -> str:
    """C++ text that defines what CUDA text calls of these functions; empty if it calls none.

    They stand in a namespace of their own, since the CUDA text may hold helpers of the same names.
    """
    called = sorted({(name, letter) for name, letter in _CALLED.findall(source)})
    if not called:
        return ""
    found = {name + letter: scalar(name, FLOAT32 if letter else FLOAT64) for name, letter in called}
    texts = "".join(helper.source for helper in in_order(list(found.values())) if helper.name != "wb_base")
    names = "".join(f"#define {name} ::wb_cpu_library::{helper.name}\n" for name, helper in found.items())
    return f"namespace wb_cpu_library {{\n{texts}}}\n{names}"
