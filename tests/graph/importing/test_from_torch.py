"""Modules of PyTorch: networks equal to eager, dimensions that vary, control flow, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.graph.importing.eager import assert_equal
from workbench.errors import ModelError, UnsupportedModel

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here to import from")
nn, functional = torch.nn, torch.nn.functional

BATCH = torch.export.Dim("batch")
TIME = torch.export.Dim("time")


class ResidualBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(4, 8, 3, 2, 1, bias=False), nn.Conv2d(8, 8, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(8), nn.BatchNorm2d(8)])
        self.shortcut = nn.Conv2d(4, 8, 1, 2)

    def forward(self, x):
        inner = functional.relu(self.norms[0](self.first(x)))
        return functional.relu(self.norms[1](self.second(inner)) + self.shortcut(x))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 8)
        self.layers = nn.LSTM(8, 6, 2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(12, 5)

    def forward(self, words):
        return self.tags(self.layers(self.words(words))[0]).log_softmax(-1)


class Block(nn.Module):
    """A causal transformer block."""

    def __init__(self, width=16, heads=4):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.projected, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.inner = nn.Sequential(nn.Linear(width, 32), nn.GELU(), nn.Linear(32, width))

    def forward(self, x):
        b, t, c = x.shape
        parts = self.projected(self.norms[0](x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(*parts.unbind(0), is_causal=True)
        x = x + self.joined(seen.transpose(1, 2).reshape(b, t, c))
        return x + self.inner(self.norms[1](x))


class SmallUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.deep = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.up, self.last = nn.ConvTranspose2d(8, 4, 2, 2), nn.Conv2d(16, 1, 1)

    def forward(self, x):
        high = functional.relu(self.down(x))
        low = functional.silu(self.deep(functional.max_pool2d(high, 2)))
        smooth = functional.interpolate(low, scale_factor=2, mode="bilinear")
        return self.last(torch.cat([high, self.up(low), smooth], 1))


class InvertedBottleneck(nn.Module):
    """The block of MobileNet."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(4, 12, 1, bias=False), nn.BatchNorm2d(12), nn.ReLU6(),
            nn.Conv2d(12, 12, 3, padding=1, groups=12, bias=False), nn.BatchNorm2d(12), nn.Hardswish(),
            nn.Conv2d(12, 4, 1, bias=False), nn.BatchNorm2d(4),
        )  # fmt: skip

    def forward(self, x):
        return x + self.layers(x)


class MixtureOfExperts(nn.Module):
    """Each element goes to the two experts that its gate likes best."""

    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(8, 4), nn.ModuleList([nn.Linear(8, 8) for _ in range(4)])

    def forward(self, x):
        liked = self.gate(x)
        best, which = liked.softmax(-1).topk(2, -1)
        shares = torch.zeros_like(liked).scatter(-1, which, best)
        return sum(shares[..., k : k + 1] * expert(x) for k, expert in enumerate(self.experts))


