"""From a kernel's text to results: compilers, the build cache, calls, measurement.

`build` compiles and loads, `call` and `plan` are what an operator does with arrays, `measure` and `verify` judge
a kernel, `doctor` the machine.  A name is loaded from its module on first use: a call needs no doctor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.face import deferred

if TYPE_CHECKING:
    from workbench.runtime.building import build
    from workbench.runtime.calibration.calibrating import calibrate
    from workbench.runtime.calls.calling import call, plan
    from workbench.runtime.calls.preparing import Plan
    from workbench.runtime.calls.program_calls import call_program
    from workbench.runtime.checking.expectation import Verification
    from workbench.runtime.checking.sequential import evaluate_c
    from workbench.runtime.checking.verification import verify
    from workbench.runtime.examining import Finding, Report, doctor
    from workbench.runtime.host.machine import this_machine
    from workbench.runtime.kernels.launch import CompiledKernel
    from workbench.runtime.measuring.roofs import Ceilings, ceilings
    from workbench.runtime.measuring.timing import Measurement, measure

# Public name → module.
NAMES = {
    "Ceilings": "measuring.roofs",
    "CompiledKernel": "kernels.launch",
    "Finding": "examining",
    "Measurement": "measuring.timing",
    "Plan": "calls.preparing",
    "Report": "examining",
    "Verification": "checking.expectation",
    "build": "building",
    "call_program": "calls.program_calls",
    "evaluate_c": "checking.sequential",
    "calibrate": "calibration.calibrating",
    "call": "calls.calling",
    "ceilings": "measuring.roofs",
    "doctor": "examining",
    "measure": "measuring.timing",
    "plan": "calls.calling",
    "this_machine": "host.machine",
    "verify": "checking.verification",
}

__all__ = [
    "Ceilings", "CompiledKernel", "Finding", "Measurement", "Plan", "Report", "Verification", "build", "calibrate",
    "call", "call_program", "ceilings", "doctor", "evaluate_c", "measure", "plan", "this_machine", "verify",
]  # fmt: skip


__getattr__ = deferred(__name__, NAMES)
