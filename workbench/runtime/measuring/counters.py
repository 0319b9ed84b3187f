"""Hardware counters around a piece of work: cycles, instructions, misses, page faults, as far as the kernel allows.

Linux's `perf_event_open`, for every thread of this process, without what the kernel itself does.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from workbench.records import record

HARDWARE, SOFTWARE, CACHE = 0, 1, 3  # kinds of events
EVENTS: dict[str, tuple[int, int]] = {
    "cycles": (HARDWARE, 0),
    "instructions": (HARDWARE, 1),
    "L1 misses": (CACHE, 0x10000),  # of the first data cache, by reads
    "LLC misses": (HARDWARE, 3),
    "page faults": (SOFTWARE, 2),
}
NUMBERS = {"x86_64": 298, "aarch64": 241}  # of the system call
ATTRIBUTE = struct.Struct("=IIQQQQQIIQ")  # perf_event_attr as it was first: 64 bytes
READ_FORMAT = 1 | 2  # how long it was enabled, and how long it ran
FLAGS = 1 | 1 << 1 | 1 << 5 | 1 << 6  # disabled at first, threads that begin later too, neither kernel nor hypervisor
CLOSE_ON_EXEC = 8
ENABLE, DISABLE = 0x2400, 0x2401
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
TASKS = Path("/proc/self/task")


@record
class Counts:
    """Events of a call by name; `missing` says in one line what could not be counted, and why."""

    events: Mapping[str, float]
    missing: str = ""


@record
class Kernel:
    """What the operating system is asked by: open an event (attribute, thread) as a descriptor or raise OSError,
    control it, read it, close it.
    """

    open: Callable[[bytes, int], int]
    control: Callable[[int, int], object]
    read: Callable[[int], bytes]
    close: Callable[[int], None]


def _open(attribute: bytes, thread: int) -> int:
    number = NUMBERS.get(platform.machine())
    if number is None or platform.system() != "Linux":
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    call = ctypes.CDLL(None, use_errno=True).syscall
    found = call(number, ctypes.c_char_p(attribute), ctypes.c_int(thread), -1, -1, ctypes.c_ulong(CLOSE_ON_EXEC))
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found


def _control(descriptor: int, request: int) -> object:
    from fcntl import ioctl  # which Windows has not

    return ioctl(descriptor, request, 0)


LINUX = Kernel(_open, _control, lambda descriptor: os.read(descriptor, 24), os.close)


def hardware_counts(work: Callable[[], object], calls: int, kernel: Kernel = LINUX) -> Counts:
    """What the hardware counted while `work` made so many calls, each event a call; the work is always done."""
    opened: dict[str, list[int]] = {}
    refused: dict[str, OSError] = {}
    for name in EVENTS:
        try:
            opened[name] = _opened(name, kernel)
        except OSError as error:
            refused[name] = error
    every = [descriptor for own in opened.values() for descriptor in own]
    try:
        for descriptor in every:
            kernel.control(descriptor, ENABLE)
        work()
        for descriptor in every:
            kernel.control(descriptor, DISABLE)
        read = {name: [_scaled(kernel.read(d)) for d in own] for name, own in opened.items()}
    finally:
        for descriptor in every:
            kernel.close(descriptor)
    ran = {name: [v for v in own if v is not None] for name, own in read.items()}
    events = {name: sum(own) / calls for name, own in ran.items() if own}
    return Counts(events, _missing(refused, [name for name in opened if name not in events]))


def _opened(name: str, kernel: Kernel) -> list[int]:
    """An event in every thread of this process: those that exist are not counted with the one that opens it."""
    kind, config = EVENTS[name]
    attribute = ATTRIBUTE.pack(kind, ATTRIBUTE.size, config, 0, 0, READ_FORMAT, FLAGS, 0, 0, 0)
    found: list[int] = []
    for thread in _threads():
        try:
            found.append(kernel.open(attribute, thread))
        except ProcessLookupError:  # it ended meanwhile
            continue
        except OSError:
            for descriptor in found:
                kernel.close(descriptor)
            raise
    return found


def _threads() -> list[int]:
    with suppress(OSError):
        return [int(entry.name) for entry in TASKS.iterdir()]
    return [0]


def _scaled(content: bytes) -> float | None:
    """The value, scaled where counters were shared in turn; None where it never ran."""
    value, enabled, running = struct.unpack("=QQQ", content)
    return value * (enabled / running) if running else (None if enabled else 0.0)


def _missing(refused: Mapping[str, OSError], never: list[str]) -> str:
    said: dict[str, list[str]] = {}
    for name, error in refused.items():
        said.setdefault(_why(error), []).append(name)
    if never:
        said.setdefault("the processor had no counter free", []).extend(never)
    return "; ".join(f"{', '.join(names)}: {why}" for why, names in said.items())


def _why(error: OSError) -> str:
    match error.errno:
        case errno.EACCES | errno.EPERM:
            return f"not allowed here{_level()}"
        case errno.ENOENT | errno.EOPNOTSUPP | errno.ENODEV | errno.EINVAL:
            return "this machine has no such counter (virtual ones often have none)"
        case errno.ENOSYS:
            return "this system has no perf_event_open"
    return str(error)


def _level() -> str:
    with suppress(OSError):
        return f" (/proc/sys/kernel/perf_event_paranoid is {PARANOID.read_text().strip()}, 2 or less allows it)"
    return ""
