"""One text of the code pane as somebody chose it: a language, a machine, a compiler and its flags."""

from __future__ import annotations

import re
import shlex
import shutil

from workbench.errors import WorkbenchError, unknown_name
from workbench.runtime.compilers.discovery import compiler_names
from workbench.schedules import Schedule
from workbench.settings import settings
from workbench.target import Target
from workbench.target_cpus import CPUS
from workbench.target_gpus import GPUS
from workbench.viz.messages.drawn import Chosen, Code, Tools
from workbench.viz.panels.code.listing import code_payload
from workbench.viz.panels.code.throughput import MCA

# A text from somebody else may bring flags: none of these runs a program or writes a file.
_HARMLESS = re.compile(
    r"-(O\w*|m[\w=.,+-]+|f(?!plugin|pass|profile|dump|auto-profile|diagnostics|save)[\w=.,+-]+|std=[\w+]+|D\w+(=\w*)?|U\w+)"
)


def tools() -> Tools:
    """What a column may choose from on this machine."""
    return {
        "compilers": compiler_names(), "cpus": list(CPUS), "gpus": list(GPUS), "mca": shutil.which(MCA) is not None,
    }  # fmt: skip


def chosen_code(schedule: Schedule, panel_target: Target, chosen: Chosen) -> Code:
    """The text that a column chose; `reason` says why there is none.  WorkbenchError for flags that are not taken."""
    language = chosen.get("language", "C")
    flags = flags_of(chosen.get("flags", ""))
    machine = machine_of(chosen.get("target", ""), panel_target, language)
    compiler = chosen.get("compiler") or None
    if compiler is not None and compiler not in compiler_names():
        raise WorkbenchError(unknown_name("compiler", compiler, compiler_names()))
    with settings(compiler=compiler):
        return code_payload(schedule, language, machine, flags=flags)


def flags_of(text: str) -> tuple[str, ...]:
    """Flags as they are typed; WorkbenchError names the first that is not for optimising or for the machine."""
    try:
        found = shlex.split(text)
    except ValueError as error:
        raise WorkbenchError(f"the flags {text!r} cannot be read: {error}") from error
    for flag in found:
        if not _HARMLESS.fullmatch(flag):
            raise WorkbenchError(
                f"the flag {flag!r} is not taken here: -O, -m, -f, -std, -g, -D and -U are, as in -O2 -mavx2"
            )
    return tuple(found)


def machine_of(name: str, panel_target: Target, language: str) -> Target:
    """The machine of a name; the panel's where none is given.  WorkbenchError lists the known ones."""
    if not name:
        return panel_target
    known = list(GPUS) if language in ("CUDA", "HIP", "PTX", "SASS") else list(CPUS)
    if name not in known:
        raise WorkbenchError(unknown_name("machine", name, known))
    return Target(name)

