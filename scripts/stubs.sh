#!/usr/bin/env bash
# Generates the contract's stubs with types into hotline/v1; with --check only tells whether the committed ones are fresh.
set -euo pipefail
cd "$(dirname "$0")/.."
out=.
if [ "${1:-}" = --check ]; then
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
fi
PATH="$PWD/.venv/bin:$PATH" .venv/bin/python -m grpc_tools.protoc -Iproto \
    --python_out="$out" --mypy_out="quiet:$out" --grpc_python_out="$out" --mypy_grpc_out="quiet:$out" proto/hotline/v1/hotline.proto
if [ "$out" != . ]; then
    diff -r --exclude=__init__.py --exclude=__pycache__ "$out/hotline/v1" hotline/v1 >/dev/null || {
        echo "hotline/v1 is stale: run make proto and commit it" >&2
        exit 1
    }
fi
