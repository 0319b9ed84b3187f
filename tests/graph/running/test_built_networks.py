"""Networks of PyTorch, taken over and built, compute what PyTorch does; tensors in give tensors out."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import CallError

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here to import from")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

from tests.graph.importing.test_from_torch import BATCH, NETWORKS, prepared  # noqa: E402 (which needs torch)

functional = torch.nn.functional
FUNCTIONS = {
    "several results": (lambda x: (x.exp(), x.sum(-1), x.transpose(0, 1), x), (4, 5)),
    "pooling": (lambda x: functional.avg_pool2d(functional.max_pool2d(x, 3, 1, 1), 2), (2, 3, 8, 8)),
    "indices": (lambda x: x.argmax(-1) + x.topk(2, -1).indices.sum(-1), (3, 7)),
    "cond": (lambda x: torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,)), (6,)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_built_computes_what_pytorch_does(name):
    module, x = prepared(name)
    built = wb.build(wb.from_torch(module, x, dynamic_shapes=({0: BATCH},)))
    for batch in (3, 1):
        _, x = prepared(name, batch)
        with torch.no_grad():
            torch.testing.assert_close(built(x), module(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_built_computes_what_pytorch_does(name):
    function, shape = FUNCTIONS[name]
    x = torch.randn(*shape)
    built = wb.build(wb.from_torch(function, x))
    for given in (x, -x):
        torch.testing.assert_close(built(given), function(given), rtol=1e-4, atol=1e-5)
    assert isinstance(built(x.numpy()), tuple | np.ndarray)


def test_tensors_that_are_not_dense_and_bfloat16():
    built = wb.build(wb.from_torch(lambda x: x * 2, torch.zeros(3, 4, dtype=torch.bfloat16)))
    x = torch.randn(4, 3).bfloat16().t()
    found = built(x)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found, x * 2)


def test_a_tensor_of_any_kind_that_shares_its_shape_is_read_as_it_is():
    built = wb.build(wb.from_torch(lambda x: x * 2 + 1, torch.zeros(4, 6)))
    whole = torch.randn(4, 6)
    pairs = torch.randn(4, 6, dtype=torch.complex64)
    kinds = {
        "dense": whole,
        "another": torch.randn(4, 6),
        "turned": torch.randn(6, 4).t(),
        "begins anywhere": torch.randn(25)[1:].view(4, 6),
        "every other row": torch.randn(8, 6)[::2],
        "with a gradient": torch.randn(4, 6, requires_grad=True),
        "a parameter": torch.nn.Parameter(torch.randn(4, 6)),
        "negated when read": pairs.conj().imag,
        "expanded": torch.randn(6).expand(4, 6),
    }
    for _ in range(2):
        for name, x in kinds.items():
            torch.testing.assert_close(built(x), x.detach() * 2 + 1, msg=name)
    for refused in (whole.to("meta"), whole.to_sparse()):
        with pytest.raises((CallError, RuntimeError, TypeError, NotImplementedError)):
            built(refused)
    with pytest.raises((CallError, RuntimeError)):
        torch.vmap(built)(torch.randn(3, 4, 6))


def test_an_output_that_is_an_input_is_a_tensor_of_its_own():
    built = wb.build(wb.from_torch(lambda x: (x, x * 2), torch.zeros(3)))
    x = torch.randn(3)
    for _ in range(3):
        same, doubled = built(x)
        torch.testing.assert_close((same, doubled), (x, x * 2))
        assert same.data_ptr() != x.data_ptr()
