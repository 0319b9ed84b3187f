"""Operators of the library against PyTorch, where it has the same operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.ops.awkward import PRIMES
from workbench import ops
from workbench.lang import evaluate

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here to compare with")
F = torch.nn.functional


def flat(tensor: Any) -> Any:
    """Gates (G,H,...) as PyTorch stores them: (G·H, ...)."""
    return tensor.reshape(-1, *tensor.shape[2:])


def heads(tensor: Any) -> Any:
    """(B,H,N,D) repeated for a group of two query heads."""
    return tensor[:, :, None].expand(-1, -1, 2, -1, -1)


def sequence_lstm(X: Any, h: Any, c: Any, W: Any, U: Any, b: Any) -> Any:
    module = torch.nn.LSTM(X.shape[2], h.shape[1])
    zeros = torch.zeros_like(flat(b))
    weights = dict(weight_ih_l0=flat(W), weight_hh_l0=flat(U), bias_ih_l0=flat(b), bias_hh_l0=zeros)
    return torch.func.functional_call(module, weights, (X, (h[None], c[None])))[0]


def sequence_rnn(X: Any, h: Any, W: Any, U: Any, b: Any) -> Any:
    module = torch.nn.RNN(X.shape[2], h.shape[1])
    weights = dict(weight_ih_l0=W, weight_hh_l0=U, bias_ih_l0=b, bias_hh_l0=torch.zeros_like(b))
    return torch.func.functional_call(module, weights, (X, h[None]))[0]


def one_step_of_adam(g: Any, rate: Any, beta1: Any, beta2: Any, eps: Any, out: Any) -> Any:
    """PyTorch's Adam at its first step differs by bias correction, so only the averages are compared."""
    _, m, v = out
    return None, torch.lerp(g, m, beta1.item()), torch.lerp(g * g, v, beta2.item())


