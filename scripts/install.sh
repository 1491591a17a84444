#!/usr/bin/env bash
# Installs missing packages for the given purposes: build, test, dynamodb-local, fuzz, bench, bench-quick. Silent and
# quick if none is missing. install.sh --advise tools installs nothing: it names missing programs that the README's
# first five minutes use.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

missing=()

# need PACKAGE TEST...: PACKAGE is missing if TEST fails.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

has_tool() { type -P "$1"; }
has_library() { pkg-config --exists "$1"; }
has_header() { printf '#include <%s>\n' "$1" | cc -E -x c -; }
has_node() { node -e 'process.exit(+process.versions.node.split(".")[0] >= 18 ? 0 : 1)'; }
has_chromium() { [ -n "${CHROMIUM:-}" ] || has_tool chromium; }
has_aws() { [ -n "${THORPE_AWS:-}" ] || has_tool aws; }
has_nginx() { has_tool nginx || [ -x /usr/sbin/nginx ]; }
# Needs this version (scripts/check-format.sh); if the distribution lacks it, the check is skipped.
has_formatter() { has_tool clang-format-14 || ! apt-cache show clang-format-14; }
has_boto3() { "$(tool python3)" -c 'import boto3'; }

# The one that the distribution has; if both, the newer.
has_parser() { has_header llhttp.h || has_header http_parser.h; }
parser_package() {
    if apt-cache show libllhttp-dev >/dev/null 2>&1; then echo libllhttp-dev; else echo libhttp-parser-dev; fi
}

list_missing() {
    missing=()
    local purpose
    for purpose in "$@"; do
        case $purpose in
        build)
            need meson has_tool meson
            need ninja-build has_tool ninja
            need g++ has_tool g++
            need pkg-config has_tool pkg-config
            need librocksdb-dev has_header rocksdb/c.h
            need libuv1-dev has_library libuv
            need "$(parser_package)" has_parser
            need libsimdjson-dev has_library simdjson
            need libssl-dev has_library openssl
            need libdeflate-dev has_header libdeflate.h
            need libxxhash-dev has_library libxxhash
            need libfyaml-dev has_library libfyaml
            need libcurl4-openssl-dev has_library libcurl
            need libcrypt-dev has_header crypt.h
            need libpcre2-dev has_library libpcre2-8
            need nodejs has_node
            need npm has_tool npm
            ;;
        test)
            need libcmocka-dev has_library cmocka
            need chromium has_chromium
            need curl has_tool curl
            need python3-boto3 has_boto3
            need awscli has_aws
            need openssl has_tool openssl
            need valgrind has_tool valgrind
            need clang-format-14 has_formatter
            ;;
        tools)
            need curl has_tool curl
            need awscli has_aws
            ;;
        dynamodb-local)
            need nodejs has_node
            need npm has_tool npm
            need default-jre-headless has_tool java
            ;;
        fuzz)
            need clang has_tool clang
            need clang has_tool clang++
            ;;
        bench | bench-quick)
            need wrk has_tool wrk
            need nginx-light has_nginx
            need nodejs has_node
            [ "$purpose" = bench ] || continue
            need npm has_tool npm
            need default-jre-headless has_tool java
            ;;
        *) die "install.sh takes build, test, dynamodb-local, tools, fuzz, bench or bench-quick, not '$purpose'." ;;
        esac
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

cannot() {
    die "cannot install ${missing[*]}: $1."
}

if [ "${1:-}" = --advise ]; then
    shift
    list_missing "$@"
    [ ${#missing[@]} = 0 ] || say "the README's examples use ${missing[*]}, not installed here: apt-get install ${missing[*]}"
    exit 0
fi

list_missing "$@"
[ ${#missing[@]} = 0 ] && exit 0

command -v apt-get >/dev/null || cannot "apt-get is not here; install them with this system's package manager"
[ "$(id -u)" = 0 ] || command -v sudo >/dev/null || cannot "neither root nor sudo; run 'apt-get install ${missing[*]}' as root"

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Retries an unreachable mirror once, not for minutes.
impatient=(-o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20)
apt_get() { as_root env DEBIAN_FRONTEND=noninteractive apt-get "${impatient[@]}" "$@"; }
install_packages() { patiently "installing $1" "$log" apt_get install -yq --no-install-recommends "${@:2}"; }

# apt-get update succeeds even if no mirror could be reached and it only has old lists.
unreached=
patiently "asking apt's mirrors" "$log" apt_get update -q -o APT::Update::Error-Mode=any ||
    unreached=$(grep -m 1 -E '^[EW]: ' "$log" || tail -n 1 "$log")
list_missing "$@" # now apt knows what there is
say "installing ${missing[*]}"
if ! install_packages "packages" "${missing[@]}"; then
    list_missing "$@"
    [ ${#missing[@]} = 0 ] || [ -z "$unreached" ] || cannot "apt's mirrors cannot be reached (${unreached#?: })"
    # One by one, so that the message names only the package at fault.
    for package in "${missing[@]}"; do
        install_packages "$package" "$package" || tail -n 3 "$log" >&2
    done
fi

list_missing "$@"
[ ${#missing[@]} = 0 ] || cannot "apt-get did not provide them (its last lines are above)"
