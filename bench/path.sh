#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# path.sh [--json] [--strict] [FOLDER]: bandwidth with CRC compared with plain TCP's, over an Ethernet of 1,500 bytes between
# two network namespaces, with segmentation offload and without. Needs root, or user namespaces. Takes it_perf and it_scenarios
# from FOLDER, build/bin by default. RUNS, PIN (A,B), MODE, SIZES, OPS and OFFLOAD in the environment. What it makes, it takes away.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

json='' strict=''
while [[ ${1-} == --* ]]; do
    case $1 in
    --json) json=1 ;;
    --strict) strict=1 ;;
    *) echo "path.sh: no such option: $1" >&2; exit 2 ;;
    esac
    shift
done
bin=$(cd "${1:-$here/../build/bin}" && pwd)
near=itapi-near-$$ far=itapi-far-$$

fail() { echo "path.sh: $*" >&2; exit 1; }

for program in it_perf it_scenarios; do
    [ -x "$bin/$program" ] || fail "no $program in $bin"
done
command -v ip >/dev/null || fail 'this takes ip (iproute2)'
# Without root it does the same in a user namespace with its own /run/netns.
if [ "$(id -u)" != 0 ]; then
    exec unshare --map-root-user --net --mount bash -c 'mount -t tmpfs none /run && exec "$@"' path.sh \
        "$here/${BASH_SOURCE[0]##*/}" ${json:+--json} ${strict:+--strict} "$bin"
fi

server=
clean_up() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    ip netns del "$near" 2>/dev/null || true
    ip netns del "$far" 2>/dev/null || true
    rm -rf "$folder"
}
folder=$(mktemp -d)
trap clean_up EXIT
trap 'exit 1' INT TERM

make_path() {
    ip netns add "$near"
    ip netns add "$far"
    ip -n "$near" link add cable type veth peer name cable netns "$far"
    ip -n "$near" address add 10.77.9.1/24 dev cable
    ip -n "$far" address add 10.77.9.2/24 dev cable
    for end in "$near" "$far"; do
        ip -n "$end" link set lo up
        ip -n "$end" link set cable mtu 1500 up
    done
}

start_server() {
    : >"$folder/server" # before sed looks
    ip netns exec "$far" "$bin/it_perf" server --port 0 >"$folder/server" &
    server=$!
    for _ in $(seq 100); do
        port=$(sed -n 's/^listening on port //p' "$folder/server")
        [ -z "$port" ] || return 0
        sleep 0.1
    done
    fail 'the server did not start'
}

field() { sed -n "s/.*\"$1\": \"\{0,1\}\([^,\"}]*\).*/\1/p" <<<"$2"; }

missed=
row() { # row OFFLOAD OP SIZE
    local name="$2 $3, offload $1" limit=0.85 line value reference ratio verdict=ok
    line=$(ip netns exec "$near" "$bin/it_perf" client 10.77.9.2 --port "$port" --json --reference tcp --crc on \
        --measure bw --mode "${MODE:-poll}" --depth 16 --runs "${RUNS:-5}" ${PIN:+--pin "$PIN"} --op "$2" --size "$3") || fail "failed: $name"
    value=$(field value "$line") reference=$(field reference "$line") ratio=$(field ratio "$line")
    awk -v ratio="$ratio" -v limit="$limit" 'BEGIN { exit ratio < limit }' || { verdict=missed; missed=1; }
    if [ -n "$json" ]; then
        printf '{"scenario": "path", "name": "%s", "value": %s, "unit": "B/s", "reference": %s, "ratio": %s, ' \
            "$name" "$value" "$reference" "$ratio"
        printf '"sign": ">=", "limit": %s, "verdict": "%s"}\n' "$limit" "$verdict"
    else
        awk -v name="$name" -v value="$value" -v reference="$reference" -v ratio="$ratio" -v limit="$limit" \
            -v verdict="$verdict" 'BEGIN { printf "path     %-52s %10.2f MB/s   %10.2f %6.2f %8s %s\n", name, value / 1e6,
                reference / 1e6, ratio, ">= " limit, verdict == "ok" ? "ok" : "MISSED" }'
    fi
}

make_path
start_server
for offload in ${OFFLOAD:-on off}; do
    for end in "$near" "$far"; do
        ip netns exec "$end" "$bin/it_scenarios" offload cable "$offload"
    done
    for op in ${OPS:-write send read}; do
        for size in ${SIZES:-64k 1m}; do
            row "$offload" "$op" "$size"
        done
    done
done
[ -z "$strict" ] || [ -z "$missed" ]
