"""Arguments of a C function that share memory: there it reads what it has just written.

Kernels and oracles take arrays as apart, as a C compiler does after `restrict`.  An operator of the language means what
its inputs held before the call, so that an output which overlaps one is computed apart; C means something else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.errors import CallError
from workbench.lang.operator import Operator
from workbench.runtime.arrays.foreign import as_array, as_output, several
from workbench.runtime.kernels.copying import share_memory


def refuse_shared_arguments(op: Operator, arrays: tuple[Any, ...], out: Any) -> None:
    """`refuse_aliases` for the arguments of a call by position, before anything is copied."""
    if op.language != "c":
        return
    held = [(n, value) for n, value in zip(op.parameters, arrays, strict=False) if stands_in_memory(op, n, value)]
    inputs = {name: as_array(value, op.tensors[name].dtype, name) for name, value in held}
    given = zip(op.outputs, several(out), strict=False)
    refuse_aliases(op, inputs, {name: as_output(value, name) for name, value in given if value is not None})


def stands_in_memory(op: Operator, name: str, value: Any) -> bool:
    """Whether an argument is an array, or a number that is given as one."""
    return name not in op.scalars and (op.tensors[name].rank > 0 or hasattr(value, "__array__"))


def refuse_aliases(
    op: Operator | None,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    meet: Callable[[Any, Any], bool] = share_memory,
) -> None:
    """CallError where a C function updates memory that another argument is in, unless its text says `restrict`.

    Arrays by the names of their tensors, None for what is no array; `meet` says whether two of them share an element.
    """
    if op is None or op.language != "c":
        return
    given = {n: a for n, a in {**inputs, **outputs}.items() if a is not None}
    shared = [(n, m) for n in outputs if n in given for m in given if m != n and meet(given[n], given[m])]
    promised = _restricted(op) if shared else frozenset()
    for updated, other in shared:
        if not {updated, other} & promised:
            raise CallError(
                f"{op.name}: {other} and {updated} share memory, and {updated} is updated: C would read there what it "
                f"has just written, a kernel takes its arrays as apart. Give {updated} memory of its own (a copy), or "
                f"say in the text that they never overlap (restrict)"
            )


def _restricted(op: Operator) -> frozenset[str]:
    """Tensors whose parameters the C text declares `restrict`."""
    from workbench.fromc import raise_c  # the parser of C is not loaded for other programs

    return frozenset(p.tensor for p in raise_c(op.text).parameters if p.restrict)
