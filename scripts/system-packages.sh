#!/usr/bin/env bash
# Installs what Python packages can't bring: eSpeak NG (the voice that always works), and venv where Debian left it out.
# As root or with sudo; says what it does; does nothing when all is there.
set -euo pipefail

python=${PYTHON:-python3}
wanted=()
if ! "$python" -c 'import ctypes; ctypes.CDLL("libespeak-ng.so.1")' 2>/dev/null; then
    wanted+=(espeak-ng libespeak-ng1)
fi
if ! command -v "$python" >/dev/null; then
    wanted+=(python3 python3-venv)
elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    wanted+=(python3-venv)
fi
[ ${#wanted[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
    echo "This system has no apt-get. Please install by its own means: ${wanted[*]} (the names are Debian's)." >&2
    exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "Needed, and only root may install them: apt-get install ${wanted[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "Installing system packages ${as_root[*]:+with ${as_root[*]}}: ${wanted[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends "${wanted[@]}" >/dev/null
