"""`%%operator` cells while one types: the kernel says over a comm what is wrong at which token of a cell's text.

A page that opens the comm `workbench.operator` and sends `{"ask": number, "text": cell}` is answered
`{"answer": number, "problems": [...]}`; where the front end has subshells also while another cell runs.
"""

from __future__ import annotations

import re
from typing import Any

from workbench.errors import OperatorError
from workbench.viz.notebook.operator_magic import MAGIC, cell_parts, defined, wrong_name

TARGET = "workbench.operator"
LONGEST = 20_000


def listen(shell: Any) -> None:
    """Answer whoever opens the comm; a shell that has none (a terminal) is left as it is."""
    manager = getattr(getattr(shell, "kernel", None), "comm_manager", None)
    if manager is not None:
        manager.register_target(TARGET, _opened)


def _opened(comm: Any, _: Any) -> None:
    def answer(message: dict[str, Any]) -> None:
        asked = message["content"]["data"]
        try:
            found = checked_cell(str(asked.get("text", "")))
        except Exception:  # the page waits for an answer, and running the cell will say what is wrong
            found = []
        comm.send({"answer": asked.get("ask"), "problems": found})

    comm.on_msg(answer)


def checked_cell(cell: str) -> list[dict[str, Any]]:
    """Problems of a cell as running it would raise them, none where it has no text yet.

    Each is `{line, column, length, message, fix}`, lines and columns counted from 1 in the whole cell.
    """
    first, name, text = cell_parts(cell)
    if name and (reason := wrong_name(name)):
        return [problem_at(first, cell.splitlines()[first - 1].rindex(name) + 1, len(name), reason)]
    if not text.strip():
        return []
    if len(text) > LONGEST:
        return [problem_at(first, 1, 1, f"the cell has {len(text)} characters; %%{MAGIC} checks at most {LONGEST}")]
    try:
        defined(text, first_line=first + 1, named=bool(name))
    except OperatorError as error:
        return problems(str(error))
    return []


# -- What an OperatorError says, as places in the text: for editors that underline tokens --

_PROBLEM = re.compile(r"^line (\d+), column (\d+): (.*)$")
_CARET = re.compile(r"^\s*\|\s*(\^~*)$")
_FIX = re.compile(r"^\s*fix: (.*)$")


def problems(report: str) -> list[dict[str, Any]]:
    """The parts of an OperatorError's text as `{line, column, length, message, fix}`, lines and columns from 1."""
    found: list[dict[str, Any]] = []
    for line in report.splitlines():
        if begin := _PROBLEM.match(line):
            where = {"line": int(begin[1]), "column": int(begin[2]), "length": 1}
            found.append({**where, "message": begin[3], "fix": ""})
        elif found and (caret := _CARET.match(line)):
            found[-1]["length"] = len(caret[1])
        elif found and (fix := _FIX.match(line)):
            found[-1]["fix"] = fix[1]
    return found or [problem_at(1, 1, 1, report.partition("\n")[0])]


def problem_at(line: int, column: int, length: int, message: str) -> dict[str, Any]:
    """One problem with no repair."""
    return {"line": line, "column": column, "length": length, "message": message, "fix": ""}
