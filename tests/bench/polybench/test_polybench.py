"""`bench.polybench`: thirty kernels with the sizes their texts ask for, results that are finite, one real run."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from bench.polybench import kernels
from bench.polybench.__main__ import main
from bench.polybench.compilers import COMPILERS
from bench.polybench.table import best, markdown
from bench.record import Comparison, Record, Result, Timing, read


@pytest.mark.parametrize("name", kernels.LARGE)
def test_sizes_and_arguments_fit_the_text(name):
    program = wb.from_c(kernels.text(name))
    assert set(kernels.LARGE[name]) == set(program.symbols)
    small = {k: min(v, 12) for k, v in kernels.sizes(name, large=False).items()}
    arrays = [a for a in kernels.arguments(name, program, small) if isinstance(a, np.ndarray)]
    program(*kernels.arguments(name, program, small))
    assert arrays
    found = wb.evaluate_c(program, *kernels.arguments(name, program, small))
    assert all(np.isfinite(a).all() for a in (found if isinstance(found, tuple) else (found,)))


def test_there_are_thirty():
    assert len(kernels.LARGE) == 30


@pytest.mark.slow
def test_a_run_compares_and_leaves_a_record(tmp_path, capsys):
    flags = ["--size", "small", "--threads", "1", "--rounds", "2", "--seconds", "0.001", "--output", str(tmp_path)]
    assert main(["trisolv", *flags]) == 0
    (file,) = tmp_path.glob("*.json")
    (row,) = read(file).comparisons
    assert row.results["workbench"].preallocated
    assert row.results["sequential"].difference == 0
    assert row.ratios["sequential"]["preallocated"] > 0
    assert row.flops == 250 * 249 + 250
    assert "trisolv" in capsys.readouterr().out


def timing(seconds):
    return Timing(seconds, seconds, seconds, seconds, (seconds, seconds), 2)


def row(name, **seconds):
    results = {c: Result(preallocated=timing(s), function=f"{c} flags") for c, s in seconds.items()}
    ratios = {c: {"preallocated": s / seconds["workbench"]} for c, s in seconds.items() if c != "workbench"}
    return Comparison(name, name, {"n": 8}, 1, False, 1000, 0, results, None, ratios)


def test_the_table_names_the_best_and_the_slow(golden):
    rows = (
        row("gemm", workbench=1.0, sequential=4.0, polly=2.0),
        row("atax", workbench=2.0, sequential=1.0, polly=4.0),
    )
    assert [best(r) for r in rows] == [2.0, 0.5]
    machine = {
        "processor": "P",
        "cores": 2,
        "cache_bytes": {"L1d": 32768},
        "vector_bits": 256,
        "system": "S",
        "libc": "L",
    }
    software = {
        "packages": {}, "changed": False, "python": "3", "compiler": "gcc", "flags": ["-O3"], "commit": "c",
    }  # fmt: skip
    golden(markdown(Record(machine, software, {}, {"before": [0.0], "after": [0.0]}, rows, "2026-11-21")))


def test_more_threads_bring_more_flags():
    own = COMPILERS["gcc Graphite"]
    assert "-ftree-parallelize-loops=2" in own.line(2, reassociate=False)
    assert "-ftree-parallelize-loops=1" not in own.line(1, reassociate=False)
    assert "-ffast-math" in own.line(1, reassociate=True)
