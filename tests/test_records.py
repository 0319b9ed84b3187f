"""Records behave as frozen dataclasses do."""

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from typing import ClassVar

import pytest

from workbench.records import record


@record
class Plain:
    kind: ClassVar[str] = "plain"
    size: int
    names: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list, compare=False, repr=False)


@record(slots=True)
class Slotted:
    size: int
    name: str = "x"


@record
class Single:
    value: float


@record
class Empty:
    pass


@record(eq=False, repr=False)
class Identity:
    size: int

    def __repr__(self) -> str:
        return "one of a kind"


@record
class Checked:
    size: int
    double: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "double", 2 * self.size)


@record
class Child(Plain):
    more: int = 7


@record
class OwnHash:
    size: int

    def __hash__(self) -> int:
        return 5


@record(frozen=False)
class Filled:
    """What a pass fills in."""

    size: int
    names: list[str] = field(default_factory=list)
    notes: str = field(default="", compare=False, repr=False)


@dataclass
class FilledTwin:
    size: int
    names: list[str] = field(default_factory=list)
    notes: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class PlainTwin:
    kind: ClassVar[str] = "plain"
    size: int
    names: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list, compare=False, repr=False)


ALL = [
    Plain(1),
    Plain(1, ("a",)),
    Slotted(2),
    Slotted(2, "y"),
    Single(0.5),
    Empty(),
    Checked(3),
    Child(1, ("b",), [], 8),
]


@pytest.mark.parametrize("value", ALL, ids=repr)
def test_copies_are_equal_and_hash_alike(value):
    for copied in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value)), replace(value)):
        assert copied == value
        assert hash(copied) == hash(value)
        assert type(copied) is type(value)
    assert is_dataclass(value)
    assert all(other != value for other in ALL if other is not value)


@pytest.mark.parametrize("value", ALL, ids=repr)
def test_nothing_can_be_assigned_or_deleted(value):
    for name in [each.name for each in fields(value)] + ["stranger"]:
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, 1)
        with pytest.raises(FrozenInstanceError):
            delattr(value, name)


def test_they_read_and_sign_as_dataclasses_do():
    assert repr(Plain(1, ("a",), ["unseen"])) == repr(PlainTwin(1, ("a",))).replace("PlainTwin", "Plain")
    assert str(inspect.signature(Plain)) == str(inspect.signature(PlainTwin))
    assert Plain.__match_args__ == PlainTwin.__match_args__
    assert repr(Identity(1)) == "one of a kind"


def test_what_is_not_compared_does_not_count():
    assert Plain(1, (), ["a"]) == Plain(1, (), ["b"])
    assert hash(Plain(1, (), ["a"])) == hash(Plain(1, (), ["b"]))
    assert Plain(1) != PlainTwin(1)
    assert Plain(1) != Child(1)
    assert Plain(1).notes is not Plain(1).notes


def test_what_the_class_writes_itself_stays():
    assert hash(OwnHash(1)) == 5
    assert OwnHash(1) == OwnHash(1)
    assert Identity(1) != Identity(1)
    assert Checked(4).double == 8
    assert replace(Checked(4), size=5).double == 10


def test_slots_have_no_dictionary():
    assert not hasattr(Slotted(1), "__dict__")


def test_wrong_arguments_are_refused():
    for arguments in ((), (1, (), [], 4)):
        with pytest.raises(TypeError):
            Plain(*arguments)


def test_a_field_without_a_default_after_one_with_a_default_is_refused():
    with pytest.raises(TypeError, match="without a default follows"):

        @record
        class Wrong:
            first: int = 1
            second: str


def test_one_that_is_not_frozen_behaves_as_a_dataclass_does():
    value, twin = Filled(1), FilledTwin(1)
    for one in (value, twin):
        one.size = 2
        one.names.append("a")
    assert (value.size, value.names) == (twin.size, twin.names) == (2, ["a"])
    assert repr(value).replace("Filled", "FilledTwin") == repr(twin)
    assert str(inspect.signature(Filled)) == str(inspect.signature(FilledTwin))
    assert value == Filled(2, ["a"], "not compared") == copy.deepcopy(value) == pickle.loads(pickle.dumps(value))
    assert value != Filled(2)
    for one in (value, twin):
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)


def test_a_class_without_a_docstring_costs_no_signature(monkeypatch):
    """`dataclass` would have `inspect` read the signature of such a class, for which it compiles a tokenizer."""
    monkeypatch.setattr(inspect, "signature", None)

    @record
    class Bare:
        size: int
        name: str = ""

    assert Bare.__doc__ == "Bare(size, name)"
    assert Bare(1).size == 1
