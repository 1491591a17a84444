# What the scripts share: talking to the person, and finding the tools. Sourced, never run.
# SPDX-License-Identifier: Apache-2.0

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '==> %s\n' "$*"; }
die() { printf 'thorpe: %s\n' "$*" >&2; exit 1; }

# The distribution's tool before any other of that name: Debian's Python modules
# (boto3, meson) are only seen by Debian's interpreter.
tool() {
    if [ -x "/usr/bin/$1" ]; then echo "/usr/bin/$1"; else type -P "$1" || true; fi
}

meson() { "$(tool meson)" "$@"; }

cores() { nproc 2>/dev/null || echo 2; }
