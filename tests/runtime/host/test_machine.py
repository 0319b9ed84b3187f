"""What is read of a processor, on this machine and on made-up ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbench.errors import WorkbenchError
from workbench.runtime.host.machine import lesser, processor_target, this_machine, thread_count
from workbench.runtime.host.processor import Processor, linux_processor, this_processor
from workbench.settings import settings
from workbench.target import Target

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="reads /proc and /sys: needs Linux")


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


CPUINFO = """processor\t: 0
model name\t: Made Up 9000
flags\t\t: fpu sse2 avx avx2 fma avx512f

processor\t: 1
flags\t\t: none
"""


@pytest.fixture
def four(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of two cores with two threads each."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    write(tmp_path, {"proc/cpuinfo": CPUINFO})
    for cpu, siblings in enumerate(("0,2", "1,3", "0,2", "1,3")):
        write(tmp_path, {f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list": f"{siblings}\n"})
    for index, (level, kind, size) in enumerate(
        [(1, "Data", "48K"), (1, "Instruction", "64K"), (2, "Unified", "2M"), (3, "Unified", "1G")]
    ):
        place = f"sys/devices/system/cpu/cpu0/cache/index{index}"
        write(tmp_path, {f"{place}/level": f"{level}", f"{place}/type": kind, f"{place}/size": size,
                         f"{place}/coherency_line_size": "128"})  # fmt: skip
    return tmp_path


def test_facts_of_a_made_up_machine(four: Path) -> None:
    found = linux_processor(four)
    assert found.model == "Made Up 9000"
    assert found.cores == 2
    assert found.cache_bytes == (48 << 10, 2 << 20, 1 << 30)
    assert found.line_bytes == 128
    target = processor_target(found)
    assert (target.vector_bits, target.vector_registers) == (512, 32)
    assert target.isa == ("sse2", "avx", "fma", "avx2", "avx512f")


def test_affinity_is_respected(four: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for allowed, cores in (({0, 2}, 1), ({0, 1}, 2), ({3}, 1)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, allowed=allowed: allowed)
        assert linux_processor(four).cores == cores


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"proc/self/cgroup": "0::/box\n", "sys/fs/cgroup/box/cpu.max": "100000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/box/inner\n", "sys/fs/cgroup/box/cpu.max": "150000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/box\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/box\n", "sys/fs/cgroup/box/cpu.max": "max 100000\n"}, 2),
        ({"proc/self/cgroup": "0::/box\n", "sys/fs/cgroup/box/cpu.max": "800000 100000\n"}, 2),
        ({"proc/self/cgroup": "3:cpu,cpuacct:/b\n", "sys/fs/cgroup/cpu,cpuacct/b/cpu.cfs_quota_us": "100000",
          "sys/fs/cgroup/cpu,cpuacct/b/cpu.cfs_period_us": "100000"}, 1),
        ({"proc/self/cgroup": "3:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
          "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"}, 2),
    ],
)  # fmt: skip
def test_quotas_of_control_groups_are_respected(four: Path, files: dict[str, str], cores: int) -> None:
    write(four, files)
    assert linux_processor(four).cores == cores


def test_a_machine_that_says_nothing_gets_modest_defaults(tmp_path: Path) -> None:
    found = linux_processor(tmp_path)
    assert found.cores >= 1
    assert found.cache_bytes == (32 << 10, 512 << 10, 8 << 20)
    target = processor_target(found)
    assert (target.vector_bits, target.isa) == (128, ())


def test_arm_features_take_their_usual_names() -> None:
    features = frozenset({"asimd", "asimddp", "sve", "fp"})
    target = processor_target(Processor("arm", "aarch64", features, 4, (1, 2, 3), 64))
    assert target.isa == ("neon", "dotprod", "sve")
    assert (target.vector_bits, target.vector_registers) == (128, 32)


def test_this_machine_is_known_once() -> None:
    assert this_machine() is this_machine()
    assert this_machine().cores <= len(os.sched_getaffinity(0))
    assert this_processor().features


def test_threads_of_a_call() -> None:
    with settings(threads=3):
        assert thread_count() == 3
    assert thread_count() >= 1


def test_a_lesser_processor_stands_for_this_one_where_it_is_asked_for():
    isa = Target("avx512").isa
    large = Target(vector_bits=512, vector_registers=32, isa=isa, cores=4, cache_bytes=(48 << 10, 1 << 20, 32 << 20))
    found = lesser(large, "avx2")
    assert (found.vector_bits, found.vector_registers, found.march) == (256, 16, "haswell")
    assert (found.cores, found.cache_bytes) == (large.cores, large.cache_bytes)
    with pytest.raises(WorkbenchError, match="this processor has no neon; unset it"):
        lesser(large, "neon")
    with pytest.raises(WorkbenchError, match=r"unknown processor 'avx3'.*known: avx2"):
        lesser(large, "avx3")

