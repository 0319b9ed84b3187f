"""The example, the header and the build files of an exported C library, with the tools that people use."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import workbench as wb

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
ARM = "install qemu-user, gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, clang: nothing here builds and runs ARM code"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with two operators in it: one has parallel loops and temporaries, one has indices in data."""
    folder = tmp_path_factory.mktemp("exported")
    softmax = wb.ops.softmax
    wb.export.c([softmax, wb.schedule(softmax, M=64, N=33) | wb.parallelize("Y/m")], folder)
    wb.export.c(wb.ops.lookup, folder)
    return folder


def run(*command: str, **variables: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **variables})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def needed(tool: str, package: str = "") -> str:
    found = shutil.which(tool)
    if found is None:
        pytest.skip(f"install {package or tool}: it was not found")
    return found


def example(folder: Path, name: str, compiler: str, *flags: str) -> str:
    program = folder / f"{name}-{Path(compiler).name}"
    source = str(folder / "example" / f"{name}.c")
    run(compiler, *STRICT, *flags, f"-I{folder / 'include'}", source, f"-L{folder / 'lib'}", f"-l{name}", "-o",
        str(program))  # fmt: skip
    return str(program)


@pytest.mark.parametrize("name", ["softmax", "lookup"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_example_builds_without_a_warning_and_runs(exported, name, compiler):
    program = example(exported, name, needed(compiler), "-std=c11")
    assert f"{name} ran the kernel for" in run(program, LD_LIBRARY_PATH=str(exported / "lib"))


def test_the_header_serves_cplusplus(exported, tmp_path):
    source = tmp_path / "both.cpp"
    text = '#include "softmax.h"\n#include "lookup.h"\nint main() { return softmax_message() == nullptr; }\n'
    source.write_text(text)
    program = str(tmp_path / "both")
    run(needed("g++"), *STRICT, f"-I{exported / 'include'}", str(source), f"-L{exported / 'lib'}", "-lsoftmax",
        "-llookup", "-o", program)  # fmt: skip
    run(program, LD_LIBRARY_PATH=str(exported / "lib"))


@pytest.mark.parametrize("name", ["softmax", "lookup"])
def test_valgrind_finds_nothing(exported, name):
    valgrind = needed("valgrind")
    program = example(exported, name, needed("gcc"), "-g")
    said = run(valgrind, "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=all", program,
               LD_LIBRARY_PATH=str(exported / "lib"))  # fmt: skip
    assert "0 errors from 0 contexts" in said
    assert "All heap blocks were freed" in said


def test_pkg_config_finds_the_library(exported, tmp_path):
    pkg_config = needed("pkg-config")
    flags = run(pkg_config, "--cflags", "--libs", "softmax", PKG_CONFIG_PATH=str(exported / "lib" / "pkgconfig"))
    program = str(tmp_path / "run")
    run(needed("gcc"), str(exported / "example" / "softmax.c"), *flags.split(), "-o", program)
    run(program, LD_LIBRARY_PATH=str(exported / "lib"))


def test_cmake_builds_the_sources_and_finds_the_library(exported, tmp_path):
    cmake = needed("cmake")
    build = str(tmp_path / "build")
    run(cmake, "-S", str(exported / "src" / "softmax"), "-B", build)
    run(cmake, "--build", build)
    assert "ran the kernel" in run(f"{build}/example")
    user = tmp_path / "user"
    user.mkdir()
    (user / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(user LANGUAGES C)\nfind_package(softmax REQUIRED)\n"
        f"add_executable(user {exported}/example/softmax.c)\ntarget_link_libraries(user workbench::softmax)\n"
    )
    run(cmake, "-S", str(user), "-B", f"{user}/build", f"-Dsoftmax_DIR={exported}/lib/cmake/softmax")
    run(cmake, "--build", f"{user}/build")
    run(f"{user}/build/user")


@pytest.mark.parametrize(("cpu", "isa"), [("max,sve=off", "neon"), ("max,sve256=on,sve512=off,sve-max-vq=2", "sve256")])
def test_the_library_for_arm_takes_what_the_processor_has(exported, tmp_path, cpu, isa):
    tools = [shutil.which(tool) for tool in ("qemu-aarch64", "aarch64-linux-gnu-gcc", "clang")]
    if None in tools or not (exported / "lib" / "aarch64").is_dir():
        pytest.skip(ARM)
    program = str(tmp_path / "run")
    folder = exported / "lib" / "aarch64"
    run(tools[1], f"-I{exported / 'include'}", str(exported / "example" / "softmax.c"), f"-L{folder}", "-lsoftmax",
        "-o", program)  # fmt: skip
    said = run(tools[0], "-cpu", cpu, "-L", "/usr/aarch64-linux-gnu", "-E", f"LD_LIBRARY_PATH={folder}", program)
    assert f"ran the kernel for {isa}: " in said


@pytest.mark.parametrize("isa", ["avx2", "baseline"])
def test_a_lower_instruction_set_may_be_asked_for(exported, isa):
    program = example(exported, "softmax", needed("gcc"))
    said = run(program, LD_LIBRARY_PATH=str(exported / "lib"), WORKBENCH_ISA=isa)
    assert f"ran the kernel for {isa}: M=64, N=33" in said


def test_exporting_again_replaces_the_library(exported):
    first = wb.export.c(wb.ops.lookup, exported)
    second = wb.export.c(wb.ops.lookup, exported)
    assert first.libraries == second.libraries
    assert not list((exported / "lib").glob(".*"))
