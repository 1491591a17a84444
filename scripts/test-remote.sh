#!/usr/bin/env bash
# The tests of the designs with their tables elsewhere: at another Thorpe, or where $THORPE_BACKEND says (DynamoDB Local has to be running
# there). FILES: some of them only.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

export THORPE_BACKEND="${THORPE_BACKEND:-thorpe}"
say "designs with their tables at $THORPE_BACKEND${THORPE_FAULT:+, with faults: $THORPE_FAULT}"
# verify and openapi start servers of their own and look at them alone.
mapfile -t files < <(cd tests/designs && ls ${FILES:-*.test.mjs} | grep -vE '^(verify|openapi|deploy)\.' | sed 's|^|../designs/|')
exec scripts/wire.sh "${files[@]}"
