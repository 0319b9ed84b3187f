"""`viz.roofline` and the ceilings: bounds by hand, words by golden files, a real measurement once."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.viz.values import MACHINE, parsed
from workbench import viz
from workbench.errors import WorkbenchError
from workbench.runtime.measuring import roofs

CEILINGS = wb.Ceilings(100e9, {"L1": 200e9, "L2": 100e9, "L3": 50e9, "memory": 10e9}, threads=4)
HOSTILE = "<img src=x onerror=alert(1)>"


def tiled():
    return wb.schedule(wb.ops.matmul, M=256, N=256, K=256) | wb.tile(m=32, n=32, k=32)


def test_text(golden):
    values = {"naive": tiled().start, "tiled": tiled(), "heat": wb.schedule(wb.ops.heat_3d, N=40, M=40, K=40, steps=4)}
    picture = viz.roofline(values, CEILINGS, target=MACHINE, measured={"tiled": 0.001})
    parsed(picture.svg)
    golden(picture.text)


def test_a_level_allows_its_rate_times_the_intensity():
    (entry,) = viz.roofline(tiled(), CEILINGS, target=MACHINE).data.entries
    for point in entry.points:
        assert point.intensity == pytest.approx(2 * 256**3 / point.moved_bytes)
        assert point.bound == min(100e9, point.intensity * CEILINGS.bytes_per_second[point.behind])


def test_a_measurement_is_operations_a_second():
    (entry,) = viz.roofline(tiled(), CEILINGS, target=MACHINE, measured=0.5).data.entries
    assert entry.measured == 2 * 256**3 / 0.5


def test_names_with_markup_are_text():
    picture = viz.roofline({HOSTILE: tiled()}, CEILINGS, target=MACHINE)
    assert "<img src=x" not in picture.svg
    assert HOSTILE in "".join(parsed(picture.svg).itertext())


@pytest.mark.parametrize(
    ("value", "asked", "message"),
    [
        ({}, {}, "nothing was given"),
        (tiled, {"measured": -1.0}, "expected a Measurement or seconds"),
        (lambda: wb.schedule(wb.ops.transpose, **wb.ops.transpose.examples[-1]), {}, "does no arithmetic"),
    ],
)
def test_what_has_no_place_is_refused(value, asked, message):
    with pytest.raises(WorkbenchError, match=message):
        viz.roofline(value() if callable(value) else value, CEILINGS, target=MACHINE, **asked)


def test_ceilings_without_the_levels_say_so():
    with pytest.raises(WorkbenchError, match="known: L1; expected L2, L3, memory"):
        viz.roofline(tiled(), wb.Ceilings(1e9, {"L1": 1e9}), target=MACHINE)


def test_rates_must_be_positive():
    with pytest.raises(WorkbenchError, match="Ceilings: L2=0 does not fit; expected a positive rate a second"):
        wb.Ceilings(1e9, {"L2": 0})


def test_ceilings_are_measured_once_and_kept(tmp_path, monkeypatch):
    taken = []

    def counted(dtype, threads):
        taken.append((dtype, threads))
        return CEILINGS

    monkeypatch.setattr(roofs, "measured_ceilings", counted)
    with wb.settings(cache=tmp_path):
        assert wb.ceilings(threads=1) == wb.ceilings(threads=1) == CEILINGS
        assert taken == [("float32", 1)]
        (file,) = tmp_path.rglob("ceilings-*.json")
        file.write_text("{")
        assert wb.ceilings(threads=1) == CEILINGS
        assert wb.ceilings(threads=1, again=True) == CEILINGS
        assert len(taken) == 3


def test_a_machine_is_measured_with_kernels_of_our_own(compilers, monkeypatch):
    monkeypatch.setattr(roofs, "levels", lambda machine, threads: {"L1": (16384.0,)})
    monkeypatch.setattr(roofs, "CALL_BYTES", 1e6)
    found = roofs.measured_ceilings("float64", 1, seconds=0.001)
    assert set(found.bytes_per_second) == {"L1"}
    assert found.origin.startswith("measured on ")
    assert found.flops_per_second > 1e6


def test_an_unknown_type_lists_the_known_ones():
    with pytest.raises(WorkbenchError, match="unknown dtype 'int8'; known: float32, float64"):
        wb.ceilings("int8")
