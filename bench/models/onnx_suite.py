"""The ONNX project's own node cases as a judge of `wb.from_onnx`: which pass, which are refused and why.

    python -m bench.models.onnx_suite [part of a name]

prints the cases of each type of node that passed and were refused, and the reasons.  A case passes if the model that
comes out computes what the case expects, in its types and shapes, within its tolerances (for 16-bit floats, whose
expected results were rounded along the way in another order, two units in the last place).  Inputs that shape other
tensors (axes, sizes) are inputs of many of these models: those are given as constants where the refusal names them.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import workbench as wb
from workbench.errors import UnsupportedModel

ELEMENTS = {"bool", "bfloat16", "float16", "float32", "float64"} | {
    f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)
}
HALF_PRECISION = {"float16": 2.0**-9, "bfloat16": 2.0**-6}


@dataclass(frozen=True)
class Outcome:
    """What came of a case; `status` is passed, refused or wrong, `given` the inputs that had to be constants."""

    name: str
    node: str
    status: str
    reason: str = ""
    given: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def cases() -> tuple[Any, ...]:
    """The node cases whose inputs and outputs are tensors of floats, whole numbers and truth values."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = load_model_tests(kind="node")
    return tuple(sorted((case for case in found if _is_plain(case.model.graph)), key=lambda case: case.name))


def _is_plain(graph: Any) -> bool:
    from onnx import TensorProto

    names = {"float": "float32", "double": "float64"}
    for value in (*graph.input, *graph.output):
        if value.type.WhichOneof("value") != "tensor_type":
            return False
        name = TensorProto.DataType.Name(value.type.tensor_type.elem_type).lower()
        if names.get(name, name) not in ELEMENTS:
            return False
    return True


def judged(case: Any) -> Outcome:
    """A case, imported and evaluated on its data."""
    node = case.model.graph.node[0].op_type if case.model.graph.node else ""
    names = [value.name for value in case.model.graph.input]
    data = [tuple([_array(each) for each in part] for part in each) for each in case.data_sets]
    try:
        model, given = imported(case.model, dict(zip(names, data[0][0], strict=False)))
    except UnsupportedModel as error:
        return Outcome(case.name, node, "refused", str(error).splitlines()[0])
    for inputs, expected in data:
        arrays = [array for name, array in zip(names, inputs, strict=False) if name not in given]
        found = model.evaluate(*arrays)
        difference = differs(found if isinstance(found, tuple) else (found,), expected, case.rtol, case.atol)
        if difference:
            return Outcome(case.name, node, "wrong", difference, given)
    return Outcome(case.name, node, "passed", given=given)


def imported(model: Any, data: dict[str, Any]) -> tuple[wb.Model, tuple[str, ...]]:
    """The model, with those inputs as constants whose values must be known, and their names."""
    given: dict[str, Any] = {}
    while True:
        try:
            return wb.from_onnx(model, constants=given), tuple(given)
        except UnsupportedModel as error:
            more = [name for name in error.inputs if name not in given and name in data]
            if not more:
                raise
            given |= {name: data[name] for name in more}


def _array(value: Any) -> Any:
    from onnx import TensorProto, numpy_helper

    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)


def differs(found: tuple[Any, ...], expected: list[Any], rtol: float, atol: float) -> str:
    """How results differ from what is expected; nothing if they do not."""
    if len(found) != len(expected):
        return f"{len(found)} results instead of {len(expected)}"
    for at, (a, b) in enumerate(zip(map(np.asarray, found), expected, strict=True)):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"result {at} is {a.dtype}{a.shape} instead of {b.dtype}{b.shape}"
        bound = max(rtol, HALF_PRECISION.get(a.dtype.name, 0.0))
        if not np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=bound, atol=atol, equal_nan=True):
            return f"result {at} has other elements"
    return ""


def main(part: str = "") -> None:
    """Judge all cases whose names contain a part, and print the table."""
    outcomes = [judged(case) for case in cases() if part in case.name]
    table: dict[str, Counter[str]] = {}
    for each in outcomes:
        table.setdefault(each.node, Counter())[each.status] += 1
    print(f"{'node':32} {'passed':>7} {'refused':>7} {'wrong':>7}")
    for node, counts in sorted(table.items()):
        print(f"{node:32} {counts['passed']:7} {counts['refused']:7} {counts['wrong']:7}")
    total = Counter(each.status for each in outcomes)
    given = sum(bool(each.given) for each in outcomes if each.status == "passed")
    print(f"{'all':32} {total['passed']:7} {total['refused']:7} {total['wrong']:7}")
    print(f"of those that passed, {given} with inputs that shape other tensors given as constants\n")
    for each in outcomes:
        if each.status != "passed":
            print(f"{each.name}: {each.status}: {each.reason}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
