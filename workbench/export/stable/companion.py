"""Loads the library that stands beside this file, and tells PyTorch what its stable ABI cannot: gradients, sizes that
are symbols, vmap and autocast.  It needs PyTorch alone.

Importing this file is optional: without it the operators run, also in compiled and exported programs of fixed sizes.
"""

import functools
import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch


class Registration:
    """Tells PyTorch of the operators of a library; `space` is their namespace."""

    def __init__(self, library: Path, space: str) -> None:
        self.space = space
        self.owner = torch.library.Library(space, "FRAGMENT")
        self.path = library

    def load(self, names: Sequence[str]) -> None:
        """Load the library; ImportError if its operators exist already, made by somebody else."""
        loaded = {Path(path).resolve() for path in torch.ops.loaded_libraries}
        if self.path.resolve() not in loaded:
            schemas = torch._C._jit_get_schemas_for_operator
            if taken := [n for n in names if schemas(f"{self.space}::{n}")]:
                there = f"{self.space}::{taken[0]} exists already in this process"
                raise ImportError(f"{there}; {self.path.name} is not loaded")
        torch.ops.load_library(self.path)

    def fake(self, name: str, shapes: Callable[..., Any], types: Sequence[tuple[Any, ...]]) -> None:
        """`types` are (types of the tensors given, types of the results), for each choice of element types."""
        keywords = self._keywords(name)

        def fake(*given: Any, **named: Any) -> Any:
            tensors = [v for v in given if isinstance(v, torch.Tensor)]
            places = {v.device: None for v in tensors if v.dim()} or {v.device: None for v in tensors}
            if len(places) > 1:
                raise RuntimeError(f"{name} expected tensors on one device but found {', '.join(map(str, places))}")
            found = tuple(v.dtype for v in tensors)
            results = next((made for taken, made in types if taken == found), None)
            if results is None:
                expected = " or ".join(str(tuple(map(str, taken))) for taken, _ in types)
                raise RuntimeError(f"{name} expected tensors of {expected} but found {tuple(map(str, found))}")
            plain = [v.shape if isinstance(v, torch.Tensor) else v for v in given]
            extents = shapes(*plain, *(named[k] for k in keywords))
            made = [torch.empty(e, dtype=t, device=next(iter(places))) for e, t in zip(extents, results, strict=True)]
            return made[0] if len(made) == 1 else tuple(made)

        # In place of the one in the library, which is for sizes that are numbers.
        torch.library.register_fake(f"{self.space}::{name}", fake, lib=self.owner, allow_override=True)

    def gradient(
        self, name: str, smooth: Sequence[int], gradients: Sequence[tuple[Any, ...]], why_none: str
    ) -> None:  # fmt: skip
        """`smooth` are places of arguments; `gradients` are (places, operator, what it is called with)."""
        calls = [(places, self._operator(called), self._keywords(called), rows) for places, called, rows in gradients]
        keywords = self._keywords(name)

        def setup(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.given = [None if isinstance(v, torch.Tensor) else v for v in inputs]
            ctx.places = [n for n, v in enumerate(inputs) if isinstance(v, torch.Tensor)]
            ctx.save_for_backward(*(v for v in inputs if isinstance(v, torch.Tensor)))

        def setup_with_keywords(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
            setup(ctx, (*inputs, *(keyword_only_inputs[k] for k in keywords)), output)

        def backward(ctx: Any, *outer: Any) -> Any:
            wanted = {n for n in smooth if ctx.needs_input_grad[n]}
            chosen = next((call for call in calls if wanted <= set(call[0])), None)
            if chosen is None:
                raise NotImplementedError(f"{self.space}::{name} has no gradient: {why_none}")
            places, gradient, named, rows = chosen
            given = list(ctx.given)
            for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
                given[place] = tensor
            values = [given[n] if kind == "i" else outer[n] for kind, n in rows]
            cut = len(values) - len(named)
            results = gradient(*values[:cut], **dict(zip(named, values[cut:], strict=True)))
            results = results if isinstance(results, tuple | list) else (results,)
            found = dict(zip(places, results, strict=True))
            return tuple(found.get(n) if n in wanted else None for n in range(len(ctx.needs_input_grad)))

        context = setup_with_keywords if keywords else setup
        torch.library.register_autograd(f"{self.space}::{name}", backward, setup_context=context, lib=self.owner)

    def vmap(self, name: str) -> None:
        """One call for each entry."""
        called = self._operator(name)

        def rule(info: Any, axes: Any, *given: Any, **named: Any) -> Any:
            moved = [v if axis is None else v.movedim(axis, 0) for v, axis in zip(given, axes, strict=True)]
            each = [
                called(*(v if axis is None else v[n] for v, axis in zip(moved, axes, strict=True)), **named)
                for n in range(info.batch_size)
            ]
            if isinstance(each[0], tuple):
                return tuple(map(torch.stack, zip(*each, strict=True))), (0,) * len(each[0])
            return torch.stack(each), 0

        torch.library.register_vmap(f"{self.space}::{name}", rule, lib=self.owner)

    def autocast(self, name: str, device: str, dtype: Any) -> None:
        """Floating tensors become what the kernels take."""
        torch.library.register_autocast(f"{self.space}::{name}", device, dtype, lib=self.owner)

    def _operator(self, name: str) -> Any:
        return operator.attrgetter(f"{self.space}.{name}.default")(torch.ops)

    def _keywords(self, name: str) -> list[str]:
        return [a.name for a in self._operator(name)._schema.arguments if a.kwarg_only]


def symbolic_largest(*values: Any) -> Any:
    """The largest of some sizes, which may be symbols."""
    return functools.reduce(torch.sym_max, values)


def symbolic_least(*values: Any) -> Any:
    """The least of some sizes, which may be symbols."""
    return functools.reduce(torch.sym_min, values)
