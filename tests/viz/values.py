"""Values that several tests of the views look at."""

from __future__ import annotations

from functools import cache
from xml.etree import ElementTree

import workbench as wb
from workbench.errors import IllegalSchedule

SEIDEL = """
def seidel(float(N) X, int32 T) -> (A) {
    A(i) = X(i)
    for t in 0:T { A(i) = A(i-1) + A(i+1) where i in 1:N-1 }
}"""


@cache
def seidel():
    return wb.operator(SEIDEL)


def padded_conv(**sizes):
    return wb.lower(wb.ops.conv2d, {"stride": 1, "pad": 1, "dilation": 1, **sizes})


def naive(**sizes):
    return wb.schedule(wb.ops.matmul, sizes or {"M": 1024, "N": 1024, "K": 1024})


def tiled():
    return naive() | wb.tile(m=64, n=64) | wb.vectorize("n_i") | wb.parallelize("m_o")


def refused(schedule, step):
    """The verdict on a step that is not allowed."""
    try:
        schedule | step
    except IllegalSchedule as error:
        return error.verdict
    raise AssertionError("the step was allowed")


def parsed(svg):
    """The root of an SVG; fails when it is not well-formed."""
    return ElementTree.fromstring(svg)


MACHINE = wb.Target(cores=4, vector_bits=256, cache_bytes=(32 << 10, 512 << 10, 32 << 20))
