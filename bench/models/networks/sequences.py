"""Networks over sequences: a tagger of words, and WaveNet."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Tagger(nn.Module):
    """(B, T) words to (B, T, tags) logarithms of probabilities: an LSTM in both directions (Huang et al., 2015)."""

    def __init__(self, words: int, width: int, hidden: int, layers: int, tags: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.LSTM(width, hidden, layers, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(2 * hidden, tags)

    def forward(self, words: Tensor) -> Tensor:
        return self.tags(self.layers(self.words(words))[0]).log_softmax(-1)


class WaveNet(nn.Module):
    """(B, 1, T) samples to (B, levels, T): gated causal convolutions (van den Oord et al., 2016)."""

    def __init__(self, channels: int, skips: int, levels: int, layers: int, cycles: int) -> None:
        super().__init__()
        distances = [1 << layer for _ in range(cycles) for layer in range(layers)]
        self.first = nn.Conv1d(1, channels, 1)
        self.gates = nn.ModuleList([nn.Conv1d(channels, 2 * channels, 2, dilation=d) for d in distances])
        self.links = nn.ModuleList([nn.Conv1d(channels, channels, 1) for _ in distances])
        self.skips = nn.ModuleList([nn.Conv1d(channels, skips, 1) for _ in distances])
        self.last = nn.Sequential(nn.ReLU(), nn.Conv1d(skips, skips, 1), nn.ReLU(), nn.Conv1d(skips, levels, 1))

    def forward(self, x: Tensor) -> Tensor:
        x, skipped = self.first(x), torch.zeros(())
        for gate, link, skip in zip(self.gates, self.links, self.skips, strict=True):
            value, opened = gate(F.pad(x, (gate.dilation[0], 0))).chunk(2, 1)
            inner = torch.tanh(value) * torch.sigmoid(opened)
            skipped, x = skipped + skip(inner), x + link(inner)
        return self.last(skipped)
