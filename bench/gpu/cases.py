"""What is measured on a GPU: operators, sizes, and the peers' functions by name.  Data only."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class GpuCase:
    """One operator of the library at one size; `torch` names a function of `bench.peers.torch_peers`, `triton` one of
    `triton_peers`.  A `memory_bound` one is compared with a copy on the device.  Results may differ by `tolerance`,
    relative to the largest magnitude."""

    name: str
    operator: str
    sizes: dict[str, int] = field(hash=False)
    torch: str
    triton: str = ""
    memory_bound: bool = False
    tolerance: float = 1e-3


def _conv(c: int, size: int, f: int, k: int, pad: int) -> dict[str, int]:
    return {"N": 32, "C": c, "H": size, "W": size, "F": f, "KH": k, "KW": k, "stride": 1, "pad": pad, "dilation": 1}


def _square(n: int) -> dict[str, int]:
    return {"M": n, "N": n, "K": n}


ROWS = {"M": 32768, "N": 2048}

# In the order of their weight: a run that is cut short has the first ones.
CASES = (
    GpuCase("matmul fp32 4096", "matmul", _square(4096), "matmul", "matmul"),
    GpuCase("softmax 32768x2048", "softmax", ROWS, "softmax", "softmax", memory_bound=True),
    GpuCase("layer norm 32768x2048", "layer_norm", ROWS, "layer_norm", memory_bound=True),
    GpuCase("matmul bf16 4096", "matmul_bf16", _square(4096), "matmul_bf16", "matmul", tolerance=2e-2),
    GpuCase("tmm 128x256x32", "tmm", {"M": 128, "N": 256, "K": 32}, "tmm"),
    GpuCase("tmm 128x1024x1024", "tmm", {"M": 128, "N": 1024, "K": 1024}, "tmm"),
    GpuCase("tmm 128x16384x4096", "tmm", {"M": 128, "N": 16384, "K": 4096}, "tmm"),
    GpuCase("tbmm 500x26x72x26", "batched_matmul", {"B": 500, "M": 26, "K": 72, "N": 26}, "batched_matmul"),
    GpuCase("conv 32x4x56x56 to 4", "conv2d", _conv(4, 56, 4, 3, 0), "conv2d"),
    GpuCase("group conv 32x(4 to 4) 56x56", "group_conv2d",
            {"N": 32, "G": 32, "C": 4, "H": 56, "W": 56, "F": 4, "KH": 3, "KW": 3}, "group_conv2d"),
    GpuCase("group conv 32x(16 to 16) 14x14", "group_conv2d",
            {"N": 32, "G": 32, "C": 16, "H": 14, "W": 14, "F": 16, "KH": 3, "KW": 3}, "group_conv2d"),
    GpuCase("MLP1 128x2000 to 128", "mlp1", {"B": 128, "M": 2000, "N": 128}, "mlp1"),
    GpuCase("MLP3 128: 128-64-32-2", "mlp3", {"B": 128, "N": 128, "O": 64, "P": 32, "Q": 2}, "mlp3"),
    GpuCase("moments 1024x36864", "moments", {"N": 1024, "K": 36864}, "moments_by_norm", memory_bound=True),
    GpuCase("group norm 32x512x48x48", "group_norm", {"N": 32, "G": 32, "D": 16, "H": 48, "W": 48}, "group_norm",
            memory_bound=True),
    GpuCase("WaveNet block 32x4000", "wavenet", {"B": 1, "C": 32, "L": 4000, "D": 32, "S": 256, "dilation": 32},
            "wavenet"),
    GpuCase("transpose 8192", "transpose", {"M": 8192, "N": 8192}, "transpose", memory_bound=True),
    GpuCase("bias + ReLU 32768x2048", "bias_relu", ROWS, "bias_relu", memory_bound=True),
    GpuCase("attention 8x512x64", "attention", {"B": 8, "M": 512, "N": 512, "D": 64, "E": 64}, "attention"),
    GpuCase("jacobi 2d 4096, 4 steps", "jacobi_2d", {"M": 4096, "N": 4096, "steps": 4}, "jacobi_2d"),
    GpuCase("max pool 32x64x112x112", "max_pool2d",
            {"N": 32, "C": 64, "H": 112, "W": 112, "k": 3, "stride": 2, "pad": 1}, "max_pool2d", memory_bound=True),
    GpuCase("embedding", "embedding", {"V": 100_000, "D": 256, "N": 65_536}, "embedding", memory_bound=True),
)  # fmt: skip
