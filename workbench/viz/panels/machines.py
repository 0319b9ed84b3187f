"""The machine that a panel counts and writes code for, as the front end's sliders set it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.errors import WorkbenchError, shown
from workbench.runtime import this_machine
from workbench.target import Target
from workbench.viz.messages.counting import Machine

KEYS = ("vector_bits", "cache_bytes", "line_bytes")


def machine_payload(target: Target) -> Machine:
    """What can be changed of a machine."""
    return {
        "vector_bits": target.vector_bits, "cache_bytes": list(target.cache_bytes), "line_bytes": target.line_bytes,
    }  # fmt: skip


def machine_target(value: Mapping[str, Any], of: Target | None = None) -> Target:
    """A machine (this one by default) with what a payload changes; WorkbenchError for one that cannot be."""
    if not isinstance(value, Mapping) or set(value) - set(KEYS):
        raise WorkbenchError(f"a panel's machine is a dict of {', '.join(KEYS)}, not {shown(value)}")
    changed = {key: tuple(v) if isinstance(v, list) else v for key, v in value.items()}
    return replace(of or this_machine(), **changed)
