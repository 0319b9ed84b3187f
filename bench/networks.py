"""Networks of PyTorch with random weights, to be run whole: as they stand in papers, in sizes for a processor."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

SEED = 0


class ResidualBlock(nn.Module):
    """Two convolutions with normalisation around a short cut (He et al., CVPR 2016)."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.first, self.second = _convolution(inputs, outputs, 3, stride), _convolution(outputs, outputs, 3, 1)
        same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if same else _convolution(inputs, outputs, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.second(torch.relu(self.first(x))) + self.shortcut(x))


def _convolution(inputs: int, outputs: int, size: int, stride: int) -> nn.Module:
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs))


class ResNet(nn.Module):
    """(B, 3, 32, 32) images to 10 classes: a stem and so many blocks in each of three stages."""

    def __init__(self, blocks: int = 2, channels: int = 16) -> None:
        super().__init__()
        layers: list[nn.Module] = [_convolution(3, channels, 3, 1), nn.ReLU()]
        for stage in range(3):
            width = channels << stage
            for block in range(blocks):
                first = block == 0 and stage > 0
                layers.append(ResidualBlock(width // 2 if first else width, width, 2 if first else 1))
        self.layers, self.head = nn.Sequential(*layers), nn.Linear(channels * 4, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(x).mean((2, 3)))


class TransformerLayer(nn.Module):
    """(B, T, width): attention, then two linear layers, each with its normalisation behind (BERT-tiny: 128 and 2)."""

    def __init__(self, width: int = 128, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.queries, self.keys, self.values, self.joined = (nn.Linear(width, width) for _ in range(4))
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.inner = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape

        def divided(y: Tensor) -> Tensor:
            return y.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

        seen = F.scaled_dot_product_attention(divided(self.queries(x)), divided(self.keys(x)), divided(self.values(x)))
        x = self.norms[0](x + self.joined(seen.transpose(1, 2).reshape(batch, length, width)))
        return self.norms[1](x + self.inner(x))


def perceptron() -> nn.Module:
    """784 pixels to 10 classes over two hidden layers."""
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))


NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "mlp": (perceptron, (32, 784)),
    "resnet": (ResNet, (1, 3, 32, 32)),
    "bert layer": (TransformerLayer, (1, 128, 128)),
}
"""Name → what makes the network, and the shape of its input."""


def network(name: str) -> tuple[nn.Module, Tensor]:
    """A network for inference and an input; the same in every process."""
    make, shape = NETWORKS[name]
    torch.manual_seed(SEED)
    return make().eval(), torch.randn(*shape)
