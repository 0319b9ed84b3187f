"""Peers with environments of their own: arguments arrive unchanged, functions fit, who is missing says so."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from bench import contenders, environments
from bench.contenders import FOREIGN, operator_of
from bench.suite import CASES
from bench.tuning.against_tvm import CHAINS
from bench.workers.foreign_worker import MODULES, loaded, saved
from tests.support import ROOT

# What the first parameter of a peer's functions is, if it is none of the operator's.
OWN = {"jax": 0, "onnxruntime": 1, "halide": 0, "tvm": 0}


def functions(peer):
    """Function → number of the operator's arguments that it takes, without importing the peer."""
    file = ROOT.joinpath(*MODULES[peer].split(".")).with_suffix(".py")
    defined = [n for n in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(n, ast.FunctionDef)]
    public = [n for n in defined if not n.name.startswith("_") and n.name != "prepare"]
    return {n.name: len(n.args.args) - OWN[peer] for n in public}


@pytest.mark.parametrize("peer", MODULES)
def test_every_function_is_of_a_case_and_takes_its_arguments(peer):
    known = {name: case for case in (*CASES, *CHAINS) for name in (case.operator, *case.torch.split())}
    for name, count in functions(peer).items():
        assert name in known, name
        assert count == len(operator_of(known[name]).parameters), name


def test_arguments_keep_their_order_and_kind(tmp_path):
    given = [np.arange(6.0, dtype=np.float32).reshape(2, 3), 3, *(np.full(2, n) for n in range(10)), 1e-5]
    saved(given, tmp_path / "a.npz")
    back = loaded(tmp_path / "a.npz")
    assert [type(a) for a in back] == [type(a) for a in given]
    assert all(np.array_equal(a, b) for a, b in zip(back, given, strict=True))
    assert back[0].dtype == np.float32


def test_who_is_missing_says_what_to_run(monkeypatch, tmp_path):
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    monkeypatch.setattr(environments, "find_spec", lambda name: None)
    assert contenders.missing("jax") == "jax is not installed: python -m bench.environments jax"
    python = tmp_path / "jax" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert environments.interpreter("jax") == str(python)
    assert contenders.missing("jax") is None


def test_each_foreign_peer_has_a_module_and_an_environment():
    assert set(FOREIGN) == set(MODULES) == set(environments.PEERS)
