"""The border of a kernel: C text compiled after the kernel's own, and how Python gets hold of it.

The text calls Python through functions handed over when the library is opened, so it needs neither headers
nor symbols of the interpreter; where those functions cannot be had, `Border.call` is None and calls go
through ctypes.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from workbench.codegen.kernel import ArrayParameter, Signature
from workbench.errors import BuildError
from workbench.lang.dtypes import DType
from workbench.records import record

# Answers of the border that are not the kernel's.
LOOK = -1
NO_MEMORY = -2
STOPPED = -3

SKIP_OVERLAP = 1

# In the order of `wb_border_python` in border.c.
_PYTHON = (
    "PyObject_GetBuffer", "PyBuffer_Release", "PyEval_SaveThread", "PyEval_RestoreThread", "PyTuple_Size",
    "PyTuple_GetItem", "PyFloat_AsDouble", "PyLong_AsLongLong", "PyLong_AsUnsignedLongLong",
    "PyLong_AsVoidPtr", "PyLong_FromLongLong", "PyErr_Occurred", "PyErr_Clear", "PyObject_Type", "Py_DecRef",
    "PyObject_HasAttrString",
)  # fmt: skip

# Workspace blocks of this process, shared by all kernels (border.c takes and returns them atomically).
_slots = (ctypes.c_void_p * 8)()


@record(slots=True)
class Border:
    """Entries of a loaded library.

    `call(arrays, out, layout, threads, flags)` does everything and answers a status; `plain(data, values,
    symbols, threads)` and `repeat(..., times)` take bare pointers.
    """

    call: Callable[..., int] | None
    plain: Callable[..., int]
    repeat: Callable[..., int]


# What outer loops of the kernel look at: counts the interrupts that end calls (interrupts.c).
BEFORE_KERNEL = """__attribute__((unused)) static volatile unsigned wb_stops;
#define WB_STOPS wb_stops
"""


def with_border(source: str, signature: Signature) -> str:
    """The text of a kernel with what surrounds it."""
    border = _part("border.c").replace("/* @KERNEL@ */", kernel_part(signature))
    return "\n".join([f"{BEFORE_KERNEL}#line 1\n{source}", _part("interrupts.c"), border])


def open_border(handle: ctypes.CDLL) -> Border:
    """Connect a loaded library with this interpreter."""
    plain, repeat = handle.wb_border_plain, handle.wb_border_repeat
    plain.restype = repeat.restype = ctypes.c_int64
    plain.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    repeat.argtypes = [*plain.argtypes, ctypes.c_int64]
    opener = handle.wb_border_open
    opener.restype = ctypes.c_void_p
    opener.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    functions = _python_functions()
    if functions is None:
        return Border(None, plain, repeat)
    system, slots = ctypes.addressof(_system()), ctypes.addressof(_slots)
    definition = opener(ctypes.addressof(functions), system, id(np.ndarray), slots)
    return Border(_new_function()(definition, None, None), plain, repeat)


@cache
def _python_functions() -> ctypes.Array[ctypes.c_void_p] | None:
    """Addresses of the interpreter's functions; None where it does not show them."""
    try:
        addresses = [_address(name) for name in _PYTHON]
        _new_function()
    except (AttributeError, OSError):
        return None
    return (ctypes.c_void_p * len(addresses))(*addresses)


@cache
def _system() -> ctypes.Array[ctypes.c_void_p]:
    """What `wb_stops_system` in interrupts.c holds; zeros where signals have no handlers that could be changed."""
    try:
        found = [_address("sigaction"), _address("PyThread_get_thread_ident"), threading.main_thread().ident]
    except (AttributeError, OSError):
        found = [None] * 3
    return (ctypes.c_void_p * 3)(*found)


def _address(name: str) -> int | None:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value


@cache
def _new_function() -> Callable[..., Callable[..., int]]:
    """`PyCFunction_NewEx`: makes a builtin of a method definition."""
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    return make(("PyCFunction_NewEx", ctypes.pythonapi))


@cache
def _part(name: str) -> str:
    return Path(__file__).with_name(name).read_text()


# What differs from kernel to kernel.
_KERNEL_PART = """enum {{ WB_BORDER_INPUTS = {inputs}, WB_BORDER_OUTPUTS = {outputs}, WB_BORDER_CHECKS = {checks} }};
enum {{ WB_BORDER_SYMBOLS = {symbols} }};
static const wb_border_parameter wb_border_parameters[] = {{{rows}}};
static int64_t wb_border_kernel(void *const *data, const wb_border_value *values, const int64_t *symbols,
                                void *workspace, int threads) {{
    return {name}({arguments});
}}
static int64_t wb_border_workspace(const int64_t *symbols, int threads) {{
    return {workspace};
}}
"""


def kernel_part(signature: Signature) -> str:
    """What the text around a kernel has to know of it, in C."""
    rows = [parameter_row(p) for p in (*signature.inputs, *signature.outputs)]
    return _KERNEL_PART.format(
        inputs=len(signature.inputs),
        outputs=len(signature.outputs),
        checks=len(signature.checks),
        symbols=len(signature.symbols),
        rows=", ".join(rows) or "{0, 1, 0, 0}",
        name=_name(signature),
        arguments=", ".join(_arguments(signature)),
        workspace=_workspace(signature),
    )


def parameter_row(parameter: ArrayParameter) -> str:
    """A `wb_border_parameter` of C: kind, bytes, rank, whether it is given by value."""
    return f"{{'{_kind(parameter)}', {parameter.dtype.bytes}, {parameter.rank}, {int(parameter.by_value)}}}"


def _kind(parameter: ArrayParameter) -> str:
    """The letter of border.c for an element type; bfloat16, which no buffer format names, travels as bits."""
    if parameter.dtype.is_half and (parameter.by_value or parameter.dtype.name == "bfloat16"):
        return "h"
    return parameter.dtype.kind[0]


def _arguments(signature: Signature) -> list[str]:
    """Arguments of the generated function: arrays, scalars by value, symbols, workspace, threads."""
    places = {p.name: n for n, p in enumerate((*signature.inputs, *signature.outputs))}
    arrays = [f"data[{places[p.name]}]" for p in (*signature.inputs, *signature.outputs) if not p.by_value]
    scalars = [_scalar(p, places[p.name]) for p in signature.inputs if p.by_value]
    return [*arrays, *scalars, *_symbols(signature), "workspace", "threads"]


def _scalar(parameter: ArrayParameter, place: int) -> str:
    return f"({parameter.dtype.c_name})values[{place}].{value_field(parameter.dtype)}"


def value_field(dtype: DType) -> str:
    """The member of C's `wb_border_value` in which a number by value travels; halves as bits."""
    members = {"float": "real", "int": "integer", "bool": "integer", "uint": "natural"}
    return "natural" if dtype.is_half else members[dtype.kind]


def _symbols(signature: Signature) -> list[str]:
    return [f"symbols[{n}]" for n in range(len(signature.symbols))]


def _workspace(signature: Signature) -> str:
    if signature.workspace is None:
        return "0"
    return f"{_name(signature)}_workspace({', '.join([*_symbols(signature), 'threads'])})"


def _name(signature: Signature) -> str:
    if not (signature.function.isidentifier() and signature.function.isascii()):
        raise BuildError(f"kernel function {signature.function!r} is no C name")
    return signature.function
