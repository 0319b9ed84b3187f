#!/bin/sh
# Builds the documentation site into docs/_build/html, with what requirements-docs.lock names beside the packages of
# .venv (or VENV), installed once.
set -eu
cd "$(dirname "$0")/.."
venv=${VENV:-.venv}

key=$(cat requirements-docs.lock requirements.lock | cksum | tr -d ' ')
if [ ! -f "$venv/docs-$key" ]; then
    echo "Adding what builds the documentation to $venv (once; half a minute, 60 MB) ..."
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-docs.lock
    rm -f "$venv"/docs-*
    touch "$venv/docs-$key"
fi
exec "$venv/bin/python" tools/docs.py "$@"
