"""`wb.export.torch_library`: operators that a shared library registers with PyTorch, where the workbench is not."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from tests.export.alone import alone
from tests.export.test_c_operators import ODD
from workbench.errors import WorkbenchError
from workbench.export.dispatch import LEVELS

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here to export to")

MATMUL = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"

START = """
import torch
def whole(*shape):
    return torch.randint(-4, 5, shape).float()
def refused(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), str(error)
    else:
        raise AssertionError("not refused: " + words)
"""
LOADED = START + "torch.ops.load_library({library!r})\nops = torch.ops.{space}\n"
IMPORTED = START + "import {companion}\nops = torch.ops.{space}\n"


class Written:
    """A library, and programs that use it."""

    def __init__(self, library: wb.export.TorchLibrary) -> None:
        self.library = library

    def run(self, program: str, start: str = IMPORTED, **variables: str) -> str:
        names = dict(library=str(self.library.library), space=self.library.namespace,
                     companion=self.library.companion.stem)  # fmt: skip
        return alone(start.format(**names) + program, folder=self.library.library.parent, **variables)


@pytest.fixture(scope="module")
def mm(tmp_path_factory: pytest.TempPathFactory) -> Written:
    op = wb.operator(MATMUL)
    what = [wb.autoschedule(op, M=16, K=16, N=16), op]
    return Written(wb.export.torch_library(what, tmp_path_factory.mktemp("mm") / "libmm.so"))


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Operators of many kinds: generic, updated, with indices, a promise, scalars, several results, no gradient."""
    ops = {
        "soft": wb.ops.softmax, "gemm": wb.ops.gemm,
        "conv": [wb.schedule(wb.ops.conv1d, stride=s, pad=1, dilation=1) for s in (1, 2)],
        "pick": wb.operator(ODD["indices in the data"][0]), "put": wb.operator(ODD["a promise"][0]),
        "both": wb.operator(ODD["two results"][0]), "total": wb.operator(ODD["no dimensions"][0]),
        "apart": wb.schedule(wb.operator(
            "def apart(float(M*N) A) -> (B) { B(i, j) = A(i*N + j) where i in 0:M, j in 0:N }"), N=3),
        "halves": wb.ops.matmul_bf16,
        "twice": wb.from_c("void twice(int n, float *a, float *b) { for (int i = 0; i < n; i++) b[i] = 2 * a[i]; }"),
    }  # fmt: skip
    path = tmp_path_factory.mktemp("several") / "libseveral.so"
    return Written(wb.export.torch_library(ops, path, namespace="mine"))


# -- what the file is --


def symbols(path: Path) -> list[str]:
    """What a library needs from others."""
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("install binutils: nm was not found")
    text = subprocess.run([nm, "-D", "--undefined-only", str(path)], capture_output=True, text=True, check=True).stdout
    return [line.split()[-1] for line in text.splitlines()]


def test_the_library_needs_only_pytorchs_stable_functions_and_those_of_c(several):
    needed = symbols(several.library.library)
    others = [s for s in needed if not re.match(r"(aoti_)?torch_\w+$", s)]
    assert len(others) < len(needed)
    assert not [s for s in others if re.search("c10|2at|5torch|pybind|^_?Py", s)]
    # The rest are the languages' own: versioned by the C library, by libgcc, by the C++ library.
    unversioned = [s for s in others if not re.search(r"@(GLIBC|GCC|CXXABI|GLIBCXX)_", s)]
    assert set(unversioned) <= {"_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__gmon_start__"}


def test_the_library_names_no_folder_of_this_machine_and_gives_out_no_symbols(mm):
    objdump = shutil.which("objdump")
    if objdump is None:
        pytest.skip("install binutils: objdump was not found")
    said = subprocess.run([objdump, "-p", str(mm.library.library)], capture_output=True, text=True, check=True).stdout
    assert "libtorch_cpu.so" in said
    assert not re.search("RPATH|RUNPATH|libtorch_python|libc10", said)
    given = subprocess.run([shutil.which("nm") or "nm", "-D", "--defined-only", str(mm.library.library)],
                           capture_output=True, text=True, check=True).stdout  # fmt: skip
    assert {line.split()[-1] for line in given.splitlines()} <= {"__bss_start", "_edata", "_end"}


