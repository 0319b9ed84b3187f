"""Compilers that fail, caches that cannot be used, processes that meet: nothing lost, and a clear word."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.runtime.compilers.fakes import fake_compiler
from tests.runtime.hand import kernel, numbers, parameter
from workbench.errors import BuildError
from workbench.runtime import building
from workbench.runtime.compilers import compiling, discovery, entries, probing, storage
from workbench.runtime.compilers.discovery import every_toolchain, preferred_toolchain
from workbench.runtime.compilers.entries import Entry
from workbench.runtime.host.machine import this_machine
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.settings import settings

pytestmark = pytest.mark.skipif(
    not (shutil.which("gcc") or shutil.which("clang")), reason="install gcc or clang: no C compiler found"
)
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test starts as a new process would: with no library loaded."""
    monkeypatch.setattr(compiling, "_loaded", {})


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    with settings(cache=tmp_path / "cache"):
        preferred_toolchain()
        yield tmp_path / "cache"


def doubler(marker: int = 0, **more: Any) -> CompiledKernel:
    """C = 2 A, in a text of its own for each marker."""
    body = f"for (int i = 0; i < 4; ++i) C[i] = 2 * A[i]; /* {marker} */"
    made = kernel("doubler", body, parameter("A", (4,)), parameter("C", (4,), role="output"))
    return building.build(made, **more)


def works(built: CompiledKernel) -> bool:
    return np.array_equal(built(numbers(4)), 2 * numbers(4))


def exchange(path: Path, content: bytes) -> None:
    """Another file in its place: the old one is mapped into this process and has to stay as it is."""
    path.unlink()
    path.write_bytes(content)


def entry_of(built: CompiledKernel) -> Entry:
    return Entry(built.library.parent)


# -- the cache -------------------------------------------------------------------------------------


def test_a_library_is_built_once_and_found_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = doubler()
    assert works(first)
    monkeypatch.setattr(compiling, "_loaded", {})
    monkeypatch.setattr(compiling, "_from_compiler", lambda *_: pytest.fail("compiled again"))
    again = doubler()
    assert again.library == first.library
    assert works(again)
    assert first.source in entry_of(again).source.read_text()


def test_everything_that_matters_is_in_the_key(cache: Path) -> None:
    seen = {doubler().library, doubler(1).library, doubler(debug=True).library}
    for family in {t.family for t in every_toolchain()} - {"zig"}:
        with settings(compiler=family):
            seen.add(doubler().library)
    assert len(seen) == 3 + len({t.family for t in every_toolchain()} - {"zig"}) - 1


def test_the_cache_is_private(cache: Path) -> None:
    doubler()
    for folder in (cache / "v1", cache / "v1/kernels", *(cache / "v1/kernels").glob("?" * 40)):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (cache / "v1").chmod(0o755)
    doubler(1)
    assert stat.S_IMODE((cache / "v1").stat().st_mode) == 0o700


def test_a_cache_of_somebody_else_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "v1").mkdir(exist_ok=True, parents=True)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(BuildError, match=r"belongs to another user \(uid \d+\); code from it will not be run"):
        doubler()


@pytest.mark.parametrize(
    "harm",
    [
        lambda entry: exchange(entry.library, entry.library.read_bytes()[:3000]),
        lambda entry: exchange(entry.library, b""),
        lambda entry: entry.library.unlink(),
        lambda entry: (entry.folder / "record.json").write_text("{"),
        lambda entry: (entry.folder / "record.json").unlink(),
        lambda entry: (entry.folder / "record.json").write_text(json.dumps({"sha256": "0"})),
        lambda entry: [file.unlink() for file in entry.folder.iterdir()],
    ],
)
def test_a_corrupt_entry_is_built_again(cache: Path, harm: Any) -> None:
    entry = entry_of(doubler())
    harm(entry)
    compiling._loaded.clear()
    again = doubler()
    assert works(again)
    assert entry_of(again).sound()


def test_an_entry_that_is_sound_but_does_not_load_is_built_again(cache: Path) -> None:
    entry = entry_of(doubler())
    exchange(entry.library, b"\x7fELF\x02 nonsense")
    record = json.loads((entry.folder / "record.json").read_text())
    record["sha256"] = entries._checksum(entry.library)
    (entry.folder / "record.json").write_text(json.dumps(record))
    assert entry.sound()
    compiling._loaded.clear()
    assert works(doubler())


def test_nothing_is_left_behind_by_a_build(cache: Path) -> None:
    doubler()
    with pytest.raises(BuildError):
        building.build(kernel("broken", "not C", parameter("C", (1,), role="output")))
    assert not list((cache / "v1/kernels").glob("staging-*"))
    assert not list(cache.rglob(".writing-*"))


