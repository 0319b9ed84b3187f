"""Models against what PyTorch computes itself."""

from __future__ import annotations

import numpy as np


def assert_equal(model, function, *arguments):
    """The model computes what the function does, in the same types and shapes."""
    import torch

    with torch.no_grad():
        expected = function(*arguments)
    found = model.evaluate(*(each.numpy() for each in arguments))
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple | list) else [(found, expected)]
    for a, b in pairs:
        assert (a.dtype.name, a.shape) == (str(b.dtype).removeprefix("torch."), tuple(b.shape))
        np.testing.assert_allclose(a, b.numpy(), rtol=1e-4, atol=1e-5)
