"""Files of an export: folders that are made, texts, and libraries that are replaced while programs have them loaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path

from workbench.errors import WorkbenchError, shown


def folder_of(directory: str | PathLike[str]) -> Path:
    """The directory, made if it is not there; WorkbenchError if it cannot be."""
    try:
        folder = Path(directory).expanduser().absolute()
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as reason:
        raise WorkbenchError(f"directory={shown(directory)} cannot be written: a file has that name") from reason
    except (TypeError, OSError) as reason:
        raise WorkbenchError(f"directory={shown(directory)} cannot be written: {reason}") from reason
    return folder


def write_files(folder: Path, files: Mapping[str, str]) -> Iterator[Path]:
    """Write texts to their places below a folder; the paths."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        yield path


def put_file(made: Path, place: Path) -> Path:
    """Copy a file to its place at one blow: a program that runs keeps the one it has loaded."""
    place.parent.mkdir(parents=True, exist_ok=True)
    staged = place.with_name(f".{place.name}")
    shutil.copy2(made, staged)
    return staged.replace(place)
