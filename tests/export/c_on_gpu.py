"""A program in C that calls an exported library for GPUs: gcc builds it, NVIDIA's driver is all that it needs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import workbench as wb

MATMUL = "def mm(float(M,K) A, float(K,N) B, float a) -> (C) { T(m,n) +=! A(m,k) * B(k,n)\n C(m,n) = a * T(m,n) }"
SIZES = {"M": 64, "K": 32, "N": 48}

_PROGRAM = r"""
#include "mm_cuda.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *driver;

static int (*of(const char *name))()
{
    int (*found)();
    *(void **)&found = dlsym(driver, name);
    if (!found) fprintf(stderr, "the driver has no %s: %s\n", name, dlerror()), exit(2);
    return found;
}

static void done(int code, const char *doing)
{
    if (code) fprintf(stderr, "%s: %d\n", doing, code), exit(3);
}

static float *there(const float *values, size_t count)
{
    uint64_t found = 0;
    done(of("cuMemAlloc_v2")(&found, count * sizeof *values), "memory");
    done(of("cuMemcpyHtoD_v2")(found, values, count * sizeof *values), "a copy to the GPU");
    return (float *)(uintptr_t)found;
}

int main(int count, char **given)
{
    const int64_t M = atoi(given[1]), K = atoi(given[2]), N = atoi(given[3]);
    float *a = malloc(sizeof *a * (size_t)(M * K)), *b = malloc(sizeof *b * (size_t)(K * N));
    float *c = calloc((size_t)(M * N), sizeof *c);
    int device = 0, wrong = 0;
    void *context = NULL;
    for (int64_t n = 0; n < M * K; ++n) a[n] = (float)(n % 7 - 3);
    for (int64_t n = 0; n < K * N; ++n) b[n] = (float)(n % 5 - 2);
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver || count != 4) return 1;
    done(of("cuInit")(0), "the driver");
    done(of("cuDeviceGet")(&device, 0), "the device");
    done(of("cuDevicePrimaryCtxRetain")(&context, device), "its context");
    done(of("cuCtxSetCurrent")(context), "the context");
    float *A = there(a, (size_t)(M * K)), *B = there(b, (size_t)(K * N)), *C = there(c, (size_t)(M * N));
    const int status = mm_cuda(A, B, 2.0f, C, M, K, N, NULL);
    if (status) return fprintf(stderr, "%d: %s\n", status, mm_cuda_message()), 4;
    done(of("cuMemcpyDtoH_v2")(c, (uint64_t)(uintptr_t)C, sizeof *c * (size_t)(M * N)), "a copy from the GPU");
    for (int64_t m = 0; m < M; ++m)
        for (int64_t n = 0; n < N; ++n) {
            float sum = 0;
            for (int64_t k = 0; k < K; ++k) sum += a[m * K + k] * b[k * N + n];
            wrong += c[m * N + n] != 2 * sum;
        }
    printf("%d wrong, %s\n", wrong, mm_cuda_kernel());
    printf("%d %s\n", mm_cuda(A, B, 2.0f, NULL, M, K, N, NULL), mm_cuda_message());
    printf("%d %s\n", mm_cuda(A, B, 2.0f, A, M, K, N, NULL), mm_cuda_message());
    printf("%d %s\n", mm_cuda(A, B, 2.0f, C, M, -1, N, NULL), mm_cuda_message());
    return wrong != 0;
}
"""


def exported(folder: Path) -> wb.export.CLibrary:
    """The library, with a schedule for a GPU and the recipe's kernel for all sizes."""
    op = wb.operator(MATMUL)
    return wb.export.c([op, wb.autoschedule(op, "cuda", sizes=SIZES)], folder)


def program_of(library: wb.export.CLibrary, compiler: str = "gcc") -> Path:
    """The program, built without a warning."""
    folder = library.directory
    (folder / "use.c").write_text(_PROGRAM, encoding="utf-8")
    flags = ["-Wall", "-Wextra", "-Werror", f"-I{folder / 'include'}", f"-L{folder / 'lib'}", "-lmm_cuda", "-ldl"]
    command = [compiler, "-std=gnu11", str(folder / "use.c"), *flags, "-o", str(folder / "use")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "use"


def said(program: Path, sizes: tuple[int, int, int], libraries: str) -> list[str]:
    """The lines that the program prints for M, K, N; `libraries` are the folders of shared libraries."""
    command, variables = [str(program), *map(str, sizes)], {"LD_LIBRARY_PATH": libraries}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def expected(title: str) -> list[str]:
    """What it prints where all is well."""
    return [
        f"0 wrong, cuda: {title}", "-14 mm: C is NULL", "-16 mm: C and A share memory",
        "-11 mm: the size K must not be negative, got -1",
    ]  # fmt: skip
