"""The API by task as MyST pages, from signatures and docstrings: what `tools/docs.py` gives to Sphinx.

Which page a name is on follows from the room it comes from; `ELSEWHERE` says where that would surprise.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import workbench
from workbench.face import KINDS, NAMES, STEPS, class_of


class Task(NamedTuple):
    """A page: its title, what it says first, and the rooms whose names it holds."""

    title: str
    words: str
    rooms: tuple[str, ...] = ()


TASKS = {
    "write": Task("Write an operator", "From text to an operator, its derivatives, its program.", ("lang", "fromc")),
    "schedule": Task("Schedule it", "A schedule is its trace; every step is checked.", ("schedules", "poly")),
    "steps": Task("Steps and their laws", "Each step with what it does to the loops: *before → after*."),
    "look": Task("Look at it", "Pictures, the panel, counts and comparisons.", ("viz", "codegen")),
    "run": Task("Build, run, measure", "Kernels, their numbers, this machine.", ("runtime", "certificates", "settings",
                "target", "target_costs")),
    "tune": Task("Tune", "Spaces, studies, searchers.", ("tune",)),
    "models": Task("Models", "Programs whose calls are operators: read, optimised, fused, built.", ("graph",)),
    "export": Task("Leave with it", "C libraries, PyTorch, JAX, ONNX Runtime, wheels.", ("export",)),
    "library": Task("Operators that come along", "The definitions, by family.", ("ops",)),
    "errors": Task("Errors", "Every exception; all derive from `WorkbenchError`.", ("errors",)),
}  # fmt: skip
ELSEWHERE = {
    "choose": "tune", "where": "tune", "Sketch": "tune", "sketch": "tune", "lower": "write", "generate": "run",
    "build": "run", "occupancy": "look", "coalescing": "look", "bank_conflicts": "look",
    "certify": "run", "compare": "look", "rewrites": "look", "autoschedule": "schedule", "partition": "models",
}  # fmt: skip
LIBRARY_PAGE = "library"
TITLES = {
    "order": "Order of instances", "instances": "Instances", "storage": "Storage", "execution": "How loops run",
}  # fmt: skip


def pages() -> dict[str, str]:
    """Page name → its text, the index among them."""
    made = {name: _page(name, task) for name, task in TASKS.items() if name != LIBRARY_PAGE}
    return {"index": _index(), LIBRARY_PAGE: _library(), **made}


def task_of(name: str) -> str:
    """The page that a public name of the face is on."""
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    if name in STEPS:
        return "steps"
    where = NAMES[name] if name in NAMES else getattr(getattr(workbench, name), "__module__", "workbench.errors")
    room = where.partition(":")[0].split(".")[1]
    return next(page for page, task in TASKS.items() if room in task.rooms)


def _index() -> str:
    head = "# The API, by task\n\nEverything is reached from `import workbench as wb`.\n\n"
    rows = [f"| [{t.title}]({page}.md) | {t.words} | {_some(_names(page, t))} |" for page, t in TASKS.items()]
    tree = "\n```{toctree}\n:hidden:\n\n" + "\n".join(TASKS) + "\n```\n"
    return head + "| to | | with |\n|---|---|---|\n" + "\n".join(rows) + "\n" + tree


def _names(page: str, task: Task) -> list[str]:
    """Names of the face on a page; where there are none, those of its rooms."""
    face = [name for name in workbench.__all__ if name not in workbench.ROOMS and task_of(name) == page]
    rooms = [room for room in task.rooms if room in workbench.ROOMS]
    return face or [f"{room}.{name}" for room in rooms for name in import_module(f"workbench.{room}").__all__]


def _some(names: list[str]) -> str:
    return ", ".join(f"`wb.{name}`" for name in names[:7]) + (" …" if len(names) > 7 else "")


def _page(page: str, task: Task) -> str:
    parts = [f"# {task.title}\n\n{task.words}\n"]
    if page == "steps":
        return "\n".join([*parts, *_steps()])
    if page == "errors":
        return "\n".join([*parts, *_errors()])
    face = sorted((n for n in workbench.__all__ if n not in workbench.ROOMS and task_of(n) == page), key=str.lower)
    parts += [entry(f"wb.{name}", getattr(workbench, name)) for name in face if name != "errors"]
    for room in task.rooms:
        if room in workbench.ROOMS:
            parts += _room(room)
    return "\n".join(parts)


def _room(room: str) -> Iterator[str]:
    """What a room offers beside the names of the face."""
    module = import_module(f"workbench.{room}")
    face = {*workbench.__all__} - {*workbench.ROOMS}  # `wb.viz.graph` is no room
    names = [n for n in module.__all__ if not (n in face or n in STEPS or n in map(class_of, STEPS))]
    if names:
        yield f"## `wb.{room}`\n\n{prose(module.__doc__)}\n"
    yield from (entry(f"wb.{room}.{name}", getattr(module, name)) for name in names)


def _steps() -> Iterator[str]:
    """The vocabulary: the function of each step, and the law from its class."""
    import workbench.schedules.steps as steps

    for kind in KINDS:
        yield f"## {TITLES[kind]}\n"
        for step in (s for s, module in STEPS.items() if module.startswith(f"{kind}.")):
            shadowed = not NAMES[step].startswith("workbench.schedules:")
            yield entry(f"wb.{'schedules.' if shadowed else ''}{step}", getattr(steps, step))


def _errors() -> Iterator[str]:
    found = {n: v for n, v in vars(workbench.errors).items() if inspect.isclass(v) and issubclass(v, Exception)}
    ours = {n: v for n, v in found.items() if v.__module__ == "workbench.errors"}
    yield from (entry(f"wb.errors.{name}", kind) for name, kind in sorted(ours.items()))


def _library() -> str:
    """The operators of the library by family, each with its definition."""
    task = TASKS[LIBRARY_PAGE]
    parts = [f"# {task.title}\n\n{task.words}  `wb.ops.load(name)` gives one, `wb.ops.<name>` too.\n"]
    for family in workbench.ops.families():
        parts.append(f"## {family.capitalize()}\n")
        for name in workbench.ops.list(family):
            text = str(workbench.ops.load(name)).strip()
            parts.append(f"({name})=\n**`{name}`**\n\n```text\n{text}\n```\n")
    return "\n".join([*parts, *_room("ops")])


# -- One name ----------------------------------------------------------------------------------------------------------


def entry(name: str, value: Any) -> str:
    """The directive of a function, class or value: its signature and what its docstring says."""
    if inspect.isclass(value):
        return _directive("class", name + signature(value), prose(value.__doc__), [*_members(value)])
    if callable(value):
        return _directive("function", name + signature(value), prose(inspect.getdoc(value)))
    words = type(value).__doc__ if isinstance(value, ModuleType) else inspect.getdoc(value)
    return _directive("data", name, prose(words))


def _members(kind: type) -> Iterator[str]:
    """The public methods and properties that a class defines itself, with what they say."""
    for name, member in sorted(vars(kind).items()):
        words = inspect.getdoc(member)
        if name.startswith("_") or not words:
            continue
        if isinstance(member, classmethod | staticmethod) or inspect.isfunction(member):
            function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            how = {classmethod: ":classmethod:\n", staticmethod: ":staticmethod:\n"}.get(type(member), "")
            yield _directive("method", name + signature(function, bound=not isinstance(member, staticmethod)),
                             how + "\n" + prose(words), fence="`````")  # fmt: skip
        elif isinstance(member, property) or hasattr(member, "func"):
            yield _directive("property", name, prose(words), fence="`````")


def _directive(kind: str, head: str, body: str, inner: list[str] | None = None, fence: str = "``````") -> str:
    return "\n".join([f"{fence}{{py:{kind}}} {head}", body, "", *(inner or ()), fence, ""])


def signature(value: Any, *, bound: bool = False) -> str:
    """The arguments of a call, with types where they can be read; "" where there are none to see."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "()"
    plain = [p.replace(default=_Literal(p.default)) for p in found.parameters.values()]
    if bound and plain and plain[0].name in ("self", "cls"):
        plain = plain[1:]
    text = str(found.replace(parameters=plain)).replace("'", "")
    return re.sub(r" -> None$", "", text)


class _Literal:
    """A default as it is written: what has no literal is an ellipsis."""

    def __new__(cls, value: Any) -> Any:
        if value is inspect.Parameter.empty:
            return value
        made = super().__new__(cls)
        made.text = repr(value) if isinstance(value, str | int | float | bool | tuple | None) else "..."
        return made

    text: str

    def __repr__(self) -> str:
        return self.text.replace("'", '"')


# -- Docstrings --------------------------------------------------------------------------------------------------------

LAW = re.compile(r"^before → after:\s*(.*(?:\n(?!\n).+)*)", re.MULTILINE)
EXAMPLE = re.compile(r"(?:^|(?<=\n\n))(>>> .*(?:\n(?!\n).+)*)")


def prose(docstring: str | None) -> str:
    """A docstring as MyST: its law stands out, its examples are code."""
    text = LAW.sub(_law, inspect.cleandoc(docstring or ""))
    return EXAMPLE.sub(r"```pycon\n\1\n```", text)


def _law(found: re.Match[str]) -> str:
    lines = re.sub(r"\n +", "\n", found[1])
    return f":::{{admonition}} before → after\n:class: law\n```text\n{lines}\n```\n:::"
