#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# counted_cxx.sh PROGRAM: by callgrind, the instructions of each call of the data path by itapi.hpp are those of the
# call in C that looks at its status.
set -euo pipefail

program=${1:?usage: counted_cxx.sh PROGRAM}
command -v valgrind >/dev/null || { echo 'skipped: missing package: valgrind'; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
valgrind --tool=callgrind --callgrind-out-file="$folder/out" "$program" 1000 >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
callgrind_annotate --threshold=100 --show-percs=no "$folder/out" 2>/dev/null |
    sed -nE 's/^ *([0-9,]+) +[^ ]*:((by_(c|cxx)_|itapi::).*[a-z_)])( \[.*|$)/\1 \2/p' | tr -d , >"$folder/counts"
awk '
    # A line for each file that a function was inlined from.
    $2 ~ /^by_c_/ { c[substr($2, 6)] += $1; next }
    $2 ~ /^by_cxx_/ { cxx[substr($2, 8)] += $1; next }
    $1 >= 1000 { print "not inlined: " $0; bad = 1 }
    END {
        for (name in c) {
            printf "%-10s %3d in C, %3d by itapi.hpp\n", name, c[name] / 1000, cxx[name] / 1000
            calls++
            bad = bad || c[name] < 3000 || cxx[name] > c[name]
        }
        exit bad || calls != 7
    }' "$folder/counts"
