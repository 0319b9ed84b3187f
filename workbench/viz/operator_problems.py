"""What an OperatorError says, as places in the text: for editors that underline tokens."""

from __future__ import annotations

import re
from typing import Any

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
