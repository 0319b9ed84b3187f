"""Networks whose parts are of different kinds: what computes one part fastest need not be what computes the next."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bench.models.networks.convolutional import InvertedBottleneck, ResidualBlock, convolution
from bench.models.networks.sequences import WaveNet
from bench.models.networks.transformers import Attention, PreNormLayer, two_layers


def plain_stem(channels: tuple[int, ...]) -> nn.Module:
    """Convolutions, each of which halves the picture."""
    pairs = zip((3, *channels), channels, strict=False)
    return nn.Sequential(*(nn.Sequential(convolution(i, o, 3, 2), nn.ReLU()) for i, o in pairs))


class GroupedBottleneck(nn.Module):
    """A window over groups of 16 channels between products, around a short cut (RegNetX: Radosavovic et al., 2020)."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        window = convolution(outputs, outputs, 3, stride, outputs // 16)
        self.layers = nn.Sequential(
            convolution(inputs, outputs, 1), nn.ReLU(), window, nn.ReLU(), convolution(outputs, outputs, 1)
        )
        self.shortcut = nn.Identity() if stride == 1 else convolution(inputs, outputs, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.shortcut(x) + self.layers(x))


def grouped_trunk(stages: tuple[tuple[int, int], ...]) -> nn.Module:
    """A stem, then stages of so many channels and blocks, each of which halves the picture."""
    blocks, inputs = [], 32
    for channels, count in stages:
        blocks += [GroupedBottleneck(inputs if not n else channels, channels, 1 if n else 2) for n in range(count)]
        inputs = channels
    return nn.Sequential(convolution(3, 32, 3, 2), nn.ReLU(), *blocks)


