"""C text cut into coloured runs: enough of C to read generated kernels, no more.

By hand, as Pygments knows neither loops nor statements, whose colours these are, and takes four times as long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from workbench.dialects import DIALECTS
from workbench.records import record

KEYWORDS = frozenset({
    "break", "case", "const", "continue", "default", "do", "else", "enum", "extern", "for", "goto", "if", "inline",
    "restrict", "return", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "volatile",
    "while", "__attribute__", "_Pragma", *(word for dialect in DIALECTS.values() for word in dialect.words),
})  # fmt: skip
TYPES = frozenset({
    "void", "char", "short", "int", "long", "float", "double", "size_t", "bool",
    *(word for dialect in DIALECTS.values() for word in dialect.types),
})  # fmt: skip
_TYPE = re.compile(r"u?int\d+_t|wb_v\d+\w+|float\d+|int\d")
_TOKEN = re.compile(
    r"(?P<comment>/\*.*?(?:\*/|$)|//.*)"
    r'|(?P<string>"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')'
    r"|(?P<number>(?<![\w.])(?:0[xX][\da-fA-F.]+(?:[pP][+-]?\d+)?|\d[\d.]*(?:[eE][+-]?\d+)?)[uUlLfF]*)"
    r"|(?P<name>[A-Za-z_]\w*)"
)
# What a kernel does so that it can be stopped, and for compilers that warn: nothing of the operator.
_MACHINERY = re.compile(r"\s*(const unsigned wb_began = .*|if \(WB_STOPS != wb_began\) .*|(\(void\)\w+; ?)+)$")


@record(slots=True)
class Run:
    """A stretch of text in the colour of a role ("" for the page's own)."""

    text: str
    role: str = ""
    bold: bool = False


@record(slots=True)
class CodeLine:
    """One line of source with its number, counted from 1."""

    number: int
    runs: tuple[Run, ...]


def code_lines(
    source: str, loop_names: Iterable[str] = (), statements: Mapping[str, str] | None = None
) -> tuple[CodeLine, ...]:
    """Every line in runs.  `loop_names` are shown as loops; a comment `/* name: ...` about a statement gets the role
    that `statements` has for its name.
    """
    names, comments = frozenset(loop_names), statements or {}
    found = []
    open_comment = False
    for number, line in enumerate(source.rstrip("\n").split("\n"), 1):
        if open_comment:
            runs, open_comment = _continued(line, names, comments)
        else:
            runs = _runs(line, names, comments)
            open_comment = bool(runs) and runs[-1].role == "comment" and _unclosed(runs[-1].text)
        found.append(CodeLine(number, tuple(runs)))
    return tuple(found)


def _unclosed(comment: str) -> bool:
    return comment.startswith("/*") and not comment.endswith("*/")


def _continued(line: str, names: frozenset[str], comments: Mapping[str, str]) -> tuple[list[Run], bool]:
    """A line that starts inside a comment."""
    inside, end, rest = line.partition("*/")
    return [Run(inside + end, "comment"), *(_runs(rest, names, comments) if rest else [])], not end


def _runs(line: str, names: frozenset[str], comments: Mapping[str, str]) -> list[Run]:
    if line.lstrip().startswith("#"):
        return [Run(line, "directive")]
    if _MACHINERY.match(line):
        return [Run(line, "comment")]
    runs: list[Run] = []
    at = 0
    for token in _TOKEN.finditer(line):
        runs += [Run(line[at : token.start()]), _run(token, names, comments)]
        at = token.end()
    return _joined([*runs, Run(line[at:])])


def _joined(runs: list[Run]) -> list[Run]:
    """Neighbours of one colour as one run, empty ones left out."""
    found: list[Run] = []
    for run in runs:
        if found and (found[-1].role, found[-1].bold) == (run.role, run.bold):
            found[-1] = Run(found[-1].text + run.text, run.role, run.bold)
        elif run.text:
            found.append(run)
    return found


def _run(token: re.Match[str], names: frozenset[str], comments: Mapping[str, str]) -> Run:
    text = token.group()
    match token.lastgroup:
        case "comment":
            about = text.removeprefix("/*").partition(":")[0].strip()
            return Run(text, comments.get(about, "comment"), about in comments)
        case "string" | "number":
            return Run(text, "number")
    if text in names:
        return Run(text, "loop", bold=True)
    if text in KEYWORDS:
        return Run(text, "keyword")
    if text.startswith("WB_") and text.isupper():
        return Run(text, "directive")
    return Run(text, "type" if text in TYPES or _TYPE.fullmatch(text) else "")
