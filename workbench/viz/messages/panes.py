"""The panes of a panel: their names in Python, and what their buttons say."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.errors import WorkbenchError, unknown_name

PANES = ("domain", "code", "tree", "steps", "history")
MORE = ("operator", "dataflow", "footprint", "cache", "lanes", "roofline", "warps", "export", "trials", "model")

CALLED = {
    "loops": "tree", "next steps": "steps", "memory": "footprint", "cache lines": "cache", "threads": "lanes",
}  # fmt: skip
"""What a button says → the name, where these differ."""


def pane_names(names: Iterable[str]) -> list[str]:
    """The names of panes, each once; WorkbenchError that proposes the near one."""
    found = [CALLED.get(name, name) if isinstance(name, str) else name for name in names]
    for name in found:
        if name not in (*PANES, *MORE):
            raise WorkbenchError(f"a panel: {unknown_name('pane', str(name), [*PANES, *MORE, *CALLED])}")
    return list(dict.fromkeys(found))
