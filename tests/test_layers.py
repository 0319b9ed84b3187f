"""The rooms import only the rooms before them, and each foreign library has its one place."""

from __future__ import annotations

import ast
import sys
from functools import cache

import pytest

from tests.support import PACKAGE, ROOT, imports, module_name, sources, statements

sys.path.insert(0, str(ROOT / "tools"))
import house_figures

BASE = (
    "errors", "records", "dialects", "target", "target_costs", "target_cpus", "target_gpus", "settings",
    "wording", "face",
)  # fmt: skip
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

# Inside a room: its folders and files in the order in which they may import one another; what is not named has the
# place of its folder.  Types alone may come from anywhere.
WITHIN = {
    "lang": "dtypes builtins expr operator operation_counts unify algebra syntax printing scopes ranges resolve"
    " definitions resolve.generics binding oracle from_einsum derived.calculus derived.systems derived.text"
    " derived.building derived.placing derived.forward derived",
    "ops": "entry library catalogue browsing",
    "poly": "sets programs time dependence lowering regions scheduling count threads dataflow derive",
    "fromc": "text numbers parameters statements",
    "schedules": "kernels analysis . sketches.constraints sketches.space sketches.sketch_records sketches"
    " scheduled_program steps.support steps explanation repairs repairs.search recipes.decisions"
    " recipes.rows_taken recipes.table recipes.try_steps recipes.staging recipes.memory recipes.loops"
    " recipes.recurrences recipes.products recipes.default_recipe recipes.gpu recipes.step_reasons recipes automatic"
    " sketches.recipe_sketch offers",
    "codegen": "nest cmath.helper cmath.shape cmath.template cmath.primitive cmath.exact cmath.coefficients"
    " cmath.functions cmath passes.register_tiles passes cuda.grid.launches kernel c.names c.lines c.helpers"
    " c.expressions c cuda.grid cuda generation inspection comparing trace",
    "runtime": "arrays host.processor host.processes host.locks compilers host kernels gpu.drivers gpu emulation"
    " building calls checking emulation.sanitizing measuring calibration examining",
    "tune": "trials problem models searching storing measuring",
    "graph": "terms typing.datatypes forms text forms.keys typing evaluation tracing gradients models building saving"
    " importing memory fusion.call_graph fusion.patterns fusion.open_sizes fusion.loop_axes fusion.flattening"
    " fusion.composing fusion.footprints fusion.groups fusion.sharing fusion.relay_groups fusion.legal_groups"
    " fusion.results fusion passes.support.model_pass passes.support passes.support.partial.values"
    " passes.support.partial.calling"
    " passes.support.partial.writing passes.support.partial.evaluator passes optimizing running.recording"
    " running.profiling.watches running engines.sites engines.subgraphs engines.same_definition engines.patterns"
    " engines.engine_records engines.regions.blocks engines.regions.taking engines.regions.by_rules"
    " engines.regions.outlining engines.kept_engines engines.trials engines.region_calls engines.regions.measuring"
    " engines.regions.contests engines.regions.segments engines.regions.by_cost engines.partitions engines.partitioning"
    " engines.saving_partitions engines.arrays engines.known engines partition_by_argument",
    "viz": "messages draw frames views.domain views.program views.gpu views.models panels.code views.performance"
    " views.values notebook panels.domain panels",
}
CHECKER_ROOMS = {"lang", "poly", "fromc", "errors", "wording", "certificates"}
RANK = {room: rank for rank, layer in enumerate(LAYERS) for room in layer}

