"""Kernels for named processors: what this one lacks is refused at the call, not found out by the process's end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.errors import KernelError
from workbench.runtime import this_machine
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.target import Target

TEXT = "def double(float(N) x) -> (y) { y(i) = 2 * x(i) }"


def built(target: Target) -> CompiledKernel:
    return wb.build(wb.schedule(wb.operator(TEXT), N=8), target)


@pytest.mark.skipif(this_machine().is_arm, reason="the features are those of x86")
def test_a_call_is_refused_and_says_what_is_lacking():
    kernel = built(replace(Target("avx2"), isa=(*Target("avx2").isa, "avx99"), march="x86-64"))
    with pytest.raises(KernelError, match=r"avx99: this one lacks that\. target='c' is this machine"):
        kernel(np.ones(8, np.float32))
    with pytest.raises(KernelError, match="avx99"):
        kernel(np.ones(8, np.float32), out=np.zeros(8, np.float32))


def test_what_this_machine_has_is_called():
    kernel = built(this_machine())
    assert kernel(np.ones(8, np.float32)).tolist() == [2.0] * 8
