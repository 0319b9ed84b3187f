"""The build cache: one directory per library, named by what it was made from.

An entry is prepared in a staging directory and renamed into place, so it is complete or absent, and several
processes that build the same kernel at once all succeed.  A library whose checksum is not the recorded one is
made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workbench.records import record
from workbench.runtime.compilers.storage import subdirectory
from workbench.settings import current

LIBRARY = "kernel.so"
SOURCE = "kernel.c"
RECORD = "record.json"

PRUNE_EVERY_SECONDS = 3600.0
FRESH_SECONDS = 600.0
STALE_STAGING_SECONDS = 6 * 3600.0


@record(slots=True)
class Entry:
    """A library in the cache, with the source it was compiled from beside it."""

    folder: Path

    @property
    def library(self) -> Path:
        return self.folder / LIBRARY

    @property
    def source(self) -> Path:
        return self.folder / SOURCE

    def sound(self) -> bool:
        """Whether the library is what was stored; touches the entry, so that it counts as used."""
        try:
            record = json.loads((self.folder / RECORD).read_bytes())
            sound = _checksum(self.library) == record["sha256"]
        except (OSError, ValueError, KeyError, TypeError):
            return False
        with suppress(OSError):
            os.utime(self.folder / RECORD)
        return sound


def content_key(*parts: object) -> str:
    """The name of an entry: a digest of everything the library depends on."""
    return hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()[:40]


def find(key: str) -> Entry | None:
    """The entry of that name, if it is there and sound."""
    entry = Entry(subdirectory("kernels") / key)
    return entry if entry.sound() else None


@contextmanager
def staging(root: Path) -> Iterator[Path]:
    """A directory to prepare an entry in; gone afterwards unless `publish` or `put` moved it."""
    folder = Path(tempfile.mkdtemp(dir=root, prefix="staging-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(folder: Path, key: str, description: dict[str, object]) -> Entry:
    """Move a prepared directory (holding the library and its source) into place.

    If another process was first, its entry is used; an unsound one is replaced.
    """
    record = {**description, "sha256": _checksum(folder / LIBRARY)}
    (folder / RECORD).write_text(json.dumps(record, indent=1))
    entry = Entry(folder.parent / key)
    for _ in range(3):
        try:
            folder.rename(entry.folder)
        except OSError:
            if entry.sound():
                return entry
            discard(entry)
        else:
            prune(folder.parent)
            return entry
    raise OSError(None, "the entry could not be put in place", str(entry.folder))


def put(folder: Path, place: Path) -> None:
    """Move a prepared directory into place, unless another process was first: both were made from the same."""
    try:
        folder.rename(place)
    except OSError:
        if not place.is_dir():
            raise


def discard(entry: Entry) -> None:
    """Drop an entry; a process that has it loaded keeps its copy."""
    doomed = entry.folder.with_name(f"staging-{os.getpid()}-{time.monotonic_ns()}")
    with suppress(OSError):
        entry.folder.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def prune(root: Path) -> None:
    """Once in a while, drop the entries used longest ago until the rest fits `settings.cache_bytes`."""
    marker = root / "pruned"
    now = time.time()
    if now - _modified(marker) < PRUNE_EVERY_SECONDS:
        return
    with suppress(OSError):
        marker.touch()
    _drop_stale_staging(root, now)
    entries = sorted((_modified(e / RECORD), e) for e in root.iterdir() if e.is_dir() and len(e.name) == 40)
    sizes = {entry: _size(entry) for _, entry in entries}
    excess = sum(sizes.values()) - current().cache_bytes
    for used, entry in entries:
        if excess <= 0 or now - used < FRESH_SECONDS:
            return
        discard(Entry(entry))
        excess -= sizes[entry]


def _drop_stale_staging(root: Path, now: float) -> None:
    """What killed processes left behind."""
    for folder in root.glob("staging-*"):
        if now - _modified(folder) > STALE_STAGING_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _size(folder: Path) -> int:
    with suppress(OSError):
        return sum(file.stat().st_size for file in folder.iterdir())
    return 0
