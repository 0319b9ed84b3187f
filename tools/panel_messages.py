"""Writes js/src/state/messages.ts: the types of `workbench/viz/messages` for the panel's front end.

    python tools/panel_messages.py           # write it
    python tools/panel_messages.py --check   # exit 1 unless it is as it would be written
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

FILE = Path(__file__).parents[1] / "js" / "src" / "state" / "messages.ts"
HOME = "workbench.viz.messages"
ROOMS = ("drawn", "stepping", "counting", "studying", "exporting", "measuring", "modelling", "protocol")
HEAD = "// What the kernel says and is asked. Written by tools/panel_messages.py from workbench/viz/messages.\n"
PLAIN = {
    int: "number", float: "number", str: "string", bool: "boolean", NoneType: "null", bytes: "DataView", Any: "unknown",
}  # fmt: skip


def written() -> str:
    """The whole file."""
    modules = [import_module(f"{HOME}.{name}") for name in ROOMS]
    aliases = {name: hint for module in modules for name, hint in _aliases(module)}
    parts = [part for module in modules for part in _parts(module, aliases)]
    return "\n".join([HEAD, *parts])


def _aliases(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The names that a module gives to types which are no classes."""
    for name, value in vars(module).items():
        own = re.search(rf"^{name} = ", inspect.getsource(module), re.MULTILINE)
        if own and get_origin(value) in (Annotated, Literal):
            yield name, value


def _parts(module: ModuleType, aliases: dict[str, Any]) -> Iterator[str]:
    for name, hint in _aliases(module):
        yield f"export type {name} = {_alias(hint, aliases)};\n"
    for name, value in vars(module).items():
        if not inspect.isclass(value) or value.__module__ != module.__name__ or name == "Nothing":
            continue
        fields = _fields(value, aliases) if is_typeddict(value) else _questions(value, aliases)
        yield f"/** {(value.__doc__ or '').strip()} */\nexport interface {name} {{\n{''.join(fields)}}}\n"


def _alias(hint: Any, aliases: dict[str, Any]) -> str:
    """The meaning of a name: the places of a row have names of their own."""
    if get_origin(hint) is Literal:
        return _text(hint, {})
    of, said = get_args(hint)
    if get_origin(of) is not tuple:
        return _text(of, aliases)
    places = zip(said.split(", "), get_args(of), strict=True)
    return f"[{', '.join(f'{place}: {_text(part, aliases)}' for place, part in places)}]"


def _fields(of: type, aliases: dict[str, Any]) -> Iterator[str]:
    """A line for each key, with what its comment says."""
    said = dict(re.findall(r"^    (\w+): [^#\n]*?  # (.+)$", inspect.getsource(of), re.MULTILINE))
    for name, hint in get_type_hints(of, include_extras=True).items():
        comment = f" // {said[name]}" if name in said else ""
        optional = get_origin(hint) is NotRequired or name in getattr(of, "__optional_keys__", ())
        yield f"  {name}{'?' if optional else ''}: {_text(hint, aliases)};{comment}\n"


def _questions(of: type, aliases: dict[str, Any]) -> Iterator[str]:
    for name, function in vars(of).items():
        if name.startswith("_"):
            continue
        hints = get_type_hints(function, include_extras=True)
        parameters = list(inspect.signature(function).parameters.values())[1:]
        given = "; ".join(
            f"{p.name}{'?' if p.default is not p.empty else ''}: {_text(hints[p.name], aliases)}" for p in parameters
        )
        taken = f"{{ {given} }}" if given else "Record<string, never>"
        yield f"  {name}: {{ with: {taken}; result: {_text(hints['return'], aliases)} }};\n"


def _text(hint: Any, aliases: dict[str, Any]) -> str:
    """A type as TypeScript says it; a name where it has one."""
    if name := next((name for name, known in aliases.items() if known == hint), None):
        return name
    if hint in PLAIN:
        return PLAIN[hint]
    if inspect.isclass(hint) and is_typeddict(hint):
        return hint.__name__
    origin, parts = get_origin(hint), get_args(hint)
    if origin is NotRequired:
        return _text(parts[0], aliases)
    if origin is Literal:
        return " | ".join(f"'{part}'" for part in parts)
    if origin is list:
        inner = _text(parts[0], aliases)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if origin is dict:
        return f"Record<string, {_text(parts[1], aliases)}>"
    if origin is tuple:
        return f"[{', '.join(_text(part, aliases) for part in parts)}]"
    if origin in (Union, UnionType):
        return _union([_text(part, aliases) for part in parts])
    raise TypeError(f"{hint} has no form in TypeScript here; known: {', '.join(map(str, PLAIN))}, list, dict, tuple, |")


def _union(texts: list[str]) -> str:
    """What may be empty has its keys or none of them."""
    if "Nothing" in texts:
        return f"Partial<{_union([text for text in texts if text != 'Nothing'])}>"
    return " | ".join(texts)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if FILE.read_text(encoding="utf-8") == written() else f"{FILE.name} is out of date: run {__file__}")
    FILE.write_text(written(), encoding="utf-8")
