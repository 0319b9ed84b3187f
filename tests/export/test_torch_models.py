"""`wb.export.torch` of built models: operators of PyTorch, compiled, exported and differentiated as PyTorch's own."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import WorkbenchError

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here")

TEXT = """
def linear<T>(T(M,K) x, T(N,K) w) -> (y) { y(m,n) +=! x(m,k) * w(n,k) }
fn main(x: float32[batch, 8], w: float32[6, 8]) {
    %y = bias_relu(linear(x, w), const#0)
    (softmax(%y), %y)
}
"""
RECURSIVE = """
def plus<T>(T(N) x, T(N) y) -> (z) { z(i) = x(i) + y(i) }
fn times(x: float32[n], count: int32) -> float32[n] {
    if count == 0 { softplus(x) } else { plus(x, times(x, count - 1)) }
}
fn main(x: float32[n], count: int32) { times(x, count) }
"""


@pytest.fixture(scope="module")
def model() -> wb.Model:
    return wb.model(TEXT, [np.linspace(-1, 1, 6, dtype="f4")])


def tensors(batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(batch)
    return torch.randn(batch, 8, generator=draw), torch.randn(6, 8, generator=draw)


def eager(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = torch.relu(x @ w.T + torch.linspace(-1, 1, 6))
    return torch.softmax(y, 1), y


def test_an_operator_of_any_size_computes_what_the_model_does(model):
    op = wb.export.torch(wb.build(model), name="mlp_of_sizes")
    assert op is torch.ops.workbench.mlp_of_sizes
    for batch in (1, 3, 7):
        given = tensors(batch)
        for mine, theirs in zip(op(*given), eager(*given), strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-5)


def test_pytorch_checks_the_operator(model):
    op = wb.export.torch(wb.build(model), name="mlp_checked").default
    x, w = tensors(3)
    torch.library.opcheck(op, (x, w))
    torch.library.opcheck(op, (x.requires_grad_(), w.requires_grad_()))


def test_gradients_are_those_of_eager(model):
    op = wb.export.torch(wb.build(model), name="mlp_gradient")
    mine, theirs = (tuple(each.requires_grad_() for each in tensors(4)) for _ in range(2))
    for function, given in ((op, mine), (eager, theirs)):
        first, second = function(*given)
        (first.square().sum() + second.sum()).backward()
    for a, b in zip(mine, theirs, strict=True):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-5)


def test_compiled_programs_call_it_without_a_break(model):
    op = wb.export.torch(wb.build(model), name="mlp_compiled")
    compiled = torch.compile(lambda x, w: op(x * 2, w)[0] + 1, fullgraph=True, backend="aot_eager")
    x, w = tensors(5)
    torch.testing.assert_close(compiled(x, w), eager(x * 2, w)[0] + 1, rtol=1e-5, atol=1e-5)


def test_a_recursive_model_is_an_operator_too():
    op = wb.export.torch(wb.build(wb.model(RECURSIVE)), name="times_of_recursion")
    x = torch.linspace(-1, 1, 5)
    found = op(x, torch.tensor(3, dtype=torch.int32))
    torch.testing.assert_close(found, 3 * x + torch.nn.functional.softplus(x))


def test_another_model_takes_the_place_of_one_with_its_signature(model):
    other = wb.model(TEXT.replace("(softmax(%y), %y)", "(%y, softmax(%y))"), [np.linspace(-1, 1, 6, dtype="f4")])
    first = wb.export.torch(wb.build(model), name="mlp_replaced")
    given = tensors(2)
    before = first(*given)
    after = wb.export.torch(wb.build(other), name="mlp_replaced")(*given)
    torch.testing.assert_close(before[0], after[1])
    with pytest.raises(WorkbenchError, match="registered with another signature"):
        wb.export.torch(wb.build(wb.model("fn main(x: float32[n]) { softplus(x) }")), name="mlp_replaced")


def test_what_is_no_tensor_is_refused():
    folding = wb.model("fn main(xs: List<float32>) -> List<float32> { xs }")
    with pytest.raises(WorkbenchError, match=r"main: xs has type List<float32>; an operator of PyTorch takes"):
        wb.export.torch(wb.build(folding), name="list_of")
    with pytest.raises(WorkbenchError, match="gpu= is for operators"):
        wb.export.torch(wb.build(folding), gpu=True)
