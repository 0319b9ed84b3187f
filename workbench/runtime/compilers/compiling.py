"""From C text to a loaded library: look in the cache, else run the compiler."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import MutableMapping
from pathlib import Path

from workbench.errors import BuildError
from workbench.records import record
from workbench.runtime.compilers.complaints import complaint, failure
from workbench.runtime.compilers.entries import LIBRARY, SOURCE, Entry, discard, find, publish, staging
from workbench.runtime.compilers.job import Job
from workbench.runtime.compilers.probing import compiler_variables
from workbench.runtime.compilers.storage import give_up, is_full, storage, subdirectory, write_file
from workbench.runtime.host.locks import Lock
from workbench.runtime.host.processes import CannotStart, run_limited
from workbench.settings import current


@record(slots=True)
class Library:
    """A loaded library: its file, and whether it came out of the cache."""

    path: Path
    handle: ctypes.CDLL
    cached: bool


def load(job: Job) -> Library:
    """The library of a job, compiled if the cache does not have it.

    Raises BuildError if the compiler is missing, refuses the text, crashes or exceeds its time limit, or if
    there is no place to write.
    """
    key = job.key
    with _locks.setdefault(key, Lock()):
        loaded = _loaded.get(key)
        if loaded is None:
            loaded = _loaded[key] = _from_cache(key) or _from_compiler(job, key)
        return loaded


def load_known(key: str) -> Library | None:
    """The library of a job by its key, without its text; None if the cache does not have it."""
    with _locks.setdefault(key, Lock()):
        found = _loaded.get(key) or _from_cache(key)
        if found is not None:
            _loaded[key] = found
        return found


# Libraries of this process.  They stay loaded: arrays of function pointers into them may be anywhere.
_loaded: dict[str, Library] = {}


# One lock a library, so that two threads do not compile the same text.
_locks: dict[str, Lock] = {}


def _from_cache(key: str) -> Library | None:
    entry = find(key)
    if entry is None:
        return None
    if not _complete(entry.library):
        discard(entry)
        return None
    try:
        return Library(entry.library, loaded_library(entry.library), cached=True)
    except OSError:
        discard(entry)
        return None


def _from_compiler(job: Job, key: str) -> Library:
    """Compile and load; where the cache cannot be used for either, once more in a temporary directory."""
    root = storage()
    try:
        return _compiled(job, key)
    except OSError as reason:
        give_up(root, reason)
    try:
        return _compiled(job, key)
    except OSError as reason:
        raise BuildError(f"kernel {job.name!r} cannot be built: {reason}") from reason


def _compiled(job: Job, key: str) -> Library:
    with staging(subdirectory("kernels")) as folder:
        write_file(folder / SOURCE, job.text.encode())
        _run_compiler(job, folder)
        entry = publish(folder, key, job.description())
    return _opened(job, entry)


def _run_compiler(job: Job, folder: Path) -> None:
    """Run the compiler in the staging directory; an OSError means that the directory is the trouble."""
    limit = current().compile_seconds
    try:
        finished = run_limited(job.command(), limit, folder, {**compiler_variables(), "TMPDIR": str(folder)})
    except CannotStart as reason:
        raise BuildError(f"the compiler {job.toolchain.command[0]} cannot be started: {reason}") from reason
    if finished.code != 0 and is_full(folder, finished.output):
        raise OSError(errno.ENOSPC, "No space left on device", str(folder))
    if finished.code != 0:
        raise BuildError(failure(job, finished, limit))
    if not _complete(folder / LIBRARY):
        raise BuildError(complaint(job, "said that all is well but wrote no library", finished.output))


def _opened(job: Job, entry: Entry) -> Library:
    try:
        return Library(entry.library, loaded_library(entry.library), cached=False)
    except OSError as reason:
        discard(entry)
        if "failed to map" in str(reason) or "not permitted" in str(reason):
            # A file system mounted noexec: another directory may do.
            raise OSError(errno.EACCES, "libraries cannot be run from it", str(entry.folder)) from reason
        raise BuildError(complaint(job, f"wrote a library that cannot be loaded: {reason}", "")) from reason


def _complete(library: Path) -> bool:
    """Whether the file is there and not cut short: loading half a library would crash the interpreter."""
    try:
        content = library.read_bytes()
    except OSError:
        return False
    if content[:5] == b"\x7fELF\x02":
        section_headers = int.from_bytes(content[40:48], "little")
        size, count = (int.from_bytes(content[at : at + 2], "little") for at in (58, 60))
        return len(content) >= section_headers + size * count
    return content[:4] in (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


def loaded_library(library: Path) -> ctypes.CDLL:
    """The shared library in this process."""
    wait_briefly()
    return ctypes.CDLL(str(library))


# -- How OpenMP's threads wait for work --
# GCC's runtime lets a waiting thread spin for milliseconds before it sleeps.  While other processes use the cores, the
# spinning thread keeps from running the one it waits for: products of a few milliseconds took forty.

SPINS = "2000"
"""Fifty to a hundred microseconds where a pause takes 25 to 50 ns, as on the processors of today; less on old ones.

Longer than from one parallel loop to the next, and no longer than waking a thread takes a few times over.  A system
that is busy may put both threads on one processor: then each loop waits for all spins (10 000 took half a
millisecond, where a team that OpenMP throttles, having more threads than processors, took 24 µs).
"""


def wait_briefly(environment: MutableMapping[str, str] = os.environ) -> None:
    """Let threads sleep soon, unless the user has said how they shall wait.

    The runtime reads this once, when the first kernel is loaded; if another library brought it in before, nothing
    changes.
    """
    if "OMP_WAIT_POLICY" not in environment:
        environment.setdefault("GOMP_SPINCOUNT", SPINS)
