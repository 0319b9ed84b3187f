"""What came out of the operators' definitions, and what this package gives for the same arguments.

    python -m pytest --pyargs MODULE

The arguments and results stand beside this file; nothing else is needed than NumPy and pytest.
"""

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
MODULE = HERE.parent.name


def pytest_generate_tests(metafunc: Any) -> None:
    """Every test that takes a case runs with each."""
    if "case" in metafunc.fixturenames:
        rows = json.loads((HERE / "cases.json").read_text(encoding="utf-8"))
        ids = [f"{row['operator']}-{'-'.join(f'{n}{v}' for n, v in row['sizes'].items())}" for row in rows]
        metafunc.parametrize("case", list(enumerate(rows)), ids=ids)


class Case:
    """Arguments and results; bfloat16 as the package takes and gives it."""

    def __init__(self, number: int, row: dict[str, Any]) -> None:
        self.row = row
        self.package = import_module(MODULE)
        with np.load(HERE / "cases.npz") as arrays:
            self.arguments = [
                self._array(arrays[f"{number}_in_{n}"], dtype) if kind in "au" else row["numbers"][str(n)]
                for n, (_, kind, dtype) in enumerate(row["call"])
            ]
            self.results = [self._array(arrays[f"{number}_out_{n}"], d) for n, d in enumerate(row["results"])]
        self.operator = getattr(self.package, row["operator"])
        self.positional = [v for v, (_, kind, _) in zip(self.arguments, row["call"], strict=True) if kind != "k"]
        self.named = {n: v for v, (n, kind, _) in zip(self.arguments, row["call"], strict=True) if kind == "k"}

    def _array(self, stored: Any, dtype: str) -> Any:
        return self.package.BFloat16(stored) if dtype == "bfloat16" else stored

    def call(self, **more: Any) -> tuple[Any, ...]:
        """The results of the package's operator."""
        found = self.operator(*self.positional, **self.named, **more)
        return found if isinstance(found, tuple) else (found,)

    def check(self, found: Any) -> None:
        """Results near enough to those of the definition."""
        for mine, stored in zip(found, self.results, strict=True):
            loose = self.row["tolerance"]
            np.testing.assert_allclose(_plain(mine), _plain(stored), rtol=loose, atol=loose * _scale(stored))


def _plain(array: Any) -> Any:
    return np.asarray(array.numpy() if hasattr(array, "bits") else array)


def _scale(array: Any) -> float:
    """What errors are measured by: sums of many numbers may nearly cancel."""
    plain = np.abs(_plain(array).astype(np.float64))
    finite = plain[np.isfinite(plain)]
    return max(1.0, float(finite.max())) if finite.size else 1.0


@pytest.fixture
def known(case: tuple[int, dict[str, Any]]) -> Case:
    """The case of a test."""
    return Case(*case)


def test_results_are_those_of_the_definition(known: Case) -> None:
    """Whatever kernel runs."""
    known.check(known.call())


def test_results_go_where_they_are_asked_for_and_out_by_dlpack_without_a_copy(known: Case) -> None:
    """The memory is the caller's, and others see it."""
    updated = {n for n, kind, _ in known.row["call"] if kind == "u"}
    if updated:
        found = known.call()
        assert found[-1] is known.positional[-1]
        return
    first = known.call()
    out = known.call(out=tuple(first))
    assert all(mine is given for mine, given in zip(out, first, strict=True))
    known.check(out)
    for result, dtype in zip(out, known.row["results"], strict=True):
        if dtype != "bfloat16":
            again = np.from_dlpack(result)
            assert again.__array_interface__["data"][0] == result.__array_interface__["data"][0]


def test_a_call_that_does_not_fit_is_refused(known: Case) -> None:
    """With the name of what was wrong."""
    with pytest.raises(TypeError, match="expected"):
        known.operator(*known.positional, None, **known.named)
    for n, (name, kind, _) in enumerate(known.row["call"]):
        if kind not in "au":
            continue
        given = list(known.positional)
        given[n] = [1.0, 2.0]
        with pytest.raises(TypeError, match=f"{name} is a list"):
            known.operator(*given, **known.named)
        given[n] = np.zeros(np.shape(_plain(known.positional[n])), np.complex64)
        with pytest.raises(TypeError, match=f"{name} expected type"):
            known.operator(*given, **known.named)


def test_tensors_of_pytorch_are_taken_as_they_are(known: Case) -> None:
    """And their memory may be the result's."""
    torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here")
    known.positional = [torch.from_dlpack(v) if hasattr(v, "__dlpack__") else v for v in known.positional]
    found = known.call()
    known.check([v.float() if isinstance(v, torch.Tensor) else v for v in found])


def test_operators_of_pytorch_give_the_same(known: Case) -> None:
    """Registered from the library for PyTorch, if the package has it."""
    torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here")
    if find_spec(f"{MODULE}.for_torch") is None:
        pytest.skip("the package was exported without PyTorch")
    found = _by_pytorch(known, torch, "cpu")
    known.check([v.to(torch.float64).numpy() for v in found])


def test_operators_of_pytorch_give_the_same_on_a_gpu(known: Case) -> None:
    """Where the package has kernels for one."""
    torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here")
    if not known.row.get("gpu") or find_spec(f"{MODULE}.for_torch") is None:
        pytest.skip("the package was exported for processors alone")
    if not torch.cuda.is_available():
        pytest.skip("install an NVIDIA GPU and PyTorch for it")
    found = _by_pytorch(known, torch, "cuda")
    assert all(v.is_cuda for v in found)
    known.check([v.to(torch.float64).cpu().numpy() for v in found])


def _by_pytorch(known: Case, torch: Any, device: str) -> tuple[Any, ...]:
    operators = import_module(f"{MODULE}.for_torch").operators
    given = [torch.from_dlpack(v).to(device) if hasattr(v, "__dlpack__") else v for v in known.positional]
    found = getattr(operators, known.row["operator"])(*given, **known.named)
    return found if isinstance(found, tuple) else (found,)
