"""The engine `torch`: regions by eager functions of PyTorch, as far as definitions are array programs.

Strided views are `as_strided`, contractions `einsum`, so that the products run in PyTorch's own libraries; what one
function of PyTorch is shown to compute, such as a convolution, is that function.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn.functional import pad

from workbench.errors import EngineError
from workbench.export.engines.torch_layers import torch_function
from workbench.graph.engines.arrays.lowering import program_of, why_no_arrays
from workbench.graph.engines.arrays.programs import ArrayProgram, Library, run_program
from workbench.graph.engines.engine_records import Answer, engine
from workbench.graph.engines.sites import Site
from workbench.graph.engines.subgraphs import Step, Subgraph

# Function of the language → that of PyTorch, where both mean the same of every number.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "+": torch.add, "-": torch.sub, "*": torch.mul, "/": torch.true_divide, "<": torch.lt, "<=": torch.le,
    ">": torch.gt, ">=": torch.ge, "==": torch.eq, "!=": torch.ne, "&&": torch.logical_and, "||": torch.logical_or,
    "min": torch.minimum, "max": torch.maximum, "fmin": torch.fmin, "fmax": torch.fmax, "pow": torch.pow,
    "atan2": torch.atan2, "copysign": torch.copysign, "hypot": torch.hypot, "select": torch.where,
    "unary -": torch.neg, "unary !": torch.logical_not, "abs": torch.abs, "fabs": torch.abs, "sign": torch.sign,
    "acos": torch.acos, "acosh": torch.acosh, "asin": torch.asin, "asinh": torch.asinh, "atan": torch.atan,
    "atanh": torch.atanh, "ceil": torch.ceil, "cos": torch.cos, "cosh": torch.cosh, "erf": torch.erf,
    "erfc": torch.erfc, "exp": torch.exp, "exp2": torch.exp2, "expm1": torch.expm1, "floor": torch.floor,
    "lgamma": torch.lgamma, "log": torch.log, "log10": torch.log10, "log1p": torch.log1p, "log2": torch.log2,
    "relu": torch.relu, "rsqrt": torch.rsqrt, "sigmoid": torch.sigmoid, "sin": torch.sin, "sinh": torch.sinh,
    "sqrt": torch.sqrt, "tan": torch.tan, "tanh": torch.tanh, "trunc": torch.trunc, "isnan": torch.isnan,
    "isinf": torch.isinf,
}  # fmt: skip
_REDUCTIONS = {"+": torch.sum, "min": torch.amin, "max": torch.amax}


def takes(site: Site) -> Answer:
    """Whether a call is an array program of PyTorch's functions, or why not."""
    reason = why_no_arrays(site)
    if reason or not all(each.is_concrete for each in (*site.arguments, *site.results)):
        return reason or True
    return _missing(program_of(site)) or True


def _missing(program: ArrayProgram) -> str:
    """What PyTorch has no function for."""
    for each in program.instructions:
        function = each.attributes.get("function")
        known = FUNCTIONS if each.name == "elementwise" else _REDUCTIONS if each.name == "reduce" else None
        if known is not None and function not in known:
            return f"PyTorch has no `{function}` that is known to be the same"
    return ""


def _takes_here(site: Site) -> Answer:
    """The same on the processor, where more is by one function."""
    return torch_function(site) is not None or takes(site)


@engine("torch", supports=_takes_here, version=f"2, torch {torch.__version__}")
def torch_eager(region: Subgraph) -> Callable[..., Any]:
    """A callable on NumPy arrays, whose memory PyTorch reads; constants are converted once."""
    return compiled(region, "cpu")


def compiled(region: Subgraph, device: str) -> Callable[..., Any]:
    """A callable on NumPy arrays that computes a region on a device of PyTorch's; constants are there before."""
    steps = [(_function(each, device), each.arguments, each.results) for each in region.steps]
    constants = {number: on_device(each, device) for number, each in region.constants.items()}

    def run(*arrays: Any) -> tuple[Any, ...]:
        with torch.inference_mode(), torch.device(device):
            given = [on_device(each, device) for each in arrays]
            values = {**constants, **dict(zip(region.inputs, given, strict=True))}
            for function, arguments, results in steps:
                values.update(zip(results, function(*(values[at] for at in arguments)), strict=True))
            return _own([values[each].contiguous() for each in region.results], (*given, *constants.values()))

    return run


def _own(results: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> tuple[Any, ...]:
    """Results as arrays, each in memory of its own: a reshape has that of its argument."""
    taken = {each.untyped_storage().data_ptr() for each in others}
    found = []
    for each in results:
        own = each.clone() if each.untyped_storage().data_ptr() in taken else each
        taken.add(own.untyped_storage().data_ptr())
        found.append(own.cpu().numpy())
    return tuple(found)


def _function(step: Step, device: str) -> Callable[..., tuple[torch.Tensor, ...]]:
    """The results of a call for its arguments; on a GPU no library may round more than the definition says."""
    known = torch_function(step.site) if device == "cpu" else None
    if known is not None:
        return lambda *tensors: (known(*tensors),)
    program = program_of(step.site)
    missing = _missing(program)
    if missing:
        raise EngineError(missing)
    return lambda *tensors: run_program(program, tensors, TORCH)


def on_device(array: Any, device: str) -> torch.Tensor:
    """An array as a tensor on a device; on the processor it is the same memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that nobody may write to it: nobody does
        return torch.from_numpy(array).to(device)


def _dtype(name: str) -> torch.dtype:
    return getattr(torch, name)


def _view(a: Any, pads: list[list[int]], shape: list[int], strides: list[int], offset: int) -> Any:
    if pads:
        a = pad(a, [each for both in reversed(pads) for each in both])
    return torch.as_strided(a.contiguous(), shape, strides, offset)


def _insert(a: Any, axes: list[int]) -> Any:
    for axis in axes:
        a = a.unsqueeze(axis)
    return a


def _elementwise(*operands: Any, function: str, dtype: str) -> Any:
    return FUNCTIONS[function](*operands).to(_dtype(dtype))


def _reduce(a: Any, function: str, axes: list[int]) -> Any:
    options = {"dtype": a.dtype} if function == "+" else {}
    return _REDUCTIONS[function](a, dim=axes, **options)


def _put(a: Any, b: Any, starts: list[int]) -> Any:
    found = a.clone()
    found[tuple(slice(s, s + n) for s, n in zip(starts, b.shape, strict=True))] = b
    return found


TORCH: Library = {
    "constant": lambda value, dtype: torch.tensor(value, dtype=_dtype(dtype)),
    "range": lambda start, stop: torch.arange(start, stop),
    "zeros": lambda shape, dtype: torch.zeros(shape, dtype=_dtype(dtype)),
    "view": _view,
    "take": lambda a, indices, shape: a.contiguous().reshape(-1)[torch.tensor(indices)].reshape(shape),
    "insert": _insert,
    "expand": lambda a, shape: a.expand(shape),
    "elementwise": _elementwise,
    "cast": lambda a, dtype: a.to(_dtype(dtype)),
    "einsum": lambda *operands, equation: torch.einsum(equation, *operands),
    "reduce": _reduce,
    "put": _put,
}
