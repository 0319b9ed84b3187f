"""The oracle's text: what was written, as one C function with a fixed name."""

from __future__ import annotations

import re
from typing import Any

from pycparser import c_ast, c_generator

from workbench.fromc.parameters import Parameter
from workbench.fromc.syntax import Unit

NAME = "wb_sequential"
HEADERS = ("float", "limits", "math", "stdbool", "stddef", "stdint", "string")
EXPORT = '__attribute__((visibility("default")))'
_EXTREMES = {"min": "<", "max": ">", "MIN": "<", "MAX": ">"}


def sequential_text(unit: Unit, parameters: list[Parameter], items: list[Any]) -> str:
    """C text whose function `wb_sequential` executes the statements in the order of the text.

    It takes the parameters in their order, arrays as pointers; the `items` of a bare nest become its body.
    """
    head = "".join(f"#include <{name}.h>\n" for name in HEADERS) + _extremes(unit)
    text = _of_nest(unit, parameters, items) if unit.is_nest else _of_function(unit, parameters)
    return head + text


def _extremes(unit: Unit) -> str:
    """`min` and `max` where the text uses but does not define them."""
    lines = []
    for name, op in _EXTREMES.items():
        used = re.search(rf"\b{name}\s*\(", unit.source.plain)
        if used and not re.search(rf"\b{name}\s*\([^;{{}}]*\)\s*\{{", unit.source.text):
            lines.append(f"#define {name}(a, b) ((a) {op} (b) ? (a) : (b))\n")
    return "".join(lines)


def _of_function(unit: Unit, parameters: list[Parameter]) -> str:
    """The text, and a function that hands its arguments on; variables of the file are filled and read back."""
    text = re.sub(r"^[ \t]*#[ \t]*include[^\n]*", "", unit.source.text, flags=re.MULTILINE)
    text = re.sub(r"\bextern\b", "", text)
    own = {d.name for d in unit.declarations}
    taken = ", ".join(f"{_kind(p)} wb_{p.name}" for p in parameters) or "void"
    handed = ", ".join(f"wb_{p.name}" for p in parameters if p.name not in own)
    before = [_filled(p) for p in parameters if p.name in own]
    after = [f"memcpy(wb_{p.name}, {p.name}, sizeof {p.name});" for p in parameters if p.name in own and p.is_array]
    body = " ".join([*before, f"{unit.name}({handed});", *after])
    return f"{text}\n{EXPORT} void {NAME}({taken}) {{ {body} }}\n"


def _kind(parameter: Parameter) -> str:
    return "void *" if parameter.is_array else parameter.c_type


def _filled(parameter: Parameter) -> str:
    if parameter.is_array:
        return f"memcpy({parameter.name}, wb_{parameter.name}, sizeof {parameter.name});"
    return f"{parameter.name} = wb_{parameter.name};"


def _of_nest(unit: Unit, parameters: list[Parameter], items: list[Any]) -> str:
    """The statements as the body of a function; loop variables that are not declared get a declaration."""
    write = c_generator.CGenerator()
    defines = "".join(f"#define {name} {text}\n" for name, (text, _) in unit.source.defines.items())
    kept = {id(item) for item in items}
    given = {d.name: d for d in unit.body if isinstance(d, c_ast.Decl) and id(d) not in kept}
    taken = ", ".join(write.visit(given[p.name]) if p.name in given else f"int {p.name}" for p in parameters)
    declared = {d.name for d in unit.body if isinstance(d, c_ast.Decl)} | {p.name for p in parameters}
    counters = "".join(f"int {name};\n" for name in unit.counters if name not in declared)
    body = write.visit(c_ast.Compound(items))
    return f"{defines}{EXPORT} void {NAME}({taken or 'void'})\n{{\n{counters}{body}}}\n"
