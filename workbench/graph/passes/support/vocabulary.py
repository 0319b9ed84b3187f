"""`wb.passes`: every pass there is, read off its file: `passes/dead_code.py` holds `dead_code`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from workbench.errors import UnknownName, unknown_name
from workbench.face import uncollected

_PACKAGE = "workbench.graph.passes"
_FOLDER = Path(__file__).parent.parent
_NO_PASSES = {"__init__"}


class Vocabulary:
    """The passes by name, each loaded when it is first asked for; UnknownName lists them for any other name."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all passes, in alphabetical order."""
        return tuple(sorted({path.stem for path in _FOLDER.glob("*.py")} - _NO_PASSES))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self.names:
            raise UnknownName(f"wb.passes: {unknown_name('pass', name, self.names)}")
        with uncollected():
            found = getattr(import_module(f"{_PACKAGE}.{name}"), name)
        vars(self)[name] = found
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.names})

    def __repr__(self) -> str:
        rows = [(name, (getattr(self, name).__doc__ or "").strip().splitlines()[0]) for name in self.names]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"wb.passes.{name:<{width}}  {text}" for name, text in rows)


passes = Vocabulary()
