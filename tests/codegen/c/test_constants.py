"""Literals of floating-point numbers read back as the same number, and are NumPy's shortest."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support import ROOT, examples
from workbench.codegen.c.expressions.constants import float_text
from workbench.lang.dtypes import FLOAT32, FLOAT64

PLACES = st.integers(-(10**7), 10**7), st.integers(-12, 18)
SHORT = st.builds(lambda digits, exponent: float(f"{digits}e{exponent}"), *PLACES)


@settings(max_examples=examples(quick=100, ci=500, full=5000))
@given(SHORT | st.floats(width=32) | st.floats())
@example(0.0)
@example(-0.0)
@example(0.1)
@example(1e-4)
@example(999999.0)
@example(1e6)
@example(16777217.0)
@example(1e300)
def test_a_literal_is_numpys(value: float) -> None:
    if math.isfinite(value):
        assert float_text(value, FLOAT64) == str(np.float64(value))
    with np.errstate(over="ignore"):
        rounded = np.float32(value)
    if np.isfinite(rounded):
        assert float_text(value, FLOAT32) == f"{rounded!s}f"
    else:
        assert float_text(value, FLOAT32) in ("INFINITY", "-INFINITY", "NAN")


@pytest.mark.parametrize(("value", "asks"), [(0.25, False), (-3.0, False), (1 / 3, True), (1e-7, True)])
def test_numpy_is_asked_only_for_what_float32_rounds(value: float, *, asks: bool) -> None:
    program = (
        "from workbench.codegen.c.expressions.constants import float_text; from workbench.lang.dtypes import FLOAT32;"
        f"float_text({value!r}, FLOAT32); import sys; print('numpy' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(asks)
