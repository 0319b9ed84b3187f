"""Gradients of registered operators: PyTorch's own checks, in float64."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.export.sampled import small
from tests.export.torch_calls import arguments, exported

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here to export to")

DIFFERENTIATED = (
    "matmul", "batched_matmul", "bilinear", "three_matmuls", "gemm", "conv1d", "conv2d", "avg_pool2d", "softmax",
    "log_softmax", "layer_norm", "rms_norm", "bias_gelu", "softplus", "swiglu", "mse", "cross_entropy", "attention",
    "lstm_cell", "gru_cell", "cumsum", "embedding", "roll", "pairwise_distance",
)  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_first_and_second_derivatives_agree_with_differences(name):
    op, sizes = small(name)
    sizes = {n: min(v, 4) if n in op.size_names else v for n, v in sizes.items()}
    found = exported(op, sizes)
    given = [v.double().requires_grad_() if _smooth(v) else v for v in arguments(op, sizes, torch)]
    assert torch.autograd.gradcheck(found, given)
    assert torch.autograd.gradgradcheck(found, given, atol=1e-4)


def _smooth(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


@pytest.fixture(scope="module")
def mm():
    return wb.export.torch(wb.operator("def mmg(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"))


def test_only_the_gradients_that_are_wanted_are_computed(mm):
    A, B = torch.randn(3, 4), torch.randn(4, 5, requires_grad=True)
    mm(A, B).sum().backward()
    torch.testing.assert_close(B.grad, A.T @ torch.ones(3, 5))
    assert A.grad is None
    assert hasattr(torch.ops.workbench, "mmg_grad_B")


def test_gradients_pass_through_compiled_programs_and_functional_transformations(mm):
    A, B = torch.randn(3, 4, requires_grad=True), torch.randn(4, 5)
    compiled = torch.compile(lambda a, b: mm(a, b).relu(), fullgraph=True, backend="aot_eager")
    compiled(A, B).sum().backward()
    expected = ((A @ B) > 0).float() @ B.T
    torch.testing.assert_close(A.grad, expected)
    by = torch.func.grad(lambda a: mm(a, B).relu().sum())
    torch.testing.assert_close(by(A.detach()), expected)
    batch = torch.stack([A.detach(), -A.detach()])
    each = torch.func.vmap(by)(batch)
    torch.testing.assert_close(each[0], expected)
    torch.testing.assert_close(each[1], by(-A.detach()))


def test_results_that_are_no_floats_require_no_gradient():
    op = wb.operator("def firsts(float(N) A, int64(M) I) -> (int64(M) O) { O(m) = I(m) }")
    found = wb.export.torch(op)
    assert not found(torch.ones(3, requires_grad=True), torch.tensor([1])).requires_grad


def test_an_operator_without_a_gradient_says_so_in_the_backward_pass():
    text = "void twice(int n, float *a, float *b) { for (int i = 0; i < n; i++) b[i] = 2 * a[i]; }"
    found = wb.export.torch(wb.from_c(text))
    result = found(3, torch.ones(3, requires_grad=True), torch.zeros(3))
    assert result.tolist() == [2, 2, 2]
    with pytest.raises(NotImplementedError, match=r"workbench::twice has no gradient: .*was read from C"):
        result.sum().backward()


def test_forward_mode_is_refused(mm):
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        A = forward_ad.make_dual(torch.randn(3, 4), torch.randn(3, 4))
        with pytest.raises(NotImplementedError, match="no forward-mode derivative"):
            mm(A, torch.randn(4, 5))


def test_a_layer_trains_as_its_model_in_pytorch(mm):
    torch.manual_seed(0)
    X, Y = torch.randn(64, 8), torch.randn(64, 3)
    start = [torch.randn(8, 16) * 0.3, torch.randn(16, 3) * 0.3]
    losses = []
    for product in (torch.mm, mm):
        weights = [w.clone().requires_grad_() for w in start]
        optimiser = torch.optim.SGD(weights, 0.05)
        own = []
        for _ in range(50):
            loss = ((product(product(X, weights[0]).tanh(), weights[1]) - Y) ** 2).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            own.append(loss.item())
        losses.append(own)
    assert losses[1][-1] < 0.9 * losses[1][0]
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-4, atol=1e-5)
