"""Networks of attention: BERT, a block of GPT-2, a vision transformer; and a mixture of experts."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Attention(nn.Module):
    """(B, T, width) → the same: each place sees all, or with `causal` those before it (Vaswani et al., 2017)."""

    def __init__(self, width: int, heads: int, *, causal: bool = False) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.queries, self.keys, self.values, self.joined = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        queries, keys, values = (self._divided(layer(x)) for layer in (self.queries, self.keys, self.values))
        seen = F.scaled_dot_product_attention(queries, keys, values, is_causal=self.causal)
        return self.joined(seen.transpose(1, 2).reshape(x.shape))

    def _divided(self, y: Tensor) -> Tensor:
        """A row of each place and head: (B, heads, T, width / heads)."""
        batch, length, width = y.shape
        return y.view(batch, length, self.heads, width // self.heads).transpose(1, 2)


def two_layers(width: int, inner: int, approximate: str = "none") -> nn.Module:
    """What follows attention."""
    return nn.Sequential(nn.Linear(width, inner), nn.GELU(approximate), nn.Linear(inner, width))


class PostNormLayer(nn.Module):
    """Normalisations behind attention and layers, as BERT has them."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention, self.inner = Attention(width, heads), two_layers(width, 4 * width)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])

    def forward(self, x: Tensor) -> Tensor:
        x = self.norms[0](x + self.attention(x))
        return self.norms[1](x + self.inner(x))


class PreNormLayer(nn.Module):
    """Normalisations before them, as GPT-2 and vision transformers have them."""

    def __init__(self, width: int, heads: int, *, causal: bool = False, approximate: str = "none") -> None:
        super().__init__()
        self.attention = Attention(width, heads, causal=causal)
        self.inner = two_layers(width, 4 * width, approximate)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norms[0](x))
        return x + self.inner(self.norms[1](x))


class Bert(nn.Module):
    """(B, T) words to (B, width): embeddings, layers, and the first place's row (Devlin et al., 2019)."""

    def __init__(self, words: int, places: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(places, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.Sequential(*(PostNormLayer(width, heads) for _ in range(layers)))
        self.pooled = nn.Linear(width, width)

    def forward(self, words: Tensor) -> Tensor:
        places = torch.arange(words.shape[1])
        x = self.layers(self.norm(self.words(words) + self.places(places)))
        return torch.tanh(self.pooled(x[:, 0]))


class VisionTransformer(nn.Module):
    """(B, 3, H, H) pictures, cut into patches, to classes (Dosovitskiy et al., 2021)."""

    def __init__(self, picture: int, patch: int, width: int, heads: int, layers: int, classes: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.label = nn.Parameter(torch.randn(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, (picture // patch) ** 2 + 1, width))
        self.layers = nn.Sequential(*(PreNormLayer(width, heads) for _ in range(layers)), nn.LayerNorm(width))
        self.head = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        patches = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.label.expand(len(x), 1, -1), patches], 1) + self.places
        return self.head(self.layers(x)[:, 0])


class MixtureOfExperts(nn.Module):
    """(T, width) → the same: of each row the `best` experts that a gate chooses (Shazeer et al., 2017).

    All experts compute every row, which keeps shapes from depending on data, and shares of zero choose.
    """

    def __init__(self, width: int, inner: int, experts: int, best: int) -> None:
        super().__init__()
        self.best, self.gate, self.norm = best, nn.Linear(width, experts), nn.LayerNorm(width)
        self.first = nn.Parameter(torch.randn(experts, width, inner) / width**0.5)
        self.second = nn.Parameter(torch.randn(experts, inner, width) / inner**0.5)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x)
        liked, which = self.gate(y).topk(self.best, -1)
        shares = torch.zeros_like(self.gate(y)).scatter(-1, which, liked.softmax(-1))
        found = torch.matmul(F.silu(torch.matmul(y, self.first)), self.second)
        return x + torch.einsum("te,etw->tw", shares, found)
