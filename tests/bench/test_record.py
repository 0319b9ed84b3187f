"""A record survives being written, and reads as a table."""

from __future__ import annotations

import doctest
from dataclasses import replace

import pytest

from bench import table
from bench.record import Comparison, Latency, Record, Result, Timing, read


def timing(*medians: float) -> Timing:
    return Timing.of([[m, m, 3 * m] for m in medians], 3 * len(medians))


@pytest.fixture
def record() -> Record:
    results = {
        "workbench": Result(timing(1e-3, 2e-3, 4e-3), timing(1e-3, 1e-3, 1e-3), 0.5, 0.0),
        "numpy": Result(timing(4e-3, 4e-3, 4e-3), None, 0.001, 1e-7, function="softmax"),
        "torch": Result(missing="PyTorch is not installed"),
    }
    row = Comparison(
        "softmax 8x4",
        "softmax",
        {"M": 8, "N": 4},
        1,
        True,
        160,
        256,
        results,
        Result(timing(5e-4), timing(5e-4), 0.0),
        {"numpy": {"fresh": 2.0}},
    )
    late = Latency("call", "op(A, B)", timing(6e-6), 5e-6, "above the raw call")
    machine = {"processor": "a processor", "cores": 2, "cache_bytes": {"L1d": 32768}, "vector_bits": 256}
    software = {"packages": {"numpy": "2.0", "torch": None}, "changed": False, "python": "3.11", "commit": "abc"}
    return Record(
        {**machine, "system": "Linux", "libc": "glibc"},
        {**software, "compiler": "gcc", "flags": ["-O3"]},
        {"rounds": 3},
        {"before": [0.0, 0.0, 0.0], "after": [1.0, 0.5, 0.2]},
        (row, late, Latency("call", "raw", timing(2e-7))),
        "2000-01-01T00:00:00+00:00",
    )


def test_a_timing_is_the_median_of_medians():
    found = Timing.of([[1.0, 1.0, 9.0], [2.0], [3.0, 3.0, 0.5]], 7)
    assert (found.seconds, found.rounds, found.least) == (2.0, (1.0, 2.0, 3.0), 0.5)
    assert found.lower <= found.seconds <= found.upper


def test_a_single_round_is_its_own_spread():
    found = Timing.of([[4.0, 5.0, 6.0]], 3)
    assert (found.lower, found.seconds, found.upper) == (5.0, 5.0, 5.0)


def test_what_was_written_is_read(record, tmp_path):
    record.write(tmp_path / "deep" / "run.json")
    assert read(tmp_path / "deep" / "run.json") == record


@pytest.mark.parametrize(("old", "new"), [('"version": 1', '"version": 2'), ("tensor-workbench", "other")])
def test_another_format_is_refused(record, tmp_path, old, new):
    file = tmp_path / "run.json"
    record.write(file)
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(ValueError, match="version 1"):
        read(file)


def test_an_unknown_field_is_refused(record, tmp_path):
    file = tmp_path / "run.json"
    record.write(file)
    file.write_text(file.read_text().replace('"memory_bound"', '"memory_bounded"'))
    with pytest.raises(TypeError):
        read(file)


def test_a_number_that_json_lacks_is_refused(record, tmp_path):
    wrong = replace(record, rows=(Latency("call", "raw", timing(float("nan"))),))
    with pytest.raises(ValueError, match="not JSON compliant"):
        wrong.write(tmp_path / "run.json")


def test_the_table(record, golden):
    golden(table.markdown(record).rstrip(), ".md")


def test_a_busy_machine_is_named(record):
    busy = replace(record, load={"before": [2.5, 1.0, 1.0], "after": [2.5, 1.0, 1.0]})
    assert "not idle" in table.markdown(busy)
    assert "not idle" not in table.markdown(record)


def test_the_examples_of_the_table_hold():
    assert doctest.testmod(table).failed == 0
