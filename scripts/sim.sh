#!/usr/bin/env bash
# Runs SEEDS (100) simulations of every design, or one SEED, or one DESIGN (a part of its file's name). See
# tests/sim/sim.h. SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

shopt -s nullglob
args=(--seeds "${SEEDS:-100}")
[ -z "${SEED:-}" ] || args=(--seed "$SEED" --seeds "${SEEDS:-1}")
[ -z "${DESIGN:-}" ] || args+=(--design "$DESIGN")
[ -z "${WITH:-}" ] || args+=(--with "$WITH")
[ -z "${WITHOUT:-}" ] || args+=(--without "$WITHOUT")
[ -z "${CLIENTS:-}" ] || args+=(--clients "$CLIENTS")
[ -z "${STEPS:-}" ] || args+=(--steps "$STEPS")
exec build/tests/sim/sim "${args[@]}" designs/*.yaml designs/examples/*.yaml tests/designs/*/*.yaml
