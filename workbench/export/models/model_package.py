"""What a package of built models consists of beside their libraries: functions of Python, stored results, a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.export.models.model_interface import ModelInterface, Port
from workbench.export.wheel.cases import LOOSE
from workbench.export.wheel.project import Project
from workbench.graph.evaluation.sizes import solved_dimensions
from workbench.graph.running.recording.recordings import Nested, flat, mapped
from workbench.graph.running.specimens import specimens
from workbench.graph.terms.types import FunctionType

CASES = 2

_INIT = '''"""{summary}"""

from pathlib import Path

from {module}._calls import BFloat16, Operator

__version__ = {version!r}
__all__ = [{names}]

_LIBRARIES = Path(__file__).parent / "c" / "lib"


def _shapes(name, results, *pairs):
    """The shapes of the results of a model that takes arrays of these shapes alone: pairs of name and shape."""

    def shapes(*given):
        for (argument, expected), found in zip(pairs, given, strict=True):
            if tuple(found) != expected:
                raise ValueError(f"{{name}}: {{argument}} expected shape {{expected}} but found {{tuple(found)}}")
        return results

    return shapes


{models}'''
_README = """# {name}

{summary}

```python
import {module}

{example}
```

Arrays go in by DLPack, whoever made them (NumPy, PyTorch, JAX on a processor); results are NumPy's arrays, or go into
`out=`. The weights are in the libraries. A model is for the sizes that it was exported for:

{models}

| folder | what |
|---|---|
| `{module}/c/lib` | the libraries; each chooses its kernels by the processor when it is loaded |
| `{module}/c/include`, `c/example`, `c/src` | for C: headers, examples, the sources with CMake files |
| `{module}/tests` | `python -m pytest --pyargs {module}`: stored results of the models' definitions |

{license}
"""


def model_init_text(project: Project, models: Mapping[str, ModelInterface]) -> str:
    """`__init__.py`: an object for each model, under its name."""
    return _INIT.format(
        summary=project.summary, module=project.module, version=project.version,
        names=", ".join(map(repr, sorted(["BFloat16", *models]))),
        models="\n".join(_model(name, interface) for name, interface in models.items()),
    )  # fmt: skip


def _model(name: str, interface: ModelInterface) -> str:
    results = [(p.name, p.dtype.name) for p in interface.results]
    shapes = ", ".join(repr((p.name, p.shape)) for p in interface.inputs)
    given = [tuple(p.shape) for p in interface.results]
    return (
        f"{name} = Operator(\n    _LIBRARIES / {f'lib{interface.name}.so'!r}, {name!r}, {interface.name!r},\n"
        f"    call={_rows(interface)!r},\n    results={results!r},\n"
        f"    order={tuple(p.name for p in interface.ports)!r},\n"
        f"    shapes=_shapes({name!r}, {given!r}, {shapes}), text={_head(name, interface)!r},\n)\n"
    )


def _rows(interface: ModelInterface) -> list[tuple[str, str, str]]:
    return [(p.name, "a", p.dtype.name) for p in interface.inputs]


def _head(name: str, interface: ModelInterface) -> str:
    given = ", ".join(str(p.dtype) + str(list(p.shape)) for p in interface.results)
    return f"{name}({', '.join(map(str, interface.inputs))}) -> {given}"


def model_readme_text(project: Project, models: Mapping[str, ModelInterface]) -> str:
    """`README.md`."""
    calls = [
        f"{', '.join(p.name for p in i.results)} = {project.module}.{name}({', '.join(p.name for p in i.inputs)})"
        for name, i in models.items()
    ]
    none = "No licence has been chosen for this package: its owner holds all rights."
    return _README.format(
        name=project.name, summary=project.summary, module=project.module, example="\n".join(calls),
        models="\n".join(f"- `{_head(name, i)}`" for name, i in models.items()),
        license=f"Licence: {project.license}." if project.license else none,
    )  # fmt: skip


# -- stored results


def model_cases(models: Mapping[str, ModelInterface]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """(what a JSON file says of the cases, the arrays beside it): arguments, and what the interpreter gives."""
    rows: list[dict[str, Any]] = []
    arrays: dict[str, Any] = {}
    for name, interface in models.items():
        for seed in range(CASES):
            given = [_sample(port, seed) for port in interface.inputs]
            found = _evaluated(interface, given)
            number = len(rows)
            arrays |= {f"{number}_in_{n}": _bits(each) for n, each in enumerate(given)}
            arrays |= {f"{number}_out_{n}": _bits(each) for n, each in enumerate(found)}
            rows.append({
                "operator": name, "sizes": {"case": seed}, "call": _rows(interface), "numbers": {},
                "results": [p.dtype.name for p in interface.results],
                "tolerance": max((10 * LOOSE.get(p.dtype.name, 0.0) for p in interface.ports), default=0.0),
            })  # fmt: skip
    return rows, arrays


def _sample(port: Port, seed: int) -> Any:
    """Small numbers; whole numbers are 0 or 1, because they may be subscripts."""
    draw = np.random.default_rng([seed, *port.shape])
    if port.dtype.is_float:
        return draw.uniform(-1.0, 1.0, port.shape).astype(port.dtype.numpy)
    return draw.integers(0, min(seed, 1) + 1, port.shape).astype(port.dtype.numpy)


def _evaluated(interface: ModelInterface, given: list[Any]) -> list[Any]:
    """The results of the interpreter, flat; what nothing reads is 0."""
    model = interface.built.model
    of = model.type_of(model.entry)
    assert isinstance(of, FunctionType)
    waiting = iter(given)
    nested = interface.built.inputs_of(interface.program)
    read: dict[str, Nested] = {name: mapped(each, lambda _: next(waiting)) for name, each in nested.items()}
    names = [each.name for each in model.main.parameters]
    told = [(name, read[name], kind) for name, kind in zip(names, of.parameters, strict=True) if name in read]
    sizes = solved_dimensions(told, {}, model.datatypes)
    others = dict(zip(names, specimens(model, sizes), strict=True)) if len(read) < len(names) else {}
    found = model.evaluate(*(read.get(name, others.get(name)) for name in names))
    return [np.asarray(each) for each in flat(found)]


def _bits(array: Any) -> Any:
    return array.view(np.uint16) if array.dtype.name == "bfloat16" else array
