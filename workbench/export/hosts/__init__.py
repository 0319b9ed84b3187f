"""What exports to a framework in this process share: a library that is lent threads and memory; shapes of results."""

from __future__ import annotations

from workbench.export.hosts.library import host_file, hosted
from workbench.export.hosts.results import placeholder, result_shapes

__all__ = ["host_file", "hosted", "placeholder", "result_shapes"]
