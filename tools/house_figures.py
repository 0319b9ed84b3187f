"""The house in figures: how many files, how long, in which circles, and how many of them one passes on a way.

    .venv/bin/python tools/house_figures.py                     # this tree
    .venv/bin/python tools/house_figures.py ../before .         # two trees side by side

A file is entered when one of its functions is called; what is only imported does not count.
"""

from __future__ import annotations

import ast
import copy
import json
import os
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

# What one does → its code in the words of every tree; what stands before the line `#` is not counted.
WAYS = {
    "from text to C": "wb.generate(wb.schedule(wb.operator(TEXT), M=64, N=64, K=64) | wb.tile(m=8, n=8), target='c')",
    "from text to CUDA": "wb.generate(wb.autoschedule(wb.operator(TEXT), 'cuda', M=256, N=256, K=256), target='cuda')",
    "one `tile` with its verdict": (
        "s = wb.schedule(wb.operator(TEXT), M=64, N=64, K=64)\n#\nwb.check(s | wb.tile(m=8, n=8))"
    ),
    "one click in the panel": (
        "p = wb.panel(wb.schedule(wb.operator(TEXT), M=64, N=64, K=64))\np.send = lambda *_, **__: None\n#\n"
        "p._answer(p, {'ask': 'n', 'name': 'gesture', 'with': {'name': 'tile', 'given':"
        " {'statement': 'C', 'x': 'n', 'y': 'm', 'width': 4, 'height': 2}}}, [])"
    ),
}
TEXT = "def product(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"

LEAST_TEXT = 80
"""Functions with fewer characters are not worth a place of their own."""

Graph = dict[str, set[str]]


def figures(root: Path) -> dict[str, int | str]:
    """What is counted in one tree, by its name in the table."""
    paths = {_module(path.relative_to(root)): path for path in sorted((root / "workbench").rglob("*.py"))}
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in paths.items()}
    lengths = [n for path in paths.values() if (n := len(path.read_text(encoding="utf-8").splitlines()))]
    folders = Counter(path.parent for path in paths.values() if path.name != "__init__.py")
    circles = sorted((len(c) for c in circles_of(imports_of(trees)) if len(c) > 1), reverse=True)
    return {
        "files": len(lengths),
        "lines": sum(lengths),
        "median and longest file": f"{statistics.median(lengths):.0f}, {max(lengths)}",
        "files in the fullest folder": max(folders.values()),
        "import circles, of so many files": f"{len(circles)}: {', '.join(map(str, circles)) or 'none'}",
        "public names defined more than once": sum(n > 1 for n in definitions(trees).values()),
        "functions that stand twice, word for word": sum(len(names) - 1 for names in copies(trees)),
        "public names of `workbench`": int(_run(root, "import workbench; print(len(workbench.__all__))")),
        **{f"files entered {way}": entered(root, code) for way, code in WAYS.items()},
    }


def imports_of(trees: dict[str, ast.Module]) -> Graph:
    """Module → modules that it imports when it runs: at its top, in functions, by `import_module`; not for types."""
    return {name: {m for m in _imported(tree, set(trees)) if m != name} for name, tree in trees.items()}


