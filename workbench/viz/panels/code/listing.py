"""Generated code for the front end: coloured lines, and for each line the statements and the loop it belongs to."""

from __future__ import annotations

import re
from typing import Any

from workbench.codegen import generate
from workbench.codegen.kernel import Kernel
from workbench.errors import WorkbenchError, unknown_name
from workbench.poly.programs.tree import loops
from workbench.runtime import this_machine
from workbench.schedules import Schedule
from workbench.target import Target
from workbench.viz.draw.palette import statement_role
from workbench.viz.panels.code.assembly import c_assembly, cuda_ptx, cuda_sass, listing_of
from workbench.viz.views.program.c_tokens import CodeLine, code_lines
from workbench.viz.views.program.code_view import body_start

_FOR = re.compile(r"\bfor \(\w+ (\w+) = ")
_BOUND = re.compile(r"\bint\w* (\w+) = [^;]*\b(?:block|thread)Idx\.")
_ABOUT = re.compile(r"/\* ([\w.]+): ")


LANGUAGES = ("C", "CUDA", "HIP", "assembly", "PTX", "SASS")


def code_payload(
    schedule: Schedule, language: str = "C", target: Target | None = None, *, unsafe: bool = False
) -> dict[str, Any]:  # fmt: skip
    """The lines of the text in a language; `reason` says why there is none (`unsafe`: also where it is wrong).

    `target` is the machine that C is written for, this one by default.
    """
    if language not in LANGUAGES:
        raise WorkbenchError(unknown_name("language", language, LANGUAGES))
    try:
        return _written(schedule, language, target or this_machine(), unsafe=unsafe)
    except WorkbenchError as error:
        return {"lines": [], "start": 0, "notes": [], "language": language, "reason": str(error)}


def plain_lines(code: dict[str, Any]) -> list[str]:
    """The text of the function, line by line."""
    return ["".join(run[0] for run in line["runs"]) for line in code["lines"][code["start"] :]]


def _written(schedule: Schedule, language: str, target: Target, *, unsafe: bool) -> dict[str, Any]:
    made_from = {"assembly": "C", "PTX": "CUDA", "SASS": "CUDA"}.get(language, language)
    kernel = generate(schedule, target if made_from == "C" else made_from.lower(), unsafe=unsafe)
    text: dict[str, Any] = {**listing(kernel, schedule), "language": made_from}
    if language == made_from:
        return text
    made_by, rows = {"assembly": c_assembly, "PTX": cuda_ptx, "SASS": cuda_sass}[language](kernel)
    return listing_of(rows, text["lines"], language, made_by)


def listing(kernel: Kernel, schedule: Schedule) -> dict[str, Any]:
    """Lines of a kernel's text: runs of (text, colour role, bold), statements, name of the loop."""
    names = [loop.name for loop in loops(schedule.tree)]
    roles = {s.name: statement_role(i) for i, s in enumerate(schedule.program.statements)}
    lines = code_lines(kernel.source, names, roles)
    start = body_start(kernel)
    start -= bool(start) and _text(lines[start - 1]).startswith("extern")
    about = belonging([_text(line) for line in lines], start, set(names), list(roles))
    return {
        "lines": [
            {"number": line.number, "runs": [[r.text, r.role, r.bold] for r in line.runs], **owner}
            for line, owner in zip(lines, about, strict=True)
        ],
        "start": start,
        "notes": list(kernel.notes),
        "language": "C",
        "reason": "",
    }


def _text(line: CodeLine) -> str:
    return "".join(run.text for run in line.runs)


def belonging(texts: list[str], start: int, loops: set[str], statements: list[str]) -> list[dict[str, Any]]:
    """For each line the statements executed on it or inside its braces, and the schedule's loop it begins.

    The generator writes a comment before each statement; a block belongs to every statement in it.
    """
    found: list[dict[str, Any]] = [{"statements": [], "loop": ""} for _ in texts]
    inside: dict[int, int] = {}
    open_blocks: list[int] = []
    threads: list[tuple[int, int]] = []  # lines that say which iteration a thread has, with the depth of their block
    current = ""
    for i in range(start, len(texts)):
        text = texts[i]
        about = _ABOUT.search(text)
        if about and about[1] in statements:
            current = about[1]
            for line in (*open_blocks[1:], i, *(line for line, _ in threads)):
                _add(found[line], current)
        elif current and text.strip(" {}"):
            _add(found[i], current)
        elif len(open_blocks) > 1:
            inside[i] = open_blocks[-1]
        loop = _FOR.search(text) or _BOUND.search(text)
        found[i]["loop"] = _loop_of(loop[1], loops) if loop else ""
        if found[i]["loop"] and _BOUND.search(text):
            threads.append((i, len(open_blocks)))
        for bracket in re.findall(r"[{}]", re.sub(r"/\*.*?\*/", "", text)):
            if bracket == "{":
                open_blocks.append(i)
                current = ""
            elif open_blocks:
                open_blocks.pop()
                current = ""
                threads = [(line, depth) for line, depth in threads if depth <= len(open_blocks)]
    for line, block in inside.items():  # what surrounds one statement only, such as its registers, is that statement's
        if not found[line]["statements"] and len(found[block]["statements"]) == 1:
            found[line]["statements"] = list(found[block]["statements"])
    return found


def _add(owner: dict[str, Any], statement: str) -> None:
    if statement not in owner["statements"]:
        owner["statements"].append(statement)


def _loop_of(variable: str, loops: set[str]) -> str:
    """The loop that a variable counts: its own name, or that with a number that keeps variables apart."""
    bare = re.sub(r"_\d+$", "", variable)
    return variable if variable in loops else bare if bare in loops else ""
