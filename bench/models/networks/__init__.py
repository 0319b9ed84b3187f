"""Networks of PyTorch with random weights, to be run whole: as they stand in papers, in sizes for a processor.

Each stands in two sizes: one to be measured, and a small one for tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from bench.models.networks.convolutional import Bottleneck, MobileNet, ResidualBlock, ResNet, UNet
from bench.models.networks.mixed import (
    AnchorFreeDetector,
    Classifier,
    Denoiser,
    Detector,
    Listener,
    MobileTransformer,
    Poser,
    Products,
    Recogniser,
    Segmenter,
    StemmedTransformer,
    grouped_trunk,
    plain_stem,
)
from bench.models.networks.sequences import Tagger, WaveNet
from bench.models.networks.transformers import Bert, MixtureOfExperts, PreNormLayer, VisionTransformer

SEED = 0
WORDS = 4096


class Network(NamedTuple):
    """What makes a network and the shape of its input; `words` is how many words it knows, if it takes such."""

    make: Callable[[], nn.Module]
    shape: tuple[int, ...]
    words: int = 0


def _mobilenet() -> nn.Module:
    """The stages of MobileNetV2 at half its width."""
    stages = ((1, 8, 1, 1), (6, 12, 2, 2), (6, 16, 3, 2), (6, 32, 4, 2), (6, 48, 3, 1), (6, 80, 3, 2), (6, 160, 1, 1))
    return MobileNet(stages, 16, 640, 100)


def perceptron() -> nn.Module:
    """784 pixels to 10 classes over two hidden layers."""
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))


TEN: dict[str, Network] = {
    "resnet": Network(lambda: ResNet(ResidualBlock, (2, 2, 2), 16), (1, 3, 32, 32)),
    "bottleneck resnet": Network(lambda: ResNet(Bottleneck, (2, 2, 2), 32), (1, 3, 32, 32)),
    "mobilenet": Network(_mobilenet, (1, 3, 96, 96)),
    "u-net": Network(lambda: UNet(16, 3), (1, 1, 64, 64)),
    "lstm tagger": Network(lambda: Tagger(WORDS, 64, 64, 2, 17), (4, 32), WORDS),
    "bert-tiny": Network(lambda: Bert(WORDS, 128, 128, 2, 2), (1, 128), WORDS),
    "gpt-2 block": Network(lambda: PreNormLayer(768, 12, causal=True, approximate="tanh"), (1, 64, 768)),
    "vit-tiny": Network(lambda: VisionTransformer(112, 16, 192, 3, 6, 100), (1, 3, 112, 112)),
    "experts": Network(lambda: MixtureOfExperts(128, 256, 8, 2), (64, 128)),
    "wavenet": Network(lambda: WaveNet(32, 64, 64, 6, 2), (1, 1, 1024)),
}
"""The networks that are measured."""

NETWORKS: dict[str, Network] = {**TEN, "mlp": Network(perceptron, (32, 784))}

SMALL: dict[str, Network] = {
    "resnet": Network(lambda: ResNet(ResidualBlock, (1, 1), 8), (1, 3, 9, 9)),
    "bottleneck resnet": Network(lambda: ResNet(Bottleneck, (1, 1), 4), (1, 3, 9, 9)),
    "mobilenet": Network(lambda: MobileNet(((1, 4, 1, 1), (3, 6, 2, 2)), 8, 16, 5), (1, 3, 17, 17)),
    "u-net": Network(lambda: UNet(4, 1), (1, 1, 10, 14)),
    "lstm tagger": Network(lambda: Tagger(50, 8, 6, 2, 5), (3, 5), 50),
    "bert-tiny": Network(lambda: Bert(50, 9, 16, 2, 1), (2, 7), 50),
    "gpt-2 block": Network(lambda: PreNormLayer(24, 3, causal=True, approximate="tanh"), (1, 5, 24)),
    "vit-tiny": Network(lambda: VisionTransformer(12, 4, 16, 2, 1, 5), (1, 3, 12, 12)),
    "experts": Network(lambda: MixtureOfExperts(8, 12, 4, 2), (5, 8)),
    "wavenet": Network(lambda: WaveNet(8, 12, 6, 2, 1), (1, 1, 19)),
}
"""The same ten, so small that a test builds them."""


_PLAIN = (24, 48, 96, 192)
_GROUPED = ((32, 1), (64, 2), (160, 3))

MIXED: dict[str, Network] = {
    "convolutional stem": Network(lambda: StemmedTransformer(plain_stem(_PLAIN), 192, 3, 3, 100), (1, 3, 112, 112)),
    "recogniser": Network(lambda: Recogniser(32, 64, 37), (1, 1, 32, 128)),
    "products": Network(lambda: Products(WORDS, 16, 32, 512), (64, 16), WORDS),
    "detector": Network(lambda: Detector(16, 10, 20), (1, 3, 128, 128)),
    "denoiser": Network(lambda: Denoiser(32, 4), (1, 3, 32, 32)),
    "mobile transformer": Network(lambda: MobileTransformer(16, 96, 4, 2, 100), (1, 3, 128, 128)),
    "listener": Network(lambda: Listener(40, 32, 144, 4, 2, 32), (1, 1, 160, 40)),
    "classifier": Network(lambda: Classifier(32, 64, 6, 10), (1, 1, 1024)),
    "poser": Network(lambda: Poser(_GROUPED, 64, 17), (1, 3, 128, 128)),
    "anchor-free": Network(lambda: AnchorFreeDetector(_GROUPED, 64, 20), (1, 3, 192, 192)),
    "segmenter": Network(lambda: Segmenter(_GROUPED, 10), (1, 3, 128, 128)),
    "grouped stem": Network(lambda: StemmedTransformer(grouped_trunk(_GROUPED), 160, 4, 3, 100), (1, 3, 128, 128)),
}
"""Networks of parts of different kinds, for `bench.models.engines` to divide: eight chosen before anything was
measured, then four in which, by the costs of single calls, one engine leads in the trunk and another behind it."""


def prepared(of: Network) -> tuple[nn.Module, Tensor]:
    """A network for inference and an input; the same in every process.  Its normalisations have seen something."""
    torch.manual_seed(SEED)
    module = of.make().eval()
    for norm in module.modules():
        if isinstance(norm, nn.BatchNorm2d):
            assert norm.running_mean is not None
            assert norm.running_var is not None
            norm.running_mean.uniform_(-1, 1)
            norm.running_var.uniform_(0.5, 2)
    return module, torch.randint(0, of.words, of.shape) if of.words else torch.randn(*of.shape)


def network(name: str) -> tuple[nn.Module, Tensor]:
    """One in the size to be measured."""
    return prepared(NETWORKS[name])