def test_a_program_in_c_loads_it_without_python(mm, tmp_path):
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("install gcc 12.2: no compiler was found")
    (tmp_path / "user.c").write_text("""
        #include <dlfcn.h>
        #include <stdint.h>
        #include <stdio.h>
        typedef void *T;
        int main(int count, char **path)
        {
            void *torch = dlopen(path[1], RTLD_NOW | RTLD_GLOBAL), *own = dlopen(path[2], RTLD_NOW);
            if (!torch || !own || dlsym(torch, "Py_Initialize")) { puts(dlerror()); return 1; }
            int (*blob)(void *, int64_t, const int64_t *, const int64_t *, int64_t, int32_t, int32_t, int32_t, T *)
                = (int (*)(void *, int64_t, const int64_t *, const int64_t *, int64_t, int32_t, int32_t, int32_t, T *))
                    dlsym(torch, "aoti_torch_create_tensor_from_blob");
            int (*call)(const char *, const char *, uint64_t *)
                = (int (*)(const char *, const char *, uint64_t *))dlsym(torch, "aoti_torch_call_dispatcher");
            int (*data)(T, void **) = (int (*)(T, void **))dlsym(torch, "aoti_torch_get_data_ptr");
            int32_t (*type)(void) = (int32_t (*)(void))dlsym(torch, "aoti_torch_dtype_float32");
            float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1}, *c;
            int64_t left[2] = {2, 3}, right[2] = {3, 2}, by3[2] = {3, 1}, by2[2] = {2, 1};
            T A, B;
            if (blob(a, 2, left, by3, 0, type(), 0, 0, &A) || blob(b, 2, right, by2, 0, type(), 0, 0, &B)) return 2;
            uint64_t stack[2] = {(uint64_t)(uintptr_t)A, (uint64_t)(uintptr_t)B};
            if (call("workbench::mm", "", stack) || data((T)(uintptr_t)stack[0], (void **)&c)) return 3;
            printf("%g %g %g %g\\n", c[0], c[1], c[2], c[3]);
            return 0;
        }""")
    program, home = str(tmp_path / "user"), Path(str(torch.__file__)).parent / "lib"
    subprocess.run([compiler, str(tmp_path / "user.c"), "-o", program, "-ldl"], check=True)
    done = subprocess.run([program, str(home / "libtorch_cpu.so"), str(mm.library.library)], capture_output=True,
                          text=True, timeout=120)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "4 5 10 11\n"), done.stderr


# -- the library alone --


def test_alone_it_computes_with_views_threads_and_every_level(mm):
    program = """
for threads in (1, 2):
    torch.set_num_threads(threads)
    for shape in ((16, 16, 16), (5, 7, 3), (0, 4, 2), (3, 0, 2), (300, 200, 250)):
        A, B = whole(*shape[:2]), whole(*shape[1:])
        assert torch.equal(ops.mm(A, B), A @ B)
A, B = whole(8, 12), whole(5, 12)
assert torch.equal(ops.mm(A[::2], B.T), A[::2] @ B.T)
assert torch.equal(ops.mm(A[:, 1:6], B[:, 3:8].T.flip(0)), A[:, 1:6] @ B[:, 3:8].T.flip(0))
assert ops.mm(A[:3].to("meta"), B.T.to("meta")).shape == (3, 5)
"""
    for isa in ("avx512", "avx2", "baseline"):
        mm.run(program, LOADED, WORKBENCH_ISA=isa)


def test_a_library_for_other_processors_says_so_at_the_call(monkeypatch, tmp_path):
    for machine, levels in list(LEVELS.items()):
        monkeypatch.setitem(LEVELS, machine, tuple(replace(level, test="0") for level in levels[-1:]))
    elsewhere = Written(wb.export.torch_library(wb.operator(MATMUL), tmp_path / "libelsewhere.so"))
    elsewhere.run(
        """
A, B = whole(6, 7), whole(7, 4)
refused(ValueError, "mm: the library has kernels for other processors only", lambda: ops.mm(A, B))
""",
        LOADED,
    )


def test_alone_it_stands_in_compiled_and_exported_programs(mm):
    mm.run(
        """
A, B = whole(6, 7), whole(7, 4)
class Model(torch.nn.Module):
    def forward(self, a, b):
        return ops.mm(a.relu(), b).sum(0) * 2
model = Model()
compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
assert torch.equal(compiled(A, B), model(A, B))
exported = torch.export.export(model, (A, B))
assert "workbench.mm.default" in str(exported)
assert torch.equal(exported.module()(A, B), model(A, B))
""",
        LOADED,
    )


