"""Evaluation of a model: what it computes, on the oracles of its operators.  Everything else is tested against this."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from workbench.errors import CallError, unknown_name
from workbench.graph.evaluation.arguments import checked_argument
from workbench.graph.evaluation.machine import Machine
from workbench.graph.terms.types import FunctionType
from workbench.lang.oracle.evaluation import evaluate as oracle

if TYPE_CHECKING:
    from workbench.graph.models import Model


def evaluate_model(model: Model, arrays: tuple[Any, ...], sizes: Mapping[str, int], run_operator: Any = oracle) -> Any:
    """The value of a model's entry for its arguments.

    Arrays are taken as they are, Python's numbers and lists as arrays of the type that is wanted; a `List` from any
    sequence, an `Option` from None or a value, a `Tree` from None or (value, left, right).  `sizes` are dimensions by
    name, for what no shape tells.  `run_operator` stands for `workbench.lang.evaluate`.  CallError says which
    argument does not fit, or which call of an operator fails.
    """
    return evaluate_on(evaluation_machine(model, run_operator), model, arrays, sizes)


def evaluation_machine(
    model: Model, run_operator: Any = oracle, calls: Mapping[str, Any] = MappingProxyType({})
) -> Machine:
    """A machine that evaluates a model, once or often; `calls` has callables for functions other than its entry."""
    machine = Machine(dict(model.functions), model.datatypes, model.typing, run_operator, calls)
    machine.sized.add(model.main)
    return machine


def evaluate_on(machine: Machine, model: Model, arrays: tuple[Any, ...], sizes: Mapping[str, int]) -> Any:
    """What `evaluate_model` gives, on a machine that was made before."""
    entry = machine.named(model.entry)
    of = model.type_of(model.entry)
    assert isinstance(of, FunctionType)
    names = [each.name for each in entry.function.parameters]
    if len(arrays) != len(names):
        raise CallError(f"{model.entry}: expected {len(names)} arguments ({', '.join(names)}) but found {len(arrays)}")
    dims = [each.name for each in model.scheme_of(model.entry).variables if each.kind == "dimension"]
    for name in sizes:
        if name not in dims:
            raise CallError(f"{model.entry}: {unknown_name('dimension', name, dims)}")
    arguments = tuple(
        checked_argument(value, kind, model.datatypes, f"{model.entry}: {name}")
        for value, kind, name in zip(arrays, of.parameters, names, strict=True)
    )
    return machine.call(entry, arguments, dict(sizes))
