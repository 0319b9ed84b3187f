"""The house rules that a machine can check."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import sys
from collections import defaultdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import workbench
from tests.support import PACKAGE, ROOT, module_name, sources, statements
from workbench import errors

sys.path.insert(0, str(ROOT / "tools"))
import sizes

MODULES = [module_name(path) for path in sources("workbench")]
PACKAGES = [module_name(path) for path in sources("workbench") if path.name == "__init__.py"]
# Modules that import a framework at their top → what has to be installed for them.
FOR_FRAMEWORKS = {
    "workbench.export.pytorch.": ("torch",), "workbench.export.stable.companion": ("torch",),
    "workbench.export.xla.": ("jax",), "workbench.export.ort.": ("onnx", "onnxscript"),
    "workbench.export.engines.torch_engine": ("torch",), "workbench.export.engines.gpu_engines": ("torch",),
    "workbench.export.engines.torch_layers": ("torch",), "workbench.export.engines.onnx_layers": ("onnx",),
    "workbench.export.engines.onnxruntime_engine": ("onnx", "onnxruntime"),
    "workbench.graph.importing.onnx_nodes.graphs": ("onnx",),
    "workbench.graph.importing.torch_nodes.graphs": ("torch",),
}  # fmt: skip
SUFFIXES = {".py", ".md", ".toml", ".yml", ".lark", ".sh", ".txt", ".ipynb", ".lock", ""}
TEXTS = sorted(
    path
    for folder in (".", ".ci", "workbench", "tests", "tools", "bench", "docs", "notebooks")
    for path in ((ROOT / folder).rglob("*") if folder != "." else ROOT.iterdir())
    if path.is_file() and path.suffix in SUFFIXES
    if "__pycache__" not in path.parts and "_build" not in path.parts and path.name != ".git"
)

# Modules that share their name with a function all the same: their package imports both at once, in this
# order, so nobody can meet the module under that name.
BOUND_AT_ONCE = defaultdict(set, {"workbench": {"settings"}, "workbench.lang": {"operator"}})


@cache
def everything_loaded() -> None:
    """Import every module of the library that can be, so that no submodule can still come and overwrite a name."""
    for name in MODULES:
        needed = [needs for start, needs in FOR_FRAMEWORKS.items() if name.startswith(start)]
        if all(find_spec(package) for needs in needed for package in needs):
            importlib.import_module(name)


# -- names -----------------------------------------------------------------------------------------


def test_public_names_survive_the_import_of_every_module():
    everything_loaded()
    for name in set(workbench.__all__) - {*workbench.ROOMS, "errors"}:
        assert not inspect.ismodule(getattr(workbench, name)), f"workbench.{name} became a module"
    for package, names in BOUND_AT_ONCE.items():
        assert not [n for n in names if inspect.ismodule(getattr(sys.modules[package], n))]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_bears_the_name_of_a_public_function_of_its_package(package):
    everything_loaded()
    loaded = importlib.import_module(package)
    imported = {alias for alias, _ in imported_names(loaded)}
    modules = {m.rpartition(".")[2] for m in MODULES if m.rpartition(".")[0] == package}
    assert not {n for n in imported & modules - BOUND_AT_ONCE[package] if callable(getattr(loaded, n))}


def imported_names(package: ModuleType) -> list[tuple[str, str]]:
    """(name, module) of every `from module import name` at the top of a package, and of the face's table."""
    tree = ast.parse(Path(package.__file__ or "").read_text(encoding="utf-8"))
    froms = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    names = [(alias.asname or alias.name, node.module or "") for node in froms for alias in node.names]
    return names + [(name, where) for name, where in getattr(package, "NAMES", {}).items()]


@pytest.mark.parametrize("name", workbench.__all__)
def test_a_public_name_has_a_docstring(name):
    assert inspect.getdoc(getattr(workbench, name))


