#!/bin/sh
# Resolves pyproject.toml (with the extra `dev`) in a clean environment and writes requirements.lock.
set -eu
cd "$(dirname "$0")/.."

"${PYTHON:-python3}" -m venv --clear .venv-lock
.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
{
    echo "# Exact versions of everything \`make\` installs, written by \`make lock\`; valid for Python 3.11 and newer."
    .venv-lock/bin/python -m pip freeze --exclude-editable | grep -v '^tensor-workbench' | sort -f
} > requirements.lock
rm -rf .venv-lock