class WaveNet(nn.Module):
    """Gated causal convolutions with growing distances (van den Oord et al., 2016)."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv1d(1, 8, 1), nn.Conv1d(8, 4, 1)
        self.gates = nn.ModuleList([nn.Conv1d(8, 16, 2, dilation=d) for d in (1, 2, 4)])
        self.links = nn.ModuleList([nn.Conv1d(8, 8, 1) for _ in range(3)])

    def forward(self, x):
        x, skipped = self.first(x), 0
        for gate, link in zip(self.gates, self.links, strict=True):
            value, open_ = gate(functional.pad(x, (gate.dilation[0], 0))).chunk(2, 1)
            inner = torch.tanh(value) * torch.sigmoid(open_)
            skipped, x = skipped + inner, x + link(inner)
        return self.last(functional.relu(skipped))


NETWORKS = {
    "perceptron": (lambda: nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(-1)), (6,)),
    "residual block": (ResidualBlock, (4, 7, 7)),
    "tagger": (Tagger, (4,)),
    "transformer block": (Block, (5, 16)),
    "u-net": (SmallUNet, (1, 8, 8)),
    "inverted bottleneck": (InvertedBottleneck, (4, 5, 5)),
    "mixture of experts": (MixtureOfExperts, (8,)),
    "wavenet": (WaveNet, (1, 13)),
}


def prepared(name, batch=3):
    """A network with random weights and statistics, and an input for it."""
    torch.manual_seed(0)
    make, shape = NETWORKS[name]
    module = make().eval()
    for norm in module.modules():
        if isinstance(norm, nn.BatchNorm2d):
            norm.running_mean.uniform_(-1, 1), norm.running_var.uniform_(0.5, 2)
    return module, words(batch, *shape) if name == "tagger" else torch.randn(batch, *shape)


def words(*shape):
    return torch.randint(0, 50, shape)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_computes_what_pytorch_does(name):
    module, x = prepared(name)
    assert_equal(wb.from_torch(module, x), module, x)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_batch_may_vary(name):
    module, x = prepared(name)
    model = wb.from_torch(module, x, dynamic_shapes=({0: BATCH},))
    assert "[batch" in str(model).split("fn main")[1]
    assert_equal(model, module, prepared(name, batch=2)[1])


@pytest.mark.parametrize("name", ["Bert", "GPT2"])
def test_transformers_of_a_package_that_is_made_for_them(name):
    package = pytest.importorskip("transformers", reason="install transformers: its networks are taken over")
    torch.manual_seed(0)
    sizes = {
        "Bert": {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64},
        "GPT2": {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 32, "use_cache": False},
    }
    config = getattr(package, f"{name}Config")(vocab_size=50, **sizes[name])
    module = getattr(package, f"{name}Model")(config).eval()
    model = wb.from_torch(module, words(2, 8))
    given = words(2, 8)
    found = model.evaluate(given.numpy())
    first = found[0] if isinstance(found, tuple) else found
    with torch.no_grad():
        np.testing.assert_allclose(first, module(given)[0].numpy(), rtol=1e-4, atol=1e-5)


def test_two_dimensions_may_vary():
    module, x = prepared("transformer block")
    model = wb.from_torch(module, x, dynamic_shapes=({0: BATCH, 1: TIME},))
    assert "float32[batch, time, 16]" in str(model)
    assert_equal(model, module, torch.randn(2, 7, 16))


def test_the_text_of_a_network_is_the_network():
    module, x = prepared("transformer block")
    model = wb.from_torch(module, x, dynamic_shapes=({0: BATCH},))
    assert wb.model(str(model), model.constants) == model


def test_a_recurrent_layer_stays_one_definition():
    module, x = prepared("tagger")
    names = [op.name for op in wb.from_torch(module, x).operators]
    assert sum(name.startswith("lstm") for name in names) == 2  # forwards and backwards


def test_cond_is_a_branch_of_the_language():
    def function(x):
        return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))

    model = wb.from_torch(function, torch.ones(3))
    assert " if " in str(model)
    for x in (torch.ones(3), -torch.ones(3)):
        assert_equal(model, function, x)


def test_while_loop_is_a_function_that_calls_itself():
    def function(x):
        steps = torch.tensor(0)
        return torch._higher_order_ops.while_loop(lambda i, y: y.sum() < 100, lambda i, y: (i + 1, y * 1.5), (steps, x))

    model = wb.from_torch(function, torch.ones(3))
    assert "rounds(" in str(model)
    for scale in (1, 7, 1000):
        assert_equal(model, function, torch.ones(3) * scale)


def test_what_is_refused_is_named_with_its_module_and_line():
    class Inner(nn.Module):
        def forward(self, x):
            return x + torch.rand_like(x)

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.noise = Inner()

        def forward(self, x):
            return self.noise(x) * 2

    with pytest.raises(
        UnsupportedModel, match=r"aten.rand_like in module 'noise' at .*test_from_torch.py:\d+: .*random"
    ):
        wb.from_torch(Outer(), torch.ones(3))


def test_a_module_that_changes_its_state_is_refused():
    norm = nn.BatchNorm2d(4)
    with pytest.raises(UnsupportedModel, match=r"\.eval\(\)"):
        wb.from_torch(norm, torch.randn(2, 4, 3, 3))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x.nonzero(), "depends on data"),
        (lambda x: x[x > 0], "depends on data"),
        (lambda x: x if x.sum() > 0 else -x, "torch.export cannot"),
        (lambda x: torch.linalg.det(x), "has no definition"),
        (lambda x: torch.fft.fft(x).real, "no definition|element type"),
    ],
)
def test_data_dependent_and_unknown_operations_are_refused(function, words):
    with pytest.raises(UnsupportedModel, match=words):
        wb.from_torch(function, torch.randn(3, 3))


def test_what_is_no_function_is_said_so():
    with pytest.raises(ModelError, match="takes a module or a function"):
        wb.from_torch(3)
