"""Operators of PyTorch on CUDA tensors: what is exported, and what has to hold of it, on a GPU or on a stand-in."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from tests.export.torch_calls import arguments

# An operator that nobody planned for: a scan with a decay of its own for each row, and a gather.
INVENTED = """def decaying<T: floats>(T(M, N) X, T(M) rate, int32(M) at) -> (Y, P) {
    Y(m, n) = X(m, n)
    for t in 1:N { Y(m, t) += rate(m) * Y(m, t - 1) }
    P(m, n) = Y(at(m), n) * X(m, n)
}"""

# Name → sizes for which there is a schedule, others.
CASES: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "matmul": ({"M": 64, "N": 48, "K": 32}, {"M": 33, "N": 5, "K": 17}),
    "softmax": ({"M": 16, "N": 128}, {"M": 3, "N": 37}),
    "layer_norm": ({"M": 16, "N": 96}, {"M": 3, "N": 41}),
    "conv2d": (
        {"N": 2, "C": 3, "H": 12, "W": 10, "F": 4, "KH": 3, "KW": 3, "stride": 1, "pad": 1, "dilation": 1},
        {"N": 1, "C": 2, "H": 7, "W": 9, "F": 3, "KH": 3, "KW": 2, "stride": 1, "pad": 1, "dilation": 1},
    ),
    "attention": ({"B": 2, "M": 16, "N": 16, "D": 8, "E": 8}, {"B": 1, "M": 5, "N": 7, "D": 3, "E": 2}),
    "embedding": ({"V": 50, "D": 16, "N": 32}, {"V": 11, "D": 3, "N": 7}),
    "cumsum": ({"M": 8, "N": 64}, {"M": 3, "N": 13}),
    "decaying": ({"M": 8, "N": 32}, {"M": 5, "N": 9}),
}
# Where the recipe takes long enough without a schedule of its own.
UNSCHEDULED = ("attention",)
TINY = 3
"""Extents that differences are taken at."""


def operator_of(name: str) -> wb.Operator:
    """One of the cases."""
    return wb.operator(INVENTED) if name == "decaying" else wb.ops.load(name)


def on_gpu(name: str) -> Any:
    """The registered operator with a schedule for the first sizes and a fallback."""
    op, (sizes, _) = operator_of(name), CASES[name]
    what = op if name in UNSCHEDULED else wb.autoschedule(op, "cuda", sizes=sizes)
    return wb.export.torch(what, namespace="wb_gpu", gpu=True)


def given(name: str, sizes: dict[str, int], torch: Any, device: str) -> list[Any]:
    """Arguments on a device."""
    op = operator_of(name)
    if name == "decaying":
        random = np.random.default_rng(sizes["N"])
        arrays = [random.standard_normal((sizes["M"], sizes["N"])), random.uniform(0.1, 0.9, sizes["M"])]
        found = [torch.from_numpy(a.astype(np.float32)) for a in arrays]
        found.append(torch.from_numpy(random.permutation(sizes["M"]).astype(np.int32)))
    else:
        found = arguments(op, sizes, torch)
    return [v.to(device) if isinstance(v, torch.Tensor) else v for v in found]


def oracle(name: str, values: list[Any], torch: Any) -> list[Any]:
    """What the operator's definition says, in float64 where it is given floats."""
    op = operator_of(name)
    plain = [v.cpu().numpy() if isinstance(v, torch.Tensor) else v for v in values]
    found = op.evaluate(*plain)
    return [np.asarray(v, np.float64) for v in (found if isinstance(found, tuple) else (found,))]


def agrees(name: str, found: Any, values: list[Any], torch: Any) -> bool:
    """Whether results are the definition's."""
    results = found if isinstance(found, tuple) else (found,)
    wanted = oracle(name, values, torch)
    pairs = zip((r.double().cpu().numpy() for r in results), wanted, strict=True)
    return all(np.allclose(result, value, rtol=1e-4, atol=1e-4) for result, value in pairs)


def tiny(name: str) -> dict[str, int]:
    """Sizes for differences."""
    op, (_, others) = operator_of(name), CASES[name]
    return {n: min(v, TINY) if n in op.size_names else v for n, v in others.items()}


def smooth(values: list[Any], torch: Any) -> list[Any]:
    """The arguments in float64, where they are floats, with gradients wanted."""
    return [
        v.double().requires_grad_() if isinstance(v, torch.Tensor) and v.is_floating_point() else v for v in values
    ]
