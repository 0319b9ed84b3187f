"""Small models trained twice from one start, with exported operators and with PyTorch's own; prints JSON.

    python -m bench.models.training STEPS [THREADS]

A block of a residual network, a block of a transformer, a tagger with an LSTM: of each, the largest difference between
the two curves of losses, and the medians of the seconds a step takes, forward, backward and update; the two alternate.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import workbench as wb
from workbench.records import record

Functions = Mapping[str, Callable[..., Tensor]]
"""What a model is made of: `conv`, `batch_norm`, `layer_norm`, `attention`, `bias_gelu`, `lstm_cell`."""

EPSILON = 1e-5

IMAGES = {"N": 32, "C": 16, "H": 16, "W": 16}
SIZES: Mapping[str, dict[str, int]] = {
    "conv": {**IMAGES, "F": 16, "KH": 3, "KW": 3, "stride": 1, "pad": 1, "dilation": 1},
    "batch_norm": IMAGES, "layer_norm": {"M": 512, "N": 32}, "attention": {"B": 64, "M": 32, "N": 32, "D": 8, "E": 8},
    "bias_gelu": {"M": 512, "N": 128}, "lstm_cell": {"B": 32, "I": 16, "H": 24},
}  # fmt: skip


def eager_functions() -> Functions:
    """PyTorch's own."""

    def lstm_cell(x: Tensor, h: Tensor, c: Tensor, w: Tensor, u: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        z = torch.einsum("bi,gji->bgj", x, w) + torch.einsum("bk,gjk->bgj", h, u) + b
        i, f, g, o = z.unbind(1)
        cell = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(cell), cell

    return {
        "conv": lambda x, k: F.conv2d(x, k, padding=k.shape[-1] // 2),
        "batch_norm": lambda x, g, b: F.batch_norm(x, None, None, g, b, training=True, eps=EPSILON),
        "layer_norm": lambda x, g, b: F.layer_norm(x, x.shape[-1:], g, b, EPSILON),
        "attention": F.scaled_dot_product_attention,
        "bias_gelu": lambda x, b: F.gelu(x + b, approximate="tanh"),
        "lstm_cell": lstm_cell,  # type: ignore[dict-item]
    }


def exported_functions() -> Functions:
    """Operators of the library, exported with a schedule for the sizes of the models, and for all others."""
    own = {
        "conv": wb.ops.conv2d, "batch_norm": wb.ops.batch_norm, "layer_norm": wb.ops.layer_norm,
        "attention": wb.ops.attention, "bias_gelu": wb.ops.bias_gelu, "lstm_cell": wb.ops.lstm_cell,
    }  # fmt: skip
    made = {name: wb.export.torch(wb.autoschedule(op, sizes=SIZES[name])) for name, op in own.items()}
    return {
        "conv": lambda x, k: made["conv"](x, k, stride=1, pad=1, dilation=1),
        "batch_norm": lambda x, g, b: made["batch_norm"](x, g, b, eps=EPSILON)[0],
        "layer_norm": lambda x, g, b: made["layer_norm"](x, g, b, eps=EPSILON),
        "attention": made["attention"], "bias_gelu": made["bias_gelu"], "lstm_cell": made["lstm_cell"],
    }  # fmt: skip


class ResidualClassifier(nn.Module):
    """(B, 16, 16, 16) images to 10 classes: two convolutions with normalisation around a short cut."""

    def __init__(self, functions: Functions) -> None:
        super().__init__()
        self.functions = functions
        self.kernels = nn.ParameterList([nn.Parameter(0.08 * torch.randn(16, 16, 3, 3)) for _ in range(2)])
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(16)) for _ in range(2)])
        self.shifts = nn.ParameterList([nn.Parameter(torch.zeros(16)) for _ in range(2)])
        self.head = nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        conv, norm = self.functions["conv"], self.functions["batch_norm"]
        inner = torch.relu(norm(conv(x, self.kernels[0]), self.scales[0], self.shifts[0]))
        inner = norm(conv(inner, self.kernels[1]), self.scales[1], self.shifts[1])
        return self.head(torch.relu(x + inner).mean((2, 3)))


