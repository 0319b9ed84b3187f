#!/bin/sh
# What a machine with a GPU and no network may lack, into .gpu-bundle: wheels for each Python that the project runs on,
# and PyCUDA's sources, which that machine compiles against its own CUDA.  `make gpu` installs from it what is missing.
#
# Not in it, because they are too large and such a machine has them: PyTorch, Triton, NumPy, SciPy, CUDA's toolkit.
set -eu
cd "$(dirname "$0")/.."

BUNDLE=.gpu-bundle
TOOLS=.venv-bundle
LIMIT_MIB=60
# Python 3.10 is not among them: the project needs 3.11 (`requires-python`).
PYTHONS="3.11 3.12 3.13"
# Compiled for one Python each; the versions that requirements.lock names.
COMPILED="islpy ml_dtypes hypothesis cuda-bindings siphash24 MarkupSafe SQLAlchemy"
# For any Python.
PURE="lark pycparser pytest iniconfig pluggy packaging pygments sortedcontainers typing_extensions \
cuda-pathfinder pytools platformdirs Mako mpmath setuptools wheel"
# Sources, to be compiled there.
SOURCES="pycuda"

versions() {
    for name in "$@"; do
        pinned=$(grep -iE "^$(echo "$name" | tr '_' '.')==" requirements.lock || true)
        echo "${pinned:-$name}"
    done
}

fetch() {
    "$TOOLS/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$BUNDLE" "$@"
}

"${PYTHON:-python3}" -m venv --clear "$TOOLS"
trap 'rm -rf "$TOOLS"' EXIT
mkdir -p "$BUNDLE"
rm -f "$BUNDLE"/*
for python in $PYTHONS; do
    platforms=$(for n in 28 27 26 24 17; do printf -- '--platform manylinux_2_%s_x86_64 ' $n; done)
    # shellcheck disable=SC2046,SC2086
    fetch --only-binary=:all: --python-version "$python" --implementation cp $platforms --platform manylinux2014_x86_64 \
        $(versions $COMPILED)
done
# shellcheck disable=SC2046,SC2086
fetch --only-binary=:all: $(versions $PURE)
# Asking for the name of a source archive runs its setup.py: with a NumPy at hand, not with one that pip compiles.
"$TOOLS/bin/python" -m pip install --quiet --disable-pip-version-check setuptools wheel "$(versions numpy)"
for name in $SOURCES; do
    fetch --no-build-isolation --no-binary "$name" "$name"
done

size=$(du -sm "$BUNDLE" | cut -f1)
for file in "$BUNDLE"/*; do echo "  $(du -k "$file" | cut -f1) KiB  ${file#"$BUNDLE"/}"; done
echo "$BUNDLE: $size MiB"
[ "$size" -le "$LIMIT_MIB" ] || { echo "more than $LIMIT_MIB MiB"; exit 1; }
