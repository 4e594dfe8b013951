#!/usr/bin/env bash
# Holds the contract against the one on main. Nothing to hold it against (no main here, no contract there): says so.
set -euo pipefail
cd "$(dirname "$0")/.."
for ref in main origin/main; do
    if git rev-parse --verify --quiet "$ref:proto" >/dev/null 2>&1; then
        earlier=$(mktemp -d)
        trap 'rm -rf "$earlier"' EXIT
        git archive "$ref" buf.yaml proto | tar -x -C "$earlier"
        .venv/bin/buf breaking --against "$earlier"
        exit 0
    fi
done
echo "buf breaking: skipped, there is no earlier contract on main here"
