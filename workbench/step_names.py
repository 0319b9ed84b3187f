"""The names of a schedule's steps, read off their files: `schedules/steps/order/tile.py` holds `tile` and `Tile`.

So a file is all that a step needs; nothing is imported to know what there is.
"""

from __future__ import annotations

from os import scandir
from pathlib import Path

KINDS = ("order", "instances", "storage", "execution")


def step_modules(folder: Path) -> dict[str, str]:
    """Step → its module below the package of steps, which stands in `folder`: `tile` → `order.tile`."""
    found = {
        entry.name.removesuffix(".py"): f"{kind}.{entry.name.removesuffix('.py')}"
        for kind in KINDS
        for entry in scandir(folder / kind)
        if entry.name.endswith(".py") and not entry.name.startswith("_")
    }
    return dict(sorted(found.items()))


def class_of(step: str) -> str:
    """The class of a step.

    >>> class_of("add_unit_loop")
    'AddUnitLoop'
    """
    return "".join(word.capitalize() for word in step.split("_"))


STEPS = step_modules(Path(__file__).parent / "schedules" / "steps")
"""Every step there is, by name."""
