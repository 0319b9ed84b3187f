"""What is timed: a call with and without `out=`, and how to see its result as NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Unavailable(Exception):
    """A contender cannot take part; says why."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call ready to be timed.

    `fresh()` allocates its result, `preallocated()` writes where results were written before (None where the
    library has no such form); `arrays(result)` gives a result as NumPy arrays; `function` is the name of what is
    called.  `first_seconds` is the time of the first call, with everything that was built for it.
    """

    fresh: Callable[[], Any]
    preallocated: Callable[[], Any] | None
    arrays: Callable[[Any], list[Array]]
    function: str = ""
    first_seconds: float = 0.0


def prepared(
    function: Callable[..., Any],
    called: Callable[..., Any],
    arguments: list[Any],
    empty_like: Callable[[Any], Any],
    arrays: Callable[[Any], Any],
) -> Prepared:
    """Calls of `called`, which is `function` or made of it; `out=` if the function takes it."""
    call, name = partial(called, *arguments), function.__name__
    if "out" in signature(function).parameters:
        return with_out(call, empty_like, arrays, name)
    return Prepared(call, None, arrays, name)


def with_out(
    call: Callable[..., Any], empty_like: Callable[[Any], Any], arrays: Callable[[Any], Any], name: str = ""
) -> Prepared:
    """`call` with and without `out=`; where to write is only known after a first call."""
    kept: list[Any] = []

    def preallocated() -> Any:
        if not kept:
            first = call()
            kept.append(tuple(map(empty_like, first)) if isinstance(first, tuple) else empty_like(first))
        return call(out=kept[0])

    return Prepared(call, preallocated, arrays, name)


def numpy_arrays(result: Any) -> list[Array]:
    """One array for each output."""
    return [np.asarray(r) for r in (result if isinstance(result, tuple) else (result,))]


def tensor(torch: Any, array: Array) -> Any:
    """The array as a tensor, without a copy."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def tensor_arrays(torch: Any, result: Any) -> list[Array]:
    """One array for each output; bfloat16, which NumPy lacks, as float32."""
    tensors = result if isinstance(result, tuple) else (result,)
    return [(t.float() if t.dtype == torch.bfloat16 else t).numpy() for t in tensors]
