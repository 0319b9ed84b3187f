"""What build systems read: pkg-config, CMake; and the page that says how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.export.clib.api import Interface

_PKG_CONFIG = """prefix=${{pcfiledir}}/../..
libdir=${{prefix}}/lib
includedir=${{prefix}}/include

Name: {name}
Description: {name}, made by the Tensor Workbench
Version: {version}
Libs: -L${{libdir}} -l{name}
Cflags: -I${{includedir}}
"""

_CMAKE_CONFIG = """# find_package({name}) gives the target workbench::{name}.
get_filename_component(_workbench_root "${{CMAKE_CURRENT_LIST_DIR}}/../../.." ABSOLUTE)
if(NOT TARGET workbench::{name})
  add_library(workbench::{name} SHARED IMPORTED)
  set_target_properties(workbench::{name} PROPERTIES
    IMPORTED_LOCATION "${{_workbench_root}}/lib/lib{name}.so"
    IMPORTED_NO_SONAME TRUE
    INTERFACE_INCLUDE_DIRECTORIES "${{_workbench_root}}/include")
endif()
"""

_CMAKE_LISTS = """# Builds the library from its sources; `cmake -S . -B build && cmake --build build`.
cmake_minimum_required(VERSION 3.16)
project({name} LANGUAGES C)
find_package(Threads REQUIRED)

# The schedule alone decides what is reordered: the compiler's own loop passes are off.
set(FLAGS_GNU {gcc})
set(FLAGS_Clang {clang})

set(SOURCES {plain})
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "the kernels for SVE are compiled by Clang: -DCMAKE_C_COMPILER=clang")
  endif()
{arm}else()
{x86}endif()

add_library({name} SHARED ${{SOURCES}})
target_include_directories({name} PUBLIC ../../include PRIVATE .)
target_compile_options({name} PRIVATE ${{FLAGS_${{CMAKE_C_COMPILER_ID}}}})
target_link_libraries({name} PRIVATE Threads::Threads m)
set_target_properties({name} PROPERTIES C_VISIBILITY_PRESET hidden)

add_executable(example ../../example/{name}.c)
target_compile_options(example PRIVATE -Wall -Wextra)
target_link_libraries(example PRIVATE {name})
"""

_README = """# {name}

{text}

| file | what it is |
|---|---|
| `include/{name}.h` | the functions, with what each argument is |
| `lib/lib{name}.so` | the library; it chooses its kernels by the processor when it is loaded |
| `example/{name}.c` | a program that calls it |
| `lib/pkgconfig/{name}.pc`, `lib/cmake/{name}/` | for pkg-config and CMake |
| `src/{name}/` | the sources, with a `CMakeLists.txt`, to build it for another machine |

```sh
export PKG_CONFIG_PATH=$PWD/lib/pkgconfig
cc example/{name}.c $(pkg-config --cflags --libs {name}) -o run && LD_LIBRARY_PATH=lib ./run
```

Kernels:

{kernels}
"""


def pkg_config(name: str, version: str) -> str:
    """`<name>.pc`; it may be moved with the library."""
    return _PKG_CONFIG.format(name=name, version=version)


def cmake_config(name: str) -> str:
    """`<name>Config.cmake`; it may be moved with the library."""
    return _CMAKE_CONFIG.format(name=name)


def cmake_lists(
    name: str, plain: Sequence[str], by_flags: Mapping[str, Mapping[str, Sequence[str]]],
    gcc: Sequence[str], clang: Sequence[str],
) -> str:  # fmt: skip
    """`CMakeLists.txt`; `by_flags` is architecture → the flags of a level → its sources."""

    def block(architecture: str) -> str:
        lines = []
        for flags, sources in by_flags.get(architecture, {}).items():
            listed = " ".join(sources)
            lines.append(f"  list(APPEND SOURCES {listed})\n")
            lines.append(f'  set_source_files_properties({listed} PROPERTIES COMPILE_OPTIONS "{flags}")\n')
        return "".join(lines) or f'  message(FATAL_ERROR "no kernels for {architecture} were exported")\n'

    return _CMAKE_LISTS.format(
        name=name, gcc=" ".join(gcc), clang=" ".join(clang),
        plain=" ".join(plain), arm=block("aarch64"), x86=block("x86_64"),
    )  # fmt: skip


def readme(interface: Interface, kernels: Sequence[str]) -> str:
    """The page beside the sources."""
    op = interface.family.op
    listed = "\n".join(f"- {title}" for title in kernels)
    return _README.format(name=op.name, text="```\n" + op.text.strip() + "\n```", kernels=listed)
