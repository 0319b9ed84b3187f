"""A cheap start for islpy.

When it is imported, islpy asks `importlib.metadata` for its own version, which loads the packages for e-mail and
archives: 30 ms of every start.  The name of the folder beside it says the same.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


def prepare() -> None:
    """Put the module that knows islpy's version in its place; nothing where the folder does not say it plainly."""
    spec = find_spec("islpy")
    if "islpy" in sys.modules or spec is None or spec.origin is None:
        return
    found = [path.stem for path in Path(spec.origin).parent.parent.glob("islpy-*.dist-info")]
    numbers = found[0].removeprefix("islpy-").split(".") if len(found) == 1 else [""]
    if not all(part.isdecimal() for part in numbers):
        return
    module = ModuleType("islpy.version")
    values = {"VERSION_TEXT": ".".join(numbers), "VERSION": tuple(map(int, numbers)), "VERSION_STATUS": ""}
    vars(module).update(values)
    sys.modules["islpy.version"] = module
