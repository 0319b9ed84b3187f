"""Settings: scoping, validation, environment."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from workbench.errors import WorkbenchError
from workbench.settings import Settings, current, settings


def test_a_change_ends_with_its_block() -> None:
    before = current()
    with settings(threads=3) as inside:
        assert inside.threads == current().threads == 3
        with settings(unchecked=True):
            assert (current().threads, current().unchecked) == (3, True)
    assert current() == before


def test_a_change_ends_when_the_block_raises() -> None:
    before = current()
    with pytest.raises(RuntimeError), settings(threads=3):
        raise RuntimeError
    assert current() == before


def test_threads_do_not_see_each_other() -> None:
    seen = []
    with settings(threads=7):
        thread = threading.Thread(target=lambda: seen.append(current().threads))
        thread.start()
        thread.join()
    assert seen == [Settings().threads]


def test_an_unknown_name_lists_the_known_ones() -> None:
    message = r"unknown setting 'thread'; did you mean 'threads'\? known: threads, cache"
    with pytest.raises(WorkbenchError, match=message), settings(thread=2):
        pass


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threads", 0), ("threads", True), ("threads", 2.0), ("threads", "2"), ("cache", 3), ("cache", ""),
        ("compiler", 1), ("compile_seconds", 0), ("compile_seconds", float("nan")), ("unchecked", 1),
        ("unchecked", None), ("cache_bytes", -1),
    ],
)  # fmt: skip
def test_values_that_do_not_fit(name: str, value: object) -> None:
    message = f"setting {name}=.* does not fit; expected "
    with pytest.raises(WorkbenchError, match=message), settings(**{name: value}):
        pass


def test_values_take_their_type(tmp_path: Path) -> None:
    with settings(cache=str(tmp_path), compile_seconds=3):
        assert current().cache == tmp_path
        assert current().compile_seconds == 3.0


@pytest.mark.parametrize(
    ("value", "expected"),
    [("5", "5"), ("", "None"), ("five", "WORKBENCH_THREADS='five' is not a whole number")],
)
def test_the_environment_gives_defaults(value: str, expected: str) -> None:
    code = "from workbench.settings import current; print(current().threads)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"WORKBENCH_THREADS": value, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert expected in done.stdout + done.stderr