class Poser(nn.Module):
    """(B, 3, H, W) pictures to maps of joints: a trunk, then transposed convolutions (Xiao, Wu and Wei, 2018)."""

    def __init__(self, stages: tuple[tuple[int, int], ...], channels: int, joints: int) -> None:
        super().__init__()
        c, up = channels, []
        for inputs in (stages[-1][0], c, c):
            up += [nn.ConvTranspose2d(inputs, c, 4, 2, 1, bias=False), nn.BatchNorm2d(c), nn.ReLU()]
        self.layers = nn.Sequential(grouped_trunk(stages), *up, nn.Conv2d(c, joints, 1))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Segmenter(nn.Module):
    """(B, 3, H, W) pictures to maps of half the size: a U-Net whose way down is a trunk of groups."""

    def __init__(self, stages: tuple[tuple[int, int], ...], classes: int) -> None:
        super().__init__()
        self.down, ups, inputs = nn.ModuleList([grouped_trunk(())]), [], 32
        for channels, count in stages:
            pairs = [(inputs if not n else channels, 1 if n else 2) for n in range(count)]
            self.down.append(nn.Sequential(*(GroupedBottleneck(i, channels, stride) for i, stride in pairs)))
            ups.append((channels + inputs, inputs))
            inputs = channels
        self.up = nn.ModuleList([nn.Sequential(convolution(i, o, 3), nn.ReLU()) for i, o in reversed(ups)])
        self.last = nn.Conv2d(32, classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        across = []
        for part in self.down:
            x = part(x)
            across.append(x)
        x = across.pop()
        for part in self.up:
            x = part(torch.cat([F.interpolate(x, scale_factor=2), across.pop()], 1))
        return self.last(x)


class AnchorFreeDetector(nn.Module):
    """(B, 3, H, W) pictures to classes, boxes and centredness of every place (FCOS: Tian et al., 2019)."""

    def __init__(self, stages: tuple[tuple[int, int], ...], channels: int, classes: int) -> None:
        super().__init__()
        c = channels
        self.trunk, self.into = grouped_trunk(stages), nn.Conv2d(stages[-1][0], c, 1)
        layers = [(nn.Conv2d(c, c, 3, padding=1), nn.GroupNorm(c // 8, c), nn.ReLU()) for _ in range(8)]
        ways = [[each for three in some for each in three] for some in (layers[:4], layers[4:])]
        self.classes = nn.Sequential(*ways[0], nn.Conv2d(c, classes, 3, padding=1))
        self.boxes = nn.Sequential(*ways[1], nn.Conv2d(c, 5, 3, padding=1))

    def forward(self, x: Tensor) -> Tensor:
        features = self.into(self.trunk(x))
        return torch.cat([torch.sigmoid(self.classes(features)), self.boxes(features).exp()], 1)


class StemmedTransformer(nn.Module):
    """(B, 3, H, H) pictures to classes: convolutions make the patches of a transformer (Xiao et al., 2021)."""

    def __init__(self, stem: nn.Module, width: int, heads: int, layers: int, classes: int) -> None:
        super().__init__()
        self.stem = stem
        self.layers = nn.Sequential(*(PreNormLayer(width, heads) for _ in range(layers)), nn.LayerNorm(width))
        self.head = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(self.stem(x).flatten(2).transpose(1, 2)).mean(1))


class Recogniser(nn.Module):
    """(B, 1, 32, W) pictures of a line of text to letters: convolutions, then an LSTM both ways (Shi et al., 2017)."""

    def __init__(self, channels: int, hidden: int, letters: int) -> None:
        super().__init__()
        c = channels
        steps = ((1, c, 2), (c, 2 * c, 2), (2 * c, 4 * c, 1), (4 * c, 4 * c, 1))
        layers = [nn.Sequential(convolution(i, o, 3), nn.ReLU(), nn.MaxPool2d((2, s))) for i, o, s in steps]
        self.layers, self.last = nn.Sequential(*layers), convolution(4 * c, 4 * c, 1)
        self.rows = nn.LSTM(8 * c, hidden, 2, bidirectional=True, batch_first=True)
        self.letters = nn.Linear(2 * hidden, letters)

    def forward(self, x: Tensor) -> Tensor:
        columns = torch.relu(self.last(self.layers(x))).flatten(1, 2).transpose(1, 2)
        return self.letters(self.rows(columns)[0]).log_softmax(-1)


class Products(nn.Module):
    """(B, fields) categories to (B, 1) chances: embeddings, all their inner products, layers (Qu et al., 2016)."""

    def __init__(self, words: int, fields: int, width: int, inner: int) -> None:
        super().__init__()
        self.words, self.norm = nn.Embedding(words, width), nn.LayerNorm(fields * (width + fields))
        sizes = (fields * (width + fields), inner, inner // 2)
        layers = [nn.Sequential(nn.Linear(i, o), nn.ReLU()) for i, o in pairwise(sizes)]
        self.layers = nn.Sequential(*layers, nn.Linear(inner // 2, 1), nn.Sigmoid())

    def forward(self, x: Tensor) -> Tensor:
        rows = self.words(x)
        crossed = rows @ rows.transpose(1, 2)
        return self.layers(self.norm(torch.cat([rows.flatten(1), crossed.flatten(1)], 1)))


class Detector(nn.Module):
    """(B, 3, H, W) pictures to the `most` likeliest points and boxes around them (CenterNet: Zhou et al., 2019)."""

    def __init__(self, channels: int, classes: int, most: int) -> None:
        super().__init__()
        c, self.most = channels, most
        blocks = [ResidualBlock(c, 2 * c, 2), ResidualBlock(2 * c, 2 * c, 1), ResidualBlock(2 * c, 4 * c, 2)]
        self.trunk = nn.Sequential(convolution(3, c, 3, 2), nn.ReLU(), *blocks, ResidualBlock(4 * c, 4 * c, 1))
        self.points, self.boxes = nn.Conv2d(4 * c, classes, 1), nn.Conv2d(4 * c, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        features = self.trunk(x)
        points = torch.sigmoid(self.points(features))
        peaks = torch.where(F.max_pool2d(points, 3, 1, 1) == points, points, torch.zeros(()))
        scores, places = peaks.amax(1).flatten(1).topk(self.most, -1)
        boxes = self.boxes(features).flatten(2).transpose(1, 2)
        chosen = boxes.gather(1, places.unsqueeze(-1).expand(-1, -1, 4))
        return torch.cat([scores.unsqueeze(-1), torch.relu(chosen)], -1)


class DenoisingBlock(nn.Module):
    """Normalised groups, a smooth unit and a convolution, twice, around a short cut (Ho et al., 2020)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        pairs = ((inputs, outputs), (outputs, outputs))
        self.layers = nn.Sequential(
            *(nn.Sequential(nn.GroupNorm(8, i), nn.SiLU(), nn.Conv2d(i, o, 3, padding=1)) for i, o in pairs)
        )
        self.shortcut = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.shortcut(x) + self.layers(x)


class Denoiser(nn.Module):
    """(B, 3, H, H) → the same: down, attention at the bottom, up again, and across (Ho et al., 2020)."""

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        c = channels
        self.first, self.last = nn.Conv2d(3, c, 3, padding=1), nn.Conv2d(c, 3, 3, padding=1)
        self.down = nn.ModuleList([DenoisingBlock(c, c), DenoisingBlock(c, 2 * c)])
        self.norm, self.attention = nn.LayerNorm(2 * c), Attention(2 * c, heads)
        self.up = nn.ModuleList([DenoisingBlock(4 * c, c), DenoisingBlock(2 * c, c)])

    def forward(self, x: Tensor) -> Tensor:
        x, across = self.first(x), []
        for block in self.down:
            across.append(block(x))
            x = F.avg_pool2d(across[-1], 2)
        rows = x.flatten(2).transpose(1, 2)
        x = (rows + self.attention(self.norm(rows))).transpose(1, 2).reshape(x.shape)
        for block in self.up:
            x = block(torch.cat([F.interpolate(x, scale_factor=2), across.pop()], 1))
        return self.last(x)


class MobileTransformer(nn.Module):
    """(B, 3, H, H) pictures to classes: inverted bottlenecks around a transformer (Mehta and Rastegari, 2022)."""

    def __init__(self, channels: int, width: int, heads: int, layers: int, classes: int) -> None:
        super().__init__()
        c = channels
        stages = ((c, c, 1), (c, 2 * c, 2), (2 * c, 4 * c, 2))
        blocks = [InvertedBottleneck(*each, 4) for each in stages]
        self.first = nn.Sequential(convolution(3, c, 3, 2), nn.ReLU6(), *blocks)
        self.into, self.out = nn.Conv2d(4 * c, width, 1), nn.Conv2d(width, 4 * c, 1)
        self.layers = nn.Sequential(*(PreNormLayer(width, heads) for _ in range(layers)))
        self.joined = nn.Sequential(convolution(8 * c, 4 * c, 3), nn.ReLU6(), InvertedBottleneck(4 * c, 8 * c, 2, 4))
        self.head = nn.Linear(8 * c, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        rows = self.into(x)
        seen = self.layers(rows.flatten(2).transpose(1, 2)).transpose(1, 2).reshape(rows.shape)
        return self.head(self.joined(torch.cat([x, self.out(seen)], 1)).mean((2, 3)))


class ConvolvingLayer(nn.Module):
    """Attention, a gated convolution along time, and layers, each around a short cut (Gulati et al., 2020)."""

    def __init__(self, width: int, heads: int, extent: int) -> None:
        super().__init__()
        self.attention, self.inner = Attention(width, heads), two_layers(width, 4 * width)
        self.gate, self.out = nn.Conv1d(width, 2 * width, 1), nn.Conv1d(width, width, 1)
        self.along = nn.Conv1d(width, width, extent, padding=extent // 2, groups=width)
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(3)])

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norms[0](x))
        gated = F.silu(self.along(F.glu(self.gate(self.norms[1](x).transpose(1, 2)), 1)))
        x = x + self.out(gated).transpose(1, 2)
        return x + self.inner(self.norms[2](x))


class Listener(nn.Module):
    """(B, 1, T, bands) spectra to letters over time: convolutions, then attention with convolutions (Gulati et al.)."""

    def __init__(self, bands: int, channels: int, width: int, heads: int, layers: int, letters: int) -> None:
        super().__init__()
        steps = ((1, channels), (channels, channels))
        self.first = nn.Sequential(*(nn.Sequential(nn.Conv2d(i, o, 3, 2, 1), nn.ReLU()) for i, o in steps))
        self.into = nn.Linear(channels * (bands // 4), width)
        self.layers = nn.Sequential(*(ConvolvingLayer(width, heads, 15) for _ in range(layers)))
        self.letters = nn.Linear(width, letters)

    def forward(self, x: Tensor) -> Tensor:
        rows = self.first(x).transpose(1, 2).flatten(2)
        return self.letters(self.layers(self.into(rows))).log_softmax(-1)


class Classifier(nn.Module):
    """(B, 1, T) samples to classes: WaveNet's convolutions, then layers over all that they found."""

    def __init__(self, channels: int, levels: int, layers: int, classes: int) -> None:
        super().__init__()
        self.along = WaveNet(channels, levels, levels, layers, 1)
        self.head = nn.Sequential(nn.LayerNorm(levels), nn.Linear(levels, 4 * levels), nn.GELU())
        self.last = nn.Linear(4 * levels, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.head(F.avg_pool1d(self.along(x), 4).transpose(1, 2)).mean(1))