def undocumented(tree: ast.Module) -> list[str]:
    """What is public at the top of a module and says nothing of itself."""
    kinds = ast.ClassDef | ast.FunctionDef
    public = [node for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")]
    public = [node for node in public if "overload" not in map(ast.unparse, node.decorator_list)]
    found = [f"{node.name}:{node.lineno} has no docstring" for node in public if not ast.get_docstring(node)]
    return found if ast.get_docstring(tree) else [*found, "the module says nothing of itself"]


def without_result_type(tree: ast.Module) -> list[str]:
    """Functions that do not say what they return."""
    functions = [node for node in statements(tree) if isinstance(node, ast.FunctionDef)]
    return [f"{f.name}:{f.lineno} does not say what it returns" for f in functions if f.returns is None]


def test_public_definitions_have_docstrings_and_all_functions_a_result_type():
    found = {}
    for path in sources("workbench"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found[module_name(path)] = undocumented(tree) + without_result_type(tree)
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.parametrize("module", PACKAGES)
def test_all_names_what_exists(module):
    loaded = importlib.import_module(module)
    names = list(getattr(loaded, "__all__", ()))
    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(loaded, name)] == []


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(AttributeError, match="did you mean 'operator'"):
        workbench.operater


# -- errors ----------------------------------------------------------------------------------------


def test_every_error_of_ours_stands_on_one_screen():
    everything_loaded()
    pending, ours = [errors.WorkbenchError], []
    while pending:
        pending += (kind := pending.pop()).__subclasses__()
        ours.append(kind)
    assert {m for kind in ours if (m := kind.__module__).startswith("workbench")} == {"workbench.errors"}


# -- sizes -----------------------------------------------------------------------------------------


def test_no_file_is_too_long():
    assert [row for row in sizes.files(PACKAGE) if row[0] > sizes.FILE_LINES] == []


def test_no_function_is_too_long():
    assert [row for row in sizes.functions(PACKAGE) if row[0] > sizes.FUNCTION_LINES] == []


# -- tests -----------------------------------------------------------------------------------------

# Folders of tests that ask something of several rooms at once, and what is no room: texts.
ACROSS = {"adversary", "browser", "chain", "gpu", "polybench", "properties"}
# What people call a room, where its folder may not bear the name of what it imports.
CALLED = {"export/jax": "export/xla"}


WITH_TESTS = sorted({p.parent for p in sources("tests") if p.name.startswith("test_")} - {ROOT / "tests"})


def test_tests_stand_in_the_folder_of_what_they_test():
    names = [str(folder.relative_to(ROOT / "tests")) for folder in WITH_TESTS]
    rooms = [name for name in names if name.split("/")[0] not in ACROSS]
    homes = {n: (ROOT if n.split("/")[0] == "bench" else PACKAGE) / CALLED.get(n, n) for n in rooms}
    assert [name for name, home in homes.items() if not home.is_dir()] == []


# -- texts -----------------------------------------------------------------------------------------


def test_no_text_names_a_place_on_somebodys_machine():
    place = re.compile(r"(?<![\w.])/(?:home|root|Users|work|tmp/venv)/[\w.-]+")
    found = {str(path.relative_to(ROOT)): place.findall(path.read_text(encoding="utf-8")) for path in TEXTS}
    assert {path: places for path, places in found.items() if places} == {}


def test_the_library_prints_nothing():
    texts = {module_name(path): path.read_text(encoding="utf-8") for path in sources("workbench")}
    trees = {name: ast.parse(text) for name, text in texts.items() if "print(" in text}
    calls = [(name, n.func) for name, tree in trees.items() for n in ast.walk(tree) if isinstance(n, ast.Call)]
    assert [(name, f.lineno) for name, f in calls if isinstance(f, ast.Name) and f.id == "print"] == []


# -- notebooks -------------------------------------------------------------------------------------


def test_no_notebook_stores_an_error():
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        outputs = [o for cell in notebook["cells"] for o in cell.get("outputs", ())]
        assert [o["evalue"] for o in outputs if o["output_type"] == "error"] == [], path.name
        assert notebook["metadata"]["kernelspec"]["name"] == "python3", path.name
