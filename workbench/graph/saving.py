"""Models in files: the text and its constants in one archive of arrays, without pickled objects."""

from __future__ import annotations

import json
import zipfile
from os import PathLike
from typing import Any

import numpy as np

from workbench.errors import ModelError
from workbench.graph.models import Model, model
from workbench.lang.dtypes import DTYPES, from_numpy

FORMAT = 1


def save(of: Model, path: str | PathLike[str]) -> None:
    """Write a model to a file (NumPy's `.npz`): its text, and each array under the number it has in the text."""
    arrays: dict[str, Any] = {f"const{number}": _stored(array) for number, array in enumerate(of.constants)}
    types = [array.dtype.name for array in of.constants]
    head = json.dumps({"format": FORMAT, "types": types, "key": of.key})
    with open(path, "wb") as file:
        np.savez(file, head=_bytes(head), text=_bytes(str(of)), **arrays)


def load(path: str | PathLike[str]) -> Model:
    """The model of a file that `save` wrote; ModelError if it holds none, or if it has changed since."""
    try:
        with np.load(path, allow_pickle=False) as found:
            head = json.loads(found["head"].tobytes())
            text = found["text"].tobytes().decode()
            stored = [found[f"const{number}"] for number in range(len(head["types"]))]
    except (OSError, EOFError, KeyError, ValueError, TypeError, zipfile.BadZipFile) as error:
        raise ModelError(f"{path} holds no model: {error}; write one with wb.graph.save(model, path)") from None
    if head["format"] != FORMAT:
        raise ModelError(f"{path} has format {head['format']}, and this version reads format {FORMAT}")
    found_model = model(text, [_array(array, name) for array, name in zip(stored, head["types"], strict=True)])
    if found_model.key != head["key"]:
        raise ModelError(
            f"{path} is not what was saved: its contents, or an operator that it names, have changed since"
        )
    return found_model


def _bytes(text: str) -> np.ndarray[Any, Any]:
    return np.frombuffer(text.encode(), np.uint8)


def _stored(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array in a type that NumPy's files know: those of other packages as unsigned integers."""
    return array if array.dtype.kind in "biuf" else array.view(np.uint16)


def _array(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    if name not in DTYPES:
        raise ModelError(f"unknown element type {name!r} of a stored constant")
    wanted = DTYPES[name]
    return array if from_numpy(array.dtype) == wanted else array.view(wanted.numpy)
