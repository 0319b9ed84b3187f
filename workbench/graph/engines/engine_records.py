"""Engines: what else can run a part of a model; a name, what it takes, and `compile(subgraph) -> callable`.

    @wb.engine("numpy", patterns=["matmul"])
    def numpy_engine(subgraph):
        return lambda a, b: a @ b
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any, cast

from workbench.errors import EngineError, shown, unknown_name
from workbench.face import ENGINES
from workbench.graph.engines.patterns import Pattern, PatternLike, as_pattern
from workbench.graph.engines.sites import Site
from workbench.graph.engines.subgraphs import Subgraph
from workbench.records import record

Answer = bool | str | None


@record(eq=False)
class Engine:
    """An engine: it compiles a `Subgraph` into a callable on NumPy arrays.

    `patterns` are what it takes, the first that fits wins; None takes every operator.  `supports(site)` answers for
    one call: True, or a reason why not.  `save(callable, folder)` and `load(subgraph, folder)`, where there are both,
    keep what was compiled.  What was kept is used again only while `version` is the same.
    """

    name: str
    compile: Callable[[Subgraph], Callable[..., Any]]
    patterns: tuple[Pattern, ...] | None
    supports: Callable[[Site], Answer] | None
    save: Callable[[Any, Path], None] | None
    load: Callable[[Subgraph, Path], Callable[..., Any]] | None
    version: str

    def refusal(self, site: Site) -> str:
        """Why it does not take a call; nothing if it does."""
        if self.supports is None:
            return ""
        try:
            answer = self.supports(site)
        except Exception as error:
            return f"its `supports` failed: {type(error).__name__}: {error}"
        if isinstance(answer, str):
            return answer
        return "" if answer else f"does not support {site}"

    def __repr__(self) -> str:
        return f"<Engine {self.name}>"


def engine(
    name: str, /, *, patterns: Iterable[PatternLike] | None = None, supports: Callable[[Site], Answer] | None = None,
    version: str | None = None,
) -> Callable[[Any], Engine]:  # fmt: skip
    """Make an engine of a function `compile(subgraph) -> callable`, or of a class that has it.

    A class may have `supports(site)`, `save(callable, folder)` and `load(subgraph, folder)` too; they are methods of
    the one object that is made of it.  `patterns` are names of operators, operators (whatever has the same definition
    up to renaming fits), tuples `(outer, inner, ...)` for a chain, or `pattern(...)`.  `version` is by default a digest
    of the code, so that an edited engine never uses what an older one kept.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise EngineError(f"an engine's name is letters, digits and _, not {shown(name)}")
    wanted = None if patterns is None else tuple(map(as_pattern, patterns))

    def made(what: Any) -> Engine:
        of: Any = what() if inspect.isclass(what) else what
        compile_: Any = getattr(of, "compile", of)
        if not callable(compile_):
            raise EngineError(f"the engine {name!r} has no compile(subgraph); {shown(what)} is no function either")
        save, load = getattr(of, "save", None), getattr(of, "load", None)
        if (save is None) != (load is None):
            raise EngineError(f"the engine {name!r} has one of save and load; it needs both, or neither")
        asked = supports if supports is not None else getattr(of, "supports", None)
        return Engine(name, cast(Any, compile_), wanted, asked, save, load, version or _digest(what, asked))

    return made


def engine_named(name: str | Engine) -> Engine:
    """An engine itself, or one that comes along by name; EngineError for an unknown name."""
    if isinstance(name, Engine):
        return name
    if not isinstance(name, str) or name not in ENGINES:
        advice = "an engine of your own is given as the value that @wb.engine returned"
        raise EngineError(f"{unknown_name('engine', name, ENGINES)}; {advice}")
    module, _, attribute = ENGINES[name].partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise EngineError(f"the engine {name!r} needs the package {error.name}: pip install {error.name}") from error
    assert isinstance(found, Engine)
    return found


def _digest(*parts: Any) -> str:
    """A digest of the code of functions and classes, with the constants they are made of."""
    found = hashlib.sha256()
    for part in parts:
        members = list(vars(part).values()) if inspect.isclass(part) else [part]
        for member in members:
            code = getattr(getattr(member, "__func__", member), "__code__", None)
            if code is not None:
                _add_code(found, code)
                cells = [each.cell_contents for each in getattr(member, "__closure__", None) or ()]
                found.update(repr([each for each in cells if isinstance(each, int | float | str)]).encode())
    return found.hexdigest()[:16]


def _add_code(found: Any, code: CodeType) -> None:
    found.update(code.co_code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _add_code(found, constant)
        else:
            found.update(repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant).encode())
    found.update(repr(code.co_names).encode())