def circles_of(graph: Graph) -> list[set[str]]:
    """The strongly connected components (Tarjan 1972, with a stack of its own)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_ones: list[str] = []
    found: list[set[str]] = []
    for start in graph:
        work = [(start, iter(sorted(graph[start])))] if start not in number else []
        while work:
            node, following = work[-1]
            if node not in number:
                number[node] = low[node] = len(number)
                open_ones.append(node)
            if (child := next(following, None)) is None:
                work.pop()
                _close(node, number, low, open_ones, found)
                for parent, _ in work[-1:]:
                    low[parent] = min(low[parent], low[node])
            elif child not in number:
                work.append((child, iter(sorted(graph[child]))))
            elif child in open_ones:
                low[node] = min(low[node], number[child])
    return found


def _close(
    node: str, number: dict[str, int], low: dict[str, int], open_ones: list[str], found: list[set[str]]
) -> None:
    if low[node] == number[node]:
        at = open_ones.index(node)
        found.append(set(open_ones[at:]))
        del open_ones[at:]


def definitions(trees: dict[str, ast.Module]) -> Counter[str]:
    """Public functions and classes at the top of modules → in how many they are defined.

    What a table of its own module holds (`"Add": add`) is found there, whatever it is called.
    """
    return Counter(name for tree in trees.values() for name in _names(tree) - _in_tables(tree))


def _names(tree: ast.Module) -> set[str]:
    found = (node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return {name for name in found if not name.startswith("_")}


def _in_tables(tree: ast.Module) -> set[str]:
    """Names that are values of a dictionary at the top of a module, by themselves or inside of them."""
    tables = [n.value for n in tree.body if isinstance(n, ast.Assign | ast.AnnAssign) and isinstance(n.value, ast.Dict)]
    values = (part for table in tables for value in table.values for part in ast.walk(value))
    return {part.id for part in values if isinstance(part, ast.Name)}


def copies(trees: dict[str, ast.Module]) -> list[tuple[str, ...]]:
    """Functions at the top of modules that are the same but for names and types, as `module.function`."""
    found: dict[str, list[str]] = {}
    for name, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and len(text := _anonymous(node)) >= LEAST_TEXT:
                found.setdefault(text, []).append(f"{name}.{node.name}")
    return sorted(tuple(names) for names in found.values() if len(names) > 1)


def _anonymous(function: ast.FunctionDef) -> str:
    """The text of a function without its name, words and types, arguments and variables called by their order."""
    node = copy.deepcopy(function)
    node.body = (node.body[1:] if ast.get_docstring(node) else node.body) or [ast.Pass()]
    node.name, node.returns, node.decorator_list = "f", None, []
    order = {function.name: "f"}
    for part in ast.walk(node):
        match part:
            case ast.arg(name):
                part.annotation = None
                order.setdefault(name, f"a{len(order)}")
            case ast.Name(name, ast.Store()):
                order.setdefault(name, f"a{len(order)}")
    for part in ast.walk(node):
        if isinstance(part, ast.arg):
            part.arg = order[part.arg]
        if isinstance(part, ast.Name):
            part.id = order.get(part.id, part.id)
    return ast.unparse(node)


def entered(root: Path, code: str) -> int:
    """How many files of the library `code` calls functions of, in a process of its own that works on this tree."""
    before, _, counted = code.rpartition("\n#\n")
    prepared = f"import workbench as wb\nTEXT = {TEXT!r}\n{before}"
    script = (
        "import sys, threading\nfiles = set()\n"
        "def note(frame, event, _):\n"
        "    if event == 'call' and not frame.f_code.co_name.startswith('<module'):\n"
        "        files.add(frame.f_code.co_filename)\n"
        f"{prepared}\nsys.setprofile(note); threading.setprofile(note)\n{counted}\nsys.setprofile(None)\n"
        "import json; print(json.dumps(sorted(files)))"
    )
    found = json.loads(_run(root, script).splitlines()[-1])
    return sum(Path(file).is_relative_to(root / "workbench") for file in found)


def _run(root: Path, script: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(root), "WORKBENCH_CALIBRATED": "0"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, env=environment, capture_output=True, text=True, timeout=600
    )
    if done.returncode:
        raise SystemExit(f"{root}: {done.stderr}")
    return done.stdout.strip()


def _imported(tree: ast.Module, known: set[str]) -> Iterator[str]:
    typed = {id(n) for top in ast.walk(tree) if is_typing(top) for n in ast.walk(top)}
    for node in ast.walk(tree):
        if id(node) not in typed:
            yield from (name for name in imported(node, known) if name in known)


def imported(node: ast.AST, known: set[str]) -> Iterator[str]:
    """Modules that one node imports, also by `import_module`; of a package's names those that are `known` modules."""
    match node:
        case ast.ImportFrom(str(module), names, 0):
            yield from (full if (full := f"{module}.{alias.name}") in known else module for alias in names)
        case ast.Import(names):
            yield from (alias.name for alias in names)
        case ast.Call(ast.Name("import_module"), [ast.Constant(str(name))]):
            yield name


def is_typing(node: ast.AST) -> bool:
    """Whether what stands inside is for type checkers alone."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def main() -> int:
    roots = [Path(name).resolve() for name in sys.argv[1:]] or [Path(__file__).resolve().parent.parent]
    tables = [figures(root) for root in roots]
    print("| | " + " | ".join(root.name for root in roots) + " |\n|---|" + "---|" * len(roots))
    for name in tables[0]:
        print(f"| {name} | " + " | ".join(str(table[name]) for table in tables) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
