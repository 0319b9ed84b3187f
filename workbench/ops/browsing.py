"""The library to browse: `ops.families` with a family behind each dot, a family with its operators behind the next."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.errors import UnknownName, unknown_name
from workbench.lang.operator import Operator
from workbench.ops.catalogue import ENTRIES, FAMILIES, load, names
from workbench.records import record


@record
class Family:
    """Operators of one family: `family.matmul`, `family["matmul"]`, or all of them in a loop."""

    name: str

    def __getattr__(self, name: str) -> Operator:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Operator:
        if name not in (known := names(self.name)):
            raise UnknownName(f"{self.name}: {unknown_name('operator', name, known)}")
        return load(name)

    def __iter__(self) -> Iterator[Operator]:
        return (load(name) for name in names(self.name))

    def __len__(self) -> int:
        return len(names(self.name))

    def __dir__(self) -> list[str]:
        return names(self.name)

    def _ipython_key_completions_(self) -> list[str]:
        return names(self.name)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        own = names(self.name)
        width = max(map(len, own))
        return "\n".join([self.name, *(f"  {name:<{width}}  {operator_summary(name)}" for name in own)])


class Families:
    """The families: `families()` lists their names, `families.linear_algebra` is `families["linear algebra"]`."""

    def __call__(self) -> list[str]:
        """Names of the families."""
        return list(FAMILIES)

    def __getattr__(self, name: str) -> Family:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Family:
        found = name.replace("_", " ")
        if found not in FAMILIES:
            raise UnknownName(f"families: {unknown_name('family', name, FAMILIES)}")
        return Family(found)

    def __iter__(self) -> Iterator[Family]:
        return map(Family, FAMILIES)

    def __len__(self) -> int:
        return len(FAMILIES)

    def __dir__(self) -> list[str]:
        return [name.replace(" ", "_") for name in FAMILIES]

    def _ipython_key_completions_(self) -> list[str]:
        return list(FAMILIES)

    def __repr__(self) -> str:
        width = max(map(len, FAMILIES))
        rows = [f"  {name:<{width}}  {', '.join(names(name))}" for name in FAMILIES]
        return "\n".join([f"{len(ENTRIES)} operators in {len(FAMILIES)} families", *rows])


families = Families()


def operator_summary(name: str) -> str:
    """What an operator of the library computes, in a sentence."""
    return " ".join(ENTRIES[name].doc.partition("\n\n")[0].split())


def formula(name: str) -> str:
    """Its formula as the library writes it, on one line."""
    return " ".join(ENTRIES[name].doc.partition("\n\n")[2].split())
