"""Whatever a public name gives, and whatever that holds, shows itself: no class needs to be entered anywhere."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from inspect import get_annotations
from threading import Event, Thread
from types import FunctionType
from typing import Any, get_args

import pytest

import workbench as wb
from tests.support import ROOT
from tests.viz.values import naive
from workbench import face, viz
from workbench.face import silent_classes
from workbench.settings import current
from workbench.viz.draw.record_tables import MOST_LETTERS, in_words

ROOMS = ("export", "viz", "graph", "tune", "ops")
PLAIN = (str, tuple, type)  # shown as what they are


# -- Every public class, found by following the annotations of public names --


@cache
def imported(module: str) -> dict[str, tuple[str, str]]:
    """Name → (module, name) of what a module imports, for type checkers as well."""
    tree = ast.parse(inspect.getsource(import_module(module)))
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.asname or alias.name: (node.module or "", alias.name) for node in froms for alias in node.names}


def resolved(name: str, module: str) -> Any:
    """What a name means in a module."""
    loaded = import_module(module)
    if hasattr(loaded, name) or name not in imported(module):
        return getattr(loaded, name, None)
    where, own = imported(module)[name]
    return getattr(import_module(where), own) if where.startswith("workbench") else None


def classes(annotation: Any, module: str) -> Iterator[type]:
    """The library's classes that an annotation names."""
    if isinstance(annotation, str):
        names = [node.id for node in ast.walk(ast.parse(annotation, mode="eval")) if isinstance(node, ast.Name)]
        for name in names:
            yield from classes(resolved(name, module), module)
    elif isinstance(annotation, type):
        yield from [annotation] if annotation.__module__.startswith("workbench") else []
    else:
        for part in get_args(annotation):
            yield from [] if isinstance(part, str) else classes(part, module)  # a word of a Literal


def given(value: Any) -> Iterator[type]:
    """What a public name is, or what comes of calling it."""
    if isinstance(value, type):
        yield from classes(value, "")
    elif isinstance(value := inspect.unwrap(value) if callable(value) else None, FunctionType):
        yield from classes(value.__annotations__.get("return"), value.__module__)


def held(kind: type) -> Iterator[type]:
    """What the public fields, properties and methods of a class give."""
    for own in [base for base in kind.__mro__ if base.__module__.startswith("workbench")]:
        for name, annotation in get_annotations(own).items():
            yield from [] if name.startswith("_") else classes(annotation, own.__module__)
        for name, member in vars(own).items():
            functions = [f for attribute in ("fget", "__func__", "func") if (f := getattr(member, attribute, None))]
            yield from [] if name.startswith("_") else given(functions[0] if functions else member)


@cache
def public_classes() -> frozenset[type]:
    """All that one meets who starts from the face and the rooms' own names."""
    names = {name: getattr(wb, name) for name in wb.__all__ if name not in wb.ROOMS}
    rooms = [getattr(wb, room) for room in ROOMS]
    values = [*names.values(), *(getattr(room, name) for room in rooms for name in getattr(room, "__all__", ()))]
    found = {kind for value in values for kind in given(value)}
    waiting = list(found)
    while waiting:
        new = {kind for kind in held(waiting.pop()) if kind not in found}
        found |= new
        waiting += new
    return frozenset(found)


def test_every_public_class_shows_itself():
    found = public_classes()
    wb._give_pictures()
    names = {kind.__name__ for kind in found}
    assert names >= {"Statement", "Signature", "Gpu", "Occupancy", "Certificate", "Studies", "Lifetimes"}
    silent = [kind for kind in found if not hasattr(kind, "_repr_mimebundle_") and not issubclass(kind, PLAIN)]
    assert [f"{kind.__module__}.{kind.__name__}" for kind in silent if not issubclass(kind, BaseException)] == []


# -- What they say --


def model() -> Any:
    return wb.model("fn main(x: float32[8, 8], w: float32[8, 4]) { matmul(x, w) }")


VALUES = {
    "statement": lambda: wb.ops.matmul.body[0],
    "tensor": lambda: next(iter(wb.ops.matmul.tensors.values())),
    "tree": lambda: naive().tree,
    "array": lambda: naive().program.arrays["A"],
    "statement of a program": lambda: naive().program.statements[0],
    "signature": lambda: wb.generate(naive()).signature,
    "GPU": lambda: wb.Target("h200").device,
    "function of a model": lambda: model().main,
    "builder": lambda: wb.graph.Builder(),
    "settings": lambda: current(),
    "drawing": lambda: viz.tree(naive()).scene,
    "violations": lambda: wb.check(naive() | wb.parallelize("m")).valid_for,
}


@pytest.mark.parametrize("name", VALUES)
def test_parts_of_values_are_words_and_tables_and_no_dumps(name):
    bundle = VALUES[name]()._repr_mimebundle_()
    words = bundle["text/plain"]
    assert words.strip()
    assert not re.search(r"\w+\(\w+='|<\S+ object at 0x|<function", words), words
    assert bundle["text/html"].startswith('<div class="wb">')


def test_expressions_stand_there_as_in_an_operators_text():
    assert "A(m, k) * B(k, n)" in str(viz.picture(wb.ops.matmul.body[0]))
    assert re.search(r"extent +M, K", str(viz.picture(wb.ops.matmul.tensors["A"])))


def test_a_field_is_one_line_however_much_it_holds():
    assert in_words(tuple(range(100))) == "0, 1, 2, 3, 4, 5, 6, 7, … (100 of them)"
    assert in_words((("a", 1), ("b", 2))) == "(a, 1), (b, 2)"
    assert in_words("one\ntwo") == "one …"
    assert len(in_words("x" * 1000)) <= MOST_LETTERS


def test_a_class_that_nobody_entered_is_found_once_its_module_is_loaded(monkeypatch):
    from workbench.records import record

    made = record(type("Wheel", (), {"__annotations__": {"spokes": "int"}, "__doc__": "It turns."}))
    module = type(sys)("workbench.wheels")
    made.__module__, module.Wheel, module.__spec__ = "workbench.wheels", made, None
    monkeypatch.setitem(sys.modules, "workbench.wheels", module)
    assert list(silent_classes()) == [made]
    assert list(silent_classes()) == [], "once"
    assert str(viz.picture(made(32))).split() == ["Wheel", "It", "turns.", "spokes", "32"]


def test_what_a_call_gives_in_a_fresh_process_shows_itself():
    program = (
        "import workbench as wb; s = wb.schedule(wb.ops.matmul, M=4, N=4, K=4);"
        "print([type(v).__name__ for v in (s, s.tree, s.program, wb.check(s), s.program.arrays['A'], wb.compare(s, s))"
        " if not hasattr(v, '_repr_mimebundle_')])"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_modules_that_another_thread_imports_are_no_harm(monkeypatch):
    """A model's kernels are built in threads, each of which may be the first that needs a module."""
    monkeypatch.setattr(face, "_LOOKED_AT", {*sys.modules})
    going = Event()

    def imports() -> None:
        for number in range(100_000):
            sys.modules[f"no_module_of_{number}"] = sys
            if going.is_set():
                return

    thread = Thread(target=imports)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        assert [list(face.silent_classes()) for _ in range(300)] == [[]] * 300
    finally:
        going.set()
        thread.join()
        sys.setswitchinterval(before)
        for name in [name for name in sys.modules if name.startswith("no_module_of_")]:
            del sys.modules[name]
