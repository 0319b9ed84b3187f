"""From a kernel's text to results: compilers, the build cache, calls, measurement.

`build` compiles and loads, `call` and `plan` are what an operator does with arrays, `measure` and `verify` judge
a kernel, `doctor` the machine.  A name is loaded from its module on first use: a call needs no doctor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.deferred import deferred

if TYPE_CHECKING:
    from workbench.runtime.building import build
    from workbench.runtime.calibrating import calibrate
    from workbench.runtime.calling import call, plan
    from workbench.runtime.examining import Finding, Report, doctor
    from workbench.runtime.launch import CompiledKernel
    from workbench.runtime.machine import this_machine
    from workbench.runtime.preparing import Plan
    from workbench.runtime.program_calls import call_program
    from workbench.runtime.roofs import Ceilings, ceilings
    from workbench.runtime.sequential import evaluate_c
    from workbench.runtime.timing import Measurement, measure
    from workbench.runtime.verification import Verification, verify

# Public name → module.
NAMES = {
    "Ceilings": "roofs",
    "CompiledKernel": "launch",
    "Finding": "examining",
    "Measurement": "timing",
    "Plan": "preparing",
    "Report": "examining",
    "Verification": "verification",
    "build": "building",
    "call_program": "program_calls",
    "evaluate_c": "sequential",
    "calibrate": "calibrating",
    "call": "calling",
    "ceilings": "roofs",
    "doctor": "examining",
    "measure": "timing",
    "plan": "calling",
    "this_machine": "machine",
    "verify": "verification",
}

__all__ = [
    "Ceilings", "CompiledKernel", "Finding", "Measurement", "Plan", "Report", "Verification", "build", "calibrate",
    "call", "call_program", "ceilings", "doctor", "evaluate_c", "measure", "plan", "this_machine", "verify",
]  # fmt: skip


__getattr__ = deferred(__name__, NAMES)
