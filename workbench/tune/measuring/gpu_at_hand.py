"""The GPU that candidates can be measured on, and who measures: a process of its own looks, which a driver may end."""

from __future__ import annotations

import ctypes
import os
import warnings
from dataclasses import replace
from functools import lru_cache

from workbench.codegen import as_target
from workbench.errors import WorkbenchError
from workbench.runtime.gpu.drivers.choosing import LIBRARY, VARIABLE
from workbench.runtime.gpu.drivers.driver import Device
from workbench.target import Target
from workbench.target_gpus import GPUS
from workbench.tune.measuring.gpu_timing import WhichGpu
from workbench.tune.measuring.helpers import Died, Helper, TooLate
from workbench.tune.measuring.local_runner import LocalRunner
from workbench.tune.measuring.ranking_runner import RankingRunner
from workbench.tune.measuring.runner import Runner

ASK_SECONDS = 30.0


def gpu_at_hand() -> Device | None:
    """This machine's GPU; None where none can be used."""
    found = _looked_for()
    return found if isinstance(found, Device) else None


def _looked_for() -> Device | str:
    """This machine's GPU, or why it cannot be used; "" where nothing says that there is one."""
    wanted = os.environ.get(VARIABLE, "")
    if ":" not in wanted and not _has_driver():
        return ""
    return _asked(wanted)


@lru_cache(maxsize=4)
def _asked(wanted: str) -> Device | str:
    """What a process that opens the driver says; `wanted` is what chooses it."""
    helper = Helper(TIMING)
    try:
        return helper.ask(WhichGpu(), ASK_SECONDS)
    except (Died, TooLate) as how:
        return f"the process that opened its driver {how}"
    except Exception as error:  # whatever a driver raises
        return str(error) or type(error).__name__
    finally:
        helper.stop()


def _has_driver() -> bool:
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        return False
    return True


def tuned_target(target: str | Target) -> str | Target:
    """What is tuned for: "cuda" is the GPU at hand, where it is one that is known by name."""
    device = gpu_at_hand() if target == "cuda" else None
    return target if device is None else named_target(device)


def named_target(device: Device) -> Target:
    """A GPU that is known by name, else CUDA for its architecture."""
    own = device.name.lower().replace(" ", "")
    fits = [n for n, g in GPUS.items() if n in own and g.capability == device.capability]
    known = max(fits, key=len, default="")
    return Target(known) if known else replace(Target("cuda"), march=device.architecture)


def usual_runner(target: str | Target) -> Runner:
    """Who measures where nobody said: this processor, or the GPU; else candidates for a GPU are ranked, and where there
    seems to be one a RuntimeWarning says why it is not used.  WorkbenchError for a dialect that is neither compiled nor
    run.
    """
    machine = Target() if target == "c" else as_target(target)
    if not machine.language.for_gpu:
        return LocalRunner()
    if not machine.language.runs_on_gpu:
        raise WorkbenchError(f"autotune takes C and CUDA; {machine.language.label} is written as text only")
    device = gpu_at_hand()
    fits = device is not None and machine.march in ("native", device.architecture)
    if device is None and isinstance(reason := _looked_for(), str) and reason:
        warnings.warn(f"candidates are ranked, not measured: {reason}", RuntimeWarning, stacklevel=5)
    return GpuRunner() if fits else RankingRunner()


# Candidates on this machine's GPU: compiled by several processes at once, checked and timed by one that owns the GPU.
# A candidate that crashes (an illegal address ends a context for good) or hangs ends that process, and the next
# one meets a new one.  Two studies take turns: a lock of the machine is held while something is timed.

TIMING = "workbench.tune.measuring.gpu_timing:answer"


class GpuRunner(LocalRunner):
    """Builds with `builders` processes (by default one a core of the processor) and times on the GPU."""

    timing = TIMING
    bounded = False  # CUDA reserves more addresses than a machine has memory
    fresh_passes = False  # a GPU's context takes longer to make than a pass
