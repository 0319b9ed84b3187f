"""What random programs report at the end of a run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

LINE = "line for the end of the run"


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """`report(line)`: a line for the end of the run, below the name of the test."""
    # A property of the test: it travels with the test's report from a worker to the process that prints.
    return lambda line: request.node.user_properties.append((LINE, line))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    done = [r for r in terminalreporter.getreports("") if r.when == "teardown"]
    for test in done:
        if lines := [text for name, text in test.user_properties if name == LINE]:
            name = test.nodeid.rpartition("::")[2]
            terminalreporter.section(name.removeprefix("test_").replace("_", " "), sep="-")
            for line in lines:
                terminalreporter.write_line(line)
