"""Hardware counters: every thread is asked, shares of time are scaled, and what is not allowed is said in a line."""

from __future__ import annotations

import errno
import mmap
import os
import struct
import threading
from dataclasses import replace

import pytest

from workbench.runtime.measuring import counters
from workbench.runtime.measuring.counters import ATTRIBUTE, DISABLE, ENABLE, EVENTS, LINUX, Kernel, hardware_counts


class Standing:
    """A stand-in for the system calls: descriptors in their order, each with what it would have counted."""

    def __init__(self, values=None, refused=None):
        self.values, self.refused = values or {}, refused or {}
        self.opened, self.log = {}, []
        self.kernel = Kernel(self.open, lambda d, request: self.log.append((request, d)), self.read, self.close)

    def open(self, attribute: bytes, thread: int) -> int:
        kind, size, config, *_, flags, _, _, _ = ATTRIBUTE.unpack(attribute)
        name = next(n for n, event in EVENTS.items() if event == (kind, config))
        assert size == len(attribute) == 64
        assert flags & 1, "nothing is counted before the work begins"
        assert flags >> 5 & 1, "what the kernel does is not counted"
        if name in self.refused:
            raise OSError(self.refused[name], os.strerror(self.refused[name]))
        self.opened[len(self.opened) + 100] = name, thread
        return len(self.opened) + 99

    def read(self, descriptor: int) -> bytes:
        self.log.append(("read", descriptor))
        return struct.pack("=QQQ", *self.values[self.opened[descriptor][0]])

    def close(self, descriptor: int) -> None:
        self.log.append(("close", descriptor))


WHOLE = {name: (1000 * (nth + 1), 50, 50) for nth, name in enumerate(EVENTS)}


@pytest.fixture
def one_thread(monkeypatch):
    monkeypatch.setattr(counters, "_threads", lambda: [7])


@pytest.mark.usefixtures("one_thread")
def test_events_are_enabled_around_the_work_divided_by_the_calls_and_closed():
    standing = Standing(WHOLE)
    found = hardware_counts(lambda: standing.log.append("work"), 10, standing.kernel)
    assert found.events == {name: WHOLE[name][0] / 10 for name in EVENTS}
    assert found.missing == ""
    at = standing.log.index("work")
    own = list(standing.opened)
    assert standing.log[:at] == [(ENABLE, d) for d in own]
    assert standing.log[at + 1 : at + 1 + len(own)] == [(DISABLE, d) for d in own]
    assert [d for what, d in standing.log[at + 1 :] if what == "close"] == own


@pytest.mark.usefixtures("one_thread")
def test_a_counter_that_ran_a_quarter_of_the_time_counts_four_times():
    standing = Standing(WHOLE | {"cycles": (1000, 80, 20), "LLC misses": (0, 80, 0)})
    found = hardware_counts(lambda: None, 1, standing.kernel)
    assert found.events["cycles"] == 4000
    assert "LLC misses" not in found.events
    assert found.missing == "LLC misses: the processor had no counter free"


def test_every_thread_that_lives_is_counted_and_one_that_ended_is_not_missed():
    stop = threading.Event()
    other = threading.Thread(target=stop.wait)
    other.start()
    try:
        standing = Standing(WHOLE)
        found = hardware_counts(lambda: None, 1, standing.kernel)
        threads = {thread for _, thread in standing.opened.values()}
        assert {other.native_id, threading.get_native_id()} <= threads
        assert found.events["cycles"] == 1000 * len(threads)
        gone = replace(standing.kernel, open=lambda a, t: ended(other.native_id, t) or standing.open(a, t))
        assert hardware_counts(lambda: None, 1, gone).events["cycles"] == 1000 * (len(threads) - 1)
    finally:
        stop.set()
        other.join()


def ended(which, thread):
    if thread == which:
        raise ProcessLookupError(errno.ESRCH, "no such process")


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.EACCES, "not allowed here"), (errno.ENOENT, "no such counter"), (errno.ENOSYS, "no perf_event_open")],
)
def test_what_is_refused_is_said_and_the_work_is_done_all_the_same(number, words):
    standing = Standing(WHOLE, dict.fromkeys(EVENTS, number))
    done = []
    found = hardware_counts(lambda: done.append(1), 1, standing.kernel)
    assert done == [1]
    assert not found.events
    assert words in found.missing
    assert "\n" not in found.missing
    assert standing.log == []


@pytest.mark.usefixtures("one_thread")
def test_what_was_opened_is_closed_when_the_work_raises():
    standing = Standing(WHOLE)

    def raises():
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        hardware_counts(raises, 1, standing.kernel)
    assert [d for what, d in standing.log if what == "close"] == list(standing.opened)


def test_on_this_machine_each_event_is_counted_or_said_to_be_missing():
    pages = 64

    def touch():
        with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
            for page in range(pages):
                memory[page * mmap.PAGESIZE] = 1

    found = hardware_counts(touch, 1, LINUX)
    assert all(name in found.events or name in found.missing for name in EVENTS)
    if "page faults" in found.events:
        assert found.events["page faults"] >= pages / 16, "a page or a large one was brought in"
    if "instructions" in found.events:
        assert found.events["instructions"] > 10 * pages
