"""What one would write in PyTorch; `torch.compile` gets the same functions.

Arguments are those of the operator, in its order, as tensors; `out=` where PyTorch offers it.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def matmul(A: Tensor, B: Tensor, *, out: Tensor | None = None) -> Tensor:
    return torch.mm(A, B, out=out)


def tmm(A: Tensor, B: Tensor, *, out: Tensor | None = None) -> Tensor:
    return torch.mm(A, B.t(), out=out)


def batched_matmul(X: Tensor, Y: Tensor, *, out: Tensor | None = None) -> Tensor:
    return torch.bmm(X, Y, out=out)


def matvec(A: Tensor, x: Tensor, *, out: Tensor | None = None) -> Tensor:
    return torch.mv(A, x, out=out)


def matmul_int8(A: Tensor, B: Tensor) -> Tensor:
    return torch._int_mm(A, B)


def matmul_int8_in_float(A: Tensor, B: Tensor) -> Tensor:
    # Exact, since the sums stay below 2**24; much faster where the processor has no products of bytes.
    return torch.mm(A.float(), B.float()).int()


def matmul_bf16(A: Tensor, B: Tensor) -> Tensor:
    return torch.mm(A, B)


def matmul_bf16_in_float(A: Tensor, B: Tensor) -> Tensor:
    return torch.mm(A.float(), B.float())


def trmm(L: Tensor, B: Tensor, *, out: Tensor | None = None) -> Tensor:
    return torch.mm(L.tril(), B, out=out)


def covariance(X: Tensor) -> Tensor:
    return torch.cov(X.t())


def conv2d(images: Tensor, K: Tensor, stride: int, pad: int, dilation: int) -> Tensor:
    return F.conv2d(images, K, stride=stride, padding=pad, dilation=dilation)


def conv_block(images: Tensor, K: Tensor, b: Tensor, s: Tensor) -> Tensor:
    return F.conv2d(images, K, b, padding=1).mul_(s[:, None, None]).relu_()


def group_conv2d(images: Tensor, K: Tensor, B: Tensor) -> Tensor:
    count, groups, channels, height, width = images.shape
    planes = images.view(count, groups * channels, height, width)
    result = F.conv2d(planes, K.flatten(0, 1), B.flatten(), groups=groups)
    return result.view(count, groups, K.shape[1], *result.shape[2:])


def depthwise_conv2d(images: Tensor, K: Tensor, stride: int, pad: int) -> Tensor:
    return F.conv2d(images, K.unsqueeze(1), stride=stride, padding=pad, groups=len(K))


def mlp1(inputs: Tensor, W: Tensor, c: Tensor) -> Tensor:
    return torch.addmm(c, inputs, W).relu_()


def mlp3(inputs: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor, W3: Tensor, b3: Tensor) -> Tensor:
    return F.linear(F.linear(F.linear(inputs, W1, b1).relu_(), W2, b2).relu_(), W3, b3).relu_()


def lstm_cell(X: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    return torch.lstm_cell(X, (h, c), W.flatten(0, 1), U.flatten(0, 1), bias.flatten())


def gru_cell(X: Tensor, h: Tensor, W: Tensor, U: Tensor, p: Tensor, q: Tensor) -> Tensor:
    return torch.gru_cell(X, h, W.flatten(0, 1), U.flatten(0, 1), p.flatten(), q.flatten())


def wavenet(
    X: Tensor,
    FW: Tensor,
    FB: Tensor,
    GW: Tensor,
    GB: Tensor,
    RW: Tensor,
    RB: Tensor,
    SW: Tensor,
    SB: Tensor,
    dilation: int,
) -> tuple[Tensor, Tensor]:
    padded = F.pad(X, (dilation, 0))
    Z = torch.tanh(F.conv1d(padded, FW, FB, dilation=dilation))
    Z = Z * torch.sigmoid(F.conv1d(padded, GW, GB, dilation=dilation))
    return F.conv1d(Z, RW.unsqueeze(2), RB) + X, F.conv1d(Z, SW.unsqueeze(2), SB)


def attention(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(Q[None], K[None], V[None])[0]


def softmax(X: Tensor, *, out: Tensor | None = None) -> Tensor:
    return torch.softmax(X, 1, out=out)


def layer_norm(X: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    return F.layer_norm(X, gamma.shape, gamma, beta, eps)


def group_norm(X: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    planes = X.flatten(1, 2)
    return F.group_norm(planes, X.shape[1], gamma.flatten(), beta.flatten(), eps).view_as(X)


def bias_relu(X: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
    return torch.add(X, b, out=out).relu_()


def bias_gelu(X: Tensor, b: Tensor) -> Tensor:
    return F.gelu(X + b)


def moments(table: Tensor) -> tuple[Tensor, Tensor]:
    variance, mean = torch.var_mean(table, dim=1, correction=0)
    return mean, variance


def moments_by_norm(table: Tensor) -> tuple[Tensor, Tensor]:
    mean = table.mean(1)
    return mean, torch.linalg.vector_norm(table, dim=1).square() / table.shape[1] - mean.square()


def column_sum(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    return torch.sum(A, 0, out=out)


def argmax(A: Tensor) -> tuple[Tensor, Tensor]:
    values, places = A.max(dim=1)
    return values, places


def cumsum(X: Tensor, *, out: Tensor | None = None) -> Tensor:
    return torch.cumsum(X, 1, out=out)


def transpose(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    return _copied(A.t(), out)


def channels_last(images: Tensor, *, out: Tensor | None = None) -> Tensor:
    return _copied(images.permute(0, 2, 3, 1), out)


def _copied(view: Tensor, out: Tensor | None) -> Tensor:
    return view.contiguous() if out is None else out.copy_(view)


def embedding(table: Tensor, idx: Tensor, *, out: Tensor | None = None) -> Tensor:
    return torch.index_select(table, 0, idx, out=out)


def lookup(table: Tensor, places: Tensor) -> Tensor:
    return F.embedding_bag(places, table, mode="sum")


def jacobi_2d(X: Tensor, steps: int) -> Tensor:
    A = X.clone()
    for _ in range(steps):
        neighbours = A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:]
        A[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + neighbours)
    return A


def blur(image: Tensor) -> Tensor:
    rows = image[:, :-2] + image[:, 1:-1] + image[:, 2:]
    return (rows[:-2] + rows[1:-1] + rows[2:]) * (1 / 9)


def max_pool2d(images: Tensor, k: int, stride: int, pad: int) -> Tensor:
    return F.max_pool2d(images, k, stride, pad)
