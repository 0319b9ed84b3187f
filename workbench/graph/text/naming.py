"""Names in printed models: what each variable, node, dimension and constant is called."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

from workbench.graph.terms.nodes import Array, Constant, Term, Variable
from workbench.graph.text.literals import print_scalar
from workbench.graph.text.tokens import KEYWORDS
from workbench.lang.dtypes import ALIASES, DTYPES

_RESERVED = frozenset({*KEYWORDS, *DTYPES, *ALIASES})


class Naming:
    """The names of one function: those that its variables and nodes have, made valid and different."""

    def __init__(self, avoided: Iterable[str], constants: dict[int, tuple[int, Array]]) -> None:
        self.taken = {*_RESERVED, *avoided}
        self.nodes: dict[Term, str] = {}
        self.variables: dict[Variable, str] = {}
        self.constants = constants
        self.counts: dict[str, int] = {}

    def kept(self) -> tuple[set[str], dict[str, int]]:
        """What names there are, for `free`."""
        return set(self.taken), dict(self.counts)

    def free(self, kept: tuple[set[str], dict[str, int]]) -> None:
        """Forget the names that were given since: their scope has ended."""
        self.taken, self.counts = kept

    def variable(self, variable: Variable, *, pattern: bool = False) -> str:
        """The name of a variable, the same whenever it is asked for."""
        if variable not in self.variables:
            word = re.sub(r"\W", "_", variable.name, flags=re.ASCII)
            word = word if word.strip("_0123456789") and not word[0].isdigit() else f"v{word}"
            word = word[0].lower() + word[1:] if pattern and word[0].isupper() else word
            self.variables[variable] = self._free(word)
        return self.variables[variable]

    def node(self, node: Term, label: str) -> str:
        """The name of a node that is bound now."""
        word = re.sub(r"\W", "_", label, flags=re.ASCII)
        chosen = self._free(f"%{word}") if word and not word.isdigit() else self._free("%0", number=True)
        self.nodes[node] = chosen
        return chosen

    def type_variable(self, name: str) -> str:
        """The name of a type variable, element variable or dimension."""
        return name

    def constant(self, constant: Constant) -> str:
        """A scalar as a literal, any other array by its number."""
        array = constant.array
        if array.ndim == 0:
            return print_scalar(array)
        number, _ = self.constants.setdefault(id(array), (len(self.constants), array))
        return f"const#{number}"

    def _free(self, word: str, *, number: bool = False) -> str:
        """The word, or the word with the next number behind it."""
        chosen = word
        if word in self.taken:
            count = self.counts.get(word, 1)
            while (chosen := f"%{count}" if number else f"{word}_{count}") in self.taken:
                count += 1
            self.counts[word] = count + 1
        self.taken.add(chosen)
        return chosen


class Canonical(Naming):
    """Names that are the same for all models that differ in names only; constants are named by what they hold."""

    def __init__(self) -> None:
        super().__init__((), {})
        self.types: dict[str, str] = {}

    def variable(self, variable: Variable, *, pattern: bool = False) -> str:
        """`v0`, `v1`, ... in order of occurrence."""
        return self.variables.setdefault(variable, f"v{len(self.variables)}")

    def node(self, node: Term, label: str) -> str:
        """`%0`, `%1`, ..."""
        return self.nodes.setdefault(node, f"%{len(self.nodes)}")

    def type_variable(self, name: str) -> str:
        """`d0`, `d1`, ... in order of occurrence."""
        return self.types.setdefault(name, f"d{len(self.types)}")

    def constant(self, constant: Constant) -> str:
        """The digest of the array; of a scalar as well, so that -0.0 is not 0.0."""
        array = constant.array
        return f"const:{array.dtype.name}{array.shape}:{sha256(array.tobytes()).hexdigest()}"
