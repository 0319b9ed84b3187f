"""Calls of exported operators from Python: arrays go in by DLPack, and come out of NumPy's, without copies.

The text of this file is written into a package, where it stands alone: it needs NumPy.
"""

import ctypes
import operator
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

INT, UINT, FLOAT, BFLOAT, BOOL = 0, 1, 2, 4, 6
PROCESSORS = (1, 3)
VERSION = (1, 0)
READ_ONLY = 1

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, [ctypes.py_object]


class _Tensor(ctypes.Structure):
    """DLPack's DLTensor, and workbench.h's workbench_tensor."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


class _Managed(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor),
    )  # fmt: skip


def _unpacked(capsule: Any) -> tuple[_Tensor, int]:
    """(the tensor in a capsule, its flags); the capsule has to outlive it."""
    if _name(capsule) == b"dltensor_versioned":
        managed = _Managed.from_address(_pointer(capsule, b"dltensor_versioned") or 0)
        if managed.major != VERSION[0]:
            raise TypeError(f"DLPack {managed.major}.{managed.minor} is not understood; expected {VERSION[0]}.x")
        return managed.tensor, managed.flags
    return _Tensor.from_address(_pointer(capsule, b"dltensor") or 0), 0


class BFloat16:
    """An array of bfloat16, which NumPy has no type for: `bits` are uint16.  Others take it by DLPack."""

    def __init__(self, bits: Any) -> None:
        if not isinstance(bits, np.ndarray) or bits.dtype != np.uint16:
            raise TypeError("bfloat16 is made of an array of uint16, its bits")
        self.bits = bits

    @classmethod
    def of(cls, values: Any) -> "BFloat16":
        """The nearest bfloat16 of some numbers, ties to even."""
        wide = np.ascontiguousarray(values, np.float32).view(np.uint32)
        rounded = (wide + 0x7FFF + (wide >> 16 & 1)) >> 16
        nans = np.isnan(wide.view(np.float32))
        return cls(np.where(nans, 0x7FC0, rounded).astype(np.uint16).reshape(np.shape(values)))

    def numpy(self) -> Any:
        """The numbers as float32."""
        return (self.bits.astype(np.uint32) << 16).view(np.float32)

    @property
    def shape(self) -> tuple[int, ...]:
        """As of the bits."""
        return self.bits.shape

    def __dlpack__(self, **asked: Any) -> Any:
        """The bits' own capsule, which says what they are."""
        capsule = self.bits.__dlpack__(**asked)
        _unpacked(capsule)[0].code = BFLOAT
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        """The processor's memory."""
        return self.bits.__dlpack_device__()


class Given:
    """An array of a call, as the library takes it; it keeps the memory alive."""

    def __init__(self, where: str, value: Any, dtype: str, *, written: bool = False) -> None:
        if not hasattr(value, "__dlpack__") or not hasattr(value, "__dlpack_device__"):
            kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
            raise TypeError(f"{where} is a {kind}; expected an array with __dlpack__, such as NumPy's or PyTorch's")
        try:
            device = value.__dlpack_device__()
        except (BufferError, RuntimeError, TypeError, ValueError) as reason:  # such as of a tensor without memory
            raise TypeError(f"{where} cannot be taken by DLPack: {reason}") from reason
        if device[0] not in PROCESSORS:
            found = f"is on a device of DLPack's type {int(device[0])}"
            raise ValueError(f"{where} {found}; expected the processor's memory")
        bits = _bits_of(value)
        self.capsule = _capsule(where, value if bits is None else bits)
        self.tensor, flags = _unpacked(self.capsule)
        if bits is not None:
            self.tensor.code = BFLOAT
        if written and (flags & READ_ONLY or _never_changes(value)):
            raise ValueError(f"{where} is read-only; give an array that can be written to")
        if (self.tensor.code, self.tensor.bits) != TYPES[dtype][:2]:
            kind = KINDS.get(self.tensor.code, "?")
            found = kind if kind == "bool" else f"{kind}{self.tensor.bits}"
            raise TypeError(f"{where} expected type {dtype} but found {found}")

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return tuple(self.tensor.shape[d] for d in range(self.tensor.ndim))


