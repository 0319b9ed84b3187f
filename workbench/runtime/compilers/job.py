"""A compiler run as a value: everything a library depends on, and the name that follows from it."""

from __future__ import annotations

from workbench.records import record
from workbench.runtime.compilers.entries import LIBRARY, SOURCE, content_key
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.runtime.host.processor import this_processor
from workbench.target import Target


@record(slots=True)
class Job:
    """C text `text` of the kernel `name`, to be compiled by `toolchain` for `target`, linked with `libraries`."""

    name: str
    text: str
    toolchain: Toolchain
    target: Target
    debug: bool
    libraries: tuple[str, ...] = ()

    @property
    def flags(self) -> tuple[str, ...]:
        return self.toolchain.flags(self.target, self.debug)

    @property
    def key(self) -> str:
        compiler = (self.toolchain.command, self.toolchain.version, (*self.libraries, *self.toolchain.libraries))
        return content_key(self.text, compiler, self.flags, _machine_identity(self.target))

    def command(self) -> tuple[str, ...]:
        """The command line, for the directory that holds the source."""
        libraries = (*self.libraries, *self.toolchain.libraries)
        return (*self.toolchain.command, *self.flags, "-o", LIBRARY, SOURCE, *libraries)

    def description(self) -> dict[str, object]:
        """What the cache records beside the library."""
        return {"kernel": self.name, "command": self.command(), "version": self.toolchain.version}


def _machine_identity(target: Target) -> object:
    """What `-march=native` means here; nothing when the target names a processor."""
    here = this_processor()
    if target.march != "native":
        return here.architecture
    return here.architecture, here.model, sorted(here.features)
