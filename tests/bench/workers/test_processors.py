"""How far apart processors are."""

import os

import pytest

from bench.workers import processors


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not tell a process's processors")
def test_a_round_trip_takes_nanoseconds_and_leaves_the_process_where_it_was():
    before = os.sched_getaffinity(0)
    found = processors.round_trip()
    assert os.sched_getaffinity(0) == before
    if len(before) > 1 and found is not None:
        assert 1e-9 < found < 1e-4


def test_one_processor_has_nobody_to_hand_to(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert processors.round_trip() is None