def _never_changes(value: Any) -> bool:
    """Whether it may not be written to although its capsule does not say so: JAX's arrays are values."""
    if isinstance(value, np.ndarray):
        return not value.flags.writeable
    return type(value).__module__.split(".")[0] in ("jax", "jaxlib")


def _bits_of(value: Any) -> Any:
    """The bits of a NumPy array of ml_dtypes' bfloat16."""
    if isinstance(value, np.ndarray) and value.dtype.name == "bfloat16":
        return value.view(np.uint16)
    return None


def _capsule(where: str, value: Any) -> Any:
    try:
        try:
            return value.__dlpack__(max_version=VERSION)
        except TypeError:  # of a library that knows no versions
            return value.__dlpack__()
    except (BufferError, RuntimeError, TypeError, ValueError) as reason:
        raise TypeError(f"{where} cannot be taken by DLPack: {reason}") from reason


TYPES = {
    "float32": (FLOAT, 32, np.float32, ctypes.c_float), "float64": (FLOAT, 64, np.float64, ctypes.c_double),
    "float16": (FLOAT, 16, np.float16, ctypes.c_uint16), "bfloat16": (BFLOAT, 16, np.uint16, ctypes.c_uint16),
    "int8": (INT, 8, np.int8, ctypes.c_int8), "int16": (INT, 16, np.int16, ctypes.c_int16),
    "int32": (INT, 32, np.int32, ctypes.c_int32), "int64": (INT, 64, np.int64, ctypes.c_int64),
    "uint8": (UINT, 8, np.uint8, ctypes.c_uint8), "uint16": (UINT, 16, np.uint16, ctypes.c_uint16),
    "uint32": (UINT, 32, np.uint32, ctypes.c_uint32), "uint64": (UINT, 64, np.uint64, ctypes.c_uint64),
    "bool": (BOOL, 8, np.bool_, ctypes.c_uint8),
}  # fmt: skip
KINDS = {INT: "int", UINT: "uint", FLOAT: "float", BFLOAT: "bfloat", BOOL: "bool"}
STATUS = {-2: MemoryError, -12: TypeError}


def number(where: str, value: Any, dtype: str) -> Any:
    """A number as C takes it; TypeError for what is none, OverflowError for one that does not fit."""
    code, bits, kind, c_type = TYPES[dtype]
    try:
        if code == BFLOAT:
            return c_type(int(BFloat16.of(np.float32(value)).bits))
        if code == FLOAT:
            return c_type(float(value)) if bits > 16 else c_type(int(kind(value).view(np.uint16)))
        whole = int(bool(value)) if code == BOOL else operator.index(value)
    except (TypeError, ValueError) as reason:
        raise TypeError(f"{where} is {value!r}; expected a number, {dtype}") from reason
    limits = np.iinfo(kind) if code != BOOL else None
    if limits is not None and not limits.min <= whole <= limits.max:
        raise OverflowError(f"{where} is {whole}, which {dtype} cannot hold")
    return c_type(whole)


