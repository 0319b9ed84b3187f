"""The parts of a C library: its header, its public functions, the example, and what build systems read."""

from __future__ import annotations

from workbench.export.clib.api import API_FILES, api_file, public_text, threads_text
from workbench.export.clib.example import example_text
from workbench.export.clib.headers import header_text
from workbench.export.clib.packages import cmake_config, cmake_lists, pkg_config, readme

__all__ = [
    "API_FILES", "api_file", "cmake_config", "cmake_lists", "example_text", "header_text", "pkg_config", "public_text",
    "readme", "threads_text",
]  # fmt: skip
