#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_devices.sh IT_PERF DEVICE...: checks that every pattern moves its data on devices of rdma-core, at any speed.
set -euo pipefail
factor=${ITAPI_TIME_FACTOR:-1} # of all time limits

it_perf=$1
shift

run() { # run ARGUMENTS...
    local json
    json=$(timeout $((120 * factor)) "$it_perf" --loopback --runs 1 --iters 50 --verify --json --depth 16 "$@") ||
        { echo "failed: $*" >&2 && exit 1; }
    grep -q '"crc": "device".*"value": [0-9]' <<<"$json" || { echo "no good JSON: $*: $json" >&2 && exit 1; }
}

for device in "$@"; do
    for mode in poll wait client; do
        run --ia "$device" --op send --measure lat --mode "$mode"
        run --ia "$device" --op read --measure lat --mode "$mode"
        for op in send write read; do
            run --ia "$device" --op "$op" --measure bw --size 64k --mode "$mode"
        done
    done
    run --ia "$device" --op write --measure lat --size 5000
    run --ia "$device" --op write --measure rate --size 100 --depth 300
done