class TransformerBlock(nn.Module):
    """(B, 32) tokens of 20 to the next token of each place: attention with 4 heads, and two linear layers."""

    def __init__(self, functions: Functions, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.functions, self.heads = functions, heads
        self.tokens, self.places = nn.Embedding(20, width), nn.Parameter(0.1 * torch.randn(32, width))
        self.project, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.bias = nn.Linear(width, 4 * width, bias=False), nn.Parameter(torch.zeros(4 * width))
        self.down, self.head = nn.Linear(4 * width, width), nn.Linear(width, 20)
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(width)) for _ in range(2)])
        self.shifts = nn.ParameterList([nn.Parameter(torch.zeros(width)) for _ in range(2)])

    def normalised(self, x: Tensor, n: int) -> Tensor:
        flat = x.reshape(-1, x.shape[-1])
        return self.functions["layer_norm"](flat, self.scales[n], self.shifts[n]).view_as(x)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.places
        batch, length, width = x.shape
        parts = self.project(self.normalised(x, 0)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = (p.transpose(1, 2).flatten(0, 1) for p in parts.unbind(2))
        mixed = self.functions["attention"](q, k, v).view(batch, self.heads, length, -1).transpose(1, 2).flatten(2)
        x = x + self.out(mixed)
        hidden = self.up(self.normalised(x, 1)).flatten(0, 1)
        return self.head(x + self.down(self.functions["bias_gelu"](hidden, self.bias)).view_as(x))


class RecurrentTagger(nn.Module):
    """(B, 12) words of 5 to a tag of 5 for each: an LSTM from left to right."""

    def __init__(self, functions: Functions, inputs: int = 16, hidden: int = 24) -> None:
        super().__init__()
        self.functions, self.hidden = functions, hidden
        self.words, self.head = nn.Embedding(5, inputs), nn.Linear(hidden, 5)
        self.w = nn.Parameter(0.2 * torch.randn(4, hidden, inputs))
        self.u = nn.Parameter(0.2 * torch.randn(4, hidden, hidden))
        self.bias = nn.Parameter(torch.zeros(4, hidden))

    def forward(self, words: Tensor) -> Tensor:
        x = self.words(words)
        h = c = x.new_zeros(len(words), self.hidden)
        found = []
        for step in range(x.shape[1]):
            h, c = self.functions["lstm_cell"](x[:, step].contiguous(), h, c, self.w, self.u, self.bias)
            found.append(self.head(h))
        return torch.stack(found, 1)


def images(draw: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Images whose class is where they are brightest."""
    patterns = torch.randn(10, 16, 16, 16, generator=draw)
    while True:
        labels = torch.randint(10, (32,), generator=draw)
        yield 0.3 * patterns[labels] + torch.randn(32, 16, 16, 16, generator=draw), labels


def sequences(draw: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Tokens, each of which follows from the two before it."""
    while True:
        own = torch.randint(20, (16, 33), generator=draw)
        for n in range(2, 33):
            own[:, n] = (own[:, n - 1] + 3 * own[:, n - 2]) % 20
        yield own[:, :-1], own[:, 1:]


def sentences(draw: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Words, whose tag depends on them and on the two before."""
    while True:
        words = torch.randint(5, (32, 12), generator=draw)
        yield words, (words + words.roll(1, 1) + words.roll(2, 1)) % 5


@record(eq=False)
class Task:
    """A model to train: what makes it, its batches, the rate of its steps."""

    make: Callable[[Functions], nn.Module]
    batches: Callable[[torch.Generator], Iterator[tuple[Tensor, Tensor]]]
    rate: float


TASKS = {
    "residual block": Task(ResidualClassifier, images, 1e-2),
    "transformer block": Task(TransformerBlock, sequences, 3e-3),
    "LSTM tagger": Task(RecurrentTagger, sentences, 1e-2),
}


@record(eq=False)
class Training:
    """A model on its way: its losses so far, and the seconds of each step."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    batches: Iterator[tuple[Tensor, Tensor]]
    losses: list[float]
    seconds: list[float]

    @staticmethod
    def of(task: Task, functions: Functions) -> Training:
        torch.manual_seed(1)
        model = task.make(functions)
        draw = torch.Generator().manual_seed(2)
        return Training(model, torch.optim.Adam(model.parameters(), lr=task.rate), task.batches(draw), [], [])

    def step(self) -> None:
        """One batch."""
        given, wanted = next(self.batches)
        begun = perf_counter()
        loss = F.cross_entropy(self.model(given).flatten(0, -2), wanted.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.seconds.append(perf_counter() - begun)
        self.losses.append(loss.item())


def trained(task: Task, steps: int) -> tuple[Training, Training]:
    """(with exported operators, with PyTorch's), step by step in turn."""
    both = Training.of(task, exported_functions()), Training.of(task, eager_functions())
    for _ in range(steps):
        for one in both:
            one.step()
    return both


def main(steps: int, threads: int) -> dict[str, Any]:
    """Each model."""
    torch.set_num_threads(threads)
    found: dict[str, Any] = {"torch": torch.__version__, "threads": threads, "steps": steps}
    for name, task in TASKS.items():
        ours, eager = trained(task, steps)
        own, theirs = (1e3 * statistics.median(t.seconds) for t in (ours, eager))
        found[name] = {
            "first loss": round(ours.losses[0], 4), "last loss": round(ours.losses[-1], 4),
            "last loss, eager": round(eager.losses[-1], 4),
            "largest difference": max(abs(a - b) for a, b in zip(ours.losses, eager.losses, strict=True)),
            "step, ms": round(own, 3), "step, eager, ms": round(theirs, 3), "eager / ours": round(theirs / own, 3),
        }  # fmt: skip
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*(int(x) for x in (*sys.argv[1:], "200", "2")[:2])), indent=1) + "\n")