def test_old_entries_go_when_the_cache_is_full(cache: Path) -> None:
    old = [entry_of(doubler(n)) for n in range(3)]
    for age, entry in zip((5000, 9000, 7000), old, strict=True):
        stamp = time.time() - age
        os.utime(entry.folder / "record.json", (stamp, stamp))
    (cache / "v1/kernels/pruned").unlink()
    stale = cache / "v1/kernels/staging-gone"
    stale.mkdir()
    os.utime(stale, (1, 1))
    with settings(cache_bytes=entries._size(old[0].folder) * 2 + 100):
        fresh = entry_of(doubler(9))
    assert [e.sound() for e in (*old, fresh)] == [True, False, False, True]
    assert not stale.exists()


# -- places that cannot be used --------------------------------------------------------------------


def _unusable(tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache directory that cannot be used, for root too."""
    place = tmp_path / "cache"
    if what == "a file in its place":
        place.write_text("")
    elif what == "below a file":
        (tmp_path / "file").write_text("")
        place = tmp_path / "file" / "deeper"
    else:
        number = {"no space": errno.ENOSPC, "read only": errno.EROFS, "quota": errno.EDQUOT}[what]
        write = storage.write_file

        def failing(path: Path, content: bytes) -> None:
            if path.is_relative_to(place):
                raise OSError(number, os.strerror(number), str(path))
            write(path, content)

        for module in (storage, compiling, probing):
            monkeypatch.setattr(module, "write_file", failing)
    return place


@pytest.mark.parametrize("what", ["a file in its place", "below a file", "no space", "read only", "quota"])
def test_an_unusable_cache_is_replaced_with_one_warning(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settings(cache=_unusable(tmp_path, what, monkeypatch)):
        with pytest.warns(RuntimeWarning, match="the build cache .* cannot be used .*WORKBENCH_CACHE"):
            built = doubler()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert works(doubler(1))
        assert works(built)
        assert not built.library.is_relative_to(tmp_path)
        assert stat.S_IMODE(built.library.parent.stat().st_mode) == 0o700


def test_a_compiler_without_room_builds_elsewhere_then_gives_up(tmp_path: Path) -> None:
    with (
        settings(cache=tmp_path / "cache", compiler=fake_compiler(tmp_path, "has no room")),
        pytest.warns(RuntimeWarning, match="No space left on device"),
        pytest.raises(BuildError, match=r"kernel 'doubler' cannot be built: .*No space left on device"),
    ):
        doubler()


def test_no_place_at_all_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    storage._temporary.cache_clear()
    monkeypatch.setattr(storage.tempfile, "mkdtemp", _full)
    with settings(cache=tmp_path / "file"), pytest.raises(BuildError, match="no place to build kernels"):
        storage.storage()
    monkeypatch.undo()
    storage._temporary.cache_clear()


def _full(*_: Any, **__: Any) -> str:
    raise OSError(errno.ENOSPC, "No space left on device")


# -- compilers that misbehave ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("refuses", r"refused the generated C \(ended with exit status 1\), for kernel 'doubler'\n"
                    r"    kernel\.c:7:3: error: this is not C\n    note: nor English\nsource:  .*\.c\ncommand: .*-O2"),
        ("crashes", r"crashed: it was killed by SIGSEGV, for kernel 'doubler'\nsource:"),
        ("writes garbage", r"said that all is well but wrote no library"),
        ("writes half", r"said that all is well but wrote no library"),
        ("writes nothing", r"said that all is well but wrote no library"),
        ("floods", r"refused the generated C"),
    ],
)  # fmt: skip
def test_a_compiler_that_fails(cache: Path, tmp_path: Path, how: str, message: str) -> None:
    with settings(compiler=fake_compiler(tmp_path, how)), pytest.raises(BuildError, match=message) as caught:
        doubler()
    assert len(str(caught.value)) < 5000
    source = re.search(r"source:  (.*)", str(caught.value))
    assert source is not None
    assert "2 * A[i]" in Path(source[1]).read_text()
    assert works(doubler())


def test_a_compiler_that_hangs_is_stopped_with_its_children(cache: Path, tmp_path: Path) -> None:
    with settings(compiler=fake_compiler(tmp_path, "hangs")):
        preferred_toolchain()
        start = time.perf_counter()
        with (
            settings(compile_seconds=0.3),
            pytest.raises(BuildError, match=r"did not finish within 0\.3 s \(settings\(compile_seconds=\.\.\.\)"),
        ):
            doubler()
        assert time.perf_counter() - start < 30
    sleepers = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False).stdout
    assert str(tmp_path) not in sleepers


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no-such-compiler", r"the compiler 'no-such-compiler' was not found\. Compilers found here: .*(gcc|clang)"),
        ("/bin/false", r"/bin/false --version ended with exit status 1"),
        ("/bin/true", r"cannot build a library from two lines of C \(it ended with exit status 0: it said nothing\)"),
        ("/etc/passwd", r"the compiler '/etc/passwd' was not found"),
    ],
)
def test_what_is_no_compiler(cache: Path, name: str, message: str) -> None:
    with settings(compiler=name), pytest.raises(BuildError, match=message):
        doubler()


def test_text_that_is_no_program(cache: Path, tmp_path: Path) -> None:
    script = tmp_path / "cc"
    script.write_bytes(b"\x00\x01 not a program")
    script.chmod(0o755)
    with settings(compiler=script), pytest.raises(BuildError, match="cannot be started"):
        doubler()


def test_without_any_compiler_the_message_says_what_to_install(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "_candidates", lambda: iter(()))
    discovery._preferred.cache_clear()
    with pytest.raises(BuildError, match=r"no C compiler was found\. Install one .*pip install ziglang"):
        doubler()
    monkeypatch.undo()
    discovery._preferred.cache_clear()


def test_zig_is_the_fallback_and_says_so_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not discovery._zig():
        pytest.skip("install zig: this C compiler was not found")
    monkeypatch.setattr(discovery, "ON_PATH", ())
    discovery._preferred.cache_clear()
    with pytest.warns(
        RuntimeWarning, match="no gcc or clang was found: kernels are compiled by the installed `zig cc`"
    ):
        built = doubler()
    assert built.toolchain.family == "zig"
    assert works(built)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert works(doubler(1))
    discovery._preferred.cache_clear()


def test_what_a_compiler_accepts_is_asked_once(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = fake_compiler(tmp_path, "is slow")
    with settings(compiler=script):
        first = preferred_toolchain()
        probing._known.cache_clear()
        monkeypatch.setattr(probing, "_examine", lambda *_: pytest.fail("asked again"))
        assert preferred_toolchain() == first
        stamp = time.time() + 5
        os.utime(script, (stamp, stamp))
        monkeypatch.setattr(probing, "_examine", lambda *_: first)
        assert preferred_toolchain() == first


# -- flags -----------------------------------------------------------------------------------------


def test_flags_follow_the_target() -> None:
    for found in every_toolchain():
        machine = this_machine()
        flags = found.flags(machine)
        assert "-ffast-math" not in flags
        assert "-ffp-contract=fast" in flags
        haswell = found.flags(replace(machine, march="haswell"))
        assert ("-mcpu=haswell" if found.family == "zig" else "-march=haswell") in haswell
        assert ("-fopenmp" in flags) == found.openmp
        assert "-fopenmp" not in found.flags(replace(machine, parallel="pool"))
        wide = found.flags(replace(machine, vector_bits=512))
        assert ("-mprefer-vector-width=512" in wide) == ("-mprefer-vector-width=512" in found.accepted)
        assert "-O0" in found.flags(machine, debug=True)


# -- several at once -------------------------------------------------------------------------------


def test_threads_that_build_the_same_kernel_compile_it_once(cache: Path, tmp_path: Path) -> None:
    made: list[CompiledKernel] = []
    runs = []
    compiled = compiling._compiled

    def counted(*arguments: Any) -> Any:
        runs.append(1)
        return compiled(*arguments)

    def work() -> None:
        with settings(cache=cache):
            made.append(doubler(77))

    compiling._compiled = counted
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        compiling._compiled = compiled
    assert len(made) == 4
    assert all(map(works, made))
    assert len(runs) == 1


PROCESS = """
import sys
sys.path.insert(0, {root!r})
from workbench.settings import settings
from tests.runtime.compilers.test_compiling import doubler, works
with settings(cache={cache!r}, compiler={compiler!r}):
    sys.exit(0 if works(doubler(123)) else 3)
"""


def test_processes_that_build_the_same_kernel_all_succeed(cache: Path, tmp_path: Path) -> None:
    compiler = str(fake_compiler(tmp_path, "is slow"))
    code = PROCESS.format(root=str(ROOT), cache=str(cache), compiler=compiler)
    processes = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(3)]
    errors = [process.communicate(timeout=120)[1].decode() for process in processes]
    assert [p.returncode for p in processes] == [0, 0, 0], errors
    assert len([e for e in (cache / "v1/kernels").glob("?" * 40)]) == 1
    assert not list((cache / "v1/kernels").glob("staging-*"))
