"""From a kernel's text to results: compilers, the build cache, calls, measurement."""

from workbench.runtime.building import build
from workbench.runtime.calling import call, plan
from workbench.runtime.launch import CompiledKernel
from workbench.runtime.machine import this_machine
from workbench.runtime.preparing import Plan

__all__ = ["CompiledKernel", "Plan", "build", "call", "plan", "this_machine"]
