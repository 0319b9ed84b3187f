"""A pytest plugin: each outcome as one line of JSON into the file WB_GPU_REPORT; ends the run when the GPU is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

LOST = "CUDA gives this process no further work"
TOLD = 2000


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """The call of a test; of setup and teardown only what is not passed."""
    if report.when != "call" and report.outcome == "passed":
        return
    said = report.longreprtext if report.failed else ""
    properties = {name: str(value) for name, value in report.user_properties}
    line = {
        "test": report.nodeid,
        "outcome": report.outcome,
        "seconds": round(report.duration, 3),
        "said": said[-TOLD:],
    }
    with Path(os.environ["WB_GPU_REPORT"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps({**line, **properties}) + "\n")


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """After a test that lost the context, no other can run in this process."""
    lines = Path(os.environ["WB_GPU_REPORT"])
    if lines.exists() and LOST in lines.read_text(encoding="utf-8").rpartition("\n{")[2]:
        item.session.shouldstop = "the GPU is lost to this process"
