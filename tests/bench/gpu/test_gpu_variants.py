"""Candidate schedules on a GPU: what is tried first, and that one that crashes, hangs or fails costs nobody else."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from bench.gpu import variants
from bench.gpu.cases import CASES
from bench.gpu.variant_choices import PEER, VARIANTS
from bench.gpu.variants import DEFAULT, planned, run_all, schedule_of, table
from workbench.runtime.compilers.nvrtc import nvrtc

forks = pytest.mark.skipif(sys.platform == "win32", reason="install a system that forks processes")
SOFTMAX = "softmax 32768x2048"


def test_peer_and_default_of_every_case_are_first_and_then_the_first_variants():
    plan = planned("")
    assert {case for case, _, _ in plan} == {*VARIANTS} <= {case.name for case in CASES}
    assert {label for _, label, _ in plan[: 2 * len(VARIANTS)]} == {DEFAULT, PEER}
    first = [label for _, label, _ in plan[2 * len(VARIANTS) : 3 * len(VARIANTS)]]
    assert first == [next(iter(rows)) for rows in VARIANTS.values()]
    assert {case for case, _, _ in planned("tmm 128x1024")} == {"tmm 128x1024x1024"}


def test_a_decision_that_nobody_asks_for_is_a_mistake():
    case = variants.case_named(SOFTMAX)
    with pytest.raises(ValueError, match=r"nobody asked for rocket; asked: .*top_init_threads"):
        schedule_of(case, {"rocket": 1}, "h200")
    assert schedule_of(case, {"top_init_threads": 512}, "h200") != schedule_of(case, {}, "h200")


def _measured(named: variants.Named, lock: Path, *, dry: bool) -> variants.Entry:
    match named[1]:
        case "crashes":
            os._exit(7)
        case "hangs":
            time.sleep(60)
        case "fails":
            raise MemoryError("none left")
    return {"microseconds": 5.0}


@forks
def test_what_crashes_hangs_or_fails_is_told_and_the_others_go_on(monkeypatch):
    monkeypatch.setattr(variants, "measured", _measured)
    monkeypatch.setattr(variants, "VARIANT_SECONDS", 2)
    plan = [("case", label, {}) for label in ("hangs", "crashes", "fails", "one", "two")]
    found = {named[1]: entry for named, entry in run_all(plan, 60, 2, dry=False)}
    assert found["one"] == found["two"] == {"microseconds": 5.0}
    assert found["hangs"] == {"failed": "stopped after 2 s"}
    assert found["crashes"] == {"failed": "exit status 7"}
    assert found["fails"] == {"failed": "MemoryError: none left"}


@forks
def test_the_time_for_all_of_it_is_kept(monkeypatch):
    monkeypatch.setattr(variants, "measured", _measured)
    started = time.monotonic()
    assert list(run_all([("case", "hangs", {})] * 3, 1, 1, dry=False)) == []
    assert time.monotonic() - started < 20


def test_the_fastest_is_on_top_and_what_is_wrong_is_said():
    resources = "sm_90\nhead\nkernel 256 119 0 + 0 0 49920 2 25% registers"
    rows = {
        PEER: {"microseconds": 10.0}, "slow": {"microseconds": 20.0, "error": 1e-7, "right": True},
        "fast": {"microseconds": 5.0, "error": 3.0, "right": False, "resources": resources},
        "none": {"failed": "MemoryError"},
    }  # fmt: skip
    lines = table({"case": rows}).splitlines()
    assert lines[4:] == [
        "| fast | 5 | 2.00 | 3.0e+00 WRONG | 256 thr 119 reg 0+0 sp 49920 B 2 bl |",
        "| torch | 10 | 1.00 |  |  |", "| slow | 20 | 0.50 | 1.0e-07  |  |", "| none |  |  | MemoryError |  |",
    ]  # fmt: skip


@forks
@pytest.mark.slow
def test_a_dry_run_compiles_and_writes_what_kernels_take(tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="install torch to compare with PyTorch")
    if nvrtc() is None:
        pytest.skip("install nvidia-cuda-nvrtc to compile CUDA text")
    monkeypatch.setenv("OUT", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert variants.main(["--dry", "--only", "softmax", "--workers", "1", "--seconds", "300"]) == 0
    (file,) = tmp_path.glob("*.json")
    found = json.loads(file.read_text())[SOFTMAX]
    assert {*found} == {DEFAULT, PEER, *VARIANTS[SOFTMAX]}
    assert all("schedule" in entry for label, entry in found.items() if label != PEER)
