"""Transposed convolutions are convolutions by phases, equal to PyTorch's for every step, border and group."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import workbench as wb

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here to import from")
functional = torch.nn.functional
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

CASES = [
    (kernel, stride, padding, more, groups, dilation)
    for kernel, stride, padding, more, groups, dilation in itertools.product(
        (1, 2, 3, 5), (1, 2, 3), (0, 1), (0, 1), (1, 2), (1, 2)
    )
    if more < max(stride, dilation) and 2 * dilation * (kernel - 1) + stride + more > 2 * padding
    if (kernel + 2 * stride + padding + more + groups + dilation) % 7 == 0
]


def taken_over(function, x):
    """The model of a function, and what the function gives."""
    return wb.from_torch(function, x), function(x).numpy()


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_pictures(case):
    kernel, stride, padding, more, groups, dilation = case
    torch.manual_seed(0)
    x, w, bias = torch.randn(2, 4, 5, 4), torch.randn(4, 3, kernel, kernel), torch.randn(3 * groups)
    model, expected = taken_over(
        lambda x: functional.conv_transpose2d(x, w, bias, stride, padding, more, groups, dilation), x
    )
    np.testing.assert_allclose(model.evaluate(x.numpy()), expected, rtol=1e-4, atol=1e-5)


def test_one_and_three_axes_with_different_steps_and_an_element_type_of_its_own():
    torch.manual_seed(0)
    x, w = torch.randn(1, 2, 3, 2, 4), torch.randn(2, 3, 2, 3, 4)
    model, expected = taken_over(lambda x: functional.conv_transpose3d(x, w, stride=(2, 1, 3)), x)
    np.testing.assert_allclose(model.evaluate(x.numpy()), expected, rtol=1e-4, atol=1e-5)
    x, w = torch.randn(2, 3, 7).double(), torch.randn(3, 2, 4).double()
    model, expected = taken_over(lambda x: functional.conv_transpose1d(x, w, stride=2, padding=1), x)
    np.testing.assert_allclose(model.evaluate(x.numpy()), expected)


def test_an_element_that_is_infinite_reaches_only_what_its_filter_covers():
    x = torch.ones(1, 1, 4)
    x[0, 0, 1] = float("inf")
    model, expected = taken_over(lambda x: functional.conv_transpose1d(x, torch.ones(1, 1, 3), stride=2), x)
    np.testing.assert_array_equal(model.evaluate(x.numpy()), expected)


def test_the_sum_over_a_whole_filter_is_left_to_what_phases_do_not_help():
    x, w = torch.randn(1, 2, 5), torch.randn(2, 2, 3)
    names = {
        dilation: [op.name for op in taken_over(
            lambda x, d=dilation: functional.conv_transpose1d(x, w, stride=2, dilation=d), x
        )[0].operators] for dilation in (1, 2)
    }  # fmt: skip
    assert not any(name.startswith("conv_transpose") for name in names[1])
    assert any(name.startswith("conv_transpose") for name in names[2])


def test_sizes_may_vary():
    x, w = torch.randn(2, 3, 5, 4), torch.randn(3, 2, 3, 3)
    sizes = ({0: torch.export.Dim("batch"), 2: torch.export.Dim("high")},)

    def function(x):
        return functional.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1)

    model = wb.from_torch(function, x, dynamic_shapes=sizes)
    for shape in ((2, 3, 5, 4), (1, 3, 7, 4)):
        x = torch.randn(*shape)
        np.testing.assert_allclose(model.evaluate(x.numpy()), function(x).numpy(), rtol=1e-4, atol=1e-5)
