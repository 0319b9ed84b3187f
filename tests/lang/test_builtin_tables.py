"""Every function of the language is known everywhere: to the oracle, to derivatives, and to each back end."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.lang.test_oracle_builtins import MORE, UNARY
from workbench.codegen.cmath.accuracy import BOUNDS
from workbench.codegen.cmath.catalogue import recipes
from workbench.codegen.cuda.functions import LIBRARY, OWN
from workbench.lang import evaluate
from workbench.lang.builtins import BUILTINS
from workbench.lang.derived.calculus.partials import RULES
from workbench.lang.dtypes import FLOAT32, FLOAT64
from workbench.lang.oracle.builtins import builtin

OPERATORS = {"min", "max", "mod", "floordiv", "select", "shl", "shr"}  # written otherwise in the language
TABLES = {
    "derivatives": RULES,
    "C float": recipes(FLOAT32),
    "C double": recipes(FLOAT64),
    "accuracy of C": BOUNDS,
    "CUDA": {**LIBRARY, **OWN},
    "exact values of the oracle's test": {**UNARY, **MORE, "nextafter": None},
}
HELPERS = {"C float", "C double"}  # which hold what the functions are made of besides
POWERS = 10.0 ** np.arange(-40, 38)
X = np.concatenate([np.linspace(-30, 30, 481), POWERS, -POWERS, [0, np.inf, -np.inf]])


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_an_entry_for_every_function_and_for_nothing_else(table):
    assert [name for name in BUILTINS if name not in TABLES[table]] == []
    assert table in HELPERS or {*TABLES[table]} - {*BUILTINS} <= OPERATORS


def test_onnx_has_every_function_or_is_known_to_lack_it():
    pytest.importorskip("onnx", reason="install onnx to write its operators")
    from workbench.export.ort.body.functions import _DIRECT, _MADE, MISSING

    assert {*_DIRECT, *_MADE, *MISSING, "isnan", "isinf", "relu"} == {*BUILTINS}
    assert not MISSING & {*_DIRECT, *_MADE}


def operator_of(name: str, dtype: str) -> wb.Operator:
    """One call of a function, as an operator."""
    arity = BUILTINS[name].arity
    given = ", ".join(f"X{n}(i)" for n in range(arity))
    taken = ", ".join(f"{dtype}(N) X{n}" for n in range(arity))
    call = f"{name}({given}) ? 1 : 0" if BUILTINS[name].is_test else f"{name}({given})"
    return wb.operator(f"def f({taken}) -> ({dtype}(N) Y) {{ Y(i) = {call} }}")


def require_within(found: np.ndarray, values: tuple[float, float], rounding: float) -> None:
    """Nothing but NaN lies outside."""
    known = found[~np.isnan(found)]
    least, greatest = values
    assert known.min() >= least - rounding * abs(least)
    assert known.max() <= greatest + rounding * abs(greatest)


@pytest.mark.parametrize("name", BUILTINS)
def test_the_oracle_gives_nothing_outside_the_stated_values(name):
    points = [np.roll(X, 7 * n) for n in range(BUILTINS[name].arity)]
    with np.errstate(all="ignore"):
        found = np.asarray(builtin(name)(*points), np.float64)
    require_within(found, BUILTINS[name].values, 4 * np.finfo(np.float64).eps)


@pytest.mark.parametrize("dtype", ["float", "double"])
def test_compiled_functions_give_what_the_oracle_gives_and_nothing_outside_the_stated_values(dtype):
    numpy = np.float32 if dtype == "float" else np.float64
    for name, row in BUILTINS.items():
        points = [np.roll(X, 7 * n).astype(numpy) for n in range(row.arity)]
        op = operator_of(name, dtype)
        found = op(*points)
        require_within(found, row.values, 4 * np.finfo(numpy).eps)
        assert np.array_equal(np.isnan(found), np.isnan(evaluate(op, *points))), name
