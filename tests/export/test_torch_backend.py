"""`torch.compile(module, backend="workbench")` computes what PyTorch does, and says where it leaves it to PyTorch."""

from __future__ import annotations

import warnings

import pytest

import workbench as wb

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here to compile for")
nn = torch.nn
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


def perceptron():
    return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Dropout(), nn.Linear(6, 3)).eval()


def assert_compiled(module, *inputs):
    """Equal to eager, without any warning of the backend."""
    compiled = torch.compile(module, backend=wb.export.torch_backend)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error", RuntimeWarning)
        for x in inputs:
            torch.testing.assert_close(compiled(x), module(x), rtol=1e-4, atol=1e-5)
    return compiled


def test_batches_of_every_size():
    assert_compiled(perceptron(), *(torch.randn(n, 4) for n in (3, 5, 3, 1)))


def test_parameters_that_change_are_seen():
    module = perceptron()
    compiled = assert_compiled(module, torch.randn(3, 4))
    with torch.no_grad():
        module[0].weight.mul_(-2)
        x = torch.randn(3, 4)
        torch.testing.assert_close(compiled(x), module(x), rtol=1e-4, atol=1e-5)


def test_a_branch_on_data_divides_the_graph():
    def function(x):
        y = x * 2
        return (torch.relu(y), y) if x.sum() > 0 else (y - 1, x)

    assert_compiled(function, torch.ones(5), -torch.ones(5))


def test_a_gradient_is_left_to_pytorch_and_said():
    module, x = perceptron(), torch.randn(3, 4)
    compiled = torch.compile(module, backend=wb.export.torch_backend)
    with pytest.warns(RuntimeWarning, match="a gradient is asked for"):
        compiled(x).sum().backward()
    assert module[0].weight.grad is not None


def test_an_unknown_operation_is_left_to_pytorch_and_named():
    def function(x):
        return torch.linalg.det(x @ x) + 1

    compiled, x = torch.compile(function, backend=wb.export.torch_backend), torch.randn(3, 3)
    with pytest.warns(RuntimeWarning, match="linalg.*no definition"):
        torch.testing.assert_close(compiled(x), function(x))


def test_the_backend_has_a_name():
    # Where the project is installed its entry point finds it without this import.
    import workbench.export.pytorch.compile_backend  # noqa: F401

    module, x = perceptron(), torch.randn(2, 4)
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(module, backend="workbench")(x), module(x), rtol=1e-4, atol=1e-5)


# -- Modules in modules ----------------------------------------------------------------------------


def blocks():
    return nn.Sequential(nn.Linear(4, 6), nn.Sequential(nn.ReLU(), nn.Linear(6, 6), nn.GELU()), nn.Linear(6, 2))


def test_a_part_of_a_module_is_computed_by_a_built_model():
    module, x = blocks(), torch.randn(3, 4)
    found = wb.export.swap(module, {"1": torch.randn(3, 6)})
    assert "built by the workbench" in str(found)
    with torch.no_grad():
        for given in (x, torch.randn(5, 4)):
            torch.testing.assert_close(found(given), module(given), rtol=1e-4, atol=1e-5)
        module[1][1].weight.mul_(3)  # the copy has the same parameters
        torch.testing.assert_close(found(x), module(x), rtol=1e-4, atol=1e-5)
    assert not any(isinstance(inner, type(found[1])) for inner in module.modules())


def test_a_part_of_a_module_may_be_any_function():
    op = wb.operator("def halved(float(N,M) x) -> (y) { y(i,j) = 0.5 * x(i,j) }")
    found = wb.export.swap(blocks(), {"1": op, "2": nn.Identity()})
    x = torch.randn(3, 4)
    with torch.no_grad():
        torch.testing.assert_close(found(x), found[0](x) / 2)


def test_a_swapped_module_has_its_gradient():
    module = blocks()
    wb.export.swap(module, {"1": (torch.randn(3, 6),)})(torch.randn(3, 4)).sum().backward()
    assert module[0].weight.grad is not None
    assert module[1][1].weight.grad is not None


def test_what_cannot_be_swapped_is_said():
    with pytest.raises(wb.errors.WorkbenchError, match=r"unknown module '1\.7'.*known: 0, 1"):
        wb.export.swap(blocks(), {"1.7": abs})
    with pytest.raises(wb.errors.WorkbenchError, match="expected a function, or example tensors"):
        wb.export.swap(blocks(), {"1": 3})