REFUSALS = """
A, B = whole(3, 4), whole(4, 5)
refused(RuntimeError, "A expected type float32 but found float64", lambda: ops.mm(A.double(), B))
refused(RuntimeError, "B expected type float32 but found int32", lambda: ops.mm(A, B.int()))
refused(ValueError, "A expected a tensor with 2 dimensions but found 3", lambda: ops.mm(A[None], B))
refused(ValueError, "mismatched sizes for K: K = 4 from A, dimension 1; B, dim", lambda: ops.mm(A, B[1:]))
refused(RuntimeError, "make sparse ones dense with .to_dense()", lambda: ops.mm(A.to_sparse(), B))
refused(RuntimeError, "make sparse ones dense with .to_dense()", lambda: ops.mm(A, B.to_sparse_csr()))
cuda = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)  # whose kernel is called without such a device all the same
refused(RuntimeError, "exported for dense tensors on cpu; move tensors with .cpu()",
        lambda: ops.mm.default.redispatch(cuda, A, B))
nested = torch.nested.nested_tensor([A, A])
refused(RuntimeError, "exported for dense tensors on cpu", lambda: ops.mm(nested, B))
refused(RuntimeError, "device", lambda: ops.mm(A, B.to("meta")))
refused(RuntimeError, "mm", lambda: ops.mm(A, 3.0))
refused(RuntimeError, "mm", lambda: ops.mm(A))
refused(ValueError, "mismatched sizes for K", lambda: ops.mm(A.to("meta"), B[1:].to("meta")))
"""


@pytest.mark.parametrize("start", [LOADED, IMPORTED])
def test_what_does_not_fit_is_refused_as_pytorch_refuses(mm, start):
    mm.run(REFUSALS, start)


def test_a_library_whose_operators_exist_already_leaves_them_alone(mm):
    program = """
owner = torch.library.Library("workbench", "FRAGMENT")
owner.define("mm(Tensor A, Tensor B) -> Tensor")
owner.impl("mm", lambda a, b: a, "CPU")
"""
    said = mm.run(program + f"torch.ops.load_library({str(mm.library.library)!r})\n"
                  "assert torch.ops.workbench.mm(whole(2, 3), whole(3, 2)).shape == (2, 3)\n", START)  # fmt: skip
    assert "exist already in this process" in said
    module = mm.library.companion.stem
    mm.run(program + f"refused(ImportError, 'workbench::mm exists already', lambda: __import__({module!r}))\n", START)


# -- with the Python file beside it --


def test_with_its_python_file_sizes_may_be_symbols(mm):
    mm.run("""
A, B = whole(6, 7), whole(7, 4)
class Model(torch.nn.Module):
    def forward(self, a, b):
        return ops.mm(a.relu(), b).sum(0) * 2
model = Model()
compiled = torch.compile(model, fullgraph=True, backend="aot_eager", dynamic=True)
for rows in (6, 3, 2):
    assert torch.equal(compiled(A[:rows], B), model(A[:rows], B))
rows = torch.export.Dim("rows", min=2)
exported = torch.export.export(model, (A, B), dynamic_shapes={"a": {0: rows}, "b": None})
assert torch.equal(exported.module()(A[:3], B), model(A[:3], B))
refused(Exception, "mismatched sizes for K", lambda: compiled(A, B[1:]))
""")


def test_with_its_python_file_it_is_differentiated_mapped_and_cast(mm):
    mm.run("""
A, B = whole(3, 4).requires_grad_(), whole(4, 5).requires_grad_()
ops.mm(A, B).relu().sum().backward()
down = ((A @ B) > 0).float()
assert torch.equal(A.grad, down @ B.T) and torch.equal(B.grad, A.T @ down)
C = whole(4, 5).requires_grad_()
ops.mm(A.detach(), C).sum().backward()
assert torch.equal(C.grad, A.detach().T @ torch.ones(3, 5))
compiled = torch.compile(lambda a, b: ops.mm(a, b).relu(), fullgraph=True, backend="aot_eager")
A.grad = None
compiled(A, B).sum().backward()
assert torch.equal(A.grad, down @ B.T)
X, Y = whole(3, 4, 5), whole(5, 3, 6)
mapped = torch.vmap(ops.mm, in_dims=(0, 1))(X, Y)
assert torch.equal(mapped, torch.vmap(torch.mm, in_dims=(0, 1))(X, Y))
with torch.autocast("cpu", torch.bfloat16):
    assert ops.mm(A.bfloat16(), B).dtype == torch.float32
(once, _) = torch.autograd.grad(ops.mm(A, B).square().sum(), [A, B], create_graph=True)
refused(NotImplementedError, "workbench::mm_grad has no gradient: the library was exported without it",
        lambda: torch.autograd.grad(once.sum(), A))
A, B = torch.randn(3, 4, requires_grad=True), torch.randn(4, 5, requires_grad=True)
assert set(torch.library.opcheck(ops.mm.default, (A, B)).values()) == {"SUCCESS"}
""")


