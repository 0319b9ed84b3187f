"""`%%operator`: a cell of operator text defines operators; names in it are completed, errors show their token."""

from __future__ import annotations

import re
from collections.abc import Iterator
from keyword import iskeyword
from typing import Any

from workbench.errors import OperatorError
from workbench.lang import operator, operators
from workbench.lang.builtins import BUILTINS
from workbench.lang.dtypes import ALIASES, DTYPES
from workbench.lang.operator import Operator
from workbench.lang.syntax.diagnostics import Problem, report
from workbench.lang.syntax.terms import Span

MAGIC = "operator"
WORDS = ("def", "monoid", "identity", "combine", "where", "in", "for")
_NAME = re.compile(r"[A-Za-z_]\w*")
_SHAPE = re.compile(r"[A-Za-z_]\w*\s*\(([^()]*)\)\s*[A-Za-z_]")
_CELL = re.compile(rf"\s*%%?{MAGIC}\b[^\n]*\n?")


def register(shell: Any) -> None:
    """Give an IPython shell the magic, as cell and as line, and the completion of names."""

    def magic(line: str, cell: str | None = None) -> Operator | None:
        """Define operators: `%%operator` before their text, or `%operator def f(...) -> (...) { ... }` in one line.

        Each becomes a variable of its name; the last is the cell's value.  A name after `%%operator` is another name
        for it.
        """
        return define(shell, line, cell)

    shell.register_magic_function(magic, "line_cell", MAGIC)
    matchers = getattr(getattr(shell, "Completer", None), "custom_matchers", None)
    if matchers is not None and not any(getattr(m, "matcher_identifier", "") == _IDENTIFIER for m in matchers):
        matchers.append(_matcher(shell))
    from workbench.viz.notebook.cell_checks import listen  # which is made of what stands below

    listen(shell)


def define(shell: Any, line: str, cell: str | None) -> Operator | None:
    """Put the operators of a text into the shell's variables and give back the one that no other calls.

    OperatorError as `operators` raises it, with the cell's own line numbers; what IPython shows of it are its words.
    """
    text, name = (line, "") if cell is None else (cell, line.strip())
    try:
        found = defined(text, first_line=1 if cell is None else 2, named=bool(name))
        if name and (reason := wrong_name(name)):
            raise OperatorError(reason)
    except OperatorError as error:
        message = f"OperatorError: {error}"
        error._render_traceback_ = lambda: [message]  # type: ignore[attr-defined]
        raise
    shell.push(found)
    chosen = _chosen(text, found)
    if name:
        shell.push({name: chosen})
    return chosen


def wrong_name(name: str) -> str:
    """Why an operator cannot be called so; empty if it can."""
    fits = name.isidentifier() and not iskeyword(name)
    return "" if fits else f"%%{MAGIC} takes a name for the operator, or nothing, not {name!r}"


def cell_parts(cell: str) -> tuple[int, str, str]:
    """The number of the magic's line, counted from 1, the name behind the magic, and the text below it."""
    found = _CELL.match(cell)
    head = found[0] if found else ""
    line = head.lstrip().partition("\n")[0]
    first = head[: len(head) - len(head.lstrip())].count("\n") + 1
    return first, line.partition(MAGIC)[2].strip(), cell[len(head) :]


def defined(text: str, *, first_line: int, named: bool = False) -> dict[str, Operator]:
    """The operators of a text; errors count its lines from `first_line`.

    OperatorError if there is none, or one that no variable can be called like, unless it is `named` otherwise.
    """
    below = "\n" * (first_line - 1) + text
    try:
        found = operators(text)
    except OperatorError:
        found = operators(below)
    if not found:
        operator(text)  # says what was expected
    reserved = [] if named else [problem for name in found if (problem := _reserved(name, below))]
    if reserved:
        raise OperatorError(report(below, reserved))
    return found


def _reserved(name: str, text: str) -> Problem | None:
    """That Python has another use for a name, at the place where the text defines it."""
    place = re.search(rf"^\s*def\s+({name})\b", text, re.MULTILINE) if iskeyword(name) else None
    if place is None:
        return None
    what = f"{name!r} is a word of Python: no variable can be called so"
    return Problem(what, Span(*place.span(1)), f"choose another name, or write one behind %%{MAGIC}")


def _chosen(text: str, found: dict[str, Operator]) -> Operator:
    try:
        return operator(text)
    except OperatorError:  # several that do not call each other
        return list(found.values())[-1]


_IDENTIFIER = "workbench.operator"


def _matcher(shell: Any) -> Any:
    """A matcher for IPython's completer, in the second version of its interface."""

    def match(context: Any) -> dict[str, Any]:
        if not is_operator_cell(context.full_text):
            return {"completions": []}
        found = candidates(context.full_text, context.token, shell.user_ns)
        return {"completions": [_completion(text, kind) for text, kind in found], "suppress": True}

    match.matcher_api_version = 2  # type: ignore[attr-defined]
    match.matcher_identifier = _IDENTIFIER  # type: ignore[attr-defined]
    match.matcher_priority = 1000.0  # type: ignore[attr-defined]
    return match


def _completion(text: str, kind: str) -> Any:
    from IPython.core.completer import SimpleCompletion

    return SimpleCompletion(text, type=kind)


def is_operator_cell(text: str) -> bool:
    """Whether a cell begins with the magic."""
    return _CELL.match(text) is not None


def candidates(cell: str, token: str, variables: dict[str, Any]) -> list[tuple[str, str]]:
    """(name, kind) of what may stand where `token` was begun: names of the cell, types, functions, operators."""
    begun = (_NAME.findall(token) or [""])[-1] if token and (token[-1].isalnum() or token[-1] == "_") else ""
    text = _CELL.sub("", cell, count=1)
    found = dict(_candidates(text, variables))
    unfinished = len(re.findall(rf"\b{re.escape(begun)}\b", text)) == 1 if begun else False
    names = (n for n in found if n.startswith(begun) and not (n == begun and unfinished))
    prefix = token[: len(token) - len(begun)]
    return [(f"{prefix}{name}", found[name]) for name in sorted(names)]


def _candidates(text: str, variables: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield from ((name, "type") for name in (*DTYPES, *ALIASES))
    yield from ((name, "function") for name in BUILTINS)
    yield from ((name, "operator") for name, value in variables.items() if isinstance(value, Operator))
    yield from ((name, "name") for name in _NAME.findall(text))
    yield from ((name, "keyword") for name in WORDS)
    yield from ((name, "size") for shape in _SHAPE.findall(text) for name in _NAME.findall(shape))
