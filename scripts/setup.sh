#!/usr/bin/env bash
# Makes .venv and brings it to exactly what requirements.lock says. Again: a second or two. PYTHON=… chooses the interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHON=${PYTHON:-python3}
new_enough='import sys; sys.exit(sys.version_info < (3, 11))'

scripts/system-packages.sh
if ! "$PYTHON" -c "$new_enough"; then
    echo "Hotline needs Python 3.11 or newer; $PYTHON is $("$PYTHON" -V 2>&1). Try: make PYTHON=python3.11 …" >&2
    exit 1
fi
if ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "$PYTHON can't make virtual environments. On Debian: apt-get install python3-venv" >&2
    exit 1
fi
if ! .venv/bin/python -c "$new_enough" 2>/dev/null; then
    echo "Making .venv with $("$PYTHON" -V)"
    "$PYTHON" -m venv --clear .venv
fi
pip=(.venv/bin/python -m pip --disable-pip-version-check --quiet)
"${pip[@]}" install uv==0.13.9

# uv doesn't read pip's settings: hand it the index that pip would use, unless uv has one of its own
index=${PIP_INDEX_URL:-$("${pip[@]}" config get global.index-url 2>/dev/null || true)}
if [ -n "$index" ] && [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}${UV_CONFIG_FILE:-}" ]; then
    export UV_DEFAULT_INDEX=$index
fi
[ -z "${PIP_CERT:-}" ] || export SSL_CERT_FILE=${SSL_CERT_FILE:-$PIP_CERT}
uv=(.venv/bin/uv --quiet pip)
echo "Installing the packages of requirements.lock into .venv"
"${uv[@]}" sync --python .venv/bin/python requirements.lock
"${uv[@]}" install --python .venv/bin/python --no-deps --no-build-isolation --editable .
touch .venv/.ready