# Foreign package → the modules that may import it.
ONLY_IN = {
    "islpy": ("workbench.poly.sets.isl",),
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
    """The room of a dotted name (`workbench.poly.sets.isl` → `poly`); "" is the face, None a foreign name."""
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


def place(name: str) -> int | None:
    """The place of a module in the order of its room; None for a package, which only has names."""
    _, room_name, *rest = name.split(".")
    order = WITHIN[room_name].split()
    for end in range(len(rest), 0, -1):
        if ".".join(rest[:end]) in order:
            return order.index(".".join(rest[:end]))
    return order.index(".") if "." in order and len(rest) == 1 else len(order)


def own_imports(importer: str, text: str) -> list[tuple[int, str]]:
    """(line, module) of what a module takes from its own room when it runs: also by `import_module`, types not."""
    tree = ast.parse(text)
    typed = {id(n) for top in tree.body if house_figures.is_typing(top) for n in ast.walk(top)}
    found = []
    for node in ast.walk(tree) if "import_module" in text else statements(tree):
        if id(node) not in typed:
            names = house_figures.imported(node, modules())
            found += [(node.lineno, name) for name in names if name.split(".")[:2] == importer.split(".")[:2]]
    return found


@cache
def modules() -> set[str]:
    """Every module of the library that is no package."""
    return {module_name(path) for path in sources("workbench") if path.name != "__init__.py"}


def faults_within(importer: str, text: str) -> list[str]:
    """What a module takes from further on in its own room, in words."""
    if importer not in modules() or importer.split(".")[1] not in WITHIN:
        return []
    taken = [(line, name) for line, name in own_imports(importer, text) if name in modules()]
    return [
        f"{importer}:{line}: {name} stands after it"
        for line, name in taken
        if place(name) > place(importer)
    ]


def test_folders_of_a_room_import_only_what_stands_before_them():
    texts = {module_name(path): path.read_text(encoding="utf-8") for path in sources("workbench")}
    assert [fault for module, text in texts.items() for fault in faults_within(module, text)] == []


@pytest.mark.parametrize("room_name", WITHIN)
def test_what_is_named_in_the_order_of_a_room_is_there(room_name):
    for name in WITHIN[room_name].split():
        path = PACKAGE.joinpath(room_name, *name.split("."))
        assert path.is_dir() or path.with_suffix(".py").is_file(), f"{room_name}.{name}"


FOLDERS = sorted({path.parent for path in sources("workbench", "bench", "tests/bench")})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_folder_is_crowded(folder):
    assert len([p for p in folder.glob("*.py") if p.name != "__init__.py"]) <= 15


@pytest.mark.parametrize(
    ("importer", "text", "wrong"),
    [
        ("workbench.poly.sets.isl", "from workbench.poly.programs.program import Program", True),
        ("workbench.poly.sets.isl", "if TYPE_CHECKING:\n    from workbench.poly.lowering import lower", False),
        ("workbench.poly.sets.isl", "def f():\n    from workbench.poly.lowering import lower", True),
        ("workbench.poly.sets.isl", "import_module('workbench.poly.lowering')", True),
        ("workbench.poly.lowering", "from workbench.poly.sets import isl", False),
    ],
)
def test_the_check_of_folders_sees_a_wrong_import(importer, text, wrong):
    assert bool(faults_within(importer, text)) == wrong


def test_a_room_imports_only_the_rooms_before_it():
    texts = {module_name(path): path.read_text(encoding="utf-8") for path in sources("workbench")}
    assert [fault for module, text in texts.items() for fault in faults(module, text)] == []


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
        ("workbench.poly.sets.isl", "import islpy as isl", False),
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
    names = ("equivalence", "value_sources", "flow", "violations", "precedence", "questions")
    legality = {"workbench.poly.time.concurrency", *(f"workbench.poly.dependence.{name}" for name in names)}
    assert all(PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py").is_file() for name in legality)
    below = ("last_writers", "provenance", "values", "races", "delinearising")
    texts = [text_of(module) for module in checker_modules()]
    texts += [(PACKAGE / "poly" / "dataflow" / f"{name}.py").read_text(encoding="utf-8") for name in below]
    for text in texts:
        assert not {name.rsplit(".", 1)[0] for _, _, name in imports(text)} & legality


def test_the_checker_of_certificates_can_be_read_at_once():
    """Whoever trusts a certificate trusts these lines."""
    assert sum(len(text_of(module).splitlines()) for module in checker_modules()) <= 300
