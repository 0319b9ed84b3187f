"""The CUDA text of bound schedules: golden files, launches, refusals."""

from __future__ import annotations

import re

import pytest

import workbench as wb
from tests.gpu_schedules import HAND_MADE, bind_all, bound, staged_matmul, symbolic_matmul
from tests.recipe_kernels import PAIRS, recipe_schedule
from tests.small_sizes import small_sizes
from tests.wild_gpu_schedules import wild_gpu_schedule
from workbench.codegen.cuda.grid.launches import Launch, Repeat, amount, each_launch
from workbench.codegen.kernel import Kernel
from workbench.errors import CodegenError


def kernels(kernel: Kernel) -> str:
    """The text without its prelude, and the launches."""
    text = kernel.source[kernel.source.index("#endif\n\n") + len("#endif\n\n") :]
    return "\n".join([text, *map(str, kernel.launches)])


@pytest.mark.parametrize("name", HAND_MADE)
def test_the_text_of_a_hand_made_schedule(name, golden):
    golden(kernels(wb.generate(HAND_MADE[name](), target="cuda")))


@pytest.mark.parametrize("name", ["softmax", "conv2d", "embedding", "cumsum", "argmax", "matmul_bf16"])
def test_the_text_of_an_operator_bound_without_thought(name, golden):
    op = wb.ops.load(name)
    golden(kernels(wb.generate(bound(wb.schedule(op, sizes=small_sizes(op))), target="cuda")))


def test_the_prelude_is_what_the_documents_promise(golden):
    source = wb.generate(staged_matmul(), target="cuda").source
    golden(source[source.index("#ifndef WB_PRELUDE") : source.index("#endif\n\n")])


@pytest.mark.parametrize("name", HAND_MADE)
def test_cuda_and_c_have_the_same_loops_and_comments(name):
    schedule = HAND_MADE[name]()
    cuda, c = (wb.generate(schedule, target=t).source for t in ("cuda", "c"))
    comments = [set(re.findall(r"/\* (\S+:) .* \*/", text)) for text in (cuda, c)]
    # In C, rows of a tile that is cut short are taken two by two: `m_i_2`.
    variables = [set(re.findall(r"int64_t (\w+?)(?:_2)? = ", text)) for text in (cuda, c)]
    assert comments[0] == comments[1]
    assert variables[0] == variables[1]


def test_hip_is_the_same_text_under_another_prelude():
    texts = [kernels(wb.generate(staged_matmul(2), target=t)) for t in ("cuda", "hip")]
    assert texts[0] == texts[1]
    assert "hip/hip_runtime.h" in wb.generate(staged_matmul(), target="hip").source


def test_lanes_of_hip_exchange_values_without_a_mask():
    """Its masks have 64 bits, or it has none: the kernel's text is CUDA's, and the prelude says what that means."""
    source = wb.generate(wb.autoschedule(wb.ops.softmax, "cuda", M=33, N=300), target="hip").source
    assert "__shfl_xor_sync(0xffffffffu, value, apart)" in source
    assert "#define __shfl_xor_sync(lanes, value, apart) __shfl_xor(value, apart, 32)" in source


def test_launches_of_symbolic_sizes_are_expressions():
    first, second = each_launch(wb.generate(symbolic_matmul(), target="cuda").launches)
    assert (first.name, second.name) == ("matmul_C_init", "matmul_C")
    assert [amount(e, {"M": 70, "N": 5, "K": 2}) for e in second.grid] == [1, 70, 1]
    assert [amount(e, {"M": 1 << 20, "N": 5, "K": 2}) for e in second.grid] == [1, 65535, 1]
    assert second.block == (256, 1, 1)
    assert [a.c_name for a in second.arguments] == ["A", "B", "C", "M", "K", "N"]


def test_a_serial_loop_around_blocks_belongs_to_the_host():
    s = wb.schedule(wb.ops.load("jacobi_1d"), N=37, steps=5)
    s = bind_all(s, {"A/i": "block.x", "B/i": "block.x", "A.1/i": "block.x"})
    kernel = wb.generate(s, target="cuda")
    first, loop = kernel.launches
    assert isinstance(first, Launch)
    assert isinstance(loop, Repeat)
    assert (loop.variable, loop.lower, loop.upper) == ("t", 0, 5)
    assert [step.name for step in each_launch(loop.body)] == ["jacobi_1d_B", "jacobi_1d_A_1"]
    assert "__syncthreads" not in kernel.source


def test_temporaries_stand_in_the_workspace_one_after_another():
    op = wb.ops.load("softmax")
    kernel = wb.generate(bound(wb.schedule(op, M=70, N=9)), target="cuda")
    assert [(b.array, b.offset, b.bytes) for b in kernel.buffers] == [("top", 0, 512), ("total", 512, 512)]
    assert amount(kernel.signature.workspace, {}) == 1024


