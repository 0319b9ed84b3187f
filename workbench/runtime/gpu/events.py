"""The events of a driver that are used again and again: one for order between streams, two to measure time."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from workbench.runtime.gpu.drivers.driver import Driver
from workbench.runtime.host.locks import Lock


class Events:
    """`lock` is held while time is measured."""

    def __init__(self, driver: Driver) -> None:
        self.order, self.begun, self.ended = (driver.event() for _ in range(3))
        self.lock = Lock()


_events: WeakKeyDictionary[Driver, Events] = WeakKeyDictionary()


def events_of(driver: Driver) -> Events:
    """The events of a driver, made when they are first asked for."""
    if driver not in _events:
        _events[driver] = Events(driver)
    return _events[driver]


def in_stream_order(driver: Driver, first: int, then: int) -> Any:
    """What begins on the stream `then` from now on waits for all that was begun on `first`."""
    if first != then:
        event = events_of(driver).order
        driver.record(event, first)
        driver.order(then, event)
