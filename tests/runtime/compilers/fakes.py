"""Compilers that misbehave: shell scripts that answer the questions of the probing and then do something else."""

from __future__ import annotations

import shutil
from pathlib import Path

# What the script does once it is asked to compile a kernel; $out is where the library should go.
MISBEHAVIOUR = {
    "refuses": 'echo "kernel.c:7:3: error: this is not C" >&2; echo "note: nor English" >&2; exit 1',
    "crashes": "kill -SEGV $$",
    "hangs": "sleep 300 & wait",
    "writes garbage": 'head -c 5000 /dev/urandom > "$out"',
    "writes half": '"$real" "$@" && head -c 9000 "$out" > half && mv half "$out"',
    "writes nothing": "exit 0",
    "floods": 'yes "kernel.c:1: error: no" | head -c 3000000 >&2; exit 1',
    "has no room": 'echo "fatal error: error writing to kernel.s: No space left on device" >&2; exit 1',
    "is slow": 'sleep 0.7; exec "$real" "$@"',
}


def fake_compiler(folder: Path, how: str) -> Path:
    """A script that is a good compiler until a kernel comes."""
    script = folder / f"cc-{how.replace(' ', '-')}"
    script.write_text(
        "#!/bin/bash\n"
        f"real={shutil.which('gcc') or shutil.which('clang')}\n"
        'case "$*" in *probe.c*|*--version*) exec "$real" "$@" ;; esac\n'
        'out=; previous=; for word in "$@"; do [ "$previous" = -o ] && out=$word; previous=$word; done\n'
        f"{MISBEHAVIOUR[how]}\n"
    )
    script.chmod(0o755)
    return script
