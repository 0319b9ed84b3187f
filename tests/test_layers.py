"""The rooms import only the rooms before them, and each foreign library has its one place."""

from __future__ import annotations

import pytest

from tests.support import PACKAGE, imports, module_name, sources

BASE = ("errors", "records", "deferred", "target", "target_costs", "target_cpus", "target_gpus", "settings", "face")
LAYERS = (
    BASE,
    ("lang",),
    ("ops",),
    ("poly",),
    ("fromc",),
    ("schedules",),
    ("codegen",),
    ("certificates",),
    ("runtime",),
    ("tune",),
    ("graph",),
    ("export",),
    ("viz",),
)
CHECKER_ROOMS = {"lang", "poly", "fromc", "errors", "certificates"}
RANK = {room: rank for rank, layer in enumerate(LAYERS) for room in layer}

# Foreign package → the modules that may import it.
ONLY_IN = {
    "islpy": ("workbench.poly.isl",),
    "pycuda": ("workbench.runtime",),
    "xgboost": ("workbench.tune",),
    "torch": ("workbench.export", "workbench.graph.importing", "workbench.runtime"),
    "jax": ("workbench.export",),
    "onnx": ("workbench.export", "workbench.graph.importing"),
    "onnxruntime": ("workbench.export",),
    "onnxscript": ("workbench.export",),
    "lark": ("workbench.lang",),
    "pycparser": ("workbench.fromc",),
    "matplotlib": ("workbench.viz",),
    "PIL": ("workbench.viz",),
    "IPython": ("workbench.viz",),
    "ipywidgets": ("workbench.viz",),
    "anywidget": ("workbench.viz",),
    "traitlets": ("workbench.viz",),
}


def room(name: str) -> str | None:
    """The room of a dotted name (`workbench.poly.isl` → `poly`); "" is the face, None a foreign name."""
    parts = name.split(".")
    return None if parts[0] != "workbench" else parts[1] if len(parts) > 1 else ""


def faults(importer: str, text: str) -> list[str]:
    """What is wrong with the imports of one module, in words."""
    own, found = room(importer), []
    for line, level, name in imports(text):
        if level:
            found.append(f"{importer}:{line}: a relative import; write the full name")
        elif (theirs := room(name)) is None:
            homes = ONLY_IN.get(name.split(".")[0])
            if homes and not any(f"{importer}.".startswith(f"{home}.") for home in homes):
                found.append(f"{importer}:{line}: {name.split('.')[0]} belongs into {' or '.join(homes)}")
        elif own and theirs not in RANK:
            found.append(f"{importer}:{line}: {name} is the face, or a room without a place in the order")
        elif own and theirs != own and RANK[theirs] >= RANK[own] and {own, theirs} - set(BASE):
            found.append(f"{importer}:{line}: {own} stands before {theirs}")
    return found


@pytest.mark.parametrize("path", sources("workbench"), ids=module_name)
def test_a_room_imports_only_the_rooms_before_it(path):
    assert not faults(module_name(path), path.read_text(encoding="utf-8"))


def test_every_room_has_a_place_in_the_order():
    found = {p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert found - {"__init__"} <= set(RANK)


@pytest.mark.parametrize(
    ("importer", "line", "wrong"),
    [
        ("workbench.lang.x", "from workbench.poly import lower", True),
        ("workbench.lang.x", "from workbench.errors import CallError", False),
        ("workbench.poly.x", "def f():\n    import workbench.schedules.tile", True),
        ("workbench.poly.x", "from workbench.lang.expr import Read", False),
        ("workbench.poly.x", "import islpy", True),
        ("workbench.poly.isl", "import islpy as isl", False),
        ("workbench.poly.isl2", "import islpy", True),
        ("workbench.export.x", "from workbench.viz import svg", True),
        ("workbench.lang.x", "from .expr import Read", True),
        ("workbench.lang.x", "import workbench as wb", True),
        ("workbench.errors", "from workbench.lang import expr", True),
        ("workbench.settings", "from workbench.errors import WorkbenchError", False),
        ("workbench", "from workbench.viz import display", False),
        ("workbench.runtime.x", "from pycuda import driver", False),
        ("workbench.codegen.x", "from pycuda import driver", True),
    ],
)
def test_the_check_sees_a_wrong_import(importer, line, wrong):
    assert bool(faults(importer, line)) == wrong


def checker_modules() -> list[str]:
    """The checker of certificates and everything it takes from its own room."""
    found, waiting = [], ["workbench.certificates.checker"]
    while waiting:
        module = waiting.pop()
        found.append(module)
        names = {name.rsplit(".", 1)[0] for _, _, name in imports(text_of(module)) if room(name) == "certificates"}
        waiting += sorted(names - {*found, *waiting})
    return found


def text_of(module: str) -> str:
    return (PACKAGE / "certificates" / f"{module.rsplit('.', 1)[1]}.py").read_text(encoding="utf-8")


def test_the_checker_of_certificates_knows_nothing_of_schedules_and_code_generation():
    modules = checker_modules()
    assert modules
    for module in modules:
        assert {room(name) for _, _, name in imports(text_of(module))} - {None} <= CHECKER_ROOMS, module


def test_the_checker_shares_no_proof_with_legality():
    """Nor does what it takes from the rooms below."""
    names = ("equivalence", "value_sources", "arrivals", "flow", "order", "precedence", "questions", "concurrency")
    legality = {f"workbench.poly.{name}" for name in names}
    below = ("dataflow", "provenance", "values", "races", "delinearising")
    texts = [text_of(module) for module in checker_modules()]
    texts += [(PACKAGE / "poly" / f"{name}.py").read_text(encoding="utf-8") for name in below]
    for text in texts:
        assert not {name.rsplit(".", 1)[0] for _, _, name in imports(text)} & legality


def test_the_checker_of_certificates_can_be_read_at_once():
    """Whoever trusts a certificate trusts these lines."""
    assert sum(len(text_of(module).splitlines()) for module in checker_modules()) <= 300
