"""The backend `torch.compile(module, backend="workbench")`: graphs of TorchDynamo as built models.

What Dynamo hands over is a graph of PyTorch's own calls.  When it is called with tensors of new shapes it is taken
over by `wb.from_torch`, its parameters and buffers as constants, and built.  Where a gradient is asked for, or an
operation has no definition, the graph runs as PyTorch runs it, and a warning says so once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo import disable, register_backend

from workbench.errors import WorkbenchError
from workbench.graph import build_model
from workbench.graph.importing.from_torch_modules import from_torch
from workbench.graph.optimizing import optimize

Key = tuple[Any, ...]
Results = Callable[[Sequence[Any]], tuple[Any, ...]]


@register_backend
def workbench(graph: torch.fx.GraphModule, examples: Sequence[Any]) -> Callable[..., Any]:
    """The backend: a callable for a graph of Dynamo."""
    held = frozenset(at for at, each in enumerate(examples) if _is_held(each))
    return disable(_Compiled(graph, held))


def _is_held(example: Any) -> bool:
    """Whether an input is a parameter or buffer of the module, which stays the same from call to call."""
    return isinstance(example, torch.nn.Parameter) or hasattr(example, "_dynamo_static_input_type")


class _Compiled:
    """A graph with the models that were built of it, by shapes and element types of its inputs."""

    def __init__(self, graph: torch.fx.GraphModule, held: frozenset[int]) -> None:
        self.graph, self.held = graph, held
        self.known: dict[Key, tuple[Key, Results | None]] = {}
        self.said: set[str] = set()

    def __call__(self, *inputs: Any) -> Any:
        if torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in inputs):
            return self._eagerly(inputs, "a gradient is asked for; with torch.no_grad() it is not")
        key = tuple([(x.shape, x.dtype) if isinstance(x, torch.Tensor) else x for x in inputs])
        state = tuple([(inputs[at].data_ptr(), inputs[at]._version) for at in self.held])
        known = self.known.get(key)
        if known is None or known[0] != state:
            known = self.known[key] = (state, self._built(inputs))
        run = known[1]
        return self.graph(*inputs) if run is None else run(inputs)

    def _eagerly(self, inputs: Sequence[Any], reason: str) -> Any:
        self._say(reason)
        return self.graph(*inputs)

    def _say(self, reason: str) -> None:
        if reason not in self.said:
            self.said.add(reason)
            message = f"backend 'workbench': a graph runs as PyTorch runs it: {reason}"
            warnings.warn(message, RuntimeWarning, stacklevel=4)

    def _built(self, inputs: Sequence[Any]) -> Results | None:
        """What computes the graph's results for inputs like these; None if PyTorch has to."""
        if any(isinstance(x, torch.Tensor) and x.device.type != "cpu" for x in inputs):
            self._say("it is on another device than the processor")
            return None
        given = [at for at, x in enumerate(inputs) if isinstance(x, torch.Tensor) and at not in self.held]
        module = _Held(self.graph, inputs, given)
        try:
            model = from_torch(module, *(inputs[at].detach().clone() for at in given))
            built = build_model(optimize(model))
        except WorkbenchError as reason:
            self._say(str(reason))
            return None

        def run(tensors: Sequence[Any]) -> tuple[Any, ...]:
            found = built(*[tensors[at] for at in given])
            return found if isinstance(found, tuple) else (found,)

        return run


class _Held(torch.nn.Module):
    """The graph as a module of the inputs at some places; what is at the others it holds."""

    def __init__(self, graph: torch.fx.GraphModule, inputs: Sequence[Any], given: Sequence[int]) -> None:
        super().__init__()
        self.graph, self.given = graph, tuple(given)
        self.rest = {at: x for at, x in enumerate(inputs) if at not in given and not isinstance(x, torch.Tensor)}
        for at, x in enumerate(inputs):
            if at not in given and isinstance(x, torch.Tensor):
                self.register_buffer(f"held_{at}", x.detach())
        self.count = len(inputs)

    def forward(self, *tensors: Any) -> Any:
        """The graph's results."""
        values = dict(zip(self.given, tensors, strict=True)) | self.rest
        return self.graph(*(values[at] if at in values else getattr(self, f"held_{at}") for at in range(self.count)))
