#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_it_perf.sh IT_PERF [SANITIZER]: every pattern moves its data correctly, in a few short runs.
# How fast, is not looked at: that would fail on a busy machine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../samples/common/server.bash"

it_perf=$1

# run ARGUMENTS...: two runs of 50 messages, ours and TCP's, in both processes.
run() {
    timeout 60 "$it_perf" --loopback --runs 2 --iters 50 --verify --reference tcp --json \
        --depth 16 "$@" >"$folder/json" || fail "failed: $*"
    grep -q '"value": [0-9].*"reference": [0-9].*"ratio": [0-9]' "$folder/json" ||
        fail "no good JSON: $*: $(cat "$folder/json")"
}

for mode in poll wait; do
    for crc in on off; do
        for op in send read; do
            run --op "$op" --measure lat --mode "$mode" --crc "$crc"
        done
        for op in send write read; do
            run --op "$op" --measure bw --size 64k --mode "$mode" --crc "$crc"
            run --op "$op" --measure rate --size 100 --mode "$mode" --crc "$crc"
        done
    done
done
# ThreadSanitizer is right about this pattern: memory is polled while the library writes it.
[ "${2-}" = thread ] || run --op write --measure lat --size 5000
run --op send --measure lat --size 1m
timeout 60 "$it_perf" --loopback --runs 1 --iters 50 --depth 1 --size 0 >/dev/null ||
    fail 'empty messages: failed'

start_server "$it_perf" server --port 0 --once
timeout 60 "$it_perf" client localhost --port "$port" --runs 1 --iters 50 >/dev/null ||
    fail 'the client failed'
wait_server || fail 'the server failed'

status=0
"$it_perf" --loopback --op write --measure lat --mode wait 2>/dev/null || status=$?
[ "$status" = 2 ] || fail 'a combination without sense is accepted'
"$it_perf" --help >/dev/null || fail '--help fails'
