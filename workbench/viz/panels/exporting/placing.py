"""Files into a directory of somebody's, where others may stand already."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from workbench.errors import WorkbenchError, shown
from workbench.export.dispatch.files import folder_of, put_file


def target_of(directory: object) -> Path:
    """The directory, made if it is not there; WorkbenchError if it cannot be."""
    if not isinstance(directory, str) or not directory.strip():
        raise WorkbenchError(f"directory={shown(directory)} names no place; expected one such as './kernel_c'")
    return folder_of(directory.strip())


def in_the_way(files: Mapping[str, Path], target: Path, own: Mapping[Path, str]) -> list[str]:
    """The files that would be replaced by others, apart from those that still are as we wrote them (`own`)."""
    return [name for name, new in files.items() if _differs(target / name, new, own)]


def _differs(there: Path, new: Path, own: Mapping[Path, str]) -> bool:
    if not os.path.lexists(there):
        return False
    if not there.is_file():
        return True
    return not filecmp.cmp(there, new, shallow=False) and own.get(there) != _digest(there)


def put(files: Mapping[str, Path], target: Path) -> dict[Path, str]:
    """Copy each to its place; their digests.  WorkbenchError where one cannot be written."""
    try:
        placed = [put_file(path, target / name) for name, path in files.items()]
    except OSError as reason:
        raise WorkbenchError(f"directory={shown(str(target))} cannot be written: {reason}") from reason
    return {path: _digest(path) for path in placed}


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
