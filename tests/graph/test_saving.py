"""Models in files: what is read is what was written, and what is none of ours is refused in words."""

from __future__ import annotations

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from tests.graph.programs import EXAMPLES, array
from workbench.errors import ModelError
from workbench.graph import load, model, save
from workbench.graph.evaluation.values import same


@pytest.mark.parametrize("name", ["mlp", "tree_lstm", "literals", "counter"])
def test_a_model_is_read_as_it_was_written(name, tmp_path):
    example = EXAMPLES[name]
    first = model(example.text, example.constants)
    save(first, tmp_path / "m.npz")
    second = load(tmp_path / "m.npz")
    assert second == first
    assert str(second) == str(first)
    assert same(second.evaluate(*example.arguments), first.evaluate(*example.arguments))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float64", ml_dtypes.bfloat16])
def test_constants_of_every_type_are_kept_bit_for_bit(dtype, tmp_path):
    constant = array(2, 3).astype(dtype)
    save(model("fn main() { const#0 }", [constant]), tmp_path / "m.npz")
    found = load(tmp_path / "m.npz").evaluate()
    assert found.dtype == constant.dtype
    assert found.tobytes() == constant.tobytes()


def test_a_model_is_sent_to_another_process_as_its_text():
    first = model(EXAMPLES["mlp"].text, EXAMPLES["mlp"].constants)
    for second in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first)):
        assert second == first


def test_a_file_of_something_else_is_refused(tmp_path):
    for name, text in {"text": b"fn main() { 1 }", "empty": b""}.items():
        (tmp_path / name).write_bytes(text)
        with pytest.raises(ModelError, match="holds no model"):
            load(tmp_path / name)
    np.savez(tmp_path / "arrays.npz", a=np.zeros(3))
    with pytest.raises(ModelError, match="holds no model"):
        load(tmp_path / "arrays.npz")
    with pytest.raises(ModelError, match="holds no model"):
        load(tmp_path / "nothing.npz")


def test_pickled_objects_are_not_read(tmp_path):
    np.savez(tmp_path / "m.npz", head=np.array([{}], dtype=object), text=np.zeros(1, np.uint8))
    with pytest.raises(ModelError, match="allow_pickle"):
        load(tmp_path / "m.npz")


def test_a_file_that_was_changed_is_refused(tmp_path):
    save(model("fn main() { const#0 }", [array(3)]), tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as found:
        changed = dict(found)
    changed["const0"] = changed["const0"] + 1
    np.savez(tmp_path / "m.npz", **changed)
    with pytest.raises(ModelError, match="is not what was saved"):
        load(tmp_path / "m.npz")


def test_a_file_of_another_format_is_refused(tmp_path):
    np.savez(
        tmp_path / "m.npz", head=np.frombuffer(b'{"format": 9, "types": []}', np.uint8), text=np.zeros(0, np.uint8)
    )
    with pytest.raises(ModelError, match="has format 9, and this version reads format 1"):
        load(tmp_path / "m.npz")
