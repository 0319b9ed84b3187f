"""Ctrl-C, or the notebook's button, while a kernel runs: it ends soon, in all threads, and says what it leaves behind.

Each program here would run for many minutes; what interrupts it is a signal to its own process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

import workbench as wb
from workbench.runtime.compilers.discovery import every_toolchain

LONG = """
import ctypes, os, signal, sys, threading
import numpy as np, workbench as wb

signal.signal(signal.SIGINT, signal.default_int_handler)
nothing = np.zeros(1, "f4")
op = wb.operator("def long(float(N) A) -> (o) { o(i) +=! A(i) * A(j) * A(k) where j in 0:N, k in 0:N }")
schedule = wb.schedule(op, N=20000)

def soon(action=lambda: os.kill(os.getpid(), signal.SIGINT)):
    threading.Timer(0.2, action).start()

def handler():
    found = (ctypes.c_uint64 * 64)()
    ctypes.pythonapi.sigaction(2, None, found)
    return list(found[:2])

def said(call):
    try:
        call()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"

A, o = np.ones(20000, "f4"), np.full(20000, -1, "f4")
"""
STOPPED = "KeyboardInterrupt: long was stopped while it ran: o may be partly written"


def program(text: str, **environment: str) -> list[str]:
    """The lines that a program prints."""
    script = LONG + textwrap.dedent(text)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=100, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("family", [c.family for c in every_toolchain()])
def test_an_interrupt_ends_a_long_kernel(family):
    lines = program(
        """
        for name, by in {"serial": schedule, "parallel": schedule | wb.parallelize("i")}.items():
            kernel = wb.build(by, threads=2)
            before = handler()
            soon(); print(said(lambda: kernel(A)))
            soon(); print(said(lambda: kernel(A, out=o)))
            print((o == -1).any(), handler() == before)
        """,
        WORKBENCH_CC=family,
    )
    assert lines == [STOPPED, STOPPED, "True True"] * 2


def test_what_calls_a_kernel_in_its_own_way_is_interrupted_too():
    lines = program(
        """
        kernel = wb.build(wb.schedule(op))
        backwards = [kernel(A[n::-1], out=o[n::-1]) for n in (5,)]
        soon(); print(said(lambda: wb.measure(kernel, A)))
        soon(); print(said(lambda: kernel(A[::-1], out=o[::-1])))
        soon(); print(said(lambda: kernel(A, out=o.astype("f4").byteswap().view(">f4"))))
        """
    )
    assert lines == [STOPPED] * 3


def test_a_handler_that_does_not_raise_sees_the_signal_and_the_call_ends():
    lines = program(
        """
        signal.signal(signal.SIGINT, lambda *_: print("seen"))
        kernel = wb.build(schedule)
        soon(); print(said(lambda: kernel(A)))
        """
    )
    assert lines == ["seen", STOPPED]


def test_a_kernel_computes_as_before_after_an_interrupt():
    lines = program(
        """
        kernel = wb.build(wb.schedule(wb.operator("def long(float(N) A, float(M) B) -> (o) { "
            "o(i) +=! A(i) * B(j) * B(k) where k in 0:M }")))
        soon(); print(said(lambda: kernel(A, A)))
        for _ in range(3):
            print(kernel(A, A[:3]).tolist() == [9.0] * 20000)
        """
    )
    assert lines == [STOPPED, "True", "True", "True"]


def test_a_call_in_another_thread_ends_too_and_one_that_begins_later_does_not():
    lines = program(
        """
        kernel, answers = wb.build(wb.schedule(op)), []
        other = threading.Thread(target=lambda: answers.append(said(lambda: kernel(A))))
        other.start()
        soon(); print(said(lambda: kernel(A, out=o)))
        print(kernel(A[:3]).tolist())
        other.join(); print(*answers)
        """
    )
    assert lines == [STOPPED, "[9.0, 9.0, 9.0]", STOPPED]


def test_where_interrupts_are_ignored_a_kernel_runs_to_its_end():
    lines = program(
        """
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        kernel = wb.build(wb.schedule(op, N=1000))
        soon(); print(kernel(A[:1000])[7])
        """
    )
    assert [float(line) for line in lines] == [1e6]


def test_subscripts_that_the_kernel_computes_and_nobody_checks_let_it_run_on():
    op = wb.operator("def f(int32(N,N) I, float(N) A) -> (p, o) { p(i) max=! I(i,j)   o(i) = A(p(i)) }")
    schedule = wb.schedule(op, N=4000)
    assert "WB_STOPS" in wb.generate(schedule).source
    assert "WB_STOPS" not in wb.generate(schedule, unchecked=True).source


def test_what_is_soon_over_does_not_look():
    assert "WB_STOPS" not in wb.generate(wb.schedule(wb.ops.matmul, M=40, N=40, K=40)).source
    assert "WB_STOPS" not in wb.generate(wb.schedule(wb.operator("def f(float(N) A) -> (o) { o(i) = A(i) }"))).source


def test_plain_c_compiles_without_and_with_a_question_of_its_own(tmp_path):
    source = wb.generate(wb.schedule(wb.ops.matmul, M=400, N=400, K=400)).source
    assert "if (WB_STOPS != wb_began) break;" in source
    own = "volatile unsigned stop;"
    (tmp_path / "k.c").write_text(f"{own}\n#define WB_STOPS stop\n{source}")
    (tmp_path / "plain.c").write_text(source)
    for name in ("k.c", "plain.c"):
        subprocess.run(["cc", "-Wall", "-Werror", "-c", name], cwd=tmp_path, check=True)


def answer_to(client, asked: str) -> dict:
    """What a kernel replies to a request: a slow start leaves answers to earlier ones in the queue."""
    while True:
        message = client.get_shell_msg(timeout=60)
        if message["parent_header"].get("msg_id") == asked:
            return message["content"]


def test_the_notebook_stop_button_ends_a_kernel():
    manager = pytest.importorskip("jupyter_client.manager")
    kernel, client = manager.start_new_kernel(kernel_name="python3")
    try:
        answer_to(client, client.execute(LONG))
        asked = client.execute("kernel = wb.build(schedule); soon(lambda: print('runs', flush=True)); kernel(A)")
        while True:
            message = client.get_iopub_msg(timeout=60)
            if message["msg_type"] == "stream" and "runs" in message["content"]["text"]:
                break
        kernel.interrupt_kernel()
        reply = answer_to(client, asked)
        assert f"{reply['ename']}: {reply['evalue']}" == STOPPED
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)
