"""Every test of the tuner has a database of its own."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.tune.measuring import workshop


@pytest.fixture
def database(tmp_path):
    return tmp_path / "trials.sqlite"


@pytest.fixture(autouse=True)
def _one_builder(monkeypatch):
    """A process that builds takes a third of a second to start, in each study of these tests: one will do."""
    monkeypatch.setattr(workshop, "MOST", 1)


@pytest.fixture(autouse=True)
def _own_database(tmp_path):
    with wb.settings(database=tmp_path / "own.sqlite"):
        yield
