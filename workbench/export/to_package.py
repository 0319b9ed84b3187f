"""`package`: operators as a wheel that needs NumPy alone, and the project that it was built from."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import BuildError, WorkbenchError, shown
from workbench.export.dispatch import Family, families_of, gpu_target, with_gpu
from workbench.export.dispatch.architectures import native
from workbench.export.dispatch.family import studies_in
from workbench.export.dispatch.files import folder_of, put_file, write_files
from workbench.export.models.built import is_built
from workbench.export.to_c import written_c
from workbench.export.to_torch_library import written_torch
from workbench.export.wheel.cases import cases_of, stored
from workbench.export.wheel.figures import figures_of
from workbench.export.wheel.front_text import calls_text, init_text, shapes_text
from workbench.export.wheel.project import Project, hook_text, project_of, pyproject_text, readme_text
from workbench.records import record
from workbench.runtime.host.processes import CannotStart, run_limited
from workbench.target import Target

if TYPE_CHECKING:
    from workbench.graph import BuiltModel


@record(eq=False)
class Package:
    """What was written: the `wheel`, the `project` it was built from, and the `module` that it installs."""

    name: str
    version: str
    module: str
    wheel: Path
    project: Path
    operators: tuple[str, ...]
    kernels: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.name} {self.version} in {self.wheel}", f"  built from {self.project}"]
        lines += [f"  {self.module}.{name}" for name in self.operators]
        return "\n".join([*lines, "kernels", *(f"  {title}" for title in self.kernels), *self.notes])

    def __repr__(self) -> str:
        return str(self)


def package(
    what: Any, /, directory: str | PathLike[str], *, name: str | None = None, version: str = "0.1.0",
    license: str | None = None, torch: bool | None = None, gpu: str | Target | bool | None = None,
) -> Package:  # fmt: skip
    """Write operators as a wheel, and the project that it was built from: `pip install` needs NumPy alone.

    `what` is an operator, a schedule, a study, a list of them, or a dictionary of several under the names that they
    shall have.  The package has a function for each, which takes arrays by DLPack and gives NumPy's; the C libraries
    with header, example and sources; tests with stored results of the definitions; and the figures of the studies that
    chose its schedules.  With `torch` (None: if PyTorch is installed) it registers them with PyTorch too.

    Where schedules are for a GPU, or `gpu` asks for it (True, "h200", a Target), both have kernels for NVIDIA GPUs too:
    the C library a function that starts them on a stream, the operators of PyTorch take CUDA tensors.

    `name` is "workbench-" and the operators' names unless another is given; `license` an SPDX expression ("MIT"), left
    out unless it is given.  A package of the same name in the directory is replaced.

    Of a built model, `wb.build(model)`, or a dictionary of several, each is a function for the sizes it was prepared
    for, with its weights in its library; `torch` and `gpu` are for operators.

    Raises WorkbenchError for what cannot be exported or named; BuildError without a compiler, or without hatchling.
    """
    if models := _models_in(what):
        return _of_models(models, folder_of(directory), name, version, license, torch or gpu)
    families = {key: with_gpu(family, gpu_target(gpu)) for key, family in families_of(what).items()}
    folder = folder_of(directory)
    if torch not in (None, True, False):
        raise WorkbenchError(f"torch={shown(torch)}: expected True, False, or None for whether it is installed")
    _check_names(families)
    with_torch = find_spec("torch") is not None if torch is None else torch
    project = project_of(families, name, version, license, torch=with_torch)
    return _written(families, project, folder, figures_of(families, studies_in(what)), with_torch)


def _written(
    families: Mapping[str, Family], project: Project, folder: Path, figures: Mapping[str, Any], with_torch: bool
) -> Package:
    """The project in its folder, in the place of an older one, and its wheel."""
    cases = [case for key, family in families.items() for case in cases_of(key, family)]
    place = folder / project.name
    shutil.rmtree(place, ignore_errors=True)
    home = place / "src" / project.module
    libraries = [written_c(family, home / "c", architectures=(native(),)) for family in families.values()]
    kernels = tuple(f"{lib.name}: {title}" for lib in libraries for title in lib.kernels)
    notes = tuple(dict.fromkeys(note for lib in libraries for note in lib.notes))
    if with_torch:
        made = written_torch(families, home / "libfor_torch.so", home / "for_torch.py", project.module)
        notes += tuple(n for n in made.notes if n not in notes)
    texts = {
        "pyproject.toml": pyproject_text(project), "platform_tag.py": hook_text(project),
        "README.md": readme_text(project, families, figures, kernels),
    }  # fmt: skip
    list(write_files(place, texts))
    list(write_files(home, _module_files(project, families, figures)))
    _write_cases(home / "tests", cases, families)
    wheel = wheel_of(place, folder)
    return Package(project.name, project.version, project.module, wheel, place, tuple(families), kernels, notes)


def _check_names(families: Mapping[str, Family]) -> None:
    _check_words(families)
    inner = [family.op.name for family in families.values()]
    if twice := [name for name in inner if inner.count(name) > 1]:
        raise WorkbenchError(f"two operators of the package are called {twice[0]} in C; rename one in its text")


def _check_words(names: Iterable[str]) -> None:
    for name in names:
        if not name.isidentifier() or name.startswith("_") or not name.isascii():
            raise WorkbenchError(f"{shown(name)} cannot name a function of a package; expected letters, digits and _")


def _models_in(what: Any) -> dict[str, BuiltModel]:
    """Built models by the names of their functions; none if something else is exported."""
    if is_built(what):
        from workbench.export.models.model_interface import default_name  # operators do without models

        return {default_name(what): what}
    every = list(what.items()) if isinstance(what, Mapping) else []
    models = {name: each for name, each in every if is_built(each)}
    if models and len(models) < len(every):
        raise WorkbenchError("a package is of operators or of built models; export two packages")
    return models


def _of_models(
    models: Mapping[str, BuiltModel], folder: Path, name: str | None, version: str, license: str | None,
    more: object,
) -> Package:  # fmt: skip
    from workbench.export.models.model_interface import model_interface  # operators do without models
    from workbench.export.models.model_library import written_model
    from workbench.export.models.model_package import model_cases, model_init_text, model_readme_text

    if more:
        raise WorkbenchError("torch= and gpu= are for operators: wb.export.torch(built) registers a model with PyTorch")
    _check_words(models)
    interfaces = {key: model_interface(built, key) for key, built in models.items()}
    project = project_of(interfaces, name, version, license, torch=False, kind="model")
    place = folder / project.name
    shutil.rmtree(place, ignore_errors=True)
    home = place / "src" / project.module
    made = [written_model(interface, home / "c") for interface in interfaces.values()]
    texts = {
        "pyproject.toml": pyproject_text(project), "platform_tag.py": hook_text(project),
        "README.md": model_readme_text(project, interfaces),
    }  # fmt: skip
    list(write_files(place, texts))
    list(write_files(home, {"__init__.py": model_init_text(project, interfaces), **_common_files(project)}))
    _write_stored(home / "tests", *model_cases(interfaces))
    kernels, notes = (tuple(each for files in made for each in getattr(files, n)) for n in ("kernels", "notes"))
    wheel = wheel_of(place, folder)
    return Package(project.name, project.version, project.module, wheel, place, tuple(interfaces), kernels, notes)


def _common_files(project: Project) -> dict[str, str]:
    """What is the same for every package."""
    tests = (Path(__file__).with_name("wheel") / "wheel_tests.py").read_text(encoding="utf-8")
    return {
        "_calls.py": calls_text(),
        "tests/__init__.py": "",
        "tests/test_operators.py": tests.replace("MODULE\n", f"{project.module}\n", 1),
    }


def _module_files(project: Project, families: Mapping[str, Family], figures: Mapping[str, Any]) -> dict[str, str]:
    return {
        **_common_files(project),
        "__init__.py": init_text(project.module, project.version, project.summary, families),
        "_shapes.py": shapes_text(families),
        "figures.json": json.dumps(figures, indent=1),
    }


def _write_cases(folder: Path, cases: list[Any], families: Mapping[str, Family]) -> None:
    _write_stored(folder, *stored(cases, families))


def _write_stored(folder: Path, rows: list[dict[str, Any]], arrays: dict[str, Any]) -> None:
    (folder / "cases.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    np.savez_compressed(folder / "cases.npz", **arrays)


# -- From a project's folder to its wheel, by the tool that builds this project's own --

SECONDS = 300.0


def wheel_of(project: Path, directory: Path) -> Path:
    """The wheel of a project, in the directory; nothing is fetched.  BuildError with the tool's words."""
    if find_spec("hatchling") is None:
        raise BuildError("wheels are built by hatchling, which is not installed: pip install hatchling")
    made = project / "dist"
    shutil.rmtree(made, ignore_errors=True)
    command = (sys.executable, "-P", "-m", "hatchling", "build", "-t", "wheel", "-d", str(made))
    try:
        done = run_limited(command, SECONDS, project)
    except CannotStart as reason:
        raise BuildError(f"hatchling cannot be started: {reason}") from reason
    wheels = sorted(made.glob("*.whl"))
    if done.code != 0 or not wheels:
        raise BuildError(f"hatchling {done} on {project}:\n{done.output[:4000]}")
    placed = put_file(wheels[0], directory / wheels[0].name)
    shutil.rmtree(made)
    return placed
