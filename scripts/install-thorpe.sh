#!/usr/bin/env bash
# Copies the server, its example designs and their app to $DESTDIR$PREFIX, or removes them: install-thorpe.sh [--remove]
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

prefix=${PREFIX:-/usr/local}
case $prefix in /*) ;; *) die "PREFIX must be an absolute path, not '$prefix'." ;; esac
bin=${DESTDIR:-}$prefix/bin
share=${DESTDIR:-}$prefix/share/thorpe

if [ "${1:-}" = --remove ]; then
    rm -f "$bin/thorpe" || die "cannot remove $bin/thorpe; run it as root?"
    rm -rf "$share/designs" "$share/apps" || die "cannot remove $share/designs and $share/apps; run it as root?"
    rmdir "$share" 2>/dev/null || true
    say "removed $bin/thorpe and $share; data directories stay"
    exit 0
fi

# Does not build, so that root does not own build/: build first, then `sudo make install`.
[ -x build/thorpe ] || die "build/thorpe does not exist yet: run 'make build' first."
mkdir -p "$bin" "$share/designs/demo" "$share/designs/examples" 2>/dev/null || die "cannot write to ${DESTDIR:-}$prefix: run 'sudo make install', or set PREFIX."
install -m 755 build/thorpe "$bin/thorpe"
install -m 644 designs/*.yaml "$share/designs/"
for file in designs/examples/*.yaml; do
    [ ! -f "$file" ] || install -m 644 "$file" "$share/designs/examples/"
done
install -m 644 designs/demo/*.json "$share/designs/demo/"
say "installed $bin/thorpe, and the designs in $share/designs"
# Old files go: their names have a hash of their content.
rm -rf "$share/apps"
if [ -f examples/social-web/dist/index.html ]; then
    mkdir -p "$share/apps"
    cp -R examples/social-web/dist "$share/apps/social"
    chmod -R u=rwX,go=rX "$share/apps"
    say "and the app of the social design: --app social=$share/apps/social"
fi
