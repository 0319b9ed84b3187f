"""The library's list: names, families, documentation, sizes worth trying."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import workbench.ops
from workbench import ops
from workbench.errors import WorkbenchError
from workbench.lang import astype, operator, operators
from workbench.lang.operator import Operator
from workbench.ops.catalogue import ENTRIES, FAMILIES


def test_every_operator_is_an_attribute():
    assert all(isinstance(getattr(ops, name), Operator) for name in ops.list())
    assert ops.matmul is ops.load("matmul")
    assert set(ops.list()) <= set(dir(ops))


def test_there_are_many_operators_and_no_name_stands_twice():
    names = [entry.name for entries in FAMILIES.values() for entry in entries]
    assert len(names) == len(set(names)) >= 40


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_is_complete(name):
    op, entry = ops.load(name), ENTRIES[name]
    assert op.name == name == [*operators(entry.text)][-1]
    sentence, _, formula = op.doc.partition("\n\n")
    assert sentence.endswith(".")
    assert formula
    assert entry.examples
    for sizes in ops.examples(op):
        assert set(sizes) == {*op.size_names, *op.scalars}
    assert set(entry.values) <= {*op.parameters, *op.outputs}


def test_families_partition_the_library():
    assert [name for family in ops.families() for name in ops.list(family)] == ops.list()
    assert "attention" in ops.list("attention")


def test_unknown_names_list_the_known_ones():
    with pytest.raises(AttributeError, match="unknown operator 'matmull'; did you mean 'matmul'"):
        _ = ops.matmull
    with pytest.raises(WorkbenchError, match="unknown family 'pool'; did you mean 'pooling'"):
        ops.list("pool")
    assert not hasattr(ops, "_repr_html_")


def test_an_operator_of_ones_own_has_no_examples():
    op = operator("def mine(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
    assert ops.examples(op) == ()
    matmul = operator("def matmul(float(M) A) -> (C) { C(m) = A(m) }")
    assert ops.examples(matmul) == ()


def test_another_element_type_keeps_the_examples():
    assert ops.examples(astype(ops.matmul, "double")) == ops.examples(ops.matmul)


def test_no_module_hides_an_operator():
    """A submodule that is imported later would overwrite an attribute of the same name."""
    modules = {m.name for m in pkgutil.iter_modules(workbench.ops.__path__)}
    for module in modules:
        importlib.import_module(f"workbench.ops.{module}")
    assert not modules & ({*ops.list()} | {*ops.__all__})


def test_importing_the_room_parses_nothing():
    text = (
        "import workbench.ops, workbench.lang.syntax.parser as p; import sys;"
        "assert not p.parse.cache_info().currsize if hasattr(p.parse, 'cache_info') else True;"
        "from workbench.ops.catalogue import load; assert load.cache_info().currsize == 0"
    )
    import subprocess
    import sys

    subprocess.run([sys.executable, "-c", text], check=True, timeout=60)
