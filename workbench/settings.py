"""Settings: what a session may choose about threads, compilers and the build cache.

Held in a context variable, so a change is local to its `with` block, its thread and its task:

>>> with settings(threads=1):
...     current().threads
1

Defaults come from the environment once: WORKBENCH_THREADS, WORKBENCH_CACHE, WORKBENCH_CC, WORKBENCH_DATABASE, and
WORKBENCH_TUNED and WORKBENCH_CALIBRATED (0 or 1).  WORKBENCH_PROCESSOR=avx2 (or another kind of processor that a Target
knows by name) has kernels made as for that one where no target is named.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError, unknown_name
from workbench.records import record

THREADS_LIMIT = 4096


@record(slots=True)
class Settings:
    """What a call, a build and the cache follow.

    `threads`: threads of a parallel kernel (None: one per usable physical core).
    `cache`: directory of built kernels (None: the user's cache directory).
    `compiler`: a name on PATH, a path, or "zig" (None: the first of gcc, clang, cc, zig that is found).
    `compile_seconds`: time limit of one compiler run.
    `cache_bytes`: size above which the least recently used kernels are dropped.
    `unchecked`: omit the checks of gathered and scattered indices and of promises about data.
    `tuned`: let calls run the best schedule that the tuner's database has for them.
    `calibrated`: let recipes decide by the costs that `wb.calibrate()` kept of this machine.
    `database`: that database, a path or a URL of SQLAlchemy (None: the user's own, in the cache directory).
    """

    threads: int | None = None
    cache: Path | None = None
    compiler: str | None = None
    compile_seconds: float = 120.0
    cache_bytes: int = 1 << 30
    unchecked: bool = False
    tuned: bool = True
    calibrated: bool = True
    database: str | None = None

    def __str__(self) -> str:
        return "\n".join(f"{f.name:16} {getattr(self, f.name)}" for f in fields(self))


def current() -> Settings:
    """The settings in force here."""
    found = _CURRENT.get()
    return found if found is not None else _initial()


@contextmanager
def settings(**changes: object) -> Iterator[Settings]:
    """Change settings inside a `with` block.

    Raises WorkbenchError for an unknown name (listing the known ones) or a value that does not fit.

    >>> with settings(thread=2):
    ...     pass
    Traceback (most recent call last):
    workbench.errors.WorkbenchError: unknown setting 'thread'; did you mean 'threads'? known: ...
    """
    token = _CURRENT.set(replace(current(), **_checked(changes)))
    try:
        yield current()
    finally:
        _CURRENT.reset(token)


_CURRENT: ContextVar[Settings | None] = ContextVar("workbench_settings", default=None)


@cache
def _initial() -> Settings:
    """Defaults, with what the environment says."""
    named = {
        "threads": "WORKBENCH_THREADS", "cache": "WORKBENCH_CACHE", "compiler": "WORKBENCH_CC",
        "database": "WORKBENCH_DATABASE",
    }  # fmt: skip
    given: dict[str, Any] = {name: os.environ[variable] for name, variable in named.items() if os.environ.get(variable)}
    for name in ("tuned", "calibrated"):
        if (said := os.environ.get(f"WORKBENCH_{name.upper()}")) is not None:
            given[name] = said.strip().lower() not in ("0", "no", "false", "off")
    try:
        return Settings(**_checked({n: int(v) if n == "threads" else v for n, v in given.items()}))
    except ValueError:
        text = given["threads"]
        message = f"WORKBENCH_THREADS={text!r} is not a whole number; set it to e.g. 4, or unset it"
        raise WorkbenchError(message) from None


def _checked(changes: dict[str, object]) -> dict[str, Any]:
    known = [f.name for f in fields(Settings)]
    for name in changes:
        if name not in known:
            raise WorkbenchError(unknown_name("setting", name, known))
    return {name: _value(name, value) for name, value in changes.items()}


def _value(name: str, value: object) -> object:
    """The value in the type its setting has."""
    match name, value:
        case (("threads" | "cache" | "compiler" | "database"), None):
            return None
        case "threads", int() if not isinstance(value, bool) and 1 <= value <= THREADS_LIMIT:
            return value
        case "cache", str() | os.PathLike() if os.fspath(value):
            return Path(value).expanduser().absolute()
        case "compiler", str() | os.PathLike() if os.fspath(value):
            return os.fspath(value)
        case "compile_seconds", int() | float() if not isinstance(value, bool) and 0 < value < float("inf"):
            return float(value)
        case "cache_bytes", int() if not isinstance(value, bool) and value >= 0:
            return value
        case ("unchecked" | "tuned" | "calibrated"), bool():
            return value
        case "database", str() | os.PathLike() if os.fspath(value):
            return os.fspath(value)
    raise WorkbenchError(f"setting {name}={value!r} does not fit; expected {_EXPECTED[name]}")


_EXPECTED = {
    "threads": f"a whole number from 1 to {THREADS_LIMIT}, or None for one per usable core",
    "cache": "a directory, or None for the user's cache directory",
    "compiler": 'a name or path ("gcc", "clang", "zig", "/opt/llvm/bin/clang"), or None to look for one',
    "compile_seconds": "a positive number of seconds",
    "cache_bytes": "a number of bytes, 0 or more",
    "unchecked": "True or False",
    "tuned": "True or False",
    "calibrated": "True or False",
    "database": "a path, a URL of SQLAlchemy, or None for the user's own database",
}