class Operator:
    """An exported operator.

    `operator(*arguments, out=None, **sizes)`: arrays (anything with `__dlpack__` in the processor's memory), numbers,
    and sizes that no shape tells by keyword.  The result is a NumPy array, or a tuple of them, which others take by
    DLPack; `out=` gives the memory for it.  What is updated comes as an argument more, and is updated in place.

    Raises TypeError for types, ValueError for shapes and promises, IndexError for indices in data.
    """

    def __init__(
        self, library: Path, name: str, function: str, *, call: Sequence[tuple[str, str, str]],
        results: Sequence[tuple[str, str]], order: Sequence[str], shapes: Callable[..., Any], text: str,
    ) -> None:  # fmt: skip
        """`call` are (name, kind, type): "a" an array, "u" one that is updated, "v" a number, "k" one by keyword."""
        self.__name__, self.__doc__ = name, text
        self.call = tuple(call)
        self.results = tuple(results)
        self._order = tuple(order)
        self._shapes = shapes
        handle = ctypes.CDLL(str(library))
        self._function = getattr(handle, f"{function}_tensors")
        self._texts = {end: getattr(handle, f"{function}_{end}") for end in ("message", "kernel", "isa")}
        for each in self._texts.values():
            each.restype = ctypes.c_char_p
        self.set_threads = getattr(handle, f"{function}_set_threads")
        self.set_threads.argtypes, self.set_threads.restype = [ctypes.c_int], None

    def __call__(self, *arguments: Any, out: Any = None, **sizes: Any) -> Any:
        """Run it; see the class."""
        values = self._in_order(arguments, sizes)
        ready: dict[str, Any] = {}
        shaping: list[Any] = []
        for (name, kind, dtype), value in zip(self.call, values, strict=True):
            where = f"{self.__name__}: {name}"
            if kind in ("a", "u"):
                ready[name] = Given(where, value, dtype, written=kind == "u")
                shaping.append(ready[name].shape)
            else:
                ready[name] = number(where, value, dtype)
                shaping.append(value)
        shapes = self._shapes(*shaping)
        updated = {row[0]: value for row, value in zip(self.call, values, strict=True) if row[1] == "u"}
        results = self._results(out, shapes, updated, ready)
        status = self._function(*(_passed(ready[name]) for name in self._order))
        if status:
            kind = IndexError if status > 0 else STATUS.get(status, ValueError)
            raise kind(self._text("message"))
        return results[0] if len(results) == 1 else tuple(results)

    def _in_order(self, arguments: tuple[Any, ...], sizes: dict[str, Any]) -> list[Any]:
        """The values of a call by place, keywords last; TypeError if any is missing or too many."""
        places = [name for name, kind, _ in self.call if kind != "k"]
        keywords = [name for name, kind, _ in self.call if kind == "k"]
        if len(arguments) != len(places):
            expected = f"{len(places)} arguments ({', '.join(places)})"
            raise TypeError(f"{self.__name__} expected {expected} but found {len(arguments)}")
        if set(sizes) != set(keywords):
            expected = f"the sizes {', '.join(keywords)} by keyword" if keywords else "no keyword but out"
            raise TypeError(f"{self.__name__} expected {expected} but found {', '.join(sizes) or 'none'}")
        return [*arguments, *(sizes[name] for name in keywords)]

    def _results(
        self, out: Any, shapes: Sequence[Any], updated: dict[str, Any], ready: dict[str, Any]
    ) -> list[Any]:  # fmt: skip
        """What is returned: what is updated, what `out` gives, and else new arrays; all are put into `ready`."""
        given = self._given_outputs(out, updated)
        results = []
        for (name, dtype), shape in zip(self.results, shapes, strict=True):
            if name in updated:
                results.append(updated[name])
                continue
            made = given.get(name)
            if made is None:
                made = np.empty(shape, TYPES[dtype][2])
                made = BFloat16(made) if dtype == "bfloat16" else made
            ready[name] = Given(f"{self.__name__}: out {name}", made, dtype, written=True)
            results.append(made)
        return results

    def _given_outputs(self, out: Any, updated: dict[str, Any]) -> dict[str, Any]:
        names = [name for name, _ in self.results if name not in updated]
        several = out if isinstance(out, tuple | list) else (out,)
        if out is not None and len(several) != len(names):
            expected = f"{len(names)} ({', '.join(names)})" if names else "none: what is updated is an argument"
            raise TypeError(f"{self.__name__}: out= expected {expected} but found {len(several)} arrays")
        return {} if out is None else dict(zip(names, several, strict=True))

    def _text(self, end: str) -> str:
        return self._texts[end]().decode()

    def kernel(self) -> str:
        """What the kernel that this thread ran last was made for."""
        return self._text("kernel")

    def isa(self) -> str:
        """The instruction sets that the library chose when it was loaded."""
        return self._text("isa")



def _passed(value: Any) -> Any:
    return ctypes.byref(value.tensor) if isinstance(value, Given) else value
