"""What makes a folder a Python project: its metadata, the hook that says for which platform it is, its README."""

from __future__ import annotations

import json
import keyword
import sys
import sysconfig
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.version import InvalidVersion, Version

from workbench.errors import WorkbenchError, shown
from workbench.export.dispatch import Family
from workbench.export.wheel.figures import figures_table
from workbench.export.wheel.front_text import call_of
from workbench.records import record

NEEDED = ("numpy", "pytest", "torch")
"""What a package imports, and would import from itself if it had that name."""

_PYPROJECT = """[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = {name}
version = {version}
description = {summary}
readme = "README.md"
{license}requires-python = ">=3.10"
# Versioned DLPack is from 2.1 on.
dependencies = ["numpy>=2.1"]

[project.optional-dependencies]
test = ["pytest>=8"]
{extras}
[tool.hatch.build]
ignore-vcs = true

[tool.hatch.build.targets.wheel]
packages = ["src/{module}"]

[tool.hatch.build.targets.wheel.hooks.custom]
path = "platform_tag.py"
"""

_HOOK = '''"""The libraries are for one platform, and for every Python."""

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformTag(BuildHookInterface):
    """Names the platform that the libraries were built on."""

    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-{platform}"
'''

_README = """# {name}

{summary}

```python
import {module}

{example}
```

Arrays go in by DLPack, whoever made them (NumPy, PyTorch, JAX on a processor), and are not copied; results are NumPy's
arrays, which everybody takes by DLPack, or go into `out=`. What an operator updates comes as an argument more, and is
updated in place.{torch}

{operators}

## Which schedules, and why

{figures}

`{module}/figures.json` has the schedules as Python and as records, with all figures.

## What is in it

| folder | what |
|---|---|
| `{module}/c/lib` | the libraries; each chooses its kernels by the processor when it is loaded |
| `{module}/c/include`, `c/example`, `c/src` | for C: headers, examples, the sources with CMake files |
| `{module}/tests` | `python -m pytest --pyargs {module}`: stored results of the operators' definitions |

{license}
"""
_TORCH = """ `import {module}.for_torch` registers the operators with PyTorch, as
`torch.ops.{module}.*`, with gradients."""


@record(eq=False)
class Project:
    """Names and words of a package; `license` is an SPDX expression, or None where its owner has chosen none."""

    name: str
    version: str
    license: str | None
    summary: str
    torch: bool

    @property
    def module(self) -> str:
        """The name that is imported."""
        return self.name.lower().replace("-", "_").replace(".", "_")

    @property
    def platform(self) -> str:
        return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def project_of(
    names: Collection[str], name: str | None, version: str, license: str | None, *, torch: bool, kind: str = "operator"
) -> Project:  # fmt: skip
    """The project of some operators, or things of another `kind`; WorkbenchError for names, versions and licences that
    packages cannot have."""
    chosen = f"workbench-{'-'.join(names)}".replace("_", "-") if name is None else name
    plain = chosen.replace("-", "_").replace(".", "_") if isinstance(chosen, str) else ""
    if not (plain.isidentifier() and plain.isascii() and plain[0].isalpha() and plain[-1] != "_"):
        raise WorkbenchError(f"name={shown(name)} names no package; expected letters, digits, - and _, a letter first")
    project = Project(chosen, _version(version), _license(license), _summary(list(names), kind), torch)
    if project.module == "workbench":
        raise WorkbenchError("name='workbench' is the workbench's own; choose another, such as 'workbench-operators'")
    if project.module in {*sys.stdlib_module_names, *NEEDED} or keyword.iskeyword(project.module):
        whose = "a package that it needs" if project.module in NEEDED else "Python's own"
        another = f"choose another, such as 'my-{project.module}'"
        raise WorkbenchError(f"name={shown(name)}: {project.module} is {whose}; {another}")
    return project


def _version(version: str) -> str:
    try:
        return str(Version(version))
    except (InvalidVersion, TypeError) as reason:
        raise WorkbenchError(f"version={shown(version)} is no version; expected one like '1.0' or '0.2.1'") from reason


def _license(license: str | None) -> str | None:
    if license is None:
        return None
    try:
        return str(canonicalize_license_expression(license))
    except (InvalidLicenseExpression, TypeError, AttributeError) as reason:
        expected = "an SPDX expression like 'MIT' or 'Apache-2.0'"
        raise WorkbenchError(f"license={shown(license)} is unknown; expected {expected}") from reason


def _summary(names: list[str], kind: str) -> str:
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    what = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}" if len(names) == 1 else f"{kind}s"
    return f"{listed}: {what} with tuned kernels, made by the Tensor Workbench"


def pyproject_text(project: Project) -> str:
    """`pyproject.toml`."""
    return _PYPROJECT.format(
        name=json.dumps(project.name),
        version=json.dumps(project.version),
        summary=json.dumps(project.summary),
        license=f"license = {json.dumps(project.license)}\n" if project.license else "",
        extras='torch = ["torch>=2.10"]\n' if project.torch else "",
        module=project.module,
    )


def hook_text(project: Project) -> str:
    """`platform_tag.py`."""
    return _HOOK.format(platform=project.platform)


def readme_text(
    project: Project, families: Mapping[str, Family], figures: Mapping[str, Any], kernels: Sequence[str]
) -> str:  # fmt: skip
    """`README.md`."""
    listed = "\n".join(f"- {title}" for title in kernels)
    shown_operators = [f"## {name}\n\n```\n{family.op.text.strip()}\n```" for name, family in families.items()]
    none = "No licence has been chosen for this package: its owner holds all rights."
    return _README.format(
        name=project.name,
        summary=project.summary,
        module=project.module,
        example="\n".join(_example(project.module, name, family) for name, family in families.items()),
        torch=_TORCH.format(module=project.module) if project.torch else "",
        operators="\n\n".join([*shown_operators, f"Kernels:\n\n{listed}"]),
        figures=figures_table(figures),
        license=f"Licence: {project.license}." if project.license else none,
    )


def _example(module: str, name: str, family: Family) -> str:
    rows = call_of(family)
    arguments = [n if kind != "k" else f"{n}={n}" for n, kind, _ in rows]
    return f"{', '.join(family.op.outputs)} = {module}.{name}({', '.join(arguments)})"
