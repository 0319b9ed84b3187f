"""Backward operators beside PyTorch's: the cases hold, all contenders compute the same, a run leaves its files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bench.backward.__main__ import main
from bench.backward.cases import OPERATORS, OURS, SAVED, TORCH, cases, forward, of_case
from bench.backward.worker import made
from bench.contenders import operator_of
from bench.record import Comparison, read
from bench.suite import Case
from tests.bench.test_suite import torch_functions

CASES = cases()
NAMES = [case.name for case in CASES]
PROMISED = ("conv 3x3", "matmul", "layer norm", "softmax", "attention", "LSTM cell")


def small(case: Case) -> Case:
    """Sizes at which the oracle is quick; what shapes a window stays."""
    windows = ("KH", "KW", "stride", "pad", "dilation")
    return replace(case, sizes={n: v if n in windows else min(v, 7) for n, v in case.sizes.items()})


def results(contender: str, case: Case) -> list[np.ndarray[Any, Any]]:
    prepared = made(contender, case, 1)
    return prepared.arrays(prepared.fresh())


def test_what_was_promised_is_there_under_names_that_fit_a_table():
    assert [p for p in PROMISED if not any(name.startswith(p) for name in NAMES)] == []
    assert len(set(NAMES)) == len(NAMES)
    assert not [name for name in NAMES if "|" in name or len(name) > 44]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_cases_are_gradients_of_what_the_peer_takes(case):
    of, gradient = of_case(case), operator_of(case)
    assert gradient.outputs == tuple(f"d_{name}" for name in of.by)
    assert {*gradient.size_names, *gradient.scalars} == set(case.sizes)
    assert torch_functions()[of.torch] == len(forward(of).parameters)


@pytest.mark.parametrize("of", OPERATORS, ids=lambda of: of.operator)
def test_everyone_computes_the_same(of):
    case = small(next(case for case in CASES if of_case(case) is of))
    ours = results(OURS, case)
    for contender in (SAVED, *([TORCH] if _torch() else [])):
        for a, b in zip(results(contender, case), ours, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


def test_torch_computes_the_same():
    if not _torch():
        pytest.skip("install torch: PyTorch was not found")
    case = small(CASES[0])
    for a, b in zip(results(TORCH, case), results(OURS, case), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


def _torch() -> bool:
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


@pytest.mark.slow
def test_a_run_leaves_json_and_a_page(tmp_path, capsys):
    brief = ["--quick", "--rounds", "2", "--seconds", "0.002", "--threads", "1", "--output", str(tmp_path)]
    assert main(["softmax 6144", *brief]) == 0
    (file,) = tmp_path.glob("*-backward.json")
    (row,) = (row for row in read(file).rows if isinstance(row, Comparison))
    assert list(row.results) == [OURS, SAVED, TORCH]
    assert row.results[OURS].fresh is not None
    assert row.results[TORCH].missing == "" or "not installed" in row.results[TORCH].missing
    assert row.case in file.with_suffix(".md").read_text(encoding="utf-8")
    assert row.case in capsys.readouterr().out


def test_numbers_of_threads_that_there_are_not(capsys):
    with pytest.raises(SystemExit):
        main(["--threads", "4096"])
    assert "--threads takes numbers up to" in capsys.readouterr().err
