"""A full disk, a library of another machine, signals, forks, crowds: each in a process of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.runtime.compilers.discovery import every_toolchain

ROOT = Path(__file__).resolve().parents[2]
# Python leaves half a bytecode file behind where files may not grow, and every later interpreter fails on it.
OWN = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
pytestmark = pytest.mark.skipif(
    not (shutil.which("gcc") or shutil.which("clang")), reason="install gcc or clang: no C compiler found"
)

PROLOGUE = """
import glob, os, resource, signal, sys, threading, time, warnings
import numpy as np, workbench as wb
from workbench.errors import WorkbenchError
mm = wb.operator("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
a, b = np.ones((30, 20), "f4"), np.ones((20, 10), "f4")

def go(**chosen):
    try:
        with wb.settings(**chosen):
            right = (mm(a, b) == 20).all()
        print("right" if right else "WRONG")
    except WorkbenchError as error:
        print(type(error).__name__, error)
"""


def ends(code: str, folder: Path, **environment: str) -> str:
    """What a new interpreter prints; it ends by itself, and its cache holds nothing half-made."""
    cache = folder / "home"
    known = {"XDG_CACHE_HOME": str(cache), "HOME": os.environ.get("HOME", str(folder)), **OWN}
    done = subprocess.run(
        [sys.executable, "-c", PROLOGUE + code],
        cwd=folder, env={**os.environ, **known, **environment}, capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr[-3000:])
    assert not [p for p in cache.rglob("*") if p.name.startswith(("staging-", ".writing-"))]
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def compiler(folder: Path, then: str) -> Path:
    """A script that is a good compiler until a kernel comes, and then does something else."""
    real = shutil.which("gcc") or shutil.which("clang")
    script = folder / "cc"
    script.write_text(f'#!/bin/bash\ncase "$*" in *probe.c*|*--version*) exec {real} "$@" ;; esac\n{then}\n')
    script.chmod(0o755)
    return script


# -- disks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0, 4096])
def test_files_that_may_not_grow(tmp_path: Path, limit: int) -> None:
    said = ends(f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\ngo()\n", tmp_path)
    assert "BuildError" in said
    assert "Free space" in said or "No space left on device" in said
    assert "Is it a C compiler?" not in said


@pytest.mark.parametrize(
    ("options", "after"), [("size=40k", ""), ("size=40m,noexec", ""), ("size=40m", "mount -o remount,ro .")]
)  # fmt: skip
def test_a_real_disk_without_room(tmp_path: Path, options: str, after: str) -> None:
    """In a mount namespace of its own; the kernel is built elsewhere, with one warning."""
    home = tmp_path / "home"
    home.mkdir()
    own = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    mount = f"mount -t tmpfs -o {options} tmpfs {home} && cd {home} && {after or 'true'} && "
    if subprocess.run([*own, "sh", "-c", mount + "true"], capture_output=True, check=False).returncode:
        pytest.skip("allow user namespaces: no file system can be mounted here")
    run = f'{mount} exec "{sys.executable}" -c "$CODE"'
    known = {**os.environ, "XDG_CACHE_HOME": str(home), "CODE": PROLOGUE + "go()", **OWN}
    done = subprocess.run([*own, "sh", "-c", run], env=known, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
    assert done.stderr.count("kernels are kept in a temporary directory until this process ends") == 1


def test_temporary_files_have_no_room_while_a_compiler_is_tried(tmp_path: Path) -> None:
    """The compiler is not blamed for it."""
    code = """
import tempfile
tempfile.gettempdir()
from pathlib import Path
keep = Path.write_text
def full(path, *rest, **more):
    if path.name == "probe.c":
        raise OSError(28, "No space left on device", str(path))
    return keep(path, *rest, **more)
Path.write_text = full
go()
"""
    said = ends(code, tmp_path)
    assert "BuildError no place to try the compiler" in said
    assert "No space left on device" in said
    assert "with TMPDIR" in said


CALLS = """
for n in range(1, 6):
    print((mm(a[:n], b) == 20).all())
"""

SPOIL = """
import hashlib, json
for n, library in enumerate(sorted(glob.glob(os.environ["XDG_CACHE_HOME"] + "/**/kernel.so", recursive=True))):
    with open(library, "rb") as file: content = bytearray(file.read())
    match n:
        case 0: content = b""
        case 1: content = content[:5]
        case 2: content = b"MZ" + bytes(5000)
        case 3: content = content[:len(content) // 2]
        case 4: content[18:20] = (0xF3 if content[18] != 0xF3 else 0x3E).to_bytes(2, "little")
    os.unlink(library)
    with open(library, "wb") as file: file.write(content)
    record = library.replace("kernel.so", "record.json")
    with open(record) as file: known = json.load(file)
    known["sha256"] = hashlib.sha256(content).hexdigest()
    with open(record, "w") as file: json.dump(known, file)
    print(n)
"""


@pytest.mark.slow
def test_libraries_that_were_replaced_are_built_again(tmp_path: Path) -> None:
    """By nothing, by pieces, by one of another architecture, with the checksum mended."""
    right = "True\n" * 5
    assert ends(CALLS, tmp_path) == right
    assert ends(SPOIL + CALLS, tmp_path) == "0\n1\n2\n3\n4\n" + right


# -- compilers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("then", "message"),
    [("kill -KILL $$", "cc crashed: it was killed by SIGKILL, for kernel 'mm'"),
     ("kill -STOP $$", "did not finish within 1 s (settings(compile_seconds=...) sets the limit)"),
     ("head -c 99999 /dev/urandom; exit 3", "cc refused the generated C (ended with exit status 3)")],
)  # fmt: skip
def test_a_compiler_that_ends_badly_costs_nothing_later(tmp_path: Path, then: str, message: str) -> None:
    script = compiler(tmp_path, then)
    said = ends(f"go(compiler={str(script)!r}, compile_seconds=1)\ngo()\n", tmp_path)
    assert message in said
    assert "\nright\n" in said
    assert len(said) < 8000


def test_a_compiler_that_disappears(tmp_path: Path) -> None:
    """Between the plan and the build, and while it runs."""
    script = compiler(tmp_path, 'rm -f "$0"; exit 9')
    code = f"""
script = {str(script)!r}
with wb.settings(compiler=script):
    plan = mm.plan(a, b)
    try: plan.build()
    except WorkbenchError as error: print(error)
    try: plan.build()
    except WorkbenchError as error: print(error)
go(compiler=script)
go()
"""
    said = ends(code, tmp_path)
    assert "ended with exit status 9" in said
    assert len(re.findall(r"the compiler '.*/cc' was not found\. Compilers found here: .*(gcc|clang)", said)) == 2
    assert said.endswith("right\n")


def test_a_compiler_whose_version_is_noise(tmp_path: Path) -> None:
    script = tmp_path / "cc"
    real = shutil.which("gcc") or shutil.which("clang")
    script.write_text(f'#!/bin/bash\ncase "$*" in *--version*) yes $\'\\e[31m\\a\' | tr -d "\\n" | head -c 99999;'
                      f' exit 0;; esac\nexec {real} "$@"\n')  # fmt: skip
    script.chmod(0o755)
    code = f"with wb.settings(compiler={str(script)!r}): text = str(mm.plan(a, b))\n"
    said = ends(code + "print(len(text) < 5000, text.replace(chr(10), ' ').isprintable())", tmp_path)
    assert said == "True True\n"


def test_an_interrupt_while_the_compiler_runs(tmp_path: Path) -> None:
    script = compiler(tmp_path, f"touch {tmp_path}/started; sleep 100")
    code = f"""
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts jobs in the background with SIGINT ignored
def later():
    while not os.path.exists("started"): time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=later).start()
try:
    with wb.settings(compiler={str(script)!r}): mm(a, b)
except KeyboardInterrupt: print("interrupted")
print(sorted(os.listdir(os.environ["XDG_CACHE_HOME"] + "/tensor-workbench/v1/kernels")))
go()
"""
    assert ends(code, tmp_path) == "interrupted\n[]\nright\n"
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False).stdout
    assert str(script) not in running


# -- crowds ----------------------------------------------------------------------------------------


def test_many_threads_call_an_operator_for_the_first_time(tmp_path: Path) -> None:
    code = """
start, answers = threading.Barrier(24), []
def work(n):
    start.wait()
    answers.append((mm(a[: 1 + n % 3], b) == 20).all())
several = [threading.Thread(target=work, args=(n,)) for n in range(24)]
for thread in several: thread.start()
for thread in several: thread.join()
print(len(answers), all(answers))
"""
    assert ends(code, tmp_path) == "24 True\n"


@pytest.mark.parametrize("family", ["gcc", "clang"])
def test_a_child_forked_beside_busy_threads_computes(tmp_path: Path, family: str) -> None:
    if family not in {t.family for t in every_toolchain()}:
        pytest.skip(f"install {family}: this C compiler was not found")
    code = f"""
warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)  # Python's advice from 3.12 on
with wb.settings(compiler={family!r}, threads=2):
    mm(a, b)
    stop = []
    def work():
        with wb.settings(compiler={family!r}, threads=2):
            while not stop: mm(a, b)
    several = [threading.Thread(target=work) for _ in range(3)]
    for thread in several: thread.start()
    for turn in range(4):
        child = os.fork()
        if not child:
            signal.alarm(60)
            # a kernel made before the fork, and one made after it
            os._exit(0 if (mm(a, b) == 20).all() and (mm(a[:7], b[:, :3]) == 20).all() else 3)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop.append(1)
"""
    assert ends(code, tmp_path).split() == ["0"] * 4


def test_no_home_no_directory_no_streams(tmp_path: Path) -> None:
    code = """
os.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone")
for stream in (0, 1, 2): os.close(stream)
try: right = (mm(a, b) == 20).all()
except BaseException: right = False
os._exit(0 if right else 3)
"""
    ends(code, tmp_path, HOME="/nonexistent", TMPDIR="/nonexistent")


def test_more_threads_than_anybody_has(tmp_path: Path) -> None:
    large = "a, b = np.ones((300, 20), 'f4'), np.ones((20, 100), 'f4')\n"
    assert ends(f"{large}go(threads=1000)", tmp_path) == "right\n"


def test_signals_are_known() -> None:
    """The number that `ends` would see for a crash is not 0."""
    done = subprocess.run([sys.executable, "-c", "import os; os.kill(os.getpid(), 11)"], check=False)
    assert done.returncode == -signal.SIGSEGV
