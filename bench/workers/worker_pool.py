"""The processes of the contenders, seen from the one that directs them."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
WORKER = "bench.workers.worker"
"""The module that answers for a contender, where no other is named."""
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "WORKBENCH_THREADS")
END_SECONDS = 10.0


@dataclass
class Worker:
    """The process of one contender with its number of threads; started when first asked, and again after a crash.

    `folder` holds its caches, empty at first, so that what is built is built in this run, and what it writes to
    standard error.  `module` answers the requests, run by the interpreter `python`.
    """

    contender: str
    threads: int
    folder: Path
    module: str = WORKER
    python: str = sys.executable
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    def ask(self, request: dict[str, Any], limit_seconds: float) -> dict[str, Any]:
        """The answer to a request; {"failed": why} if the process dies or takes longer than the limit."""
        if self.process is None or self.process.poll() is not None:
            self.process = self._started()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return self._ended("died")
        ready, _, _ = select.select([self.process.stdout], [], [], limit_seconds)
        line = self.process.stdout.readline() if ready else ""
        return json.loads(line) if line else self._ended("died" if ready else f"took over {limit_seconds:g} s")

    def close(self) -> None:
        """End the process."""
        if self.process is None:
            return
        if self.process.stdin:
            self.process.stdin.close()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def _started(self) -> subprocess.Popen[str]:
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [self.python, "-m", self.module, self.contender, str(self.threads)]
        with self._log().open("a") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=ROOT,
                env=self._environment(),
            )

    def _environment(self) -> dict[str, str]:
        caches = {"WORKBENCH_CACHE": "kernels", "TORCHINDUCTOR_CACHE_DIR": "inductor"}
        return {
            **os.environ,
            **dict.fromkeys(THREAD_VARIABLES, str(self.threads)),
            **{name: str(self.folder / place) for name, place in caches.items()},
            "JAX_PLATFORMS": "cpu",
            "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        }

    def _log(self) -> Path:
        return self.folder / "errors.txt"

    def _ended(self, how: str) -> dict[str, Any]:
        """The process is of no more use."""
        assert self.process
        if how != "died":
            self.process.kill()
        code = self.process.wait()
        self.process = None
        with self._log().open() as log:
            last = _last_line(log)
        return {"failed": f"the process {how} (exit status {code}){f': {last}' if last else ''}"}


def _last_line(file: IO[str]) -> str:
    lines = [line.strip() for line in file if line.strip()]
    return lines[-1][:200] if lines else ""