def test_operators_of_many_kinds_in_one_library(several):
    several.run("""
for dtype in (torch.float32, torch.float64):
    X = torch.randn(5, 7, dtype=dtype, requires_grad=True)
    torch.testing.assert_close(ops.soft(X), X.softmax(1))
    assert torch.autograd.gradcheck(ops.soft, (X.detach().double().requires_grad_(),))
A, B, C = whole(3, 4), whole(4, 5), whole(3, 5)
kept = C.clone()
assert torch.equal(ops.gemm(A, B, 2.0, 0.5, C), 2 * A @ B + 0.5 * C) and torch.equal(C, kept)
wanted = [v.clone().requires_grad_() for v in (A, B, C)]
ops.gemm(wanted[0], wanted[1], 2.0, 0.5, wanted[2]).sum().backward()
assert torch.equal(wanted[2].grad, torch.full((3, 5), 0.5))
I, W = torch.randn(2, 3, 9, requires_grad=True), torch.randn(4, 3, 3)
for stride in (1, 2):
    expected = torch.nn.functional.conv1d(I, W, stride=stride, padding=1)
    torch.testing.assert_close(ops.conv(I, W, stride, 1, 1), expected, atol=1e-5, rtol=1e-4)
refused(ValueError, "no kernel for these scalars", lambda: ops.conv(I.detach(), W, 3, 1, 1))
(by,) = torch.autograd.grad(ops.conv(I, W, 2, 1, 1).sum(), I)
torch.testing.assert_close(by, torch.autograd.grad(expected.sum(), I)[0], atol=1e-5, rtol=1e-4)
T = whole(4, 3)
assert torch.equal(ops.pick(T, torch.tensor([3, 0])), T[[3, 0]])
refused(IndexError, "an index of T", lambda: ops.pick(T, torch.tensor([3, 4])))
assert ops.put(torch.arange(3.0), torch.tensor([2, 0, 1], dtype=torch.int32)).tolist() == [1, 2, 0]
refused(ValueError, "injective(P) does not hold: P has 2 twice",
        lambda: ops.put(torch.arange(3.0), torch.tensor([2, 0, 2], dtype=torch.int32)))
low, high = ops.both(torch.arange(6, dtype=torch.int32).reshape(2, 3))
assert low.tolist() == [0, 3] and high.tolist() == [3, 4, 5]
assert ops.total(torch.arange(7.0, dtype=torch.float64), 2.5).item() == 52.5
assert torch.equal(ops.apart(whole(12) * 0 + 1, M=4, N=3), torch.ones(4, 3))
refused(NotImplementedError, "mine::apart has no gradient: apart_grad: the range of",
        lambda: ops.apart(torch.ones(12, requires_grad=True), M=4, N=3).sum().backward())
H = [torch.randn(3, 4).bfloat16(), torch.randn(4, 5).bfloat16()]
torch.testing.assert_close(ops.halves(*H).float(), (H[0].float() @ H[1].float()), rtol=2e-2, atol=2e-2)
result = ops.twice(3, torch.ones(3, requires_grad=True), torch.zeros(3))
assert result.tolist() == [2, 2, 2]
refused(NotImplementedError, "mine::twice has no gradient: ", lambda: result.sum().backward())
samples = {"soft": (X,), "gemm": (A, B, 2.0, 0.5, C), "conv": (I, W, 2, 1, 1), "pick": (T, torch.tensor([3, 0])),
           "both": (torch.arange(6, dtype=torch.int32).reshape(2, 3),), "halves": H}
for name, given in samples.items():
    found = torch.library.opcheck(getattr(ops, name).default, given)
    assert set(found.values()) == {"SUCCESS"}, name
""")


