#!/bin/sh
# Resolves pyproject.toml (with the extra `dev`) in a clean environment and writes requirements.lock; then what the extra
# `docs` needs beside that, into requirements-docs.lock.
set -eu
cd "$(dirname "$0")/.."

python=.venv-lock/bin/python
frozen() { $python -m pip freeze --exclude-editable | grep -v '^tensor-workbench' | sort -f; }

"${PYTHON:-python3}" -m venv --clear .venv-lock
$python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
{
    echo "# Exact versions of everything \`make\` installs, written by \`make lock\`; valid for Python 3.11 and newer."
    frozen
} > requirements.lock
$python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[docs]'
{
    echo "# Exact versions of what \`make docs\` installs beside requirements.lock, written by \`make lock\`."
    frozen | grep -vxFf requirements.lock
} > requirements-docs.lock
rm -rf .venv-lock
