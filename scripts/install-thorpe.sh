#!/usr/bin/env bash
# Copies the server and its example designs to $DESTDIR$PREFIX, or removes them again: install-thorpe.sh [--remove]
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

prefix=${PREFIX:-/usr/local}
case $prefix in /*) ;; *) die "PREFIX must be an absolute path, not '$prefix'." ;; esac
bin=${DESTDIR:-}$prefix/bin
share=${DESTDIR:-}$prefix/share/thorpe

if [ "${1:-}" = --remove ]; then
    rm -f "$bin/thorpe" || die "cannot remove $bin/thorpe; run it as root?"
    rm -rf "$share/designs" || die "cannot remove $share/designs; run it as root?"
    rmdir "$share" 2>/dev/null || true
    say "removed $bin/thorpe and $share/designs; data directories stay"
    exit 0
fi

# Does not build, so that root does not own build/: build first, then `sudo make install`.
[ -x build/thorpe ] || die "build/thorpe does not exist yet: run 'make build' first."
mkdir -p "$bin" "$share/designs/demo" 2>/dev/null || die "cannot write to ${DESTDIR:-}$prefix: run 'sudo make install', or set PREFIX."
install -m 755 build/thorpe "$bin/thorpe"
install -m 644 designs/*.yaml "$share/designs/"
install -m 644 designs/demo/*.json "$share/designs/demo/"
say "installed $bin/thorpe, and the designs in $share/designs"
