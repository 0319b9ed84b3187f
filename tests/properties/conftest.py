"""What random programs report at the end of a run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

LINES = pytest.StashKey[dict[str, list[str]]]()


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """`report(line)`: a line for the end of the run, below the name of the test."""
    lines = request.config.stash.setdefault(LINES, {})
    return lambda line: lines.setdefault(request.node.name, []).append(line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for test, lines in config.stash.get(LINES, {}).items():
        terminalreporter.section(test.removeprefix("test_").replace("_", " "), sep="-")
        for line in lines:
            terminalreporter.write_line(line)
