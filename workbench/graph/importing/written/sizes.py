"""Sizes in the text of one definition."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.graph.importing.values import Dims
from workbench.graph.importing.written.elementwise import axis_index
from workbench.graph.terms.dimensions import Dimension, dimension, replaced, shown, symbols


class Sizes:
    """Names of the sizes of one definition: numbers as they are, inputs' sizes by name, others given by the call."""

    def __init__(self) -> None:
        self.known: dict[Dimension, str] = {}
        self.given: dict[str, Dimension] = {}

    def told(self, dims: Dims) -> list[str]:
        """The sizes of an input."""
        found = []
        for dim in dims:
            if dim.constant is None and dim not in self.known:
                self.known[dim] = f"D{len(self.known)}"
            found.append(self.known[dim] if dim.constant is None else str(dim.constant))
        return found

    def wanted(self, dims: Sequence[Dimension]) -> list[str]:
        """The sizes of a result, in words of the inputs' where they are the same."""
        return [self.text(dim) for dim in dims]

    def text(self, dim: Dimension) -> str:
        if dim.constant is not None:
            return str(dim.constant)
        names = {shown(known): dimension(text) for known, text in self.known.items() if known.only_atom()}
        if dim not in self.known and symbols(dim) <= names.keys():
            return shown(replaced(dim, names))
        if dim not in self.known:
            self.known[dim] = f"E{len(self.given)}"
            self.given[self.known[dim]] = dim
        return self.known[dim]


def indices(count: int) -> list[str]:
    """The indices of so many axes."""
    return [axis_index(at) for at in range(count)]
