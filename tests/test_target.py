"""Targets: GPUs by name, their limits, and what is said of a name that is not known."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.codegen.generation import PLAIN
from workbench.errors import WorkbenchError
from workbench.target_gpus import CAPABILITIES, GPUS


@pytest.mark.parametrize("name", GPUS)
def test_a_gpu_is_a_target_by_its_name(name: str) -> None:
    target, gpu = wb.Target(name), GPUS[name]
    assert (target.dialect, target.gpu, target.cores) == ("cuda", gpu, gpu.multiprocessors)
    assert target.march == f"sm_{gpu.capability.replace('.', '')}"
    assert gpu.capability in CAPABILITIES
    assert gpu.static_shared_bytes <= target.shared_bytes == gpu.block_shared_bytes
    assert gpu.block_shared_bytes + gpu.reserved_shared_bytes <= gpu.shared_bytes
    assert gpu.warps * gpu.warp_threads >= gpu.block_threads
    assert 0.1 < (gpu.peak("float32") or 0) < (gpu.peak("float16 tensor") or gpu.peak("float16") or 0)


def test_peaks_are_those_of_the_cores() -> None:
    """Two operations a cycle on each of the 128 (Volta, Turing, Pascal and the A100: 64) lanes of a multiprocessor."""
    for gpu in GPUS.values():
        lanes = 64 if gpu.capability in ("6.0", "7.0", "7.5", "8.0") else 128
        counted = 2e-6 * lanes * gpu.multiprocessors * gpu.clock_mhz
        assert (gpu.peak("float32") or 0) == pytest.approx(counted, rel=0.1), gpu.name


def test_what_is_said_stays_as_it_was_for_c() -> None:
    assert wb.Target().gpu is None
    assert wb.Target().shared_bytes == 0
    assert wb.Target("mine", vector_bits=256).dialect == "c"
    assert all(wb.Target(name) == target for name, target in PLAIN.items())
    assert wb.Target("h200", cores=4).cores == 4


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(WorkbenchError, match=r"unknown target 'h300'; did you mean 'h200'\? known: c, .*t4.*rtx4090"):
        wb.Target("h300")
