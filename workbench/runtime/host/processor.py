"""What this processor is: model, instruction sets, caches, usable cores, read without running a program.

Linux tells through /proc and /sys, macOS through sysctl; every missing fact has a modest default.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from workbench.records import record

DEFAULT_CACHES = (32 << 10, 512 << 10, 8 << 20)


@record(slots=True)
class Processor:
    """Facts about the processor: `features` are all instruction-set names the system reports.

    `cache_bytes` are L1d, L2 and L3 as one core sees them, `cores` the physical cores this process may use.
    """

    model: str
    architecture: str
    features: frozenset[str]
    cores: int
    cache_bytes: tuple[int, int, int]
    line_bytes: int


@cache
def this_processor() -> Processor:
    """The processor that runs this process (memoised)."""
    return _darwin() if sys.platform == "darwin" else linux_processor(Path("/"))


def linux_processor(root: Path) -> Processor:
    """Facts from the /proc and /sys below `root`."""
    entries = _cpuinfo(root)
    caches, line = _linux_caches(root)
    features = entries.get("flags") or entries.get("Features") or ""
    parts = [entries.get(key, "") for key in ("model name", "CPU implementer", "CPU part", "stepping")]
    return Processor(
        model=" ".join(p for p in parts if p) or "unknown",
        architecture=os.uname().machine,
        features=frozenset(features.split()),
        cores=_linux_cores(root),
        cache_bytes=caches,
        line_bytes=line,
    )


def _cpuinfo(root: Path) -> dict[str, str]:
    """The first processor's entries; reading only the start keeps this fast on machines with many cores."""
    try:
        with (root / "proc/cpuinfo").open("rb") as file:
            text = file.read(16384).decode(errors="replace")
    except OSError:
        return {}
    pairs = (line.partition(":") for line in text.split("\n\n")[0].splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _linux_caches(root: Path) -> tuple[tuple[int, int, int], int]:
    """(L1d, L2, L3) bytes and the line size."""
    sizes: list[int] = list(DEFAULT_CACHES)
    line = 64
    for index in (root / "sys/devices/system/cpu/cpu0/cache").glob("index*"):
        level, kind, size = (_word(index / name) for name in ("level", "type", "size"))
        if kind != "Instruction" and level in ("1", "2", "3") and size:
            sizes[int(level) - 1] = _byte_count(size)
            line = int(_word(index / "coherency_line_size") or line)
    return (sizes[0], sizes[1], sizes[2]), line


def _byte_count(text: str) -> int:
    """
    >>> _byte_count("32K"), _byte_count("2M"), _byte_count("100")
    (32768, 2097152, 100)
    """
    scale = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 1)
    return int(text.rstrip("KMG")) * scale


def _linux_cores(root: Path) -> int:
    """Physical cores that affinity and the control group leave to this process."""
    allowed = os.sched_getaffinity(0)
    seen: set[int] = set()
    physical = 0
    for cpu in sorted(allowed):
        if cpu not in seen:
            physical += 1
            listed = _word(root / f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
            seen.update(_cpu_list(listed or str(cpu)))
    return max(1, min(physical, *(int(quota) or 1 for quota in _quotas(root)), len(allowed)))


def _cpu_list(text: str) -> Iterator[int]:
    """
    >>> list(_cpu_list("0-2,8"))
    [0, 1, 2, 8]
    """
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _quotas(root: Path) -> Iterator[float]:
    """CPU quotas, in cores, of the control groups this process is in (versions 1 and 2)."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            yield from _limits(root / "sys/fs/cgroup", path, _quota_of_version_2)
        elif "cpu" in controllers.split(","):
            yield from _limits(root / "sys/fs/cgroup" / controllers, path, _quota_of_version_1)
            yield from _limits(root / "sys/fs/cgroup/cpu", path, _quota_of_version_1)


def _limits(mount: Path, path: str, quota_of: Callable[[Path], float | None]) -> Iterator[float]:
    """Quotas from the group itself up to the mount point (in a container the mount is the group)."""
    group = Path(path.lstrip("/"))
    for place in (group, *group.parents):
        quota = quota_of(mount / place)
        if quota is not None:
            yield quota


def _quota_of_version_2(group: Path) -> float | None:
    quota, _, period = _text(group / "cpu.max").strip().partition(" ")
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None


def _quota_of_version_1(group: Path) -> float | None:
    quota, period = _word(group / "cpu.cfs_quota_us"), _word(group / "cpu.cfs_period_us")
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _word(path: Path) -> str:
    return _text(path).strip()


def _darwin() -> Processor:
    """Facts from sysctl; performance cores stand for the machine."""
    names = ("hw.perflevel0.physicalcpu", "hw.physicalcpu")
    cores = next((n for n in map(_sysctl, names) if n), os.cpu_count() or 1)
    caches = [
        _sysctl("hw.perflevel0.l1dcachesize") or _sysctl("hw.l1dcachesize"),
        _sysctl("hw.perflevel0.l2cachesize") or _sysctl("hw.l2cachesize"),
        _sysctl("hw.l3cachesize"),
    ]
    l1, l2, l3 = (found or default for found, default in zip(caches, DEFAULT_CACHES, strict=True))
    x86 = {"sse4_2": "sse4_2", "avx1_0": "avx", "avx2_0": "avx2", "fma": "fma", "avx512f": "avx512f"}
    features = {name for key, name in x86.items() if _sysctl(f"hw.optional.{key}")}
    if os.uname().machine == "arm64":
        features.add("neon")
    return Processor(
        model=f"{os.uname().machine} family {_sysctl('hw.cpufamily')}",
        architecture=os.uname().machine,
        features=frozenset(features),
        cores=cores,
        cache_bytes=(l1, l2, l3),
        line_bytes=_sysctl("hw.cachelinesize") or 64,
    )


def _sysctl(name: str) -> int:
    """An integer system control of macOS, 0 if there is none."""
    value, size = ctypes.c_int64(0), ctypes.c_size_t(8)
    failed = ctypes.CDLL(None).sysctlbyname(name.encode(), ctypes.byref(value), ctypes.byref(size), None, 0)
    return 0 if failed else value.value
