"""Backward operators at sizes of real layers, and who computes them.  Data, but for our gradients' texts."""

from __future__ import annotations

from dataclasses import dataclass

import workbench as wb
from bench.suite import Case
from workbench.lang.operator import Operator

OURS, SAVED, TORCH = "workbench", "workbench/saved", "torch"


@dataclass(frozen=True, slots=True)
class Backward:
    """An operator of the library, the inputs by which it is differentiated, and what is saved of its forward run.

    `cases` are names and sizes; `torch` is the function of `torch_peers` that is differentiated by PyTorch.
    """

    operator: str
    torch: str
    by: tuple[str, ...]
    saved: tuple[str, ...]
    memory_bound: bool
    cases: tuple[tuple[str, dict[str, int]], ...]


def _conv(n: int, c: int, size: int, f: int, k: int, stride: int = 1) -> dict[str, int]:
    picture = {"N": n, "C": c, "H": size, "W": size}
    return {**picture, "F": f, "KH": k, "KW": k, "stride": stride, "pad": k // 2, "dilation": 1}


def _depthwise(n: int, c: int, size: int, k: int) -> dict[str, int]:
    return {"N": n, "C": c, "H": size, "W": size, "KH": k, "KW": k, "stride": 1, "pad": k // 2}


OPERATORS = (
    Backward("matmul", "matmul", ("A", "B"), (), False, (
        ("matmul 1024", {"M": 1024, "N": 1024, "K": 1024}),
        ("matmul 512x3072x768", {"M": 512, "N": 3072, "K": 768}),
    )),
    Backward("conv2d", "conv2d", ("I", "K"), (), False, (
        ("conv 3x3 64x56x56 to 64", _conv(4, 64, 56, 64, 3)),
        ("conv 3x3 256x14x14 to 256", _conv(4, 256, 14, 256, 3)),
        ("conv 3x3 128x56x56 to 128, /2", _conv(4, 128, 56, 128, 3, 2)),
        ("conv 1x1 256x56x56 to 64", _conv(4, 256, 56, 64, 1)),
    )),
    Backward("depthwise_conv2d", "depthwise_conv2d", ("I", "K"), (), False, (
        ("depthwise conv 3x3 128x56x56", _depthwise(4, 128, 56, 3)),
    )),
    Backward("layer_norm", "layer_norm", ("X", "gamma", "beta"), ("total", "square"), True, (
        ("layer norm 4096x1024", {"M": 4096, "N": 1024}), ("layer norm 1024x768", {"M": 1024, "N": 768}),
    )),
    Backward("softmax", "softmax", ("X",), ("top", "Y_1", "total"), True, (
        ("softmax 4096x1024", {"M": 4096, "N": 1024}), ("softmax 6144x512", {"M": 6144, "N": 512}),
    )),
    Backward("attention", "attention", ("Q", "K", "V"), ("top", "total", "O_1"), False, (
        ("attention 8x512x64", {"B": 8, "M": 512, "N": 512, "D": 64, "E": 64}),
        ("attention 48x128x64", {"B": 48, "M": 128, "N": 128, "D": 64, "E": 64}),
    )),
    Backward("lstm_cell", "lstm_cell", ("X", "h", "c", "W", "U", "bias"), ("Z", "cell"), False, (
        ("LSTM cell 64x256", {"B": 64, "I": 256, "H": 256}), ("LSTM cell 32x512", {"B": 32, "I": 512, "H": 512}),
    )),
)  # fmt: skip


def forward(of: Backward) -> Operator:
    """The operator that is differentiated, in float32."""
    op = wb.ops.load(of.operator)
    return op.astype("float") if op.generic else op


def cases() -> tuple[Case, ...]:
    """All of them; the text of each is our gradient's."""
    return tuple(
        Case(f"{name}, backward", made.name, sizes, "", of.torch, of.memory_bound, 1e-3, made.text)
        for of in OPERATORS
        for made in [wb.grad(forward(of), of.by)]
        for name, sizes in of.cases
    )


def of_case(case: Case) -> Backward:
    """What is differentiated in a case."""
    return next(of for of in OPERATORS if f"{of.operator}_grad" == case.operator)
