"""Stubs of the packages whose names are loaded on first use, so that editors and type checkers know them.

    python tools/stubs.py           # writes them
    python tools/stubs.py --check   # fails where one is not what it would write

The names come from each package's table `NAMES`, signatures from its `__init__.py`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the tree it stands in, whatever is installed
PACKAGES = ("workbench.schedules.steps", "workbench.schedules", "workbench")


def stub(package: str) -> str:
    """The text of a package's `__init__.pyi`."""
    text = path_of(package).with_suffix(".py").read_text(encoding="utf-8")
    tree, loaded = ast.parse(text), import_module(package)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    own = [signature(node, text.splitlines()) for node in functions]
    known = {*offered(package, loaded.NAMES), *rooms(loaded)}
    imports = known | set(taken(tree, {name for one in own for name in names_in(one)}, known))
    parts = ["# Written by tools/stubs.py.", "\n".join(sorted(imports)), "\n".join(values(tree)), *own]
    return "\n\n".join(part for part in parts if part) + "\n"


def path_of(package: str) -> Path:
    """Where a package's stub stands."""
    return ROOT.joinpath(*package.split("."), "__init__.pyi")


def offered(package: str, names: dict[str, str]) -> Iterator[str]:
    """An import for each name of a table, "module:attribute" or a module below the package."""
    for name, where in names.items():
        module, _, attribute = where.partition(":")
        yield f"from {module if attribute else f'{package}.{module}'} import {attribute or name} as {name}"


def rooms(loaded: object) -> Iterator[str]:
    """An import for each package that is loaded by its name alone."""
    yield from (f"from workbench import {room} as {room}" for room in getattr(loaded, "ROOMS", ()))


def taken(tree: ast.Module, used: set[str], known: set[str]) -> Iterator[str]:
    """The package's own imports: what it offers again, and what its signatures use."""
    public = {text for node in tree.body if _is_all(node) for text in _texts(node)}
    found = {line.rpartition(" ")[2] for line in known}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for name in sorted({alias.name for alias in node.names} - found):
                if name in public:
                    yield f"from {node.module} import {name} as {name}"
                elif name in used:
                    yield f"from {node.module} import {name}"


def _is_all(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


def _texts(node: ast.stmt) -> Iterator[str]:
    return (n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str))


def values(tree: ast.Module) -> Iterator[str]:
    """The package's variables without their values."""
    for node in tree.body:
        match node:
            case ast.AnnAssign(target, annotation):
                yield f"{ast.unparse(target)}: {ast.unparse(annotation)}"
            case ast.Assign([ast.Name(name)], ast.Constant(value)):
                yield f"{name}: {type(value).__name__}"
    yield "__all__: list[str]"


def signature(node: ast.FunctionDef, lines: list[str]) -> str:
    """A function without its body."""
    return "\n".join([*lines[node.lineno - 1 : node.body[0].lineno - 1], "    ..."])


def names_in(text: str) -> set[str]:
    """The names that a signature uses."""
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def main() -> int:
    stale = [p for p in PACKAGES if not path_of(p).exists() or path_of(p).read_text(encoding="utf-8") != stub(p)]
    for package in stale:
        print(f"{path_of(package).relative_to(ROOT)} is not what tools/stubs.py writes")
        if "--check" not in sys.argv:
            path_of(package).write_text(stub(package), encoding="utf-8")
    return int("--check" in sys.argv and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
