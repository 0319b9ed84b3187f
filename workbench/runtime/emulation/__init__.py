"""CUDA text on a processor: executed byte for byte under another prelude, and watched while it runs.

The threads of a block are fibers (fibers.hpp, crews.hpp), CUDA's names are macros and functions (cuda_names.hpp,
cuda_values.hpp; device_library.py has what C's library lacks), and in a watched build every access of memory is looked
at (watching.hpp).
"""

from __future__ import annotations

from workbench.runtime.emulation.emulated import build_on_cpu
from workbench.runtime.emulation.findings import Finding, Findings
from workbench.runtime.emulation.sanitizing import sanitize

__all__ = ["Finding", "Findings", "build_on_cpu", "sanitize"]
