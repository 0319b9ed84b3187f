"""Every test of the tuner has a database of its own."""

from __future__ import annotations

import pytest

import workbench as wb


@pytest.fixture
def database(tmp_path):
    return tmp_path / "trials.sqlite"


@pytest.fixture(autouse=True)
def _own_database(tmp_path):
    with wb.settings(database=tmp_path / "own.sqlite"):
        yield