def test_a_kernel_takes_only_what_it_mentions():
    launches = each_launch(wb.generate(HAND_MADE["atomic histogram"](), target="cuda").launches)
    assert [[a.c_name for a in launch.arguments] for launch in launches] == [
        ["x", "bin", "lowest", "width"],
        ["h"],
        ["h", "bin", "wb_status"],
    ]


def said(kernel: Kernel, launch: Launch) -> list[str]:
    """The words of a kernel's body, without comments."""
    body = kernel.source[kernel.source.index(f"\n{launch.name}(") :].split("\n}\n")[0].partition("\n{\n")[2]
    return re.findall(r"(?<![\w.])[A-Za-z_]\w*", re.sub(r"/\*.*?\*/", "", body))


MENTIONING = {
    **HAND_MADE,
    **{f"recipe for {name}": lambda name=name: recipe_schedule(name) for name in PAIRS},
    **{f"wild {seed}": lambda seed=seed: wild_gpu_schedule(seed) for seed in (1, 14, 34, 68, 170, 236)},
}


@pytest.mark.parametrize("name", MENTIONING)
def test_what_the_nest_says_is_mentioned_is_what_the_text_mentions(name):
    """Arguments come from the nest; the words of the text are the other way to know them."""
    kernel = wb.generate(MENTIONING[name](), target="h200")
    names = {a.c_name for a in kernel.signature.arrays} | {*kernel.signature.symbols, "wb_status"}
    for launch in each_launch(kernel.launches):
        words, taken = said(kernel, launch), {a.c_name for a in launch.arguments}
        assert taken <= {*words}, launch.name
        assert names & {*words} <= taken, launch.name
        variables = re.findall(r"const int64_t (\w+) = ", kernel.source)
        assert all(len(re.findall(rf"\b{v}\b", kernel.source)) > 1 for v in variables)


def test_words_of_cpp_are_no_names():
    op = wb.operator("def f(float(N) template, float(N) threadIdx) -> (new) { new(i) = template(i) + threadIdx(i) }")
    kernel = wb.generate(bound(wb.schedule(op, N=9)), target="cuda")
    assert "*__restrict__ template_, const float *__restrict__ threadIdx_" in kernel.source
    assert "new_[" in kernel.source


def plain(**axes: str) -> wb.Schedule:
    s = wb.schedule(wb.ops.matmul, M=2000, N=2000, K=400) | wb.decompose_reduction("C")
    return bind_all(s, {f"C/{loop}": axis for loop, axis in axes.items()} | {"C.init/m": "block.x"})


REFUSED = {
    "a schedule without bound loops": lambda: wb.schedule(wb.ops.matmul, M=8, N=8, K=8),
    "one statement without bound loops": lambda: (
        wb.schedule(wb.ops.matmul, M=8, N=8, K=8) | wb.decompose_reduction("C") | wb.bind("C/m", "block.x")
    ),
    "a block of 2000 threads": lambda: plain(m="block.x", n="thread.x"),
    "a block of 100 x 100 threads": lambda: bind_all(
        wb.schedule(wb.ops.load("transpose"), M=100, N=100), {"m": "thread.y", "n": "thread.x"}
    ),
    "100 threads along z": lambda: bind_all(wb.schedule(wb.ops.load("transpose"), M=100, N=4), {"m": "thread.z"}),
    "a megabyte of shared memory": lambda: plain(m="block.x") | wb.stage("B", "C/m"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_the_limit_and_the_way_out(name, golden):
    with pytest.raises(CodegenError) as caught:
        wb.generate(REFUSED[name](), target="cuda")
    golden(str(caught.value))


def test_more_than_48_kib_of_shared_memory_is_dynamic():
    s = wb.schedule(wb.ops.matmul, M=64, N=64, K=256) | wb.decompose_reduction("C") | wb.tile({"C/m": 16})
    s = (
        s
        | wb.stage("B", "m_o")
        | wb.bind("C.init/m", "block.x")
        | wb.bind("C/m_o", "block.x")
        | wb.bind("C/m_i", "thread.x")
    )
    kernel = wb.generate(s, target="cuda")
    launch = each_launch(kernel.launches)[-1]
    assert (launch.static_bytes, launch.shared_bytes) == (0, 64 * 256 * 4)
    assert "WB_DYNAMIC_SHARED(wb_shared);" in kernel.source
    assert "float *const B_local = (float *)(wb_shared + 0);" in kernel.source


def test_marks_for_processors_are_said_to_have_no_effect():
    s = wb.schedule(wb.ops.matmul, M=8, N=8, K=8) | wb.decompose_reduction("C") | wb.prefetch("B", "C/k")
    s = s | wb.parallelize("C/m") | wb.bind("C.init/m", "thread.x") | wb.bind("C/n", "thread.x")
    notes = wb.generate(s, target="cuda").notes
    assert "executed serially, because threads of a processor are no GPU's: m; bind them" in notes
    assert "prefetches are ignored" in notes
    beyond = wb.schedule(wb.ops.transpose, M=8, N=8) | wb.bind("B/m", "thread.x") | wb.nontemporal("B")
    assert "writes past the caches are ordinary ones" in wb.generate(beyond, target="cuda").notes