SAME: dict[str, Callable[..., Any]] = {
    "matmul": torch.matmul,
    "gemm": lambda A, B, a, b, out: torch.addmm(out, A, B, beta=b.item(), alpha=a.item()),
    "matvec": torch.mv,
    "batched_matmul": torch.bmm,
    "dot": torch.dot,
    "outer": torch.outer,
    "bilinear": F.bilinear,
    "norm": torch.linalg.norm,
    "tensordot": lambda A, B: torch.tensordot(A, B, 2),
    "pairwise_distance": lambda X, Y: torch.cdist(X, Y) ** 2,
    "covariance": lambda X: torch.cov(X.T),
    "correlation": lambda X: torch.corrcoef(X.T),
    "conv1d": lambda X, W, s, p, d: F.conv1d(X, W, stride=s, padding=p, dilation=d),
    "conv2d": lambda X, K, s, p, d: F.conv2d(X, K, stride=s, padding=p, dilation=d),
    "conv2d_bias": F.conv2d,
    "conv3d": F.conv3d,
    "group_conv2d": lambda X, K, B: F.conv2d(
        X.flatten(1, 2), K.flatten(0, 1), B.flatten(), groups=X.shape[1]
    ).unflatten(1, B.shape),
    "depthwise_conv2d": lambda X, K, s, p: F.conv2d(X, K[:, None], stride=s, padding=p, groups=X.shape[1]),
    "conv_transpose2d": lambda X, K, s, p: F.conv_transpose2d(X, K, stride=s, padding=p),
    "conv2d_input_gradient": lambda D, K: torch.nn.grad.conv2d_input(
        (D.shape[0], K.shape[1], D.shape[2] + K.shape[2] - 1, D.shape[3] + K.shape[3] - 1), K, D
    ),
    "conv2d_weight_gradient": lambda D, X: torch.nn.grad.conv2d_weight(
        X, (D.shape[1], X.shape[1], X.shape[2] - D.shape[2] + 1, X.shape[3] - D.shape[3] + 1), D
    ),
    "max_pool2d": lambda X, k, s, p: F.max_pool2d(X, k, s, p),
    "avg_pool2d": lambda X, k, s, p: F.avg_pool2d(X, k, s, p),
    "global_avg_pool": lambda X: F.adaptive_avg_pool2d(X, 1)[:, :, 0, 0],
    "upsample_nearest": lambda X, scale: F.interpolate(X, scale_factor=scale),
    "upsample_bilinear": lambda X: F.interpolate(X, scale_factor=2, mode="bilinear"),
    "softmax": lambda X: F.softmax(X, 1),
    "online_softmax": lambda X: F.softmax(X, 1),
    "log_softmax": lambda X: F.log_softmax(X, 1),
    "log_sum_exp": lambda X: torch.logsumexp(X, 1),
    "layer_norm": lambda X, g, b, e: F.layer_norm(X, X.shape[1:], g, b, e.item()),
    "rms_norm": lambda X, g, e: F.rms_norm(X, X.shape[1:], g, e.item()),
    "batch_norm": lambda X, g, b, e: (
        F.batch_norm(X, None, None, g, b, training=True, eps=e.item()),
        X.mean((0, 2, 3)),
        X.var((0, 2, 3), correction=0),
    ),
    "batch_norm_inference": lambda X, m, v, g, b, e: F.batch_norm(X, m, v, g, b, eps=e.item()),
    "group_norm": lambda X, g, b, e: F.group_norm(
        X.flatten(1, 2), X.shape[1], g.flatten(), b.flatten(), e.item()
    ).view_as(X),
    "instance_norm": lambda X, e: F.instance_norm(X, eps=e.item()),
    "l2_normalise": lambda X, e: F.normalize(X, dim=1, eps=e.item()),
    "moments": lambda X: (X.mean(1), X.var(1, correction=0)),
    "welford": lambda X: (X.mean(1), X.var(1, correction=0)),
    "bias_relu": lambda X, b: F.relu(X + b),
    "bias_gelu": lambda X, b: F.gelu(X + b),
    "gelu_tanh": lambda X: F.gelu(X, approximate="tanh"),
    "leaky_relu": lambda X, s: F.leaky_relu(X, s.item()),
    "softplus": F.softplus,
    "swiglu": lambda X, V, W: F.silu(F.linear(X, V)) * F.linear(X, W),
    "adam": one_step_of_adam,
    "mse": F.mse_loss,
    "cross_entropy": lambda X, label: F.cross_entropy(X, label.long()),
    "nll": lambda L, label, w: F.nll_loss(L, label.long(), w, reduction="none"),
    "binary_cross_entropy": F.binary_cross_entropy_with_logits,
    "huber": lambda X, Y, d: F.huber_loss(X, Y, reduction="none", delta=d.item()),
    "kl_divergence": lambda Q, P: F.kl_div(Q, P, reduction="none").sum(1),
    "cosine_similarity": lambda X, Y, e: F.cosine_similarity(X, Y, eps=e.item()),
    "hinge": lambda X, label: F.multi_margin_loss(X, label.long(), reduction="none") * X.shape[1],
    "attention": F.scaled_dot_product_attention,
    "online_attention": F.scaled_dot_product_attention,
    "causal_attention": lambda Q, K, V: F.scaled_dot_product_attention(Q, K, V, is_causal=True),
    "grouped_attention": lambda Q, K, V: F.scaled_dot_product_attention(Q, heads(K), heads(V)),
    "rnn_cell": lambda X, h, W, U, b: torch.rnn_tanh_cell(X, h, W, U, b, torch.zeros_like(b)),
    "lstm_cell": lambda X, h, c, W, U, b: torch.lstm_cell(
        X, (h, c), flat(W), flat(U), flat(b), torch.zeros_like(flat(b))
    ),
    "gru_cell": lambda X, h, W, U, p, q: torch.gru_cell(X, h, flat(W), flat(U), flat(p), flat(q)),
    "rnn": sequence_rnn,
    "lstm": sequence_lstm,
    "cumsum": lambda X: X.cumsum(1),
    "cummax": lambda X: X.cummax(1).values,
    "embedding": lambda table, idx: F.embedding(idx, table),
    "lookup": lambda table, idx: F.embedding_bag(idx, table, mode="sum"),
    "embedding_bag": lambda table, idx, w: (
        F.embedding_bag(idx, table, mode="sum", per_sample_weights=w) / w.sum(1)[:, None]
    ),
    "embedding_gradient": lambda dO, idx, V: torch.zeros(V, dO.shape[1]).index_add(0, idx, dO),
    "permute_rows": lambda X, p: torch.zeros_like(X).index_copy(0, p.long(), X),
    "one_hot": lambda label, C: F.one_hot(label.long(), C),
    "argmax": lambda A: A.max(1),
    "argmin": lambda A: A.min(1),
    "top_k": lambda A, k: A.topk(k, 1),
    "matmul_bf16": lambda A, B: A.float() @ B.float(),
    "mlp1": lambda X, W, c: F.relu(X @ W + c),
    "tmm": F.linear,
    "transpose": lambda A: A.T,
    "channels_last": lambda X: X.permute(0, 2, 3, 1),
    "concat": lambda A, B: torch.cat([A, B], 1),
    "pad2d": lambda X, v, top, left, bottom, right: F.pad(X, (left, right, top, bottom), value=v.item()),
    "flip": lambda A: A.flip(1),
    "roll": lambda A, shift: A.roll(shift, 1),
    "unfold": lambda X, k: F.unfold(X[None], k)[0].reshape(
        X.shape[0], k, k, X.shape[1] - k + 1, X.shape[2] - k + 1
    ),
    "pixel_shuffle": lambda X: F.pixel_shuffle(X.flatten(1, 3), X.shape[2]),
    "lower_triangle": torch.tril,
    "trace": torch.trace,
}


def tensor_of(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(tensor_of, value))
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.name == "bfloat16":
        return torch.from_numpy(value.astype(np.float32)).bfloat16()
    return torch.from_numpy(value)


@pytest.mark.parametrize("name", SAME)
def test_an_operator_gives_what_pytorch_gives(name):
    op, sizes = ops.load(name), PRIMES[name]
    arrays, old = ops.sample_arrays(op, seed=11, **sizes), ops.sample_out(op, seed=12, **sizes)
    results = evaluate(op, *arrays, out=old)
    more = (
        {}
        if old is None
        else {"out": tuple(map(tensor_of, old)) if isinstance(old, tuple) else tensor_of(old)}
    )
    wanted = SAME[name](*map(tensor_of, arrays), **more)
    pairs = zip(results, wanted, strict=True) if isinstance(results, tuple) else [(results, wanted)]
    for result, theirs in pairs:
        if theirs is not None:
            np.testing.assert_allclose(result, theirs.numpy(), rtol=1e-4, atol=1e-4)
