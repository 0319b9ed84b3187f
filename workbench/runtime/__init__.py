"""From a kernel's text to results: compilers, the build cache, calls, measurement.

`build` compiles and loads, `call` and `plan` are what an operator does with arrays, `measure` and `verify`
judge a kernel, `doctor` the machine.
"""

from workbench.runtime.building import build
from workbench.runtime.calling import call, plan
from workbench.runtime.examining import Finding, Report, doctor
from workbench.runtime.launch import CompiledKernel
from workbench.runtime.machine import this_machine
from workbench.runtime.preparing import Plan
from workbench.runtime.timing import Measurement, measure
from workbench.runtime.verification import Verification, verify

__all__ = [
    "CompiledKernel", "Finding", "Measurement", "Plan", "Report", "Verification", "build", "call", "doctor",
    "measure", "plan", "this_machine", "verify",
]  # fmt: skip
