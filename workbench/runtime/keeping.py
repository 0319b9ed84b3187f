"""Outputs whose contents count: where a kernel finds a bad index while it runs, they are put back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.runtime.border import LOOK


def keeping(call: Callable[..., int], places: Sequence[int]) -> Callable[..., int]:
    """The border's `call`, which leaves the outputs at `places` as they were when its status is an error."""

    def call_and_restore(arrays: tuple[Any, ...], out: Any, *rest: int) -> int:
        outputs = out if isinstance(out, tuple) else (out,)
        kept = [outputs[n] for n in places if n < len(outputs)]
        if not all(isinstance(array, np.ndarray) for array in kept):
            return LOOK
        before = [array.copy() for array in kept]
        status = call(arrays, out, *rest)
        if status > 0:
            for array, old in zip(kept, before, strict=True):
                array[...] = old
        return status

    return call_and_restore
