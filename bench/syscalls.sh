#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# syscalls.sh [IT_PERF [MODE]]: system calls per message of a Send/Recv ping-pong of 64 bytes, both
# sides polling (or, with MODE wait, waiting), beside those of plain TCP. Calls that find nothing
# (EAGAIN, or an epoll_wait that returns 0) are counted apart: their number depends on how long one
# waits, not on the library. What belongs to starting and connecting falls out: it is the difference
# of two runs. strace makes all slow, so what a thread does now and then by the clock seems frequent.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

it_perf=${1:-$here/../build/bin/it_perf}
mode=${2:-poll}
short=500
long=2500
[ -x "$it_perf" ] || { echo "syscalls.sh: $it_perf is not built" >&2; exit 1; }
command -v strace >/dev/null || { echo 'syscalls.sh: strace is not installed' >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# count TRANSPORT ITERS: prints lines "CALL USEFUL EMPTY".
count() {
    strace -f -qq -o "$folder/trace" "$it_perf" --loopback --transport "$1" --iters "$2" --runs 1 \
        --op send --measure lat --size 64 --mode "$mode" >"$folder/output"
    awk '
    / resumed>/ { name = $0; sub(/^.*<\.\.\. /, "", name); sub(/ resumed>.*/, "", name) }
    !/ resumed>/ { name = $2; sub(/\(.*/, "", name) }
    / = -?[0-9]/ {
        result = $0
        sub(/.* = /, "", result)
        nothing = result ~ /^-1 EAGAIN/ || (name ~ /poll|epoll_p?wait/ && result ~ /^0/)
        if (nothing) empty[name]++
        else useful[name]++
        seen[name] = 1
    }
    END { for (name in seen) print name, useful[name] + 0, empty[name] + 0 }' "$folder/trace"
}

# Before a run of N messages each way there is a warm-up run of N / 10 + 1.
messages=$((2 * (long + long / 10 - short - short / 10)))
for transport in itapi tcp; do
    count "$transport" "$short" >"$folder/$transport.short"
    count "$transport" "$long" >"$folder/$transport.long"
done
awk -v messages="$messages" '
{
    split(FILENAME, parts, "/")
    split(parts[length(parts)], kind, ".")
    sign = kind[2] == "long" ? 1 : -1
    useful[kind[1], $1] += sign * $2
    total[kind[1]] += sign * $2
    empty[kind[1]] += sign * $3
    names[$1] = 1
}
function per(count) { return sprintf("%.3f", count / messages) }
END {
    printf "%-20s %10s %10s\n", "call", "itapi", "tcp"
    for (name in names)
        if (useful["itapi", name] > messages / 200 || useful["tcp", name] > messages / 200)
            printf "%-20s %10s %10s\n", name, per(useful["itapi", name]), per(useful["tcp", name])
    printf "%-20s %10s %10s\n", "(found nothing)", per(empty["itapi"]), per(empty["tcp"])
    printf "%-20s %10s %10s\n", "per message", per(total["itapi"]), per(total["tcp"])
}' "$folder"/itapi.short "$folder"/itapi.long "$folder"/tcp.short "$folder"/tcp.long
