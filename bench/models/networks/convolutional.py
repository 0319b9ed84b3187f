"""Networks over pictures whose work is convolutions: residual networks, MobileNet, a U-Net."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def convolution(inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1) -> nn.Module:
    """A convolution that keeps the size of the picture (or divides it by `stride`), and its normalisation."""
    layer = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(outputs))


class ResidualBlock(nn.Module):
    """Two convolutions around a short cut (He et al., CVPR 2016)."""

    expansion = 1

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.first, self.second = convolution(inputs, width, 3, stride), convolution(width, width, 3)
        same = stride == 1 and inputs == width
        self.shortcut = nn.Identity() if same else convolution(inputs, width, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.second(torch.relu(self.first(x))) + self.shortcut(x))


class Bottleneck(nn.Module):
    """Three convolutions around a short cut, the window over a quarter of the channels (ResNet-50 and deeper)."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = self.expansion * width
        self.narrow, self.window = convolution(inputs, width, 1), convolution(width, width, 3, stride)
        self.wide = convolution(width, outputs, 1)
        same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if same else convolution(inputs, outputs, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        inner = torch.relu(self.window(torch.relu(self.narrow(x))))
        return torch.relu(self.wide(inner) + self.shortcut(x))


class ResNet(nn.Module):
    """(B, 3, H, W) pictures to 10 classes: a stem, and a stage for each number of blocks."""

    def __init__(self, block: type[ResidualBlock | Bottleneck], blocks: tuple[int, ...], channels: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [convolution(3, channels, 3), nn.ReLU()]
        inputs = channels
        for stage, count in enumerate(blocks):
            for number in range(count):
                layers.append(block(inputs, channels << stage, 2 if stage and not number else 1))
                inputs = block.expansion * (channels << stage)
        self.layers, self.head = nn.Sequential(*layers), nn.Linear(inputs, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(x).mean((2, 3)))


class InvertedBottleneck(nn.Module):
    """Many channels in the middle, each with a window of its own (Sandler et al., CVPR 2018)."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        super().__init__()
        inner = inputs * expansion
        wide = [convolution(inputs, inner, 1), nn.ReLU6()] if expansion > 1 else []
        window = [convolution(inner, inner, 3, stride, groups=inner), nn.ReLU6()]
        self.layers = nn.Sequential(*wide, *window, convolution(inner, outputs, 1))
        self.skips = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x) if self.skips else self.layers(x)


class MobileNet(nn.Module):
    """(B, 3, H, W) pictures to classes; `stages` are (expansion, channels, blocks, stride), as the paper's table."""

    def __init__(self, stages: tuple[tuple[int, int, int, int], ...], first: int, last: int, classes: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [convolution(3, first, 3, 2), nn.ReLU6()]
        inputs = first
        for expansion, outputs, count, stride in stages:
            for number in range(count):
                layers.append(InvertedBottleneck(inputs, outputs, 1 if number else stride, expansion))
                inputs = outputs
        self.layers = nn.Sequential(*layers, convolution(inputs, last, 1), nn.ReLU6())
        self.head = nn.Linear(last, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(x).mean((2, 3)))


class UNet(nn.Module):
    """(B, 1, H, W) pictures to a number a pixel: down, up again, and across (Ronneberger et al., MICCAI 2015)."""

    def __init__(self, channels: int, depth: int) -> None:
        super().__init__()
        widths = [channels << level for level in range(depth + 1)]
        self.down = nn.ModuleList([self._twice(1 if n == channels else n // 2, n) for n in widths])
        self.up = nn.ModuleList([nn.ConvTranspose2d(2 * n, n, 2, 2) for n in widths[:-1]])
        self.joined = nn.ModuleList([self._twice(2 * n, n) for n in widths[:-1]])
        self.last = nn.Conv2d(channels, 1, 1)

    @staticmethod
    def _twice(inputs: int, outputs: int) -> nn.Module:
        return nn.Sequential(convolution(inputs, outputs, 3), nn.ReLU(), convolution(outputs, outputs, 3), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        across: list[Tensor] = []
        for level, layers in enumerate(self.down):
            x = layers(F.max_pool2d(x, 2) if level else x)
            across.append(x)
        x = across.pop()
        for up, joined in zip(reversed(self.up), reversed(self.joined), strict=True):
            x = joined(torch.cat([across.pop(), up(x)], 1))
        return self.last(x)
