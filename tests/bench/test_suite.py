"""The suite is data that holds: operators exist, sizes fit, peers compute the same."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

import workbench as wb
from bench.contenders import operator_of
from bench.peers import numpy_peers
from bench.suite import BACKEND_CASES, BUILD_CASES, CASES, Case
from tests.support import ROOT

NAMES = [case.name for case in CASES]
TORCH_PEERS = ROOT / "bench" / "peers" / "torch_peers.py"

# What the project has promised to measure.
PROMISED = (
    "matmul 512", "matmul 1024", "matmul 2048", "tmm 128x256x32", "tmm 128x1024x1024", "tmm 128x16384x4096",
    "tbmm", "conv 3x3 64x56x56", "conv 1x1", "group conv", "MLP1", "MLP3", "softmax 4096x1024", "layer norm 4096x1024",
    "bias + ReLU", "bias + GELU", "moments 128x2304", "moments 1024x36864", "transpose", "NCHW to NHWC", "group norm",
    "LSTM cell", "1LUT", "attention", "column sum", "argmax", "matmul int8", "jacobi-2d", "cumsum",
)  # fmt: skip


def torch_functions() -> dict[str, int]:
    """Function of torch_peers → number of positional arguments, read without importing PyTorch."""
    tree = ast.parse(TORCH_PEERS.read_text(encoding="utf-8"))
    return {node.name: len(node.args.args) for node in tree.body if isinstance(node, ast.FunctionDef)}


def small(case: Case) -> dict[str, int]:
    """Sizes at which the oracle is quick; what shapes a window stays."""
    windows = ("KH", "KW", "k", "stride", "pad")
    return {n: v if n in windows else min(v, 2 if n in ("steps", "dilation") else 11) for n, v in case.sizes.items()}


def data(case: Case) -> list[Any]:
    arrays = wb.ops.sample_arrays(operator_of(case), **small(case))
    return [a.item() if isinstance(a, np.ndarray) and a.ndim == 0 else a for a in arrays]


def agree(found: Any, case: Case) -> None:
    """What a peer computed is what the oracle says."""
    wanted = operator_of(case).evaluate(*data(case))
    pairs = zip(*[r if isinstance(r, tuple) else (r,) for r in (found, wanted)], strict=True)
    for a, b in pairs:
        assert a.shape == b.shape
        np.testing.assert_allclose(
            np.asarray(a, np.float64), np.asarray(b, np.float64), rtol=case.tolerance, atol=case.tolerance
        )


def test_what_was_promised_is_there():
    assert [p for p in PROMISED if not any(name.startswith(p) for name in NAMES)] == []


def test_names_are_unique_and_fit_a_table():
    assert len(set(NAMES)) == len(NAMES)
    assert not [name for name in NAMES if "|" in name or len(name) > 40]


def test_the_shorter_lists_name_cases():
    assert {*BACKEND_CASES, *BUILD_CASES} <= set(NAMES)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_operator_takes_these_sizes(case):
    op = operator_of(case)
    assert op.name == case.operator
    assert {*op.size_names, *op.scalars} == set(case.sizes)
    assert wb.ops.bytes(op, **case.sizes) > 0


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_peers_take_the_arguments_of_the_operator(case):
    count = len(operator_of(case).parameters)
    known = torch_functions()
    assert [n for n in case.torch.split() if known[n] != count] == []
    functions = [getattr(numpy_peers, name) for name in case.numpy.split()]
    assert [f for f in functions if f.__code__.co_argcount != count] == []


@pytest.mark.parametrize("case", [c for c in CASES if c.numpy], ids=lambda c: c.name)
def test_numpy_computes_the_same(case):
    for name in case.numpy.split():
        agree(getattr(numpy_peers, name)(*data(case)), case)


@pytest.mark.parametrize("case", [c for c in CASES if c.torch], ids=lambda c: c.name)
def test_torch_computes_the_same(case):
    torch = pytest.importorskip("torch", reason="install torch: PyTorch was not found")
    from bench.peers import torch_peers
    from bench.workers.prepared import tensor, tensor_arrays

    arguments = [tensor(torch, a) if isinstance(a, np.ndarray) else a for a in data(case)]
    for name in case.torch.split():
        found = tensor_arrays(torch, getattr(torch_peers, name)(*arguments))
        agree(tuple(found) if len(found) > 1 else found[0], case)
