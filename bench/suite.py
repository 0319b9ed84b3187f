"""What is measured: operators, sizes, and the peers' functions by name.  Data only."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Case:
    """One operator at one size.

    `operator` is a name of the library, or `text` holds a definition.  `sizes` are its sizes and integer scalars.
    `numpy` and `torch` name functions of `numpy_peers` and `torch_peers`, all ways to write it that may be the fastest
    somewhere: the fastest here is taken ("" where that library has no such thing).  A `memory_bound` operator is also
    compared with a copy of as many bytes.  Results may differ by `tolerance`, relative to the largest magnitude;
    integers not at all.
    """

    name: str
    operator: str
    sizes: dict[str, int] = field(hash=False)
    numpy: str
    torch: str
    memory_bound: bool = False
    tolerance: float = 1e-4
    text: str | None = None


COLUMN_SUM = "def column_sum(float(M,N) A) -> (s) { s(n) +=! A(m,n) }"
CONV_BLOCK = """
def conv_block(float(N,C,H,W) I, float(F,C,KH,KW) K, float(F) b, float(F) s) -> (O) {
    P(n,c,y,x) = y >= 1 && y < H + 1 && x >= 1 && x < W + 1 ? I(n,c,y-1,x-1) : 0
        where n in 0:N, c in 0:C, y in 0:H+2, x in 0:W+2
    O(n,f,y,x) +=! P(n,c,y+kh,x+kw) * K(f,c,kh,kw)
    O(n,f,y,x) = max((O(n,f,y,x) + b(f)) * s(f), 0)
}
"""


def _square(n: int) -> dict[str, int]:
    return {"M": n, "N": n, "K": n}


def _conv(c: int, size: int, f: int, k: int, pad: int, stride: int = 1) -> dict[str, int]:
    picture = {"N": 1, "C": c, "H": size, "W": size}
    return {**picture, "F": f, "KH": k, "KW": k, "stride": stride, "pad": pad, "dilation": 1}


def _layer(number: int, *sizes: int) -> Case:
    """A convolution of ResNet-50 (He et al. 2015): (channels, height and width, filters, kernel, padding, stride)."""
    channels, size, filters, kernel, pad, stride = sizes
    return Case(
        f"ResNet {number:02}: {kernel}x{kernel} {channels}x{size}² to {filters}{', /2' if stride > 1 else ''}",
        "conv2d",
        _conv(channels, size, filters, kernel, pad, stride),
        "",
        "conv2d",
    )


RESNET = (
    (3, 224, 64, 7, 3, 2), (64, 56, 256, 1, 0, 1), (64, 56, 64, 1, 0, 1), (64, 56, 64, 3, 1, 1), (256, 56, 64, 1, 0, 1),
    (256, 56, 512, 1, 0, 2), (256, 56, 128, 1, 0, 2), (128, 28, 128, 3, 1, 1), (128, 28, 512, 1, 0, 1),
    (512, 28, 128, 1, 0, 1), (512, 28, 1024, 1, 0, 2), (512, 28, 256, 1, 0, 2), (256, 14, 256, 3, 1, 1),
    (256, 14, 1024, 1, 0, 1), (1024, 14, 256, 1, 0, 1), (1024, 14, 2048, 1, 0, 2), (1024, 14, 512, 1, 0, 2),
    (512, 7, 512, 3, 1, 1), (512, 7, 2048, 1, 0, 1), (2048, 7, 512, 1, 0, 1),
)  # fmt: skip

ROWS = {"M": 4096, "N": 1024}

CASES = (
    # Products.
    Case("matmul 512", "matmul", _square(512), "matmul", "matmul"),
    Case("matmul 1024", "matmul", _square(1024), "matmul", "matmul"),
    Case("matmul 2048", "matmul", _square(2048), "matmul", "matmul"),
    *(
        Case(f"matmul {rows}x2048x2048", "matmul", {"M": rows, "N": 2048, "K": 2048}, "matmul", "matmul")
        for rows in (1, 4, 16)
    ),
    Case("tmm 128x256x32", "tmm", {"M": 128, "N": 256, "K": 32}, "tmm", "tmm"),
    Case("tmm 128x1024x1024", "tmm", {"M": 128, "N": 1024, "K": 1024}, "tmm", "tmm"),
    Case("tmm 128x16384x4096", "tmm", {"M": 128, "N": 16384, "K": 4096}, "tmm", "tmm"),
    Case("tbmm 500x26x72x26", "tbmm", {"B": 500, "N": 26, "M": 72, "K": 26}, "batched_matmul", "batched_matmul"),
    Case("matvec 4096", "matvec", {"M": 4096, "K": 4096}, "matmul", "matvec", memory_bound=True),
    Case("matmul int8 512", "matmul_int8", _square(512), "matmul_int8", "matmul_int8 matmul_int8_in_float"),
    Case("matmul bf16 512", "matmul_bf16", _square(512), "", "matmul_bf16 matmul_bf16_in_float", tolerance=2e-2),
    Case("trmm 512", "trmm", {"M": 512, "N": 512}, "trmm", "trmm"),
    Case("covariance 512x256", "covariance", {"N": 512, "M": 256}, "covariance", "covariance"),
    # Convolutions.
    Case("conv 3x3 64x56x56 to 64", "conv2d", _conv(64, 56, 64, 3, 1), "conv2d", "conv2d"),
    Case("conv 1x1 1024x14x14 to 512", "conv2d", _conv(1024, 14, 512, 1, 0), "conv2d", "conv2d"),
    Case("conv 7x7 stride 2 3x224x224 to 64", "conv2d", _conv(3, 224, 64, 7, 3, 2), "conv2d", "conv2d"),
    Case(
        "conv + bias + scale + ReLU",
        "conv_block",
        {"N": 1, "C": 64, "H": 56, "W": 56, "F": 64, "KH": 3, "KW": 3},
        "conv_block",
        "conv_block",
        text=CONV_BLOCK,
    ),
    Case(
        "group conv 32x(16 to 16) 14x14",
        "group_conv2d",
        {"N": 32, "G": 32, "C": 16, "H": 14, "W": 14, "F": 16, "KH": 3, "KW": 3},
        "group_conv2d",
        "group_conv2d",
    ),
    Case(
        "depthwise conv 256x56x56",
        "depthwise_conv2d",
        {"N": 1, "C": 256, "H": 56, "W": 56, "KH": 3, "KW": 3, "stride": 1, "pad": 1},
        "depthwise_conv2d",
        "depthwise_conv2d",
    ),
    *(_layer(number, *sizes) for number, sizes in enumerate(RESNET)),
    # Layers.
    Case("MLP1 128x2000 to 128", "mlp1", {"B": 128, "M": 2000, "N": 128}, "mlp1", "mlp1"),
    Case("MLP3 128: 128-64-32-2", "mlp3", {"B": 128, "N": 128, "O": 64, "P": 32, "Q": 2}, "mlp3", "mlp3"),
    Case("LSTM cell 64x256", "lstm_cell", {"B": 64, "I": 256, "H": 256}, "lstm_cell", "lstm_cell"),
    Case("GRU cell 64x256", "gru_cell", {"B": 64, "I": 256, "H": 256}, "gru_cell", "gru_cell"),
    Case(
        "WaveNet block 32x4000",
        "wavenet",
        {"B": 1, "C": 32, "L": 4000, "D": 32, "S": 256, "dilation": 32},
        "wavenet",
        "wavenet",
    ),
    Case(
        "attention 8x512x64",
        "attention",
        {"B": 8, "M": 512, "N": 512, "D": 64, "E": 64},
        "attention",
        "attention",
    ),
    # Rows and elements.
    Case("softmax 4096x1024", "softmax", ROWS, "softmax", "softmax", memory_bound=True),
    Case("layer norm 4096x1024", "layer_norm", ROWS, "layer_norm", "layer_norm", memory_bound=True),
    Case("bias + ReLU 4096x1024", "bias_relu", ROWS, "bias_relu", "bias_relu", memory_bound=True),
    Case("bias + GELU 4096x1024", "bias_gelu", ROWS, "bias_gelu", "bias_gelu", memory_bound=True),
    Case("moments 128x2304", "moments", {"N": 128, "K": 2304}, "moments", "moments moments_by_norm", memory_bound=True),
    Case(
        "moments 1024x36864",
        "moments",
        {"N": 1024, "K": 36864},
        "moments",
        "moments moments_by_norm",
        memory_bound=True,
    ),
    Case(
        "group norm 4x512x12x12",
        "group_norm",
        {"N": 4, "G": 32, "D": 16, "H": 12, "W": 12},
        "group_norm",
        "group_norm",
        memory_bound=True,
    ),
    Case("column sum 4096x1024", "column_sum", ROWS, "column_sum", "column_sum", memory_bound=True, text=COLUMN_SUM),
    Case("argmax 1024x1024", "argmax", {"M": 1024, "N": 1024}, "argmax", "argmax", memory_bound=True),
    Case("cumsum 1024x1024", "cumsum", {"M": 1024, "N": 1024}, "cumsum", "cumsum", memory_bound=True),
    # Movement of data.
    Case("transpose 2048", "transpose", {"M": 2048, "N": 2048}, "transpose", "transpose", memory_bound=True),
    Case(
        "NCHW to NHWC 8x64x56x56",
        "channels_last",
        {"N": 8, "C": 64, "H": 56, "W": 56},
        "channels_last",
        "channels_last",
        memory_bound=True,
    ),
    Case("embedding 1024 of 50000x256", "embedding", {"V": 50000, "D": 256, "N": 1024}, "embedding", "embedding"),
    Case("1LUT 128 bags of 50", "lookup", {"E": 1000000, "D": 64, "B": 128, "L": 50}, "lookup", "lookup"),
    # Stencils and windows.
    Case("jacobi-2d 512, 20 steps", "jacobi_2d", {"N": 512, "M": 512, "steps": 20}, "jacobi_2d", "jacobi_2d"),
    Case("blur 1080x1920", "blur", {"H": 1080, "W": 1920}, "blur", "blur", memory_bound=True),
    Case(
        "max pool 3x3 8x64x112x112",
        "max_pool2d",
        {"N": 8, "C": 64, "H": 112, "W": 112, "k": 3, "stride": 2, "pad": 1},
        "max_pool2d",
        "max_pool2d",
        memory_bound=True,
    ),
)

# The thread pool and the other compilers are compared with gcc and OpenMP on these.
BACKEND_CASES = (
    "matmul 512",
    "conv 3x3 64x56x56 to 64",
    "softmax 4096x1024",
    "bias + ReLU 4096x1024",
    "moments 128x2304",
)

# How long each compiler takes is measured with the kernels of these.
BUILD_CASES = ("matmul 512", "conv 3x3 64x56x56 to 64", "softmax 4096x1024")
