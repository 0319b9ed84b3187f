"""The process of one contender of `bench.backward`: `python -m bench.backward.worker CONTENDER THREADS`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

import workbench as wb
from bench.backward.cases import OURS, SAVED, TORCH, Backward, forward, of_case
from bench.contenders import operator_of, prepare
from bench.suite import Case
from bench.workers.placing import empty_like, placed
from bench.workers.prepared import Array, Prepared, numpy_arrays, tensor, tensor_arrays, with_out
from bench.workers.serving import serve
from bench.workers.worker import Bench
from workbench.lang.algebra.folding import fold
from workbench.lang.operator import Operator


class BackwardBench(Bench):
    """One backward operator."""

    def prepare(self, case: dict[str, Any]) -> dict[str, Any]:
        """Make what is called, and call it once; what was on the bench before is gone."""
        self.prepared = None
        prepared = made(self.contender, Case(**case), self.threads)
        start = perf_counter()
        prepared.fresh()
        self.prepared = replace(prepared, first_seconds=prepared.first_seconds + perf_counter() - start)
        return {"first_seconds": self.prepared.first_seconds, "function": self.prepared.function}


def made(contender: str, case: Case, threads: int) -> Prepared:
    """What a contender calls in a case."""
    of = of_case(case)
    op = forward(of)
    ways: dict[str, Callable[[], Prepared]] = {
        OURS: lambda: _ours(op, case),
        SAVED: lambda: _with_saved(of, op, case),
        TORCH: lambda: _torch(of, op, case, threads),
    }
    return ways[contender]() if contender in ways else prepare(contender, case, threads)


def _ours(op: Operator, case: Case) -> Prepared:
    call: Any = operator_of(case)
    return with_out(partial(call, *_given(op, case), *seeds(op, case)), empty_like, numpy_arrays)


def _given(op: Operator, case: Case) -> list[Any]:
    """Arguments of the forward operator, the same for every contender."""
    given = wb.ops.sample_arrays(op, **case.sizes)
    return [a if not isinstance(a, np.ndarray) else placed(a) if a.ndim else a.item() for a in given]


def seeds(op: Operator, case: Case) -> list[Array]:
    """A derivative by every result, standard normal."""
    generator = np.random.default_rng(7)
    shapes = [[fold(e, case.sizes) for e in op.tensors[name].extent] for name in op.outputs]
    return [placed(generator.standard_normal(shape).astype(np.float32)) for shape in shapes]


def _with_saved(of: Backward, op: Operator, case: Case) -> Prepared:
    """Our gradient with the values of the forward run that it is given."""
    given = _given(op, case)
    saving: Any = wb.saving(op, of.saved)
    call: Any = wb.grad(op, of.by, saved=of.saved)
    results = dict(zip(saving.outputs, numpy_arrays(saving(*given)), strict=True))
    kept = [placed(results[name]) for name in of.saved]
    return with_out(partial(call, *given, *kept, *seeds(op, case)), empty_like, numpy_arrays, ", ".join(of.saved))


def _torch(of: Backward, op: Operator, case: Case, threads: int) -> Prepared:
    torch = import_module("torch")
    torch.set_num_threads(threads)
    function = getattr(import_module("bench.peers.torch_peers"), of.torch)
    given = [tensor(torch, a) if isinstance(a, np.ndarray) else a for a in _given(op, case)]
    leaves = [given[op.parameters.index(name)].requires_grad_() for name in of.by]
    results = function(*given)
    derivatives = [tensor(torch, a) for a in seeds(op, case)]

    def backward() -> Any:
        return torch.autograd.grad(results, leaves, derivatives, retain_graph=True)

    return Prepared(backward, None, partial(tensor_arrays, torch), f"{function.__name__}, autograd")


if __name__ == "__main__":
    serve(BackwardBench(sys.argv[1], int(sys.argv[2])), int(sys.argv[2]))
