"""Where built kernels live: a directory private to the user, or a temporary one when that cannot be had."""

from __future__ import annotations

import atexit
import errno
import os
import re
import shutil
import stat
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

from workbench.errors import BuildError
from workbench.runtime.host.locks import Lock
from workbench.settings import current

# The layout below the cache directory has a version, so that later formats never meet older files.
LAYOUT = "v1"

# Reasons to go on in a temporary directory instead of failing.
UNUSABLE = frozenset({
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST,
    errno.ELOOP, errno.ENAMETOOLONG, errno.EIO, errno.EINVAL,
})  # fmt: skip

_DISK_FULL = r"(?i)No space left on device|Disk quota exceeded|Read-only file system|File size limit exceeded"

# What a compiler may need for one kernel.
ROOM_BYTES = 1 << 20

_replaced: dict[Path, Path] = {}
_replacing = Lock()


def storage() -> Path:
    """The directory for everything kept on disk; it exists and only this user can enter it.

    Raises BuildError if the directory belongs to someone else.  A directory that cannot be made or written is
    replaced by a temporary one for the rest of the process, with one warning.
    """
    wanted = requested()
    if wanted in _replaced:
        return _replaced[wanted]
    try:
        return _private(wanted)
    except OSError as reason:
        return give_up(wanted, reason)


def requested() -> Path:
    """The directory that the settings ask for, whether or not it can be used."""
    chosen = current().cache
    return (chosen if chosen is not None else default_directory()) / LAYOUT


def in_use() -> Path:
    """The directory that `storage()` gives, which need not exist yet: the requested one, or what replaced it."""
    wanted = requested()
    return _replaced.get(wanted, wanted)


def give_up(failed: Path, reason: OSError) -> Path:
    """The temporary directory that stands in for `failed` from now on; says so once.

    Raises BuildError when there is no reason to hope that it would do better.
    """
    if reason.errno not in UNUSABLE or failed in _replaced.values():
        raise BuildError(_NO_PLACE.format(reason)) from reason
    with _replacing:
        if failed not in _replaced:
            _replaced[failed] = _temporary()
            _warn_replaced(failed, reason)
    return _replaced[failed]


_NO_PLACE = "no place to build kernels: {}. Free space, or choose a directory with settings(cache=...)"


def _warn_replaced(failed: Path, reason: OSError) -> None:
    warnings.warn(
        f"the build cache {failed.parent} cannot be used ({reason.strerror or reason}); kernels are kept in "
        "a temporary directory until this process ends. Free space, or choose another place with "
        "settings(cache=...) or WORKBENCH_CACHE.",
        RuntimeWarning,
        stacklevel=4,
    )


@cache
def default_directory() -> Path:
    """The user's cache directory for this project."""
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/tensor-workbench"
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else _home() / ".cache") / "tensor-workbench"


def default_database() -> Path:
    """The user's own database of tuned schedules; it need not exist."""
    return (current().cache or default_directory()) / "tuning.sqlite"


def write_file(path: Path, content: bytes) -> None:
    """Write a file so that no reader ever sees half of it."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def is_full(folder: Path, said: str) -> bool:
    """Whether a compiler that failed, and said so much, had no room for its files in `folder`.

    A compiler says it in words when the disk is full, but on a full disk its words may be lost as well.
    """
    if re.search(_DISK_FULL, said):
        return True
    probe = folder / "room"
    try:
        probe.write_bytes(bytes(ROOM_BYTES))
    except OSError:
        return True
    finally:
        probe.unlink(missing_ok=True)
    return False


def subdirectory(name: str) -> Path:
    """A directory below `storage()`, made when missing."""
    root = storage()
    try:
        return _made(root / name)
    except OSError as reason:
        return _made(give_up(root, reason) / name)


def _made(path: Path) -> Path:
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def _private(path: Path) -> Path:
    """Make a directory that is ours alone, or see that it is."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "it is not a directory", str(path))
    if status.st_uid != os.getuid():
        raise BuildError(
            f"the build cache {path} belongs to another user (uid {status.st_uid}); code from it will not be "
            "run. Choose a directory of your own with settings(cache=...) or WORKBENCH_CACHE."
        )
    if stat.S_IMODE(status.st_mode) & (stat.S_IWGRP | stat.S_IWOTH):
        _discard_untrusted(path)
    if stat.S_IMODE(status.st_mode) != 0o700:
        path.chmod(0o700)
    if not os.access(path, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "it cannot be written", str(path))
    return path


def _discard_untrusted(path: Path) -> None:
    """Drop what is in a directory that others could write: a library planted there would run as us."""
    path.chmod(0o700)
    for entry in path.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    warnings.warn(
        f"the build cache {path} could be written by other users; what was in it is not trusted and was removed.",
        RuntimeWarning,
        stacklevel=5,
    )


@cache
def _temporary() -> Path:
    """A private directory that goes away with the process."""
    try:
        path = Path(tempfile.mkdtemp(prefix="tensor-workbench-"))
    except OSError as reason:
        raise BuildError(_NO_PLACE.format(reason)) from reason
    atexit.register(_remove, path, os.getpid())
    return path


def _remove(path: Path, owner: int) -> None:
    """Remove the temporary directory, but not from a forked child."""
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")
