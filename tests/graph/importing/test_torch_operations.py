"""Operations of PyTorch, many at once: each function's results equal eager's."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.graph.importing.eager import assert_equal

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here to import from")
F = torch.nn.functional

X = torch.linspace(-2, 2.3, 72).reshape(3, 4, 6)
WHOLE = torch.arange(-6, 6).reshape(3, 4)
PLACES = torch.arange(36).reshape(3, 2, 6) * 7 % 4
PICTURE = torch.sin(torch.arange(576.0)).reshape(2, 4, 9, 8)
EVEN = torch.tensor([2, 0])

FUNCTIONS = {
    "arithmetic": (lambda x: ((x + 1) * 2 - x / 3 + x**2, x.abs().sqrt(), 1 - x, -x, x**3, x.abs() ** 1.5), X),
    "whole numbers": (
        lambda x: (x // 2, x % 3, x / 2, x * 2.5, x + 1, x**2, x & 3, x | 4, x ^ 1, ~x, x.abs(), x.fmod(4)), WHOLE,
    ),
    "quotients": (lambda x: (torch.div(x, 4, rounding_mode="trunc"), torch.div(x, 4, rounding_mode="floor")), WHOLE),
    "comparisons": (
        lambda x: (x > 0, (x < 1) & (x > -1), ~(x > 0), torch.where(x > 0, x, -1.0), x == x, x.bool(), x >= 0.5), X,
    ),
    "types": (lambda x: (x.double(), x.int(), x.bool(), x.long() * 0.5, x.half() * 2, x.to(torch.bfloat16)), X),
    "ends": (lambda x: (x.clamp(-1, 1), x.clamp(min=0.2), torch.maximum(x, x * 2), torch.minimum(x, -x)), X),
    "activations": (
        lambda x: (
            F.silu(x), F.gelu(x), F.gelu(x, approximate="tanh"), F.elu(x), F.leaky_relu(x), F.softplus(x), F.mish(x),
            F.hardswish(x), F.hardsigmoid(x), F.relu6(x), F.selu(x), F.celu(x), F.logsigmoid(x), F.softsign(x),
            F.tanhshrink(x), F.softmin(x, 1), F.glu(x, 1), F.prelu(x, torch.full((4,), 0.3)),
        ), X,
    ),
    "mathematics": (
        lambda x: (
            x.exp(), x.sin(), x.tan(), x.erf(), x.floor(), x.ceil(), x.round(), x.trunc(), x.sign(), x.reciprocal(),
            torch.atan2(x, x + 1), x.abs().log1p(), x.expm1(), x.frac(), x.sinh(), x.abs().rsqrt(), torch.hypot(x, x),
        ), X,
    ),
    "reductions": (
        lambda x: (
            x.sum(), x.mean(1), x.amax(-1, keepdim=True), x.min(), x.var(1), x.std(-1), x.prod(2), x.norm(),
            x.logsumexp(1), x.argmax(1), x.argmin(), *x.max(1), (x > 0).any(), (x > 0).all(1), (x > 0).sum(),
            x.var(1, unbiased=False), x.sum((0, 2)), x.norm(1, dim=1), x.cumsum(1), x.cumprod(2), x.aminmax(dim=1),
        )[:20], X,
    ),
    "movement": (
        lambda x: (
            x.permute(2, 0, 1), x.reshape(12, 6), x.view(3, 2, 2, 6).transpose(1, 3), x.flatten(1), x[:, 1],
            x[:, 1:3, ::2], x[..., -1], x.flip(1), x.roll(2, 1), x.repeat(1, 2, 1), x.unsqueeze(1).expand(3, 5, 4, 6),
            torch.cat([x, x * 2], 1), torch.stack([x, x], 1), *x.split(2, 1), *x.chunk(3, 2), *x.unbind(0), x.triu(1),
            x.tril(-1), x.movedim(0, 2), x.narrow(1, 1, 2), x.unfold(2, 3, 2), x.diagonal(0, 1, 2), x.tile(2, 1, 1),
            torch.meshgrid(x[0, 0], x[0, :, 0], indexing="ij")[0],
        ), X,
    ),
    "borders": (
        lambda x: (
            F.pad(x, (1, 2)), F.pad(x, (1, 2), mode="reflect"), F.pad(x, (2, 1), mode="replicate"),
            F.pad(x, (-1, 1), value=3.0), F.pad(x, (2, 1), mode="circular"), F.pad(x, (0, 0, 1, 0)),
        ), X,
    ),
    "products": (
        lambda x: (
            x @ x.transpose(1, 2), torch.einsum("bij,bkj->bik", x, x), x[0] @ x[0].T, x[0] @ x[0, 0], x[0, 0] @ x[0, 0],
            F.linear(x, torch.ones(5, 6)), torch.addmm(torch.ones(4, 4), x[0], x[0].T, beta=0.5, alpha=2.0),
            torch.outer(x[0, 0], x[1, 0]), torch.tensordot(x, x, dims=([1, 2], [1, 2])),
            torch.baddbmm(torch.ones(3, 4, 4), x, x.transpose(1, 2)), F.cosine_similarity(x, x * 2 + 1, dim=1),
        ), X,
    ),
    "lookups": (
        lambda x, at: (
            x.gather(1, at), x.scatter(1, at, 2.0), x.scatter_add(1, at, x[:, :2]), x.index_select(1, EVEN),
            x[:, EVEN], x[EVEN, EVEN + 1], F.one_hot(at, 5), *x.topk(2, dim=2), x.sort(1, descending=True)[0],
            x.argsort(1), x.masked_fill(x > 0, 5.0), F.embedding(at, x[0]), x.index_add(1, EVEN, x[:, :2]),
            torch.take_along_dim(x, at, 1), x[:, -1:][:, [0]], x[EVEN][:, :, EVEN],
        ), X, PLACES,
    ),
    "convolutions": (
        lambda x: (
            F.conv2d(x, PICTURE[:, :2, :3, :3].repeat(3, 1, 1, 1), groups=2, padding=1, stride=2),
            F.conv1d(x[0], PICTURE[0, :3, :, :2]), F.conv2d(x, torch.ones(4, 4, 2, 2), padding="same"),
            F.conv_transpose2d(x, PICTURE[:, :3, :3, :3].repeat(2, 1, 1, 1), stride=2, padding=1, output_padding=1),
            F.conv_transpose2d(x, PICTURE[:, :2, :3, :2].repeat(2, 1, 1, 1), dilation=2, groups=2),
            F.conv_transpose2d(x, PICTURE[:, :3, :2, :2].repeat(2, 1, 1, 1), stride=2),
            F.conv_transpose2d(x, PICTURE[:, :3, :4, :3].repeat(2, 1, 1, 1), stride=(2, 3), padding=(1, 0)),
            F.conv_transpose2d(x, PICTURE[:, :3, :2, :1].repeat(2, 1, 1, 1), stride=3, output_padding=(2, 1)),
            F.conv2d(x, PICTURE[:, :, :2, :2], torch.ones(2), dilation=(2, 1)), F.unfold(x, 3, stride=2),
        ), PICTURE,
    ),
    "pooling": (
        lambda x: (
            F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 2, ceil_mode=True), F.max_pool2d(x, 2, ceil_mode=True),
            F.avg_pool2d(x, 3, 1, 1, count_include_pad=False), F.avg_pool2d(x, 3, 2, 1), F.adaptive_avg_pool2d(x, 1),
            F.adaptive_avg_pool2d(x, (3, 4)), F.max_pool1d(x[0], 2), F.avg_pool1d(x[0], 2), F.adaptive_max_pool2d(x, 1),
        ), PICTURE,
    ),
    "resampling": (
        lambda x: (
            F.interpolate(x, scale_factor=2), F.interpolate(x, size=(5, 5), mode="bilinear"),
            F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True), F.pixel_shuffle(x, 2),
            F.interpolate(x, size=(12, 4), mode="bicubic"), F.interpolate(x[0], scale_factor=1.5, mode="linear"),
        ), PICTURE,
    ),
    "normalisations": (
        lambda x: (
            F.instance_norm(x), F.group_norm(x, 2), F.layer_norm(x, (9, 8)), F.local_response_norm(x, 3),
            F.rms_norm(x, (8,)), F.normalize(x, dim=1), F.softmax(x, 1), F.log_softmax(x, -1),
        ), PICTURE,
    ),
    "attention": (
        lambda x: (
            F.scaled_dot_product_attention(x, x, x), F.scaled_dot_product_attention(x, x, x, is_causal=True),
            F.scaled_dot_product_attention(x, x, x, attn_mask=torch.ones(9, 9).tril().bool()),
            F.scaled_dot_product_attention(x, x, x, attn_mask=torch.ones(9, 9), scale=0.3),
        ), PICTURE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_operations_compute_what_eager_does(name):
    function, *arguments = FUNCTIONS[name]
    model = wb.from_torch(function, *arguments)
    assert_equal(model, function, *arguments) if name != "types" else assert_types(model, function, *arguments)


def assert_types(model, function, *arguments):
    """bfloat16 is no type of NumPy."""
    found = model.evaluate(*(each.numpy() for each in arguments))
    for a, b in zip(found, function(*arguments), strict=True):
        assert a.dtype.name == str(b.dtype).removeprefix("torch.")
        assert torch.allclose(torch.tensor(a.astype("float64")), b.double(), rtol=1e-3)


def test_places_are_written_to():
    def function(x):
        y = x.clone()
        y[:, 1] = 3.0
        y[x < 0] = 0.0
        y[torch.tensor([0, 1]), torch.tensor([1, 2])] = 7.0
        y[:, :, 2:4] += 1
        y[:, torch.tensor([0, 3])] *= 2
        return y

    assert_equal(wb.from_torch(function, X), function, X)


def test_layers_of_pytorch_itself():
    nn = torch.nn
    for module, arguments in (
        (nn.TransformerEncoderLayer(6, 2, 12, batch_first=True), (X,)),
        (nn.TransformerDecoderLayer(6, 2, 12), (X, X)),
        (nn.MultiheadAttention(6, 3, batch_first=True), (X, X, X)),
        (nn.GRU(6, 5, 2, bidirectional=True), (X,)),
        (nn.RNN(6, 4, nonlinearity="relu"), (X,)),
    ):
        module.eval()
        model = wb.from_torch(module, *arguments)
        assert_equal(model, lambda *given, module=module: flattened(module(*given)), *arguments)


def flattened(results):
    return tuple(results) if isinstance(results, tuple) else results
