"""What is asked of latencies is all there; nothing is said about how long anything takes."""

from __future__ import annotations

import json

import pytest

from bench.latency import rows, step_kinds, stepping


def test_the_first_call_is_split_into_steps_that_add_up(tmp_path):
    cold, warm = (rows._run("bench.latency.first_call", tmp_path) for _ in range(2))
    for steps in (cold, warm):
        whole = steps.pop("all of it")
        assert all(seconds >= 0 for seconds in steps.values())
        assert whole / 2 < sum(steps.values()) <= whole
    assert "compiler" in cold
    assert "compiler" not in warm


def test_the_interactive_steps_are_all_there(tmp_path):
    found = rows._run("bench.latency.interactive", tmp_path, "1")
    names = ["parse", "lower", "dependences", "naive schedule", "C text", "all of it"]
    assert [list(steps) for part in found.values() for steps in part] == [names] * 3


def test_every_limit_of_a_question_about_a_schedule_has_its_times():
    found = stepping.asked(3, stepping.BOUND)
    assert set(rows.STEP_LIMITS) <= set(found)
    assert all(found.values())


def test_a_kind_of_step_has_its_wall_and_cpu_time(monkeypatch):
    start = step_kinds.starts()["product, tiles"]
    monkeypatch.setattr(step_kinds, "starts", lambda: {"product": start})
    monkeypatch.setattr(step_kinds, "KINDS", ("stage",))
    found = step_kinds.measured(1)["stage"]
    assert all(wall > 0 and cpu > 0 and operator.endswith("on product") for wall, cpu, operator in found.taken)
    assert found.row("stage").startswith("stage ")


def test_the_call_is_timed_in_every_form(tmp_path):
    found = rows._run("bench.latency.call_overhead", tmp_path, "1", "0.001")
    assert {"raw", "op(A, B)", "kernel(A, B, out=C)"} <= set(found["matmul 16x16x16"])
    assert all(min(rounds[0]) > 0 for forms in found.values() for rounds in [forms["raw"]])


def test_a_part_that_fails_shows_its_words(tmp_path):
    with pytest.raises(RuntimeError, match="ValueError: invalid literal"):
        rows._run("bench.latency.interactive", tmp_path, "many")


def test_what_the_latencies_print_is_json(tmp_path):
    json.dumps(rows._run("bench.latency.interactive", tmp_path, "1"), allow_nan=False)
