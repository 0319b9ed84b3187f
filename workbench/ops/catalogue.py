"""The list of all operators of the library; an operator is parsed when it is first asked for."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from workbench.errors import CallError, UnknownOperator, shown, unknown_name
from workbench.lang import operators
from workbench.lang.operator import Operator
from workbench.ops.entry import Entry, Sizes
from workbench.ops.library import (
    activations,
    attentions,
    comprehensions,
    convolutions,
    linear_algebra,
    lookups,
    losses,
    normalisations,
    pooling,
    quantised,
    rearrangements,
    recurrences,
    selections,
    stencils,
    triangulars,
)

FAMILIES: dict[str, tuple[Entry, ...]] = {
    "linear algebra": linear_algebra.ENTRIES,
    "triangular": triangulars.ENTRIES,
    "convolution": convolutions.ENTRIES,
    "pooling": pooling.ENTRIES,
    "normalisation": normalisations.ENTRIES,
    "activation": activations.ENTRIES,
    "loss": losses.ENTRIES,
    "attention": attentions.ENTRIES,
    "recurrence": recurrences.ENTRIES,
    "lookup": lookups.ENTRIES,
    "selection": selections.ENTRIES,
    "quantised": quantised.ENTRIES,
    "stencil": stencils.ENTRIES,
    "tensor comprehensions": comprehensions.ENTRIES,
    "rearrangement": rearrangements.ENTRIES,
}
ENTRIES: dict[str, Entry] = {
    entry.name: replace(entry, family=family) for family, entries in FAMILIES.items() for entry in entries
}


def names(family: str | None = None) -> list[str]:
    """Names of the operators of a family (of all families by default), in the order of the library.

    >>> names("attention")[:2]
    ['attention', 'causal_attention']
    """
    if family is not None and family not in FAMILIES:
        raise CallError(unknown_name("family", family, FAMILIES))
    return [name for name, entry in ENTRIES.items() if family in (None, entry.family)]


@cache
def load(name: str) -> Operator:
    """The operator of a name, with the library's docstring and formula as its `doc`."""
    if name not in ENTRIES:
        raise UnknownOperator(unknown_name("operator", name, ENTRIES))
    entry = ENTRIES[name]
    return replace(operators(entry.text)[name], doc=entry.doc)


def entry_of(op: Operator) -> Entry | None:
    """The library's entry for an operator, also when its element type was changed; None for others."""
    entry = ENTRIES.get(op.name)
    if entry is None:
        return None
    ours = load(op.name)
    same = ours.parameters == op.parameters and ours.outputs == op.outputs
    return entry if same and ours.size_names == op.size_names else None


def examples(op: Operator | str, /) -> tuple[Sizes, ...]:
    """Sizes and integer scalars worth trying, the typical ones first; none for an operator of your own.

    The library's operators may be given by name: UnknownOperator if there is none of it.

    >>> examples("argmax")[1] == {"M": 7, "N": 101}
    True
    """
    if not isinstance(op, Operator | str):
        raise CallError(f"examples takes an operator or the name of one of the library, not {shown(op)}")
    entry = entry_of(load(op) if isinstance(op, str) else op)
    return tuple(dict(sizes) for sizes in entry.examples) if entry else ()