def test_a_gradient_of_a_gradient_is_written_where_it_is_asked_for(tmp_path):
    op = wb.operator("def cube(double(N) A, double(N) B) -> (C) { C(i) = A(i) * A(i) * B(i) }")
    written = Written(wb.export.torch_library(op, tmp_path / "cube.so", orders=2))
    written.run("""
given = [torch.randn(4, dtype=torch.float64, requires_grad=True) for _ in "AB"]
assert torch.autograd.gradcheck(ops.cube, given)
assert torch.autograd.gradgradcheck(ops.cube, given)
""")


# -- AOTInductor --


def test_a_package_of_aotinductor_runs_with_the_library_alone(mm, several, tmp_path):
    """It is compiled here with the operators of `wb.export.torch`, whose names and signatures the library has too."""
    found = wb.export.torch(wb.operator(MATMUL))
    soft = wb.export.torch(wb.ops.softmax, "mine", name="soft")

    class Model(torch.nn.Module):
        def forward(self, a, b):
            return soft(found(a.relu(), b)) + 1

    A, B = torch.randn(6, 7), torch.randn(7, 4)
    package = tmp_path / "model.pt2"
    torch._inductor.aoti_compile_and_package(torch.export.export(Model(), (A, B)), package_path=str(package))
    torch.testing.assert_close(torch._inductor.aoti_load_package(str(package))(A, B), (A.relu() @ B).softmax(1) + 1)
    run = f"""
torch.ops.load_library({str(several.library.library)!r})
model = torch._inductor.aoti_load_package({str(package)!r})
A, B = torch.randn(6, 7), torch.randn(7, 4)
torch.testing.assert_close(model(A, B), (A.relu() @ B).softmax(1) + 1)
"""
    mm.run(run, LOADED)


def test_a_package_of_aotinductor_is_compiled_with_the_library_and_runs_without_its_python_file(mm, tmp_path):
    package = tmp_path / "model.pt2"
    mm.run(f"""
class Model(torch.nn.Module):
    def forward(self, a, b):
        return ops.mm(a.relu(), b) + 1
rows = torch.export.Dim("rows", min=2)
program = torch.export.export(Model(), (whole(6, 7), whole(7, 4)), dynamic_shapes={{"a": {{0: rows}}, "b": None}})
torch._inductor.aoti_compile_and_package(program, package_path={str(package)!r})
""")
    mm.run(f"""
model = torch._inductor.aoti_load_package({str(package)!r})
for rows in (6, 3, 16):
    A, B = whole(rows, 7), whole(7, 4)
    assert torch.equal(model(A, B), A.relu() @ B + 1)
refused(RuntimeError, "", lambda: model(whole(6, 8), whole(8, 4)))
""", LOADED)  # fmt: skip


# -- bad input at the export --


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(path=3), "names no file"),
        (dict(path="lib"), r"expected a file that ends with \.so, such as"),
        (dict(namespace="a b"), "cannot name an operator"),
        (dict(orders=-1), "how often operators can be differentiated"),
        (dict(orders=True), "how often operators can be differentiated"),
        (dict(what={}), "expected names and, for each"),
        (dict(what={"a-b": MATMUL}), "export takes an operator"),
        (dict(what=[]), "nothing to export"),
    ],
)
def test_what_cannot_be_exported_is_refused(tmp_path, change, message):
    given = {"what": wb.operator(MATMUL), "path": tmp_path / "lib.so", **change}
    with pytest.raises(WorkbenchError, match=message):
        wb.export.torch_library(given.pop("what"), given.pop("path"), **given)


def test_operators_that_pytorch_cannot_have_are_refused(tmp_path):
    ramp = wb.operator("def ramp(int32 count) -> (B) { B(i) = 2.0 * i where i in 0:count }")
    with pytest.raises(WorkbenchError, match="finds kernels by the tensors of a call, but this takes none"):
        wb.export.torch_library(ramp, tmp_path / "lib.so")
    one, other = (wb.operator(f"def same(float(N) A) -> (B) {{ B(i) = A(i) + {n} }}") for n in (1, 2))
    with pytest.raises(WorkbenchError, match="two that are called same"):
        wb.export.torch_library([one, other], tmp_path / "lib.so")
    clash = {"a": one, "a_grad": other}
    with pytest.raises(WorkbenchError, match="two operators of the library would be called a_grad"):
        wb.export.torch_library(clash, tmp_path / "lib.so")


def test_without_pytorch_the_export_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.export.to_torch_library.find_spec", lambda name: None)
    with pytest.raises(WorkbenchError, match="PyTorch is not installed"):
        wb.export.torch_library(wb.operator(MATMUL), tmp_path / "lib.so")
