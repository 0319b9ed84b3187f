"""Verdicts on which the campaign and the product once disagreed: a program by its seed, steps, the outcome."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tests.poly.making import Maker
from tests.properties.cases import Subject, subject
from tests.properties.judging import judged
from workbench import lower, operator
from workbench.errors import ScheduleError
from workbench.schedules import (
    Schedule,
    arrange,
    barrier,
    double_buffer,
    fold_storage,
    pad,
    parallelize,
    pipeline,
    preview,
    schedule,
    skew,
    stage,
    tile,
    transform_layout,
    vectorize,
)


def _of_maker() -> Subject:
    op = Maker(886).operator()
    kept = {n: replace(op.tensors[n], role="temporary") for n in "XY"}
    op = replace(op, tensors={**op.tensors, **kept}, outputs=("Z",))
    return Subject("random 886", op, lower(op, dict(N=4, M=3)), range(3))


FOUND = {
    "isl trips over a folded layout unless equalities are spelt out":
        (_of_maker, (transform_layout("X", "(d0, d1) -> (d0 / 8, d1, d0 % 8)"), fold_storage("X", 1, 4)), "harmless"),
    "indices in a buffer whose places are used again": (1075, (stage("idx", "k2"), pipeline("k2")), "legal"),
    "a buffer of the indices of a target": (1122, (stage("idx", "i3", filling="load"),), "legal"),
    "an index that a folded dimension no longer depends on":
        (4595, (stage("idx", "i7"), pipeline("i7", stages=3), fold_storage("X", 0, 1)), "unproved"),
    "a barrier beside a dimension called b0":
        (9145, (stage("B", "i2", filling="load"), parallelize("i2"), barrier("X.4", inside="i2"),
                double_buffer("B_local")), "illegal"),
    "the smallest pair where remainders decide":
        (5664, (tile({"Z/t1": 2, "Z/k2": 2}), skew("t1_i", by="k2_o", factor=-1), vectorize("k2_o")), "illegal"),
}  # fmt: skip


@pytest.mark.parametrize("what", list(FOUND))
def test_product_and_enumeration_agree_now(what):
    made, steps, outcome = FOUND[what]
    found = subject(made) if isinstance(made, int) else made()
    assert found is not None
    after: Schedule = schedule(found.program)
    for step in steps:
        after = step.on(after)
    assert judged(found, after, Random(1)) == outcome


def test_other_places_do_not_make_an_order_right():
    """The layout of a refused order was once taken for the order that is right."""
    op = operator("def f(float(N) A) -> (O) { T(i) = A(i) + 1  O(i) = T(i) * 2 }")
    wrong = preview(schedule(lower(op, dict(N=4))), arrange("O", "T"))
    assert not wrong.verdict
    assert not transform_layout("T", "(i) -> (i / 2, i % 2)").on(wrong).verdict


def test_an_added_instance_may_not_change_what_others_read():
    """Z(1) *= Z(0), in a full tile: Z(0) *= Z(0) would come before."""
    found = subject(8495)
    assert found is not None
    staged = schedule(found.program) | tile({"Z.2/i1": 2}) | stage("Z", "i1_o")
    with pytest.raises(ScheduleError, match="would add values of Z_local"):
        _ = staged | pad("i1_o")
